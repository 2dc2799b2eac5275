"""Task: what a worker is given of a shard, and what it gives back."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ragstone.examples.facts import ReadFacts
from ragstone.examples.ids import IdBlock
from ragstone.examples.lines import Lines
from ragstone.run.written import File

ROWS = tuple[int, int]
"""The first row, and the one after the last."""


@dataclass(frozen=True, slots=True)
class ShardTask:
    """A shard to judge.

    Args:
        shard: Its number.
        data: Its lines, or its examples as a table.
        check: Whether it is the first, on which the fields to group by are checked.
        only_read: Whether its records are only read, to find the faults in them.
        refused: Lines whose id occurred before, with the line where it did.
        aside: Examples, by their row, that are not judged, with the reason.
        part: The rows to try, of which nothing is kept; None: the whole shard.
    """

    shard: int
    data: Lines | pl.DataFrame
    check: bool = False
    only_read: bool = False
    refused: Mapping[int, int] = field(default_factory=dict)
    aside: Mapping[int, str] = field(default_factory=dict)
    part: ROWS | None = None

    @property
    def rows(self) -> ROWS:
        """Those that it is about, counted as records where not all may be examples."""
        if self.part is not None:
            return self.part
        if isinstance(self.data, pl.DataFrame):
            return 0, self.data.height
        return 0, self.data.end.records - self.data.start.records


@dataclass(frozen=True, slots=True)
class Brief:
    """What was found out about a shard.

    Args:
        shard: Its number.
        examples: How many examples it has.
        counted: What was counted in it, as the ledger keeps it.
        files: The record of each of its files.
        facts: What was found out about its records, if these were read here.
        ids: The ids of its examples, if they were read here.
        violations: Labels that break a rule.
    """

    shard: int
    examples: int
    counted: Mapping[str, Any]
    files: Mapping[str, File]
    facts: ReadFacts = field(default_factory=ReadFacts)
    ids: IdBlock | None = None
    violations: tuple[dict[str, Any], ...] = ()


Tables = dict[str, NDArray[np.uint8]]
"""The content of a shard's files, by table; arrays travel between processes without a copy."""
