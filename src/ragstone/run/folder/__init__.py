"""Folder: what a run keeps on disk, how it is written, checked and read."""
