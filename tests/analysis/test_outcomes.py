"""Scores in a few bytes an example are those that are joined by the texts of the ids."""

import random
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from ragstone.analysis import scored_run
from ragstone.analysis.comparison.compared_systems import matches_within, outcomes_of
from ragstone.analysis.scored_run import Scored
from ragstone.core.errors import UnknownName
from tests.analysis.conftest import MISSING, MadeRun, Score


class Shuffled(MadeRun):
    """Several answers to a question, and scores that stand in another order or are not there."""

    def __init__(self, path: Path, seed: int) -> None:
        drawn = random.Random(seed)
        several: list[Score] = [0.25, 0.5, 1.0, None, MISSING]
        scores = {
            system: {name: drawn.choices(several, k=40) for name in ("hit", "mrr")}
            for system in ("a", "b", "c")
        }
        super().__init__(path, scores)
        self.rows = [
            (id, question[:2], system, metric, score)
            for id, question, system, metric, score in self.rows
        ]
        self.read = [row for row in self.rows if drawn.random() < 0.8]
        drawn.shuffle(self.read)

    def scores(
        self,
        metrics: Collection[str] | None = None,
        columns: Sequence[str | pl.Expr] | None = None,
        shards: Collection[int] | None = None,  # noqa: ARG002
    ) -> pl.DataFrame:
        other = MadeRun(self.path, {})
        other.rows = self.read
        return other.scores(metrics, columns)


@pytest.fixture(params=["small", "large"], autouse=True)
def size(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Whether the scores of all metrics are read at once, or those of one."""
    size: str = request.param
    if size == "large":
        monkeypatch.setattr(scored_run, "AT_ONCE", 239)
    return size


def plain(scored: Scored, metric: str) -> pl.DataFrame:
    """The same by way of texts."""
    return scored.of(metric).select("value", "status")


@pytest.mark.parametrize("seed", range(5))
def test_the_scores_of_each_example_are_found_in_whatever_order_they_stand(
    tmp_path: Path, seed: int
) -> None:
    scored = Scored(Shuffled(tmp_path, seed))
    for metric in scored.metrics:
        found, joined = scored.outcomes(metric), plain(scored, metric)
        assert joined["status"].null_count() > 0
        assert found.select("value", pl.col("status").cast(pl.String)).equals(joined)


@pytest.mark.parametrize("seed", range(5))
def test_the_sides_of_a_comparison_have_the_values_that_texts_give_them(
    tmp_path: Path, seed: int
) -> None:
    scored = Scored(Shuffled(tmp_path, seed))
    for a, b in matches_within(scored, None):
        for side in (a, b):
            ways = (scored.outcomes("mrr"), plain(scored, "mrr"))
            found, joined = (side.values(outcomes_of(scores)) for scores in ways)
            for name in found.__slots__:
                assert np.array_equal(getattr(found, name), getattr(joined, name)), name


def test_a_run_without_some_examples_has_the_scores_of_the_others(tmp_path: Path) -> None:
    scored = Scored(Shuffled(tmp_path, 0))
    rest = scored.without(scored.facets["example_id"].gather_every(3))
    assert rest.outcomes("hit").drop("partly").height == rest.facets.height < scored.facets.height
    assert rest.outcomes("hit")["value"].equals(rest.of("hit")["value"])


class Explained(MadeRun):
    """Reasons beside scores: of what a composite was made, or why there is none."""

    said = ("incomplete: components=1", None)

    def scores(
        self,
        metrics: Collection[str] | None = None,
        columns: Sequence[str | pl.Expr] | None = None,
        shards: Collection[int] | None = None,  # noqa: ARG002
    ) -> pl.DataFrame:
        rows = super().scores(metrics).with_columns(reason=pl.Series(self.said, dtype=pl.String))
        return rows.select(pl.all() if columns is None else columns)


@pytest.mark.parametrize(
    ("scores", "said", "gaps"),
    [
        ([0.5, 1.0], ("incomplete: components=1", None), True),
        ([None, 1.0], ("incomplete: components=1", None), False),
        ([0.5, 1.0], ("no_claims", None), False),
    ],
)
def test_a_value_made_of_some_components_is_a_gap_and_what_is_none_is_not(
    tmp_path: Path, scores: list[Score], said: tuple[str, None], gaps: bool
) -> None:
    run = Explained(tmp_path, {"a": {"hit": scores}})
    run.said = said
    assert Scored(run).outcomes("hit")["partly"].any() is gaps


def test_a_metric_that_the_run_does_not_have_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UnknownName, match="recall"):
        Scored(Shuffled(tmp_path, 0)).outcomes("recall")


def test_the_scores_of_a_small_run_are_read_at_once_and_those_of_a_large_one_by_metric(
    tmp_path: Path, size: str
) -> None:
    read: list[Collection[str] | None] = []

    class Watched(Shuffled):
        def scores(self, metrics: Collection[str] | None = None, *rest: Any) -> pl.DataFrame:
            read.append(metrics)
            return super().scores(metrics, *rest)

    scored = Scored(Watched(tmp_path, 0))
    for metric in ("hit", "mrr"):
        scored.outcomes(metric)
        scored.of(metric)
    by_metric = [["hit"], ["hit"], ["mrr"], ["mrr"]]
    assert read == ([None] if size == "small" else by_metric)
