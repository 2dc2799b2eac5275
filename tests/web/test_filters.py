"""Which answers a filter keeps, and in which order, from five answers by hand."""

from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest

from ragstone.core.errors import InputError
from ragstone.web.filters import ExampleFilter

ROWS = pl.DataFrame({
    "place": [0, 1, 2, 3, 4],
    "id": ["a", "b", "c", "d", "e"],
    "question_id": ["q1", "q1", "q2", "q2", "q3"],
    "system": ["x", "y", "x", "y", "x"],
    # Sums of floats, a little above .3 and below .8.
    "mrr": [0.5, 0.1 + 0.2, None, None, 0.7 + 0.1],
    "status mrr": ["value", "value", "undefined", "missing", "value"],
    "reason mrr": [None, None, "no_context", "judge_failed?said=no", None],
    "answer_outcome": [0.0, 1.0, None, 0.5, 0.0],
    "status answer_outcome": ["value", "value", "undefined", "value", "value"],
    "label answer_outcome": ["wrong", "correct", None, "partial", "wrong"],
    "reason answer_outcome": [None, None, "no_answer", None, None],
})  # fmt: skip
FIELDS = {"topic": ["sea", "sea", "land", "land", "sea"], "lang": ["en", "de", "en", "de", "de"]}
STAGES = ["unsupported", "no_fault", None, "incomplete", "other"]
FIVE: Any = SimpleNamespace(
    rows=ROWS,
    metrics=["mrr", "answer_outcome"],
    stages=pl.DataFrame({"id": ROWS["id"], "stage": STAGES}),
    shortfalls=pl.DataFrame({"id": ["e", "d", "a"], "shortfall": [0.5, 0.2, 0.5]}),
    disputed=pl.Series("id", ["d", "b"]),
    field=lambda name: pl.Series(FIELDS[name]),
)
BEFORE: Any = SimpleNamespace(
    rows=pl.DataFrame({
        "question_id": ["q1", "q1", "q2", "q3", "q3", "q4"],
        "system": ["x", "y", "x", "x", "x", "x"],
        "mrr": [0.5, 0.9, 0.1, 0.7, 0.9, 0.0],
    })
)  # fmt: skip


def kept(query: str, pinned: str = "") -> str:
    baseline = (pinned, BEFORE) if pinned else None
    return "".join(ExampleFilter.read(query).chosen(FIVE, lambda: baseline)["id"])


@pytest.mark.parametrize(
    ("query", "ids"),
    [
        ("", "abcde"),
        ("where=mrr:0.3..0.5", "ab"),
        ("where=mrr:..0.3", "b"),
        ("where=mrr:0.8..", "e"),
        ("where=mrr:..", "abe"),
        ("where=mrr:0.4..&where=answer_outcome:0..0", "ae"),
        ("system=x", "ace"),
        ("system=x&system=y", "abcde"),
        ("slice=topic:land", "cd"),
        ("slice=topic:land&slice=topic:sea", "abcde"),
        ("slice=topic:sea&slice=lang:de", "be"),
        ("status=missing", "d"),
        ("status=undefined", "c"),
        ("status=missing&status=undefined", "cd"),
        ("status=answer_outcome:missing", ""),
        ("status=mrr:missing", "d"),
        ("outcome=wrong", "ae"),
        ("outcome=wrong&outcome=partial", "ade"),
        ("stage=short", "ade"),
        ("stage=no_fault", "b"),
        ("stage=short&stage=no_fault", "abde"),
        ("stage=incomplete&stage=other", "de"),
        ("reason=judge_failed", "d"),
        ("reason=judge_failed&reason=no_answer", "cd"),
        ("labels=differ", "bd"),
        ("labels=differ&system=y&stage=no_fault", "b"),
    ],
)
def test_a_filter_keeps_the_answers_for_which_all_its_conditions_hold(query: str, ids: str) -> None:
    assert kept(query) == ids


@pytest.mark.parametrize(
    ("sort", "ids"),
    [
        ("mrr", "baecd"),
        ("-mrr", "eabcd"),
        ("system", "acebd"),
        ("-system", "bdace"),
        ("worst", "aedbc"),
        ("-worst", "daebc"),
        ("-nonsense", "abcde"),
    ],
)
def test_equals_stay_in_the_order_of_the_data_and_what_has_no_value_is_last(
    sort: str, ids: str
) -> None:
    assert kept(f"sort={sort}") == ids


@pytest.mark.parametrize(
    ("pinned", "ids"),
    [
        ("old", "b"),  # 0.3 after 0.9; of two answers to q3 the mean, 0.8, counts
        ("old/y", "ab"),  # 0.5 and 0.3 after its 0.9
        ("old/x", "b"),  # 0.3 after its 0.5
    ],
)
def test_what_changed_is_against_the_same_system_or_the_pinned_one(pinned: str, ids: str) -> None:
    assert kept("changed=mrr", pinned) == ids


@pytest.mark.parametrize(
    ("query", "says"),
    [
        ("changed=mrr", "No other run is pinned"),
        ("changed=answer_outcome", "not a metric of both"),
        ("where=ndcg:0..1", "no metric ndcg"),
        ("status=ndcg:missing", "no metric ndcg"),
        ("where=mrr:a..1", "METRIC:LOW..HIGH"),
        ("where=mrr:0-1", "METRIC:LOW..HIGH"),
    ],
)
def test_a_condition_that_cannot_be_looked_at_is_refused(query: str, says: str) -> None:
    with pytest.raises(InputError, match=says):
        kept(query, "old" if "outcome" in query else "")


def test_a_condition_that_is_asked_for_twice_is_one() -> None:
    (one,) = ExampleFilter.read("system=x&system=x&page=2&sort=mrr&sort=-mrr").conditions
    assert (one.field, one.value) == ("system", "x")
    assert ExampleFilter.read("sort=mrr&sort=-mrr").sort == "-mrr"
