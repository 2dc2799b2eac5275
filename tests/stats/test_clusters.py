"""Intervals for means and rates whose rows share clusters."""

from math import sqrt
from random import Random

import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

from ragstone.core.errors import InputError
from ragstone.stats import cluster_wilson, t_quantile, wilson
from ragstone.stats.cluster_means import effective_rows, read_clusters
from ragstone.stats.distributions import wilson_ends
from tests.stats.intervals import bounded_wilson, cluster_t_mean, ends

Floats = NDArray[np.float64]


@st.composite
def binary_clusters(draw: st.DrawFn) -> tuple[list[int], list[int]]:
    counts = draw(st.lists(st.integers(1, 9), min_size=2, max_size=30))
    return [draw(st.integers(0, n)) for n in counts], counts


@st.composite
def score_clusters(draw: st.DrawFn) -> tuple[list[float], list[int]]:
    counts = draw(st.lists(st.integers(1, 9), min_size=2, max_size=30))
    return [n * draw(st.floats(0, 1)) for n in counts], counts


def grouped(seed: int, sizes: list[int]) -> tuple[Floats, NDArray[np.int64]]:
    """Scores and the cluster of each row, with a shared part in every cluster."""
    rng = np.random.default_rng(seed)
    cluster = np.repeat(np.arange(len(sizes)), sizes)
    return rng.normal(size=len(sizes))[cluster] + rng.normal(size=len(cluster)), cluster


def ordinary_t(scores: Floats, level: float) -> tuple[float, float]:
    low, high = stats.t.interval(level, len(scores) - 1, scores.mean(), stats.sem(scores))
    return float(low), float(high)


def test_clusters_of_one_row_have_the_ordinary_t_interval() -> None:
    scores = np.random.default_rng(3).gamma(2, size=17)
    interval = cluster_t_mean(scores, np.ones(17), level=0.9)
    assert interval is not None
    assert interval.method == "t"
    assert ends(interval) == pytest.approx(ordinary_t(scores, 0.9))


def test_cluster_t_by_hand() -> None:
    # Means 1 and 3 of two rows each: residuals -2 and 2, variance 2/1 * 8/16 = 1.
    half = 12.706204736
    assert ends(cluster_t_mean([2, 6], [2, 2])) == pytest.approx((2 - half, 2 + half))


def test_equal_clusters_have_the_t_interval_of_their_means() -> None:
    means = np.random.default_rng(4).normal(size=12)
    assert ends(cluster_t_mean(means * 5, np.full(12, 5))) == pytest.approx(ordinary_t(means, 0.95))


@pytest.mark.parametrize("sizes", [[4] * 15, [1, 2, 3, 4, 5, 6, 7, 8], [1] * 20 + [30]])
def test_standard_error_is_the_cluster_robust_one_of_statsmodels(sizes: list[int]) -> None:
    """Its correction C / (C - 1) · (N - 1) / (N - k) is ours, for an intercept is k = 1.

    Its degrees of freedom, C - 1, are ours for clusters of equal size.
    """
    scores, cluster = grouped(5, sizes)
    fit = sm.OLS(scores, np.ones(len(scores))).fit(
        cov_type="cluster", cov_kwds={"groups": cluster}, use_t=True
    )
    interval = ends(cluster_t_mean(np.bincount(cluster, weights=scores), sizes))
    effective = sum(sizes) ** 2 / sum(n * n for n in sizes)
    half = (interval[1] - interval[0]) / 2
    assert sum(interval) / 2 == pytest.approx(fit.params[0])
    assert half / t_quantile(0.975, max(1, effective - 1)) == pytest.approx(fit.bse[0])
    if len(set(sizes)) == 1:
        assert interval == pytest.approx(tuple(fit.conf_int()[0]))


