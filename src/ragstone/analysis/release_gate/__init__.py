"""Gating: may this be shipped? Imported file by file.

gate         the decision over all requirements and systems
requirement  parses METRIC OP BAR
checks       one requirement on one system
standing     holds, broken or open
no_worse     comparison with another system or run, within a margin
over_means   composites of dataset means
"""
