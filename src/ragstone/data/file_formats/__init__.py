"""Formats: one file for each family of formats that can be read."""