def test_t_interval_ends_at_the_range() -> None:
    assert ends(cluster_t_mean([1, 1, 0.5], [1, 1, 1], low=0, high=1))[1] == 1
    assert ends(cluster_t_mean([0, 0, 0.5], [1, 1, 1], low=0, high=1))[0] == 0


def test_one_cluster_cannot_tell() -> None:
    assert cluster_t_mean([2], [5]) is None
    assert cluster_wilson([2], [5]) is None
    assert cluster_wilson([], []) is None
    assert bounded_wilson([2], [5], [1], low=0, high=1) is None


@given(score_clusters(), st.floats(0.1, 10), st.floats(-5, 5))
def test_t_interval_moves_with_the_unit(
    clusters: tuple[list[float], list[int]], scale: float, shift: float
) -> None:
    sums, counts = np.array(clusters[0]), np.array(clusters[1])
    low, high = ends(cluster_t_mean(sums, counts))
    moved = ends(cluster_t_mean(scale * sums + shift * counts, counts))
    assert moved == pytest.approx((scale * low + shift, scale * high + shift), abs=1e-6)


@given(score_clusters(), st.randoms())
def test_order_of_clusters_does_not_matter(
    clusters: tuple[list[float], list[int]], random: Random
) -> None:
    pairs = list(zip(*clusters, strict=True))
    random.shuffle(pairs)
    sums, counts = zip(*pairs, strict=True)
    for interval in (cluster_t_mean, cluster_wilson):
        assert ends(interval(sums, counts)) == pytest.approx(ends(interval(*clusters)), abs=1e-9)


@given(binary_clusters())
def test_cluster_wilson_lies_in_the_range_and_holds_the_rate(
    clusters: tuple[list[int], list[int]],
) -> None:
    low, high = ends(cluster_wilson(*clusters))
    assert 0 <= low <= sum(clusters[0]) / sum(clusters[1]) <= high <= 1
    assert low < high


@given(binary_clusters())
def test_cluster_wilson_is_never_narrower_than_wilson(
    clusters: tuple[list[int], list[int]],
) -> None:
    low, high = ends(cluster_wilson(*clusters))
    plain = ends(wilson(sum(clusters[0]), sum(clusters[1])))
    assert high - low >= plain[1] - plain[0] - 1e-12


@given(binary_clusters())
def test_failures_have_the_mirrored_interval(clusters: tuple[list[int], list[int]]) -> None:
    low, high = ends(cluster_wilson(*clusters))
    failures = [n - s for s, n in zip(*clusters, strict=True)]
    mirrored = ends(cluster_wilson(failures, clusters[1]))
    assert mirrored == pytest.approx((1 - high, 1 - low), abs=1e-12)


def test_rows_of_a_rate_of_0_are_worth_one_a_cluster() -> None:
    # Wilson's upper end at 0 of n is q² / (n + q²).
    q = float(stats.t.ppf(0.975, 39))
    assert ends(cluster_wilson([0] * 40, [5] * 40)) == pytest.approx((0, q * q / (40 + q * q)))


