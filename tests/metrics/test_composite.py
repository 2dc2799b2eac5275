"""Composites: arithmetic and harmonic, with parts that have no value."""

import pytest

from ragstone.judgements import Ratings, References
from ragstone.metrics import (
    SUITES,
    Composite,
    Missing,
    Range,
    Score,
    Undefined,
    parse_metric,
    suite_named,
)
from ragstone.metrics.composite import RagasHarmonic, component_metrics
from ragstone.testing import Rows, rows, score_frame, score_one

A, B = 'rating(criterion=\\"a\\")', 'rating(criterion=\\"b\\")'


def scored(text: str, **ratings: float | None) -> Score:
    return score_one(parse_metric(text), given(ratings))


def given(ratings: dict[str, float | None]) -> Rows:
    return rows(Ratings, criterion=list(ratings), score=list(ratings.values()))


@pytest.mark.parametrize(
    ("weights", "kind", "expected"),
    [
        (f"{A}:3 {B}:1", "arithmetic", (3 * 0.8 + 0.4) / 4),
        (f"{A}:3 {B}", "arithmetic", (3 * 0.8 + 0.4) / 4),
        (f"{A} {B}", "arithmetic", 0.6),
        (f"{A}:3 {B}:1", "harmonic", 4 / (3 / 0.8 + 1 / 0.4)),
        (f"{A} {B}", "harmonic", 2 / (1 / 0.8 + 1 / 0.4)),
        (f"{A}:0.5", "harmonic", 0.8),
    ],
)
def test_a_composite_weighs_its_parts(weights: str, kind: str, expected: float) -> None:
    score = scored(f'composite(weights="{weights}", kind="{kind}")', a=0.8, b=0.4)
    assert score == pytest.approx(expected)


def test_a_harmonic_composite_with_a_zero_is_exactly_zero() -> None:
    assert scored(f'composite(weights="{A} {B}", kind="harmonic")', a=0.0, b=1.0) == 0


def test_a_harmonic_composite_with_a_part_below_zero_is_zero_too() -> None:
    for missing in ("propagate", "renormalise"):
        metric = parse_metric(
            f'composite(weights="{A} semantic_similarity", kind="harmonic", missing="{missing}")'
        )
        opposite = rows(References, reference=[0], similarity=[-0.5])
        assert score_one(metric, given({"a": 1.0}), opposite) == 0
        if missing == "renormalise":
            assert score_one(metric, opposite) == 0


def test_a_composite_of_an_undefined_part_is_undefined_and_says_which() -> None:
    score = scored(f'composite(weights="{A} {B}")', a=0.8)
    assert isinstance(score, Undefined)
    assert score.reason.endswith(": not_rated")
    assert "b" in score.reason


def test_renormalising_divides_by_the_weight_present_and_notes_it() -> None:
    metric = parse_metric(f'composite(weights="{A}:3 {B}:1", missing="renormalise")')
    frame = score_frame(metric, [[rows(Ratings, criterion=["a"], score=[0.8])]])
    assert frame["value"].item() == pytest.approx(0.8)
    assert frame["reason"].item() == "components=1/2,weight_coverage=0.75"


def test_a_failed_judge_makes_a_composite_missing_or_leaves_the_weight_that_is_there() -> None:
    weights = f'weights="{A} {B}"'
    assert isinstance(scored(f"composite({weights})", a=0.8, b=None), Missing)
    renormalised = f'composite({weights}, missing="renormalise")'
    assert scored(renormalised, a=0.8, b=None) == pytest.approx(0.8)
    assert isinstance(scored(renormalised, a=None, b=None), Missing)


def test_the_range_of_a_composite_follows_from_its_components() -> None:
    mixed = parse_metric('composite(weights="faithfulness:1 semantic_similarity:3")')
    assert mixed.range == Range(-0.75, 1, "+")
    assert parse_metric('composite(weights="faithfulness hallucination")').range.better == "0"

    below = parse_metric('composite(weights="semantic_similarity faithfulness", kind="harmonic")')
    assert below.range == parse_metric("ragas_harmonic").range == Range(0, 1, "+")


@pytest.mark.parametrize("suite", SUITES)
def test_a_suite_hands_its_settings_to_the_parts_of_its_composites(suite: str) -> None:
    for setting in SUITES[suite].settings:
        value: object = tuple(0.25 for _ in setting.sets) if setting.each else 7
        made = SUITES[suite].with_settings({setting.name: value}).metrics()
        plain = {str(metric) for metric in SUITES[suite].metrics()} - set(map(str, made))
        for metric in made:
            if isinstance(metric, Composite):
                assert not plain & set(map(str, metric.components().values()))


def test_a_harmonic_score_is_made_of_as_many_questions_as_its_suite_asks() -> None:
    harmonic = suite_named("ragas(n=5)").metrics()[-1]
    assert isinstance(harmonic, RagasHarmonic)
    assert harmonic.terms == (
        ("faithfulness", 1), ("answer_relevance(n=5)", 1), ("context_precision", 1),
    )  # fmt: skip


def test_without_any_part_there_is_no_composite() -> None:
    score = score_one(parse_metric(f'composite(weights="{A} {B}", missing="renormalise")'))
    assert score == Undefined("no_component_defined")


def test_a_composite_of_means_has_no_score_of_its_own() -> None:
    assert score_one(parse_metric("ragas_harmonic")) == Undefined("over_data_set_means")


def test_parts_may_be_old_names_and_have_parameters() -> None:
    metric = parse_metric('composite(weights="precision_at_k(k=5):2 ragas_faithfulness:1")')
    assert parse_metric(str(metric)) == metric


def test_components_are_those_of_composites_over_means_each_once() -> None:
    assert component_metrics([parse_metric("exact_match")]) == []
    found = component_metrics([parse_metric("ragas_harmonic")] * 2)
    assert [str(metric) for metric in found] == [
        "faithfulness",
        "answer_relevance",
        "context_precision",
    ]
