"""Facts that the examples record."""

from pathlib import Path
from typing import Any

import pytest

import ragstone
from ragstone.analysis.comparison.compare import compare
from ragstone.data import Example
from ragstone.data.write_examples import to_frame
from ragstone.judgements import UNDEFINED, AnswerFacts, Tables
from ragstone.metrics import Undefined, parse_metric, score
from ragstone.testing import rows, score_all

RECORDED: list[dict[str, Any]] = [
    {"meta": {"latency": 1.5, "input_tokens": 100, "output_tokens": 20, "cost": 0}},
    {"slices": {"latency": "2.5", "input_tokens": 7}},
    {"meta": {"latency": 4}, "slices": {"latency": 9}},
    {},
    {"meta": {"latency": -1, "cost": "free", "first_token": float("inf")}},
    {"meta": {"latency": None, "cost": True, "output_tokens": 1e400}},
]
NOT = Undefined("not_recorded")


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        ("latency", [1.5, 2.5, 4.0, None, None, None]),
        ("first_token", [None] * 6),
        ("cost", [0.0, None, None, None, None, None]),
        ("tokens", [120.0, None, None, None, None, None]),
        ('tokens(only="input")', [100.0, 7.0, None, None, None, None]),
        ('tokens(only="output")', [20.0, None, None, None, None, None]),
    ],
)
def test_a_fact_is_read_from_meta_or_a_column_and_undefined_where_it_is_no_number_from_0(
    form: str, expected: list[float | None]
) -> None:
    examples = [
        Example(str(number), str(number), "a", answer="x", **fields)
        for number, fields in enumerate(RECORDED)
    ]
    scores = score(Tables(to_frame(examples)), [parse_metric(form)])[form]
    assert scores["value"].to_list() == expected
    undefined = scores.filter(scores["value"].is_null())
    assert set(undefined["status"]) <= {UNDEFINED}
    assert set(undefined["reason"]) <= {"not_recorded"}


def test_less_is_better_and_nothing_is_zero_by_default() -> None:
    for form in ("latency", "first_token", "tokens", "cost"):
        metric = parse_metric(form)
        assert (metric.family, metric.range.better, metric.range.low) == ("facts", "-", 0)
        assert score_all(metric, [[], [rows(AnswerFacts)]]) == [NOT, NOT]


def test_facts_that_differ_are_not_the_same_inputs(tmp_path: Path) -> None:
    """The same answers came in a second and in two; their words are the same, with no test."""
    rows_of_two = [
        {"question": f"Where is {place}?", "system": system, "answer": place, "latency": seconds}
        for place in ("Bude", "Looe", "Par")
        for system, seconds in (("quick", 1 + len(place) / 10), ("slow", 2 + len(place)))
    ]
    run = ragstone.evaluate(rows_of_two, metrics=["latency", "word_count"], out=tmp_path / "run")
    latency, words = sorted(compare(run).comparisons, key=lambda pair: pair.metric)
    assert (latency.verdict, words.verdict) == ("cannot_tell", "same")
    assert not any(reason.startswith("same_inputs") for reason in latency.reasons)
