"""Renderers: a page in a terminal, or as HTML, Markdown or JUnit."""
