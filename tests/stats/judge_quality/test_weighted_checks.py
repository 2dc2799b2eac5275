"""A judge against people whose units were drawn with unequal chances: each counts as so many."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.stats import kendalltau, spearmanr
from sklearn.metrics import cohen_kappa_score, roc_auc_score

from ragstone.stats.agreement.coefficients import kappa_with_interval
from ragstone.stats.judge_quality.bias_and_calibration import (
    bias_along,
    bias_by_group,
    calibration_error,
)
from ragstone.stats.judge_quality.confusion import best_threshold, confusion
from ragstone.stats.judge_quality.rank_measures import auroc_interval, kendall, spearman

RNG = np.random.default_rng(3)
WEIGHTS = RNG.integers(1, 6, 80)
PEOPLE = RNG.integers(0, 4, 80)
JUDGE = np.clip(PEOPLE + RNG.integers(-1, 2, 80), 0, 3)
TRUE = (PEOPLE > 1).astype(np.int64)
SCORES = np.round(RNG.normal(size=80) + TRUE, 1)
LIKELY = np.round(1 / (1 + np.exp(-SCORES)), 2)
CLUSTERS = np.arange(80) // 2


def test_sensitivity_and_specificity_by_hand() -> None:
    found = confusion([1, 0, 1, 0], [1, 1, 0, 0], weights=[1, 3, 1, 4])
    assert found.sensitivity is not None
    assert found.specificity is not None
    assert found.precision is not None
    values = [one.value for one in (found.sensitivity, found.specificity, found.precision)]
    assert values == pytest.approx([1 / 4, 4 / 5, 1 / 2])
    assert found.accuracy.value == pytest.approx(5 / 9)
    assert found.counts == ((1, 1), (1, 1))


def test_kappa_is_that_of_scikit_learn_with_sample_weights() -> None:
    for disagreement, weights in (("nominal", None), ("quadratic", "quadratic")):
        found = kappa_with_interval(JUDGE, PEOPLE, disagreement=disagreement, weights=WEIGHTS)  # type: ignore[arg-type]
        expected = cohen_kappa_score(JUDGE, PEOPLE, weights=weights, sample_weight=WEIGHTS)
        assert found.value == pytest.approx(expected)
        assert found.interval is not None
        assert found.interval.low < expected < found.interval.high


def test_auroc_is_that_of_scikit_learn_with_sample_weights() -> None:
    found = auroc_interval(SCORES, TRUE, weights=WEIGHTS)
    assert found.value == pytest.approx(roc_auc_score(TRUE, SCORES, sample_weight=WEIGHTS))


def test_rank_correlations_are_those_of_rows_repeated() -> None:
    x, y = (np.repeat(one, WEIGHTS) for one in (JUDGE, SCORES))
    assert spearman(JUDGE, SCORES, weights=WEIGHTS).value == pytest.approx(spearmanr(x, y)[0])
    assert kendall(JUDGE, SCORES, weights=WEIGHTS).value == pytest.approx(kendalltau(x, y)[0])


def test_best_threshold_is_that_of_rows_repeated() -> None:
    found = best_threshold(SCORES, TRUE, weights=WEIGHTS, criterion="youden")
    repeated = best_threshold(
        np.repeat(SCORES, WEIGHTS), np.repeat(TRUE, WEIGHTS), criterion="youden"
    )
    assert found.value == repeated.value
    assert found.in_sample == pytest.approx(repeated.in_sample)
    few = [1, 2, 3, 4], [0, 1, 0, 1]
    weighed = best_threshold(*few, weights=[1, 1, 5, 1], criterion="youden")
    assert weighed.value == 3.5
    assert weighed.in_sample == pytest.approx(1 / 2)
    assert best_threshold(*few, criterion="youden").value == 1.5


def test_calibration_error_by_hand() -> None:
    found = calibration_error([0.2, 0.2, 0.8, 0.8], [0, 1, 1, 1], weights=[3, 1, 2, 2])
    assert found.value == pytest.approx((4 * abs(0.2 - 1 / 4) + 4 * abs(0.8 - 1)) / 8)
    by_chance = (np.sqrt(0.16 / 1.6) + np.sqrt(0.16 / 2)) / 2 * np.sqrt(2 / np.pi)
    assert found.by_chance == pytest.approx(by_chance)


def test_bias_by_hand() -> None:
    (one, two) = bias_by_group([1, 0, 0, -1], list("aabb"), low=-1, high=1, weights=[3, 1, 1, 1])
    assert (one.value, two.value) == pytest.approx((3 / 4, -1 / 2))
    parts = bias_along([1, 0, 0], [1, 2, 3], low=-1, high=1, weights=[4, 1, 1])
    assert [one.group for one in parts] == [(1, 1), (2, 3)]


FIGURES: dict[str, Callable[..., Any]] = {
    "confusion": lambda **more: confusion(TRUE ^ (SCORES > 1.5), TRUE, **more),
    "kappa": lambda **more: kappa_with_interval(JUDGE, PEOPLE, **more),
    "auroc": lambda **more: auroc_interval(SCORES, TRUE, **more),
    "spearman": lambda **more: spearman(JUDGE, PEOPLE, **more),
    "kendall": lambda **more: kendall(JUDGE, PEOPLE, **more),
    "threshold": lambda **more: best_threshold(SCORES, TRUE, **more),
    "error": lambda **more: calibration_error(LIKELY, TRUE, **more),
    "bias": lambda **more: bias_along(JUDGE - PEOPLE, SCORES, **more),
}


@pytest.mark.parametrize("clusters", [None, CLUSTERS])
@pytest.mark.parametrize("name", FIGURES)
def test_equal_weights_change_nothing(name: str, clusters: Any) -> None:
    figure = FIGURES[name]
    assert figure(clusters=clusters, weights=np.full(80, 7.0)) == figure(clusters=clusters)


@pytest.mark.parametrize("name", ["kappa", "auroc", "spearman", "kendall", "threshold", "error"])
def test_rows_that_repeat_inside_a_cluster_are_as_one_of_their_weight(name: str) -> None:
    """Four copies of a row in a cluster tell as much as one row of the same weight."""
    copies: dict[str, Callable[..., Any]] = {
        "kappa": lambda **more: kappa_with_interval(JUDGE.repeat(4), PEOPLE.repeat(4), **more),
        "auroc": lambda **more: auroc_interval(SCORES.repeat(4), TRUE.repeat(4), **more),
        "spearman": lambda **more: spearman(JUDGE.repeat(4), PEOPLE.repeat(4), **more),
        "kendall": lambda **more: kendall(JUDGE.repeat(4), PEOPLE.repeat(4), **more),
        "threshold": lambda **more: best_threshold(SCORES.repeat(4), TRUE.repeat(4), **more),
        "error": lambda **more: calibration_error(LIKELY.repeat(4), TRUE.repeat(4), **more),
    }
    four = copies[name](weights=WEIGHTS.repeat(4), clusters=np.arange(80).repeat(4))
    once = FIGURES[name](weights=WEIGHTS)
    widths = [one.interval.high - one.interval.low for one in (once, four)]
    assert widths[1] == pytest.approx(widths[0], rel=0.12)


def test_intervals_hold_the_whole_from_a_stratified_sample() -> None:
    """Half of the labels from a fifth of the rows: the judge's yes. Unweighted misses it."""
    rng = np.random.default_rng(5)
    judge = (np.arange(20_000) < 4_000).astype(np.int64)
    people = np.where(judge == 1, rng.random(20_000) < 0.8, rng.random(20_000) < 0.2)
    negatives = people == 0
    truth = {
        "specificity": float((judge[negatives] == 0).mean()),
        "kappa": float(cohen_kappa_score(judge, people)),
    }
    held = {name: [0, 0] for name in truth}
    for _ in range(150):
        picked = np.concatenate([rng.choice(4_000, 100), 4_000 + rng.choice(16_000, 100)])
        rows = judge[picked], people[picked].astype(np.int64)
        for at, weights in enumerate((np.repeat([40.0, 160.0], 100), None)):
            found = confusion(*rows, weights=weights).specificity
            kappa = kappa_with_interval(*rows, weights=weights, resamples=400)
            assert found is not None
            for name, one in (("specificity", found.interval), ("kappa", kappa.interval)):
                assert one is not None
                held[name][at] += one.low <= truth[name] <= one.high
    assert min(weighed for weighed, _ in held.values()) >= 0.92 * 150
    assert held["specificity"][1] <= 0.1 * 150
