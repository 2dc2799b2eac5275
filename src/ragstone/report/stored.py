"""StoredRun: what pages need from a run."""

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Protocol

import polars as pl

from ragstone.run import Entry
from ragstone.run.estimates.estimate import Estimate
from ragstone.run.folder.schemas import Manifest


class Reported(Protocol):
    """What a page needs from a run."""

    @property
    def path(self) -> Path | None: ...
    @property
    def form(self) -> Manifest: ...
    @property
    def estimate_list(self) -> Sequence[Estimate]: ...
    @property
    def signature(self) -> str: ...
    @property
    def exit_status(self) -> int: ...


class Excerpted(Protocol):
    """A few judged examples."""

    def scores(self) -> pl.DataFrame: ...
    def examples(self) -> pl.DataFrame: ...
    def judgements(self, kind: str, /) -> pl.DataFrame: ...
    def calls(self, example: str, /) -> Sequence[Entry]: ...


class Readable(Protocol):
    """Judged examples, from a finished run or from one in progress."""

    def examples(self, columns: Sequence[str] | None = None, /) -> pl.DataFrame: ...
    def excerpt(self, examples: Collection[str], /) -> Excerpted: ...


class StoredRun(Reported, Readable, Protocol):
    """A run with tables that can be read."""

    def estimates(self) -> pl.DataFrame: ...
    def scores(self) -> pl.DataFrame: ...
    def judgements(self, kind: str, /) -> pl.DataFrame: ...