def test_clusters_that_agree_inside_are_worth_one_row_each() -> None:
    q, n = float(stats.t.ppf(0.975, 9999)), 10_000
    expected = sqrt(0.25 / n) * q
    low, high = ends(cluster_wilson([0, 8] * (n // 2), [8] * n))
    assert (high - low) / 2 == pytest.approx(expected, rel=1e-3)


def test_many_independent_rows_have_nearly_the_plain_interval() -> None:
    rng = np.random.default_rng(9)
    sums = rng.binomial(3, 0.3, size=20_000)
    low, high = ends(cluster_wilson(sums, np.full(20_000, 3)))
    plain = ends(wilson(int(sums.sum()), 60_000))
    assert high - low == pytest.approx(plain[1] - plain[0], rel=0.03)


@pytest.mark.parametrize(
    ("sums", "counts"), [([1, 2], [1]), ([1, float("nan")], [1, 1]), ([1, 2], [1, 0])]
)
def test_what_are_no_clusters_is_refused(sums: list[float], counts: list[float]) -> None:
    with pytest.raises(InputError, match="one shape"):
        cluster_t_mean(sums, counts)


def test_more_successes_than_rows_are_refused() -> None:
    for sums in ([3, 0], [-1, 0]):
        with pytest.raises(InputError, match="Successes"):
            cluster_wilson(sums, [2, 2])


def test_bounded_wilson_by_hand() -> None:
    # Mean 1/2, s² = 1/6, q = 2/3; V = 3/2 · 1/2; effect = (3/4 + 1/3) / (1/2 + 1/3) = 1.3.
    clusters = read_clusters([0, 0.5, 1], [1, 1, 1], [0, 0.25, 1]).moments
    assert effective_rows(clusters) == pytest.approx(3 / (1.3 * 2 / 3))
    interval = bounded_wilson([0, 0.5, 1], [1, 1, 1], [0, 0.25, 1], low=0, high=1)
    q = float(stats.t.ppf(0.975, 2))
    assert ends(interval) == pytest.approx(wilson_ends(0.5, 3 / (1.3 * 2 / 3), q))


def test_twice_the_same_score_a_cluster_is_worth_one_row_a_cluster() -> None:
    # As above with n̄ = 2: V = 3/2 · 2, effect = (3 + 4/3) / (1 + 2/3) = 2.6, twice 1.3.
    clusters = read_clusters([0, 1, 2], [2, 2, 2], [0, 0.5, 2]).moments
    assert effective_rows(clusters) == pytest.approx(6 / (2.6 * 2 / 3))


@given(binary_clusters())
def test_scores_of_0_and_1_have_the_interval_of_a_rate(
    clusters: tuple[list[int], list[int]],
) -> None:
    bounded = ends(bounded_wilson(*clusters, clusters[0], low=0, high=1))
    assert bounded == pytest.approx(ends(cluster_wilson(*clusters)), abs=1e-12)


@st.composite
def rows_in_clusters(draw: st.DrawFn) -> list[Floats]:
    scores = st.lists(st.sampled_from([0, 0.1, 0.25, 0.5, 0.9, 1]), min_size=1, max_size=6)
    return [np.array(rows) for rows in draw(st.lists(scores, min_size=2, max_size=20))]


def bounded_ends(rows: list[Floats], low: float = 0, high: float = 1) -> tuple[float, float]:
    counts = [len(one) for one in rows]
    sums, squares = [one.sum() for one in rows], [(one * one).sum() for one in rows]
    return ends(bounded_wilson(sums, counts, squares, low=low, high=high))


@given(rows_in_clusters())
def test_bounded_wilson_lies_in_the_range_and_holds_the_mean(rows: list[Floats]) -> None:
    low, high = bounded_ends(rows)
    mean = float(np.concatenate(rows).mean())
    assert 0 <= low <= mean + 1e-12
    assert mean - 1e-12 <= high <= 1
    assert high - low > 1e-6


@given(rows_in_clusters())
def test_bounded_wilson_is_mirrored_and_stretched_with_its_range(rows: list[Floats]) -> None:
    low, high = bounded_ends(rows)
    assert bounded_ends([1 - one for one in rows]) == pytest.approx((1 - high, 1 - low), abs=1e-9)
    moved = bounded_ends([4 * one + 1 for one in rows], 1, 5)
    assert moved == pytest.approx((4 * low + 1, 4 * high + 1), abs=1e-9)


def test_far_from_the_ends_bounded_wilson_is_nearly_the_t_interval() -> None:
    rng = np.random.default_rng(2)
    own = np.repeat(rng.normal(0.5, 0.1, size=300), 4)
    rows = np.clip(own + rng.normal(scale=0.1, size=1200), 0, 1).reshape(300, 4)
    sums, counts, squares = rows.sum(axis=1), np.full(300, 4), (rows**2).sum(axis=1)
    expected = ends(cluster_t_mean(sums, counts))
    width = expected[1] - expected[0]
    found = ends(bounded_wilson(sums, counts, squares, low=0, high=1))
    assert found == pytest.approx(expected, abs=0.01 * width)


def test_alike_to_rounding_is_one_row_a_cluster() -> None:
    rows = [np.array([0.1 + 0.2, 0.3]), np.array([0.3, 0.3]), np.array([0.3])]
    exact = [np.array([0.3, 0.3]), np.array([0.3, 0.3]), np.array([0.3])]
    assert bounded_ends(rows) == pytest.approx(bounded_ends(exact))


def correlated_rates(
    rng: np.random.Generator, draws: int, sizes: NDArray[np.int64], rate: float, icc: float
) -> NDArray[np.int64]:
    """Successes of each cluster, whose own rates vary so that rows correlate by ``icc``."""
    spread = (1 - icc) / icc
    own = rng.beta(rate * spread, (1 - rate) * spread, size=(draws, len(sizes)))
    return rng.binomial(sizes, own)


UNEQUAL = np.repeat([1, 2, 5, 20], [15, 10, 10, 5])


@pytest.mark.parametrize(
    ("sizes", "rate", "icc"),
    [
        (np.full(40, 5), 0.02, 0.33),
        (np.full(40, 5), 0.1, 0.33),
        (np.full(40, 5), 0.5, 0.33),
        (np.full(80, 3), 0.05, 0.33),
        (np.full(10, 3), 0.3, 0.1),
        (UNEQUAL, 0.1, 0.33),
    ],
)
def test_cluster_wilson_holds_the_true_rate(
    sizes: NDArray[np.int64], rate: float, icc: float
) -> None:
    draws = 1500
    successes = correlated_rates(np.random.default_rng(7), draws, sizes, rate, icc)
    held = sum(
        low <= rate <= high for low, high in (ends(cluster_wilson(s, sizes)) for s in successes)
    )
    assert held / draws >= 0.92


@pytest.mark.parametrize("sizes", [np.full(40, 5), np.full(10, 3), UNEQUAL])
def test_cluster_t_holds_the_true_mean(sizes: NDArray[np.int64]) -> None:
    draws, rng = 1500, np.random.default_rng(8)
    shared = rng.normal(scale=0.7, size=(draws, len(sizes)))
    sums = sizes * shared + np.sqrt(sizes) * rng.normal(size=(draws, len(sizes)))
    held = sum(low <= 0 <= high for low, high in (ends(cluster_t_mean(s, sizes)) for s in sums))
    assert held / draws >= 0.92


@pytest.mark.parametrize(("a", "b"), [(8, 1), (4, 0.5), (0.5, 5)])
@pytest.mark.parametrize("n", [5, 8, 20])
def test_a_mean_of_few_skewed_scores_is_held(a: float, b: float, n: int) -> None:
    samples = np.random.default_rng(1).beta(a, b, (600, n))
    held = []
    for rows in samples:
        found = bounded_wilson(rows, np.ones(n), rows * rows, low=0, high=1)
        assert found is not None
        held.append(found.low <= a / (a + b) <= found.high)
    assert np.mean(held) >= 0.93


def test_rows_near_an_end_count_for_less_and_those_in_the_middle_as_they_are() -> None:
    # m = .9, s² = .01, N = 4: effect = (.16/3 + h q) / (.04 + h q), q = 1/9, h = 1/2.
    rows = np.array([0.8, 0.8, 1.0, 1.0])
    q, distant = 1 / 9, 0.5 * 0.8**2
    independent = 4 / ((0.16 / 3 + 0.5 * q) / (0.04 + 0.5 * q))
    expected = independent * (independent + distant) / (independent * q + distant)
    assert effective_rows(read_clusters(rows, np.ones(4), rows**2).moments) == pytest.approx(
        expected
    )
