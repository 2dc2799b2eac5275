"""Intervals for one sum over another."""

import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from ragstone.core.errors import InputError
from ragstone.stats import t_quantile
from ragstone.stats.bootstrap import RatioEstimate, ratio_of_sums
from tests.stats.intervals import bounded_wilson, cluster_t_mean, ends

Floats = NDArray[np.float64]


def costs(clusters: int) -> tuple[Floats, Floats]:
    """Cost and answers of each question; those of many answers cost more."""
    rng = np.random.default_rng(3)
    answers = rng.integers(1, 6, size=clusters).astype(float)
    return rng.gamma(2, answers), answers


def test_ratio_by_hand() -> None:
    # R = 8/4 = 2; residuals 2 - 4 and 6 - 4 are -2 and 2: variance 2/1 · 8/16 = 1.
    half = 12.706204736
    estimate = ratio_of_sums([2, 6], [2, 2])
    assert estimate.value == 2
    assert ends(estimate.interval) == pytest.approx((2 - half, 2 + half))
    assert estimate.interval is not None
    assert estimate.interval.method == "ratio_delta"


@pytest.mark.parametrize("clusters", [5, 40, 300])
def test_standard_error_is_that_of_a_weighted_regression_in_statsmodels(clusters: int) -> None:
    """The ratio is the mean of the clusters' ratios, weighted by their denominators."""
    a, b = costs(clusters)
    fit = sm.WLS(a / b, np.ones(clusters), weights=b).fit(cov_type="HC1")
    estimate = ratio_of_sums(a, b)
    low, high = ends(estimate.interval)
    quantile = t_quantile(0.975, b.sum() ** 2 / (b @ b) - 1)
    assert estimate.value == pytest.approx(fit.params[0])
    assert (high - low) / 2 / quantile == pytest.approx(fit.bse[0])


def test_many_clusters_have_nearly_the_standard_error_of_the_jackknife() -> None:
    a, b = costs(400)
    without = (a.sum() - a) / (b.sum() - b)
    jackknife = np.sqrt(399 / 400 * ((without - without.mean()) ** 2).sum())
    low, high = ends(ratio_of_sums(a, b).interval)
    assert (high - low) / 2 / 1.966 == pytest.approx(jackknife, rel=0.02)


def test_counts_of_rows_below_give_the_mean() -> None:
    a, b = costs(30)
    assert ends(ratio_of_sums(a, b).interval) == pytest.approx(ends(cluster_t_mean(a, b)))


def test_ratio_in_a_range_is_the_mean_of_equal_rows() -> None:
    own = np.array([0, 0.25, 0.5, 1])
    ratio = ratio_of_sums(own * 8, [8, 8, 8, 8], low=0, high=1)
    assert ends(ratio.interval) == pytest.approx(
        ends(bounded_wilson(own, [1, 1, 1, 1], own**2, low=0, high=1))
    )


@given(
    st.lists(
        st.tuples(st.sampled_from([0, 0.2, 0.5, 1]), st.integers(1, 30)), min_size=2, max_size=20
    ),
    st.sampled_from([0.001, 1, 250]),
)
def test_ratio_in_a_range_stays_there_whatever_the_unit_and_is_never_a_point(
    clusters: list[tuple[float, int]], unit: float
) -> None:
    a = np.array([share * size for share, size in clusters])
    b = np.array([size for _, size in clusters])
    estimate = ratio_of_sums(a, b, low=0, high=1)
    low, high = ends(estimate.interval)
    assert estimate.value is not None
    assert 0 <= low <= estimate.value + 1e-12
    assert estimate.value - 1e-12 <= high <= 1
    assert high - low > 1e-6
    assert ends(ratio_of_sums(unit * a, unit * b, low=0, high=1).interval) == pytest.approx(
        (low, high), abs=1e-9
    )


def test_nothing_below_is_undefined() -> None:
    assert ratio_of_sums([], []) == RatioEstimate(None, None, 0)
    assert ratio_of_sums([0, 0], [0, 0], low=0, high=1) == RatioEstimate(None, None, 0)


def test_too_few_or_too_like_clusters_have_no_interval() -> None:
    for estimate in (ratio_of_sums([1], [2]), ratio_of_sums([1, 0], [2, 0], low=0, high=1)):
        assert estimate == RatioEstimate(0.5, None, 1)
    estimate = ratio_of_sums([0.1, 0.3], [1, 3])
    assert estimate.value == pytest.approx(0.1)
    assert estimate.interval is None


def test_cost_without_an_answer_counts() -> None:
    estimate = ratio_of_sums([4, 2, 3], [0, 2, 1])
    assert (estimate.value, estimate.clusters) == (3, 3)


def test_wrong_input_is_refused() -> None:
    with pytest.raises(InputError, match="cannot have means"):
        ratio_of_sums([4, 1], [2, 2], low=0, high=1)
    with pytest.raises(InputError, match="level"):
        ratio_of_sums([1, 2], [2, 2], level=95)
