"""Fixtures of the metric tests."""

from collections.abc import Callable, Sequence

import polars as pl
import pytest

from ragstone.data import Example
from ragstone.judges import Judge
from ragstone.judges.judge_names import JUDGES
from ragstone.metrics import Missing, Score, Undefined, needed_asks, parse_metric, score
from ragstone.run.judging.judge_blocks import judge_block

Scored = Callable[..., dict[str, list[Score]]]


@pytest.fixture(scope="session")
def score_frames() -> Callable[..., dict[str, pl.DataFrame]]:
    """Judges examples, scores them, and gives value, label, status and reason by metric."""

    def frames(
        names: Sequence[str], examples: Sequence[Example], judges: Sequence[Judge] = JUDGES
    ) -> dict[str, pl.DataFrame]:
        metrics = [parse_metric(name) for name in names]
        tables = judge_block(examples, judges, needed_asks(metrics)).tables
        scores = score(tables, metrics)
        return {name: scores[str(parse_metric(name))] for name in names}

    return frames


@pytest.fixture(scope="session")
def scored(score_frames: Callable[..., dict[str, pl.DataFrame]]) -> Scored:
    """Judges examples and gives their scores by metric."""

    def scores(
        names: Sequence[str], examples: Sequence[Example], judges: Sequence[Judge] = JUDGES
    ) -> dict[str, list[Score]]:
        frames = score_frames(names, examples, judges)
        return {
            name: [_score(*line) for line in frame.select("value", "status", "reason").iter_rows()]
            for name, frame in frames.items()
        }

    return scores


def _score(value: float | None, status: int, reason: str) -> Score:
    if value is not None:
        return value
    return (Undefined, Missing)[status - 1](reason)
