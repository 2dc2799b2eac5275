"""Layouts: the records of other tools, a module a tool or a family of them."""
