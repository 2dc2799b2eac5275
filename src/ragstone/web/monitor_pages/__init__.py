"""Monitor pages: a file for each screen of the monitor."""
