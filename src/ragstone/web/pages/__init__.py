"""Pages: a file for each screen over runs and queues."""
