"""What labels say alone."""

import numpy as np
import pytest
import statsmodels.api as sm
from scipy import stats
from statsmodels.stats.weightstats import DescrStatsW

from ragstone.stats import cluster_wilson, mean_interval, wilson
from ragstone.stats.correction.corrected import _with_t, effective_labels_of_rate
from ragstone.stats.correction.labels_only import (
    all_labelled,
    mean_of_labels,
    rate_of_labels,
    variance_of_labels,
    weighted_mean,
)
from ragstone.stats.correction.ppi_and_rogan_gladen import prediction_powered
from ragstone.stats.distributions import Interval, wilson_ends
from tests.stats.intervals import bounded_wilson, ends


def test_independent_labels_have_wilsons_interval_and_count_one_each() -> None:
    result = rate_of_labels([1] * 3 + [0] * 17).at(0.95)
    assert ends(result.interval) == ends(wilson(3, 20))
    assert result.effective_labels == pytest.approx(20)
    assert result.flags == ()


@pytest.mark.parametrize("successes", [0, 1, 25, 50])
def test_effective_labels_of_wilson_are_its_rows(successes: int) -> None:
    result = rate_of_labels([1] * successes + [0] * (50 - successes)).at(0.9)
    assert result.effective_labels == pytest.approx(50)


def test_clustered_labels_have_cluster_wilson() -> None:
    labels, clusters = [1, 1, 0, 0, 0, 1, 0, 1], [0, 0, 1, 1, 1, 2, 3, 3]
    result = rate_of_labels(labels, clusters=clusters).at(0.95)
    assert ends(result.interval) == pytest.approx(ends(cluster_wilson([2, 0, 1, 1], [2, 3, 1, 2])))
    assert set(result.flags) == {"few_labels", "few_clusters"}


def test_weighted_rate_by_hand() -> None:
    # 4 of weight 1, 2 of weight 4: rate (1 + 4) / 12.
    result = rate_of_labels([1, 0, 0, 0, 1, 0], weights=[1, 1, 1, 1, 4, 4]).at(0.95)
    assert result.value == pytest.approx(5 / 12)
    low, high = ends(result.interval)
    plain = ends(wilson(5, 12))
    assert low < plain[0] < plain[1] < high


LOPSIDED = [1.0] * 20 + [100.0]
KISH = 120**2 / (20 + 100**2)


def test_labels_of_unequal_weight_that_are_all_alike_count_as_kish_says() -> None:
    """One label of weight 100 among 20 of weight 1: Kish's 1.44 rows, one degree of freedom."""
    q = float(stats.t.ppf(0.975, 1))
    expected = wilson_ends(1.0, KISH, q)
    assert expected[0] == pytest.approx(0.009, abs=5e-4)
    ones = np.ones(21)
    for found in (
        rate_of_labels(ones, weights=LOPSIDED).at(0.95),
        mean_of_labels(ones, low=0, high=1, weights=LOPSIDED).at(0.95),
        prediction_powered(
            np.linspace(0, 1, 21), np.arange(21), ones, low=0, high=1, weights=LOPSIDED
        ).at(0.95),
    ):
        assert ends(found.interval) == pytest.approx(expected)


def test_clusters_of_unequal_size_that_are_all_alike_count_as_kish_says() -> None:
    expected = wilson_ends(1.0, KISH, float(stats.t.ppf(0.975, 1)))
    sums = np.array(LOPSIDED)
    clusters = np.repeat(np.arange(21), sums.astype(int))
    ones = np.ones(120)
    for interval in (
        cluster_wilson(sums, sums),
        bounded_wilson(sums, sums, sums, low=0, high=1),
        rate_of_labels(ones, clusters=clusters).at(0.95).interval,
        mean_of_labels(ones, low=0, high=1, clusters=clusters).at(0.95).interval,
    ):
        assert ends(interval) == pytest.approx(expected)


def test_mean_without_a_scale_is_students() -> None:
    labels = np.random.default_rng(1).normal(size=30)
    expected = DescrStatsW(labels).tconfint_mean()
    assert ends(mean_of_labels(labels).at(0.95).interval) == pytest.approx(expected)


def test_clustered_mean_has_the_cluster_robust_error_of_statsmodels() -> None:
    rng = np.random.default_rng(2)
    clusters = np.repeat(np.arange(12), 4)
    labels = rng.normal(size=12)[clusters] + rng.normal(size=48)
    fit = sm.OLS(labels, np.ones(48)).fit(
        cov_type="cluster", cov_kwds={"groups": clusters}, use_t=True
    )
    interval = mean_of_labels(labels, clusters=clusters).at(0.95).interval
    assert ends(interval) == pytest.approx(tuple(fit.conf_int()[0]))


