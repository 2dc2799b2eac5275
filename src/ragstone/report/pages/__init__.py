"""Pages: one file a page, which builds what is shown from the typed result."""
