"""What a user's file registers, taken back after a test."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

# What is built in is registered when these are imported: before the first test, not in one.
import ragstone.judgements
import ragstone.metrics  # noqa: F401
from ragstone.core.user_code import GIVEN, REGISTRIES

# Metrics that a parameter without a default has to make.
NEED_A_PARAMETER = ("contains", "regex", "composite")


@contextmanager
def registries_restored() -> Iterator[None]:
    """Take back what this block registers, and forget the modules that registered it."""
    before = [(table, table.copy()) for table in REGISTRIES]
    modules = set(GIVEN)
    try:
        yield
    finally:
        for name in GIVEN.keys() - modules:
            sys.modules.pop(name, None)
        for table, entries in before:
            table.clear()
            (table.extend if isinstance(table, list) else table.update)(entries)


def registered() -> list[list[Any]]:
    """The names in every registry; a view that a test defines adds registries at the end."""
    return [list(table) for table in REGISTRIES]
