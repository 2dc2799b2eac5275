"""Labelled examples: what is kept of those that people labelled."""

from collections.abc import Sequence
from typing import NamedTuple

from ragstone.core.database import Sql

from .rows import in_pages, marks


class ExampleToScore(NamedTuple):
    """An example by its record, which is JSON."""

    example: str
    at: float
    version: str | None
    record: str


def examples_to_score(run: Sql, ids: Sequence[str]) -> list[ExampleToScore]:
    """The examples of these ids that are still kept."""
    return [
        ExampleToScore(*row)
        for page in in_pages(ids)
        for row in run(
            "SELECT example, at, version, record FROM examples "
            f"WHERE example IN ({marks(page)}) ORDER BY example",
            *page,
        )
    ]
