"""How often intervals hold the truth: Wilson by exact enumeration, the others by drawing."""

from collections.abc import Callable
from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from ragstone.stats import Interval, cluster_wilson, mean_interval, wilson
from ragstone.stats.bootstrap import ratio_of_sums
from tests.stats.intervals import cluster_t_mean

Floats = NDArray[np.float64]
Rows = Callable[[np.random.Generator, NDArray[np.int64]], Floats]

SIZES = range(50, 301)


@cache
def wilson_of_all(n: int) -> Floats:
    """The ends for 0 to n successes, shape (n + 1, 2)."""
    intervals = [wilson(successes, n) for successes in range(n + 1)]
    return np.array([(one.low, one.high) for one in intervals if one is not None])


@pytest.mark.parametrize("rate", [0.02, 0.05, 0.3, 0.7, 0.97])
def test_wilson_holds_a_rate_at_every_size_and_as_often_as_it_says_on_the_mean(rate: float) -> None:
    coverage = []
    for n in SIZES:
        low, high = wilson_of_all(n).T
        held = np.flatnonzero((low <= rate) & (rate <= high))
        coverage.append(stats.binom.pmf(held, n, rate).sum())
    assert min(coverage) >= 0.915
    assert 0.945 <= np.mean(coverage) <= 0.96


def share_that_holds(intervals: list[Interval | None], truth: float) -> float:
    given = [one for one in intervals if one is not None]
    assert len(given) == len(intervals)
    assert all(one.low < one.high for one in given)
    return sum(one.low <= truth <= one.high for one in given) / len(given)


@pytest.mark.parametrize(
    ("rate", "least"),
    [
        *((rate, 0.935) for rate in (0.3, 0.4, 0.5, 0.6, 0.7)),
        *((rate, 0.90) for rate in (0.02, 0.05, 0.1, 0.9, 0.95, 0.98)),
    ],
)
def test_five_answers_to_each_of_forty_questions_are_fewer_rows_than_they_seem(
    rate: float, least: float
) -> None:
    """Each question has its own rate, so that its answers correlate by .33."""
    rng, spread, five = np.random.default_rng(40), 0.67 / 0.33, np.full(40, 5)
    own = rng.beta(rate * spread, (1 - rate) * spread, size=(1500, 40))
    drawn = rng.binomial(5, own)
    clustered = [mean_interval(sums, five, rate=True, low=0, high=1).interval for sums in drawn]
    by_row = [wilson(float(sums.sum()), 200) for sums in drawn]
    assert share_that_holds(clustered, rate) >= least
    assert share_that_holds(by_row, rate) <= 0.88


def mostly_1(rng: np.random.Generator, cluster: NDArray[np.int64]) -> Floats:
    """19 of 20 questions score 1 in every row, the rest uniformly below it: .975."""
    perfect = rng.random(cluster.max() + 1) < 0.95
    return np.where(perfect[cluster], 1, rng.random(len(cluster)))


def about_07(rng: np.random.Generator, cluster: NDArray[np.int64]) -> Floats:
    """Rows around their question's own mean: .7."""
    own = rng.beta(7, 3, size=cluster.max() + 1)[cluster]
    return np.asarray(rng.beta(6 * own, 6 * (1 - own)))


UNEQUAL = np.repeat([1, 2, 5, 20], [15, 10, 10, 5])


@pytest.mark.parametrize(
    ("rows", "truth", "sizes", "least"),
    [
        (mostly_1, 0.975, np.full(40, 5), 0.94),
        (mostly_1, 0.975, np.full(80, 3), 0.94),
        (mostly_1, 0.975, np.full(10, 3), 0.94),
        (mostly_1, 0.975, np.ones(200, int), 0.93),
        (mostly_1, 0.975, UNEQUAL, 0.92),
        (about_07, 0.7, np.full(40, 5), 0.935),
        (about_07, 0.7, np.full(10, 3), 0.935),
        (about_07, 0.7, np.ones(30, int), 0.93),
        (about_07, 0.7, UNEQUAL, 0.91),
    ],
)
def test_mean_of_scores_in_a_range_is_held(
    rows: Rows, truth: float, sizes: NDArray[np.int64], least: float
) -> None:
    rng, cluster = np.random.default_rng(41), np.repeat(np.arange(len(sizes)), sizes)
    intervals = []
    for _ in range(1000):
        scores = rows(rng, cluster)
        sums, squares = (np.bincount(cluster, one) for one in (scores, scores**2))
        estimate = mean_interval(sums, sizes, squares, rate=False, low=0, high=1)
        intervals.append(estimate.interval)
    assert share_that_holds(intervals, truth) >= least


def test_t_misses_the_mean_of_scores_that_are_mostly_1_where_questions_differ_in_size() -> None:
    rng, cluster = np.random.default_rng(41), np.repeat(np.arange(len(UNEQUAL)), UNEQUAL)
    sums = [np.bincount(cluster, mostly_1(rng, cluster)) for _ in range(600)]
    intervals = [cluster_t_mean(one, UNEQUAL, low=0, high=1) for one in sums]
    varied = [one for one in intervals if one is not None and one.low < one.high]
    assert share_that_holds(list(varied), 0.975) < 0.8


@pytest.mark.parametrize("rate", [0.05, 0.7, 0.95])
@pytest.mark.parametrize("questions", [10, 40])
def test_share_of_all_claims_is_held(rate: float, questions: int) -> None:
    """1 to 9 claims an answer, which resemble each other."""
    rng, spread = np.random.default_rng(42), 0.67 / 0.33
    intervals = []
    for _ in range(800):
        claims = rng.integers(1, 10, size=questions)
        own = rng.beta(rate * spread, (1 - rate) * spread, size=questions)
        ratio = ratio_of_sums(rng.binomial(claims, own), claims, low=0, high=1)
        intervals.append(ratio.interval)
    assert share_that_holds(intervals, rate) >= 0.92


def test_cluster_wilson_at_one_row_a_question_holds_as_wilson_does() -> None:
    rng = np.random.default_rng(43)
    drawn = rng.random((1000, 100)) < 0.1
    intervals = [cluster_wilson(rows, np.ones(100)) for rows in drawn]
    assert share_that_holds(intervals, 0.1) >= 0.92
