"""Stored: what the pages about single examples need of a run."""

from typing import Protocol

import polars as pl

from .page import Reported


class Stored(Reported, Protocol):
    """A run whose tables can be read."""

    def estimates(self) -> pl.DataFrame: ...
    def scores(self) -> pl.DataFrame: ...
    def examples(self) -> pl.DataFrame: ...
    def judgements(self, kind: str, /) -> pl.DataFrame: ...