def test_weighted_mean_has_the_robust_error_of_statsmodels() -> None:
    rng = np.random.default_rng(3)
    labels, weights = rng.normal(size=50), rng.uniform(1, 5, 50)
    fit = sm.WLS(labels, np.ones(50), weights=weights).fit(cov_type="HC1")
    sample = all_labelled(labels, weights, None, rate=False)
    assert weighted_mean(sample) == pytest.approx(fit.params[0])
    assert variance_of_labels(sample, weighted_mean(sample)) == pytest.approx(fit.bse[0] ** 2)


@pytest.mark.parametrize("clustered", [False, True])
def test_mean_on_a_scale_is_that_of_all_metrics(clustered: bool) -> None:
    rng = np.random.default_rng(4)
    labels = np.round(rng.beta(6, 1, 40), 2)
    clusters = np.arange(40) // 4 if clustered else np.arange(40)
    sums, counts, squares = (np.bincount(clusters, weights=labels**k) for k in (1, 0, 2))
    expected = mean_interval(sums, counts, squares, rate=False, low=0, high=1)
    named = clusters if clustered else None
    result = mean_of_labels(labels, low=0, high=1, clusters=named).at(0.95)
    assert ends(result.interval) == pytest.approx(ends(expected.interval))


def test_weighted_mean_on_a_scale_is_about_students_in_the_middle() -> None:
    rng = np.random.default_rng(5)
    labels, weights = rng.beta(3, 3, 400), rng.uniform(1, 3, 400)
    low, high = ends(mean_of_labels(labels, low=0, high=1, weights=weights).at(0.95).interval)
    free = ends(mean_of_labels(labels, weights=weights).at(0.95).interval)
    assert high - low == pytest.approx(free[1] - free[0], rel=0.02)


def test_equal_labels_on_a_scale_have_an_interval() -> None:
    result = mean_of_labels([3.0] * 25, low=1, high=5).at(0.95)
    low, high = ends(result.interval)
    assert 1 < low < 3 < high < 5
    assert result.effective_labels == pytest.approx(25)


def test_undefined_is_said() -> None:
    assert rate_of_labels([]).at(0.95).reason == "no_labels"
    assert mean_of_labels([]).at(0.95).reason == "no_labels"
    assert mean_of_labels([2.0, 2.0]).at(0.95).reason == "no_variation"
    one = rate_of_labels([1, 0], clusters=[5, 5]).at(0.95)
    assert (one.value, one.interval, one.reason) == (0.5, None, "one_cluster")


@pytest.mark.parametrize("n", [2, 3, 7])
def test_mean_of_a_few_labels_is_students_too(n: int) -> None:
    labels = np.random.default_rng(n).normal(size=n)
    sample = all_labelled(labels, None, None, rate=False)
    assert variance_of_labels(sample, labels.mean()) == pytest.approx(stats.sem(labels) ** 2)
    assert sample.spread == pytest.approx(labels.var(ddof=1))
    assert ends(mean_of_labels(labels).at(0.95).interval) == pytest.approx(
        DescrStatsW(labels).tconfint_mean()
    )


@pytest.mark.parametrize("n", [2, 3, 4, 5, 6, 7, 12, 300])
@pytest.mark.parametrize("level", [0.8, 0.95])
def test_effective_labels_of_a_mean_without_a_judge_are_its_labels(n: int, level: float) -> None:
    labels = np.random.default_rng(n).normal(size=n)
    assert mean_of_labels(labels).at(level).effective_labels == pytest.approx(n)


def test_what_tells_less_than_two_labels_is_worth_less_in_proportion() -> None:
    # Two clusters of three rows alike: a label varies by .3, the mean by .25.
    found = mean_of_labels([0.0] * 3 + [1.0] * 3, clusters=[0] * 3 + [1] * 3).at(0.95)
    assert found.effective_labels == pytest.approx(0.3 / 0.25)


def test_an_interval_that_is_hardly_wider_than_a_point_is_worth_any_number_of_labels() -> None:
    assert effective_labels_of_rate(0.0, Interval(0.0, 1e-200, 0.95, "wilson")) == np.inf


@pytest.mark.parametrize(
    ("low", "high", "method"),
    [(None, None, "t"), (0.0, None, "t"), (None, 1.0, "t"), (0.0, 1.0, "bounded_wilson")],
)
def test_a_mean_is_bounded_only_where_its_scale_has_both_ends(
    low: float | None, high: float | None, method: str
) -> None:
    interval = mean_of_labels([0.2, 0.4, 0.9, 0.5], low=low, high=high).at(0.95).interval
    assert interval is not None
    assert interval.method == method


@pytest.mark.parametrize("level", [0.2, 0.8, 0.95, 0.99])
@pytest.mark.parametrize("rows", [1.5, 2, 3, 8, 40, 700, 5000])
def test_effective_labels_have_a_t_interval_as_wide_as_the_rows_that_they_stand_for(
    rows: float, level: float
) -> None:
    upper = 0.5 + level / 2
    labels = _with_t(rows, upper)
    width = stats.t.ppf(upper, labels - 1) / np.sqrt(labels)
    assert width == pytest.approx(stats.norm.ppf(upper) / np.sqrt(rows), rel=1e-8)
