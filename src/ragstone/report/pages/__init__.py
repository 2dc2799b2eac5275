"""Pages: one file for each page, which builds it from the typed result."""
