"""Renderers: one file for each way in which a page is shown."""
