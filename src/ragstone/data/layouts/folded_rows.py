"""Folded rows: rows that only together make an example or name its system."""

from collections.abc import Callable, Iterator, Mapping
from itertools import chain
from typing import Any

from ragstone.data.sources import Row

from .phoenix import is_phoenix, traces
from .promptfoo import is_promptfoo, with_systems
from .trace_files import trace_examples, trace_format


def folded(rows: Iterator[Row]) -> Iterator[Row]:
    """Make examples of traces, and name the systems of promptfoo's tests; keep other rows."""
    head: list[Row] = []
    for row in rows:
        head.append(row)
        if isinstance(row[1], Mapping):
            fold = fold_of(row[1])
            return chain(head, rows) if fold is None else fold(chain(head, rows))
    return iter(head)


def fold_of(record: Mapping[str, Any]) -> Callable[[Iterator[Row]], Iterator[Row]] | None:
    """Return the function that reads such rows together; None if each is an example by itself."""
    folds = ((trace_format, trace_examples), (is_phoenix, traces), (is_promptfoo, with_systems))
    return next((fold for fits, fold in folds if fits(record)), None)
