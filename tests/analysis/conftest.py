"""Runs whose scores are made by hand."""

from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from ragstone.run import Estimate, Run
from ragstone.run.folder.schemas import NO_DATA, Manifest

MISSING = "missing"
Score = float | None | str
Scores = Mapping[str, Sequence[Score]]
Make = Callable[..., Run]


class MadeRun(Run):
    """A run whose scores are given: a number, None for undefined, or ``missing``."""

    def __init__(self, path: Path, systems: Mapping[str, Scores]) -> None:
        super().__init__(path)
        self.rows = [
            (f"q{at}-{system}", f"q{at}", system, metric, score)
            for system, scores in systems.items()
            for metric, values in scores.items()
            for at, score in enumerate(values)
        ]
        self.names = list(dict.fromkeys(metric for *_, metric, _ in self.rows))

    @property
    def form(self) -> Manifest:
        return Manifest.model_construct(
            cluster="question_id", judged=[], ragstone="0", metrics=self.names, data=NO_DATA
        )

    @property
    def estimate_list(self) -> tuple[Estimate, ...]:
        nothing: dict[str, Any] = dict.fromkeys(Estimate.__dataclass_fields__)
        nothing |= {"group": {}, "signature": ""}
        return tuple(Estimate(**nothing | {"metric": name}) for name in self.names)

    def examples(
        self,
        columns: Sequence[str | pl.Expr] | None = None,
        where: pl.Expr | None = None,
        shards: Collection[int] | None = None,  # noqa: ARG002
    ) -> pl.DataFrame:
        ids = dict.fromkeys((name, question, system) for name, question, system, *_ in self.rows)
        frame = pl.DataFrame(list(ids), ["id", "question_id", "system"], orient="row")
        if columns is None:
            return frame
        made = [one for one in columns if isinstance(one, pl.Expr)]
        roots = {name for one in made for name in one.meta.root_names()}
        named = [one for one in columns if isinstance(one, str)]
        there = frame.with_columns(self.column(name) for name in roots.union(named))
        return there.filter(*([] if where is None else [where])).select(columns)

    def without_corrections(self) -> Run:
        return self

    def column(self, name: str) -> pl.Expr:
        """Answers and contexts are each example's own, all else is the question's."""
        if name in ("id", "question_id", "system"):
            return pl.col(name)
        return pl.col("id" if name in ("answer", "contexts") else "question_id").alias(name)

    def scores(
        self,
        metrics: Collection[str] | None = None,
        columns: Sequence[str | pl.Expr] | None = None,
        shards: Collection[int] | None = None,  # noqa: ARG002
    ) -> pl.DataFrame:
        def status(score: Score) -> str:
            return "undefined" if score is None else MISSING if score == MISSING else "value"

        return pl.DataFrame(
            [
                (name, metric, score if isinstance(score, float | int) else None, None,
                 status(score), None if isinstance(score, float | int) else "why")
                for name, _, _, metric, score in self.rows
                if metrics is None or metric in metrics
            ],
            {"example_id": pl.String, "metric": pl.String, "value": pl.Float64, "label": pl.String,
             "status": pl.String, "reason": pl.String},
            orient="row",
        ).select(pl.all() if columns is None else columns)  # fmt: skip


@pytest.fixture
def run(tmp_path: Path) -> Make:
    """A run of one system, or of several: ``run(hit=[…])``, ``run(a={…}, b={…})``."""

    def made(systems: Mapping[str, Scores] | None = None, /, **scores: Sequence[Score]) -> Run:
        return MadeRun(tmp_path, systems or {"one": scores})

    return made
