"""Comparing: is one system better than another? Imported file by file."""
