"""Which questions changed between two systems, by hand."""

from collections.abc import Collection, Sequence
from pathlib import Path

import polars as pl
import pytest

from ragstone.analysis.comparison.paired_scores import question_changes
from ragstone.core.errors import UnknownName
from tests.analysis.conftest import MISSING, MadeRun, Make

NEW = {"faithfulness": [1, 0, 0.5, None, MISSING], "contradiction": [1, 0, 0, 0, 0]}
OLD = {"faithfulness": [0, 0.25, 0.5, 0.5, 0.5], "contradiction": [0, 1, 0, 0, 0]}


def test_the_worst_change_comes_first_and_what_has_no_value_last(run: Make) -> None:
    found = question_changes(run({"new": NEW, "old": OLD}), a="new", b="old", metric="faithfulness")
    assert found.select("question_id", "a", "b", "change", "outcome").rows() == [
        ("q1", 0, 0.25, -0.25, "worse"),
        ("q2", 0.5, 0.5, 0, "same"),
        ("q0", 1, 0, 1, "better"),
        ("q3", None, 0.5, None, "failed"),
        ("q4", None, 0.5, None, "failed"),
    ]
    assert found["a_is"].to_list() == ["value", "value", "value", "undefined", "missing"]
    assert found["a_why"].to_list() == [None, None, None, "why", "why"]
    assert found["b_why"].to_list() == [None] * 5


def test_more_is_worse_where_less_is_better(run: Make) -> None:
    found = question_changes(
        run({"new": NEW, "old": OLD}), a="new", b="old", metric="contradiction"
    )
    assert found.select("question_id", "change", "outcome").rows()[::4] == [
        ("q0", 1, "worse"),
        ("q1", -1, "better"),
    ]


def test_a_pair_that_is_not_compared_is_refused(run: Make) -> None:
    with pytest.raises(UnknownName, match="newer"):
        question_changes(run({"new": NEW, "old": OLD}), a="newer", b="old", metric="faithfulness")


def test_a_question_that_one_of_them_did_not_answer_is_left_out(run: Make) -> None:
    two = run({"new": {"mrr": [1, 0, 1]}, "old": {"mrr": [0, 0]}})
    found = question_changes(two, a="new", b="old", metric="mrr")
    assert found["question_id"].to_list() == ["q1", "q0"]


class AnsweredTwice(MadeRun):
    """The answers to q0 and q1 are answers to one question; what has no value says whose it is."""

    def __init__(self, path: Path, **systems: list[float | str | None]) -> None:
        super().__init__(path, {name: {"mrr": scores} for name, scores in systems.items()})
        self.rows = [(id, "q", system, metric, score) for id, _, system, metric, score in self.rows]

    def scores(
        self,
        metrics: Collection[str] | None = None,
        columns: Sequence[str | pl.Expr] | None = None,
        shards: Collection[int] | None = None,  # noqa: ARG002
    ) -> pl.DataFrame:
        own = pl.when(pl.col("reason").is_not_null()).then(pl.format("{} why", "example_id"))
        rows = super().scores(metrics).with_columns(reason=own)
        return rows.select(pl.all() if columns is None else columns)


@pytest.mark.parametrize(
    ("scores", "is_", "why"),
    [
        ([MISSING, None], "missing", "q0-new why"),
        ([None, MISSING], "missing", "q1-new why"),
        ([None, None], "undefined", "q0-new why"),
        ([MISSING, 1], "value", None),
    ],
)
def test_of_several_answers_the_missing_one_says_why_a_question_is_missing(
    tmp_path: Path, scores: list[float | str | None], is_: str, why: str | None
) -> None:
    run = AnsweredTwice(tmp_path, new=scores, old=[1, 1])
    found = question_changes(run, a="new", b="old", metric="mrr")
    assert found.select("a_is", "a_why").rows() == [(is_, why)]
