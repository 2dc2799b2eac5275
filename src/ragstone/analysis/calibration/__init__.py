"""Calibrating: can the judge be trusted? Imported file by file."""
