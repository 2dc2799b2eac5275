"""Planning: how much to run, compare or label. Imported file by file."""
