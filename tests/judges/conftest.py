"""Fixtures of the judge tests."""

from collections.abc import Callable, Sequence

import pytest

from ragstone.data import Example
from ragstone.judgements import Tables
from ragstone.judges import Judge
from ragstone.judges.judge_names import JUDGES
from ragstone.metrics import Missing, Score, Undefined, needed_asks, parse_metric, score
from ragstone.run.judging.judge_blocks import judge_block


@pytest.fixture(scope="session")
def judged() -> Callable[..., Tables]:
    """Puts asks to judges and gives the tables."""

    def tables(
        asks: Sequence[str], examples: Sequence[Example], judges: Sequence[Judge] = JUDGES
    ) -> Tables:
        return judge_block(examples, judges, asks).tables

    return tables


@pytest.fixture(scope="session")
def scored() -> Callable[..., Score]:
    """Judges one example and gives its score."""

    def one(name: str, example: Example, judges: Sequence[Judge] = JUDGES) -> Score:
        metric = parse_metric(name)
        tables = judge_block([example], judges, needed_asks([metric])).tables
        line = score(tables, [metric])[str(metric)].row(0, named=True)
        if line["value"] is not None:
            return float(line["value"])
        return (Undefined, Missing)[line["status"] - 1](line["reason"])

    return one
