"""Folding: rows of tools that tell of one example in several rows."""

from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any

from ragstone.examples.phoenix import is_phoenix, traces
from ragstone.examples.promptfoo import is_promptfoo, with_systems
from ragstone.examples.source import Row


def folded(rows: Iterator[Row]) -> Iterator[Row]:
    """Spans as traces, and tests of promptfoo with their systems; other rows as they are."""
    head: list[Row] = []
    for row in rows:
        head.append(row)
        if not isinstance(row[1], Mapping):
            continue
        if is_phoenix(row[1]):
            return traces(chain(head, rows))
        if is_promptfoo(row[1]):
            return with_systems(chain(head, rows))
        break
    return chain(head, rows)


def is_told_in_several(record: Mapping[str, Any]) -> bool:
    """Whether such a record is one of several rows that tell of one example."""
    return is_phoenix(record) or is_promptfoo(record)
