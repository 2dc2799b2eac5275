"""Stored: what the pages about single examples need of a run."""

from collections.abc import Sequence
from typing import Protocol

import polars as pl

from ragstone.run import Entry

from .run_page import Reported


class Readable(Protocol):
    """Judged examples, of a finished run or of one under way."""

    def scores(self) -> pl.DataFrame: ...
    def examples(self) -> pl.DataFrame: ...
    def judgements(self, kind: str, /) -> pl.DataFrame: ...
    def calls(self, example: str, /) -> Sequence[Entry]: ...


class Stored(Reported, Readable, Protocol):
    """A run whose tables can be read."""

    def estimates(self) -> pl.DataFrame: ...
