"""Rows: what statements about many rows have in common."""

from collections.abc import Collection, Iterator, Sequence
from typing import TypeVar

One = TypeVar("One")

MOST_MARKS = 500
"""Values in one statement; SQLite takes a few thousand, PostgreSQL more."""


def marks(values: Collection[object]) -> str:
    """A question mark for each value; NULL, which equals nothing, for none."""
    return ", ".join("?" * len(values)) or "NULL"


def in_pages(values: Sequence[One], most: int = MOST_MARKS) -> Iterator[Sequence[One]]:
    """The values, as many at a time as one statement takes."""
    for start in range(0, len(values), most):
        yield values[start : start + most]
