"""Nugget scores by hand, as the TREC 2024 RAG track defines them."""

from collections.abc import Sequence

import pytest

from ragstone.core.errors import InputError
from ragstone.judgements import Statements
from ragstone.metrics import Missing, NuggetScore, Score, Undefined, parse_metric
from ragstone.testing import rows, score_one

Nuggets = Sequence[tuple[str | None, str | None]]

FIVE: Nuggets = [
    ("full", "vital"),
    ("partial", "vital"),
    ("missing", "vital"),
    ("full", "okay"),
    ("partial", "okay"),
]


def nuggets(metric: str, given: Nuggets, reference: Sequence[int] = ()) -> Score:
    return score_one(
        parse_metric(metric),
        rows(
            Statements,
            reference=list(reference) or [0] * len(given),
            agreement=[agreement for agreement, _ in given],
            importance=[importance for _, importance in given],
        ),
    )


@pytest.mark.parametrize(
    ("metric", "expected"),
    [
        ("nugget_score", (1 + 0.5 + 0 + 1 + 0.5) / 5),
        ("nugget_score(strict=True)", (1 + 0 + 0 + 1 + 0) / 5),
        ('nugget_score(kind="vital")', (1 + 0.5 + 0) / 3),
        ('nugget_score(kind="vital", strict=True)', 1 / 3),
        ('nugget_score(kind="weighted")', (1 + 0.5 + 0 + 0.5 * (1 + 0.5)) / (3 + 0.5 * 2)),
        ('nugget_score(kind="weighted", strict=True)', (1 + 0 + 0 + 0.5 * 1) / (3 + 0.5 * 2)),
    ],
)
def test_vital_and_okay_nuggets_strict_and_not(metric: str, expected: float) -> None:
    assert nuggets(metric, FIVE) == pytest.approx(expected)


def test_a_contradicted_nugget_is_not_had() -> None:
    assert nuggets("nugget_score", [("contradicted", None), ("full", None)]) == 1 / 2


def test_all_nuggets_need_no_importance_and_are_the_coverage() -> None:
    given = [(agreement, None) for agreement, _ in FIVE]
    assert nuggets("nugget_score", given) == nuggets("answer_coverage", given) == pytest.approx(0.6)
    assert "importance" not in parse_metric("nugget_score").asks
    assert "importance" in parse_metric('nugget_score(kind="vital")').asks


def test_without_vital_nuggets_their_score_is_undefined_and_the_weighted_is_not() -> None:
    given = [("full", "okay"), ("missing", "okay")]
    assert nuggets('nugget_score(kind="vital")', given) == Undefined("no_vital_nugget")
    assert nuggets('nugget_score(kind="weighted")', given) == pytest.approx(1 / 2)
    assert nuggets("nugget_score", []) == Undefined("no_statements")


def test_only_what_could_change_the_score_has_to_be_known() -> None:
    vital = 'nugget_score(kind="vital")'
    assert nuggets(vital, [("full", "vital"), (None, "okay")]) == 1
    assert isinstance(nuggets(vital, [("full", "vital"), (None, "vital")]), Missing)
    assert isinstance(nuggets(vital, [("full", "vital"), ("full", None)]), Missing)
    weighted = nuggets('nugget_score(kind="weighted")', [("full", "vital"), (None, "okay")])
    assert isinstance(weighted, Missing)


def test_the_best_of_several_references_counts() -> None:
    assert nuggets("nugget_score", FIVE[:4], [0, 0, 1, 1]) == pytest.approx(1.5 / 2)


def test_there_are_three_kinds() -> None:
    with pytest.raises(InputError, match="must be all, vital or weighted"):
        parse_metric('nugget_score(kind="okay")')
    with pytest.raises(InputError, match="must be all, vital or weighted"):
        NuggetScore("okay")  # type: ignore[arg-type]
