"""Renderers: one file for each output format of a page."""
