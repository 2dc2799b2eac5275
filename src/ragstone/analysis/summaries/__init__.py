"""Summing up: what a finished run tells in a few facts."""
