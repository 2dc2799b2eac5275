"""Pages: what each command shows, built from its typed result."""
