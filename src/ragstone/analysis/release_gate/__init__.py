"""Gating: may this be shipped? Imported file by file."""
