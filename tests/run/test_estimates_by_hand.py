"""What an estimate counts of each group, from scores made by hand."""

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl
import pytest

from ragstone.judgements import MISSING, UNDEFINED, VALUE
from ragstone.metrics import parse_metric
from ragstone.run.estimates.estimates import Provenance, estimate_metric
from ragstone.run.estimates.groups import by_column, groups_of, rows_of
from ragstone.run.folder.schemas import Estimate

Row = tuple[str, int, float | None, str | None]
"""System, cluster, value and reason; ``missing`` in a reason says that a judge owes it."""


def facets_of(systems: Sequence[str], **fields: Sequence[str]) -> pl.DataFrame:
    columns = {by_column(name): values for name, values in fields.items()}
    return pl.DataFrame({"system": systems, "cluster": range(len(systems)), **columns})


def chosen(systems: Sequence[str], **fields: Sequence[str]) -> list[tuple[Mapping[str, str], int]]:
    facets = facets_of(systems, **fields)
    groups = groups_of(facets, list(fields))
    return [(group, facets.filter(rows_of(group)).height) for group in groups]


def estimates(metric: str, rows: Sequence[Row], labels: Sequence[str | None] = ()
              ) -> list[Estimate]:  # fmt: skip
    facets = pl.DataFrame({"system": [one[0] for one in rows], "cluster": [one[1] for one in rows]})
    statuses = [
        VALUE if value is not None else MISSING if "missing" in str(reason) else UNDEFINED
        for _, _, value, reason in rows
    ]
    scores = pl.DataFrame(
        {
            "value": [one[2] for one in rows],
            "label": labels or [None] * len(rows),
            "status": statuses,
            "reason": [one[3] for one in rows],
        },
        schema={"value": pl.Float64, "label": pl.String, "status": pl.UInt8, "reason": pl.String},
    )
    provenance = Provenance("1", "data", {}, "question_id")
    return estimate_metric(parse_metric(metric), scores, facets, (), provenance, components={})


def whole(metric: str, *rows: Row, labels: Sequence[str | None] = ()) -> Estimate:
    return estimates(metric, rows, labels)[0]


def test_all_come_first_then_systems_in_the_order_of_the_data_then_sorted_values() -> None:
    found = chosen(["b", "a", "b", "b"], topic=["z", "y", "y", "z"])
    assert found == [
        ({}, 4), ({"system": "b"}, 3), ({"system": "a"}, 1), ({"topic": "y"}, 2),
        ({"topic": "z"}, 2), ({"system": "b", "topic": "y"}, 1), ({"system": "b", "topic": "z"}, 2),
        ({"system": "a", "topic": "y"}, 1), ({"system": "a", "topic": "z"}, 0),
    ]  # fmt: skip


def test_one_system_is_not_crossed_with_the_values_of_a_field() -> None:
    found = chosen(["a", "a"], topic=["y", "z"], kind=["k", "k"])
    assert [group for group, _ in found] == [
        {}, {"system": "a"}, {"topic": "y"}, {"topic": "z"}, {"kind": "k"},
    ]  # fmt: skip


def test_values_undefined_and_missing_rows_are_counted_apart() -> None:
    rows = [("a", 1, 1.0, None), ("a", 2, 0.5, None), ("a", 3, None, "no_x"),
            ("b", 4, None, "missing")]  # fmt: skip
    together, a, b = estimates("mrr", rows)
    assert (together.value, together.n, together.n_undefined, together.n_missing) == (0.75, 2, 1, 1)
    assert (a.group, a.value, a.n, a.n_undefined, a.n_missing) == ({"system": "a"}, 0.75, 2, 1, 0)
    assert (b.value, b.n, b.low, b.method) == (None, 0, None, None)
    assert (together.clusters, together.total) == (2, 4)


def test_what_the_mean_could_be_puts_missing_rows_at_both_ends_of_the_range() -> None:
    """Of four rows that count two are 1 and .5: (1.5 + 2 · 0) / 4 and (1.5 + 2 · 1) / 4."""
    rows = [("a", 1, 1.0, None), ("a", 2, 0.5, None), ("a", 3, None, "missing"),
            ("a", 4, None, "missing"), ("a", 5, None, "no_x")]  # fmt: skip
    up = whole("mrr", *rows)
    assert (up.worst, up.best) == (0.375, 0.875)
    down = whole("hallucination", *rows)
    assert (down.worst, down.best) == (0.875, 0.375), "less is better"
    sure = whole("mrr", *rows[:2])
    assert (sure.worst, sure.best) == (0.75, 0.75)
    nothing = whole("mrr", rows[4])
    assert (nothing.worst, nothing.best) == (None, None)


def test_flags_of_values_are_counted_and_notes_are_not() -> None:
    found = whole(
        "mrr",
        ("a", 1, 1.0, "empty_retrieval,tie"), ("a", 2, 0.0, "empty_retrieval"),
        ("a", 3, 0.5, "best_reference=2"), ("a", 4, None, "no_x"), ("a", 5, 1.0, None),
    )  # fmt: skip
    assert found.flags == {"empty_retrieval": 2, "tie": 1}
    assert found.reasons == {"no_x": 1}


def test_reasons_are_counted_the_most_frequent_first() -> None:
    rows = [("a", at, None, why) for at, why in enumerate(["no_x", "missing", "missing", "no_y"])]
    found = whole("mrr", *rows)
    assert found.reasons == {"missing": 2, "no_x": 1, "no_y": 1}
    assert next(iter(found.reasons)) == "missing"


def test_words_that_scores_carry_are_counted() -> None:
    rows: list[Row] = [("a", at, 0.5, None) for at in range(3)]
    found = whole("mrr", *rows, ("a", 9, None, "no_x"), labels=["wrong", "correct", "wrong", None])
    assert found.labels == {"correct": 1, "wrong": 2}


def test_rows_of_a_cluster_count_as_one_in_the_interval() -> None:
    """The mean of six rows of three questions is that of all rows; it rests on three."""
    rows: list[Row] = [("a", at // 2, float(at % 3 == 0), None) for at in range(6)]
    found = whole("exact_match", *rows)
    assert found.value == pytest.approx(1 / 3)
    assert (found.n, found.clusters) == (6, 3)
    assert found.method == "cluster_wilson"
    alone: list[Row] = [("a", at, value, None) for at, (_, _, value, _) in enumerate(rows)]
    assert (whole("exact_match", *alone).method, whole("exact_match", *alone).clusters) == (
        "wilson", 6,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([("a", 1, 1.0, None), ("a", 2, 0.0, None), ("a", 3, None, "no_x")],
         "hit|interval:wilson(question_id,95%)|n:2|undefined:1|missing:0|data:data|ragstone:1"),
        ([("a", 1, None, "missing")],
         "hit|interval:none|n:0|undefined:0|missing:1|data:data|ragstone:1"),
    ],
)  # fmt: skip
def test_a_signature_says_how_the_number_was_made(rows: Any, said: str) -> None:
    assert whole("hit", *rows).signature == said
