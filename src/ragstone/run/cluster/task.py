"""Task: what a worker is given of a shard, and what it gives back."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ragstone.data.line_ranges import Lines
from ragstone.data.read_facts import IdBlock, ReadFacts
from ragstone.run.forms import AlikeScores
from ragstone.run.written import File

from .shared_file import SharedFile

PLACES = tuple[int, int]
"""The place of the first example, and the one after the last: lines of a file, or rows of a table;
at some there may be no example."""


@dataclass(frozen=True, slots=True)
class ShardTask:
    """A shard to judge.

    Args:
        shard: Its number.
        data: Its lines, or its examples as a table.
        check: Whether it may be the first with examples, on which fields to group by are checked.
        only_read: Whether its records are only read, to find the faults in them.
        refused: Lines whose id occurred before, with the line where it did.
        aside: Examples, by their place, that are not judged, with the reason.
        part: What to try, of which nothing is kept; None: the whole shard.
    """

    shard: int
    data: Lines | pl.DataFrame
    check: bool = False
    only_read: bool = False
    refused: Mapping[int, int] = field(default_factory=dict)
    aside: Mapping[int, str] = field(default_factory=dict)
    part: PLACES | None = None

    @property
    def may_be_read(self) -> bool:
        """Whether its lines can be read from the file by who has it."""
        return isinstance(self.data, Lines) and self.data.plain and bool(self.data.text)

    def without_bytes(self) -> Self:
        """For a worker that reads its lines itself."""
        assert isinstance(self.data, Lines)
        return replace(self, data=self.data.without_bytes())

    def read_from(self, file: SharedFile | None) -> Self | None:
        """The task with the bytes of its lines; None if they cannot be had."""
        lines = self.data
        if not isinstance(lines, Lines) or lines.text or lines.end.bytes == lines.start.bytes:
            return self
        found = None if file is None else file.read(lines)
        return None if found is None else replace(self, data=found)

    @property
    def places(self) -> PLACES:
        """Those that it is about."""
        if self.part is not None:
            return self.part
        if isinstance(self.data, pl.DataFrame):
            return 0, self.data.height
        return self.data.start.lines + 1, self.data.end.lines + 1

    def named(self, place: int) -> str:
        """The example at a place, as messages name it: by its line, else by its id."""
        if isinstance(self.data, pl.DataFrame):
            return str(self.data["id"][place])
        return f"{self.data.name}:{place}"


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
        violations: Labels that break a rule, as the file of the run lists them.
        rules: How often each rule is broken.
        alike: Scores that are not in the files, as the ledger keeps them.
        unfit: Why the data cannot be grouped as asked, should this be the first shard; then it was
            not judged.
        unread: Whether its lines could not be read here, and have to be sent.
    """

    shard: int
    examples: int
    counted: Mapping[str, Any]
    files: Mapping[str, File]
    facts: ReadFacts = field(default_factory=ReadFacts)
    ids: IdBlock | None = None
    violations: str = ""
    rules: Counter[str] = field(default_factory=Counter)
    alike: tuple[AlikeScores, ...] = ()
    unfit: str = ""
    unread: bool = False


Tables = dict[str, NDArray[np.uint8]]
"""The content of a shard's files, by table; arrays travel between processes without a copy."""
