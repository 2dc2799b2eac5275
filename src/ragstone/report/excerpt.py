"""Excerpt: a few examples of a run, so that each of its tables is read only once for them."""

from collections.abc import Callable, Collection, Sequence

import polars as pl

from ragstone.run import Entry

from .stored import Readable


class Excerpt:
    """The tables of a run, reduced to some examples; without the requests to models."""

    def __init__(self, run: Readable, examples: Collection[str]) -> None:
        self._run = run
        self._examples = list(examples)
        self._kept: dict[str, pl.DataFrame] = {}

    def scores(self) -> pl.DataFrame:
        return self._cut("scores", self._run.scores, "example_id")

    def examples(self) -> pl.DataFrame:
        return self._cut("examples", self._run.examples, "id")

    def judgements(self, kind: str, /) -> pl.DataFrame:
        return self._cut(f"judgements {kind}", lambda: self._run.judgements(kind), "example_id")

    def calls(self, example: str, /) -> Sequence[Entry]:  # noqa: ARG002
        return ()

    def _cut(self, name: str, table: Callable[[], pl.DataFrame], column: str) -> pl.DataFrame:
        if name not in self._kept:
            self._kept[name] = table().filter(pl.col(column).is_in(self._examples))
        return self._kept[name]
