"""Kappa of a judge with people, beside scikit-learn, and its interval."""

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score, confusion_matrix

from ragstone.stats import wilson
from ragstone.stats.agreement.coefficients import DisagreementScale, kappa_with_interval
from ragstone.stats.agreement.ratings import AgreementCoefficient

RNG = np.random.default_rng(1)
PEOPLE = RNG.integers(0, 4, 300)
JUDGE = np.clip(PEOPLE + RNG.integers(-1, 2, 300), 0, 3)


@pytest.mark.parametrize("disagreement", ["nominal", "quadratic"])
def test_kappa_is_that_of_scikit_learn(disagreement: DisagreementScale) -> None:
    weights = None if disagreement == "nominal" else disagreement
    expected = cohen_kappa_score(PEOPLE, JUDGE, weights=weights)
    result = kappa_with_interval(JUDGE, PEOPLE, disagreement=disagreement)
    assert result.value == pytest.approx(expected)
    assert result.interval is not None
    assert result.interval.low < expected < result.interval.high


def test_interval_of_kappa_is_about_that_of_its_large_sample_error() -> None:
    """Fleiss, Cohen & Everitt (1969), for κ from one table of 300 rows."""
    judge, people = JUDGE > 1, PEOPLE > 1
    table = confusion_matrix(people, judge) / 300
    rows, columns = table.sum(axis=1), table.sum(axis=0)
    expected, kappa = float(rows @ columns), cohen_kappa_score(people, judge)
    a = sum(table[i, i] * (1 - (rows[i] + columns[i]) * (1 - kappa)) ** 2 for i in (0, 1))
    b = sum(table[i, 1 - i] * ((columns[i] + rows[1 - i]) * (1 - kappa)) ** 2 for i in (0, 1))
    c = (kappa - expected * (1 - kappa)) ** 2
    error = np.sqrt((a + b - c) / 300) / (1 - expected)
    interval = kappa_with_interval(judge, people).interval
    assert interval is not None
    assert interval.high - interval.low == pytest.approx(3.92 * error, rel=0.06)


def test_kappa_of_clusters_has_a_wider_interval_and_the_same_value() -> None:
    many = np.repeat(JUDGE[:40], 5), np.repeat(PEOPLE[:40], 5)
    alone = kappa_with_interval(*many)
    shared = kappa_with_interval(*many, clusters=np.repeat(np.arange(40), 5))
    assert alone.value == shared.value
    assert alone.interval is not None
    assert shared.interval is not None
    assert shared.interval.method == "linearised_wilson"
    width = shared.interval.high - shared.interval.low
    assert width > 1.7 * (alone.interval.high - alone.interval.low)


def test_kappa_without_variation_or_rows_is_undefined() -> None:
    assert kappa_with_interval([1, 1], [1, 1]) == AgreementCoefficient(None, "no_variation", 2)
    assert kappa_with_interval([], []) == AgreementCoefficient(None, "no_pairs", 0)
    words = kappa_with_interval(["a", "b"], ["a", "b"], disagreement="quadratic")
    assert (words.value, words.reason) == (None, "not_numbers")


@pytest.mark.parametrize("disagreement", ["nominal", "quadratic"])
def test_where_judge_and_people_always_agree_the_interval_has_width(
    disagreement: DisagreementScale,
) -> None:
    # Half 1, half 0: chance is 1/2, so the end is twice as far from 1 as Wilson's.
    found = kappa_with_interval([1, 0] * 15, [1, 0] * 15, disagreement=disagreement)
    low = wilson(30, 30)
    assert low is not None
    assert (found.value, found.n) == (1, 30)
    assert found.interval is not None
    assert found.interval.low == pytest.approx(1 - 2 * (1 - low.low))
    assert found.interval.high == 1


def test_gaps_are_left_out() -> None:
    assert kappa_with_interval([1, 0, None, 1], [1, 0, 1, None]).n == 2


def test_draws_in_which_both_always_say_the_same_are_draws_of_full_agreement() -> None:
    # The judge always says 0, people once 1: kappa is 0, but (29 / 30)^30 = .36 of the draws lack
    # that row, and there both say nothing but 0.
    found = kappa_with_interval(np.zeros(30), [1.0] + [0.0] * 29, clusters=range(30))
    assert found.value == 0
    assert found.interval is not None
    assert (found.interval.low, found.interval.high) == (0, 1)
