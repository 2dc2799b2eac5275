"""Sampling: what to label next. Imported file by file."""
