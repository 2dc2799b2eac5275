"""Gating: may this be shipped? Imported file by file.

gate         the decision over all requirements and systems
requirement  METRIC OP BAR, read
checks       one requirement on one system
standing     holds, broken or open
no_worse     no worse than another system or run
over_means   composites of means as quantities
"""
