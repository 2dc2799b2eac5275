"""Weighing: how much should each metric count? Imported file by file."""
