"""Paired differences: their intervals, and how many pairs they need."""

import numpy as np
import pytest
from scipy import stats
from statsmodels.regression.linear_model import OLS

from ragstone.core.errors import InputError
from ragstone.stats.comparison.differences import newcombe_paired
from ragstone.stats.comparison.paired import PairedDifference, needed_pairs, paired_difference
from tests.stats.intervals import ends


def of_pairs(a: object, b: object, *, rate: bool = False, level: float = 0.95) -> PairedDifference:
    first, second = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    ones = np.ones(len(first))
    return paired_difference(first, second, ones, rate=rate, low=0, high=1, level=level)


def without_a_range(a: object, b: object, *, level: float = 0.95) -> PairedDifference:
    first, second = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    ones = np.ones(len(first))
    return paired_difference(first, second, ones, rate=False, low=None, high=None, level=level)


def needed(d: object, counts: object, margin: float) -> int | None:
    """For differences, which may be negative, of scores from 0 to 1."""
    sums = np.asarray(d, dtype=float)
    nothing = np.zeros(len(sums))
    return needed_pairs(sums, nothing, np.asarray(counts), margin=margin, rate=False, low=0, high=1)


def test_newcombe_gives_the_published_interval_of_21_children() -> None:
    """Bentur et al. (2009), as in Fagerland, Lydersen & Laake (2014), table 5."""
    low, high = ends(newcombe_paired(1, 1, 7, 12))
    assert (round(low, 3), round(high, 3)) == (-0.507, -0.026)


def test_newcombe_by_hand() -> None:
    """20 rows, 10 both, 4 only a, 1 only b, 5 neither: rates .7 and .55."""
    wilson_a, wilson_b = (0.48103, 0.85452), (0.34209, 0.74180)
    phi = (10 * 5 - 4 * 1 - 10) / np.sqrt(14 * 6 * 11 * 9)
    down, up = 0.7 - wilson_a[0], wilson_b[1] - 0.55
    below = np.sqrt(down**2 - 2 * phi * down * up + up**2)
    right, left = wilson_a[1] - 0.7, 0.55 - wilson_b[0]
    above = np.sqrt(right**2 - 2 * phi * right * left + left**2)
    assert ends(newcombe_paired(10, 4, 1, 5)) == pytest.approx(
        (0.15 - below, 0.15 + above), abs=2e-5
    )


@pytest.mark.parametrize(
    "table", [(0, 0, 0, 5), (5, 0, 0, 0), (3, 0, 0, 4), (0, 6, 0, 0), (0, 0, 6, 0), (1, 0, 0, 0)]
)
def test_newcombe_is_never_a_point_and_stays_in_range(table: tuple[int, int, int, int]) -> None:
    low, high = ends(newcombe_paired(*table))
    difference = (table[1] - table[2]) / sum(table)
    assert -1 <= low <= difference <= high <= 1
    assert low < high


def test_newcombe_turns_round_with_the_systems() -> None:
    low, high = ends(newcombe_paired(30, 9, 4, 17))
    assert ends(newcombe_paired(30, 4, 9, 17)) == pytest.approx((-high, -low))


def test_no_rows_have_no_newcombe_interval() -> None:
    assert newcombe_paired(0, 0, 0, 0) is None


def test_newcombe_holds_the_truth_about_as_often_as_it_says() -> None:
    rng = np.random.default_rng(11)
    for shares in ([0.5, 0.15, 0.05, 0.3], [0.9, 0.06, 0.02, 0.02]):
        truth = shares[1] - shares[2]
        held = 0
        for table in rng.multinomial(60, shares, size=1000):
            low, high = ends(newcombe_paired(*map(int, table)))
            held += low <= truth <= high
        assert held >= 925


def test_one_pair_a_cluster_without_a_range_is_the_paired_t_interval() -> None:
    rng = np.random.default_rng(3)
    for n in (2, 5, 80):
        a, b = rng.random(n), rng.random(n)
        for level in (0.9, 0.95):
            found = without_a_range(a, b, level=level)
            expected = stats.ttest_rel(a, b).confidence_interval(level)
            assert found.value == pytest.approx(np.mean(a - b))
            assert ends(found.interval) == pytest.approx((expected.low, expected.high))


def test_in_a_range_the_variance_holds_one_pair_more_that_differs_by_all_of_it() -> None:
    # Differences 0, 0, .1, .3: mean .1, squares .01 + .01 + 0 + .04 = .06, so variance
    # .06 / 3 / 4 = .005, and (1 / 4)² = .0625 for a pair that differs by 1.
    half = float(stats.t.ppf(0.9, 3)) * np.sqrt(0.0675)
    found = of_pairs([0.5, 0.5, 0.6, 0.8], [0.5] * 4, level=0.8)
    assert ends(found.interval) == pytest.approx((0.1 - half, 0.1 + half))


def test_in_a_range_clusters_take_one_cluster_more() -> None:
    # 3 clusters of 2 pairs, mean differences 0, .1, .2: variance 3/2 · (.04 + .04) / 36 = 1/300.
    half = float(stats.t.ppf(0.75, 2)) * np.sqrt(1 / 300 + 1 / 9)
    found = paired_difference(
        [1, 1.2, 1.4], [1, 1, 1], [2, 2, 2], rate=False, low=0, high=1, level=0.5
    )
    assert ends(found.interval) == pytest.approx((0.1 - half, 0.1 + half))


@pytest.mark.parametrize("noise", [1e-10, 1e-6, 1e-3])
def test_pairs_that_tie_but_for_noise_leave_room_for_a_rare_loss(noise: float) -> None:
    """Of 50 pairs none need be one of the 3 % that lose everything: (1 - .03)^50 = .22."""
    b = np.full(50, 0.5)
    a = b + noise * np.random.default_rng(12).standard_normal(50)
    low, high = ends(of_pairs(a, b).interval)
    assert (high - low) / 2 >= stats.t.ppf(0.975, 49) / 50 - 1e-12
    assert low < -0.03


def test_a_rare_loss_is_seldom_called_harmless() -> None:
    rng = np.random.default_rng(13)
    held = 0
    for _ in range(500):
        lost = rng.random(50) < 0.03
        a = np.where(lost, 0.0, 1 - 0.001 * rng.random(50))
        low, high = ends(of_pairs(a, np.ones(50)).interval)
        held += low <= -0.03 <= high
    assert held >= 0.93 * 500


def test_clusters_of_equal_size_are_the_cluster_robust_regression_on_a_constant() -> None:
    rng = np.random.default_rng(4)
    of = np.repeat(np.arange(40), 5)
    d = rng.normal(0.1, 0.2, 200) + rng.normal(0, 0.2, 40)[of]
    fit = OLS(d, np.ones(200)).fit(
        cov_type="cluster", cov_kwds={"groups": of, "use_correction": False}, use_t=True
    )
    half = stats.t.ppf(0.975, 39) * fit.bse[0] * np.sqrt(40 / 39)
    sums = np.bincount(of, d)
    found = paired_difference(sums, np.zeros(40), np.full(40, 5), rate=False, low=None, high=None)
    assert (found.n, found.clusters) == (200, 40)
    assert ends(found.interval) == pytest.approx((d.mean() - half, d.mean() + half))


def test_binary_pairs_are_newcombes() -> None:
    a, b = [1, 1, 0, 0, 1], [1, 0, 1, 0, 0]
    found = of_pairs(a, b, rate=True)
    assert found.interval == newcombe_paired(1, 2, 1, 1)
    assert found.interval is not None
    assert found.interval.method == "newcombe"


def test_binary_pairs_that_share_clusters_are_by_cluster() -> None:
    found = paired_difference([3, 1, 0], [1, 1, 2], [4, 2, 3], rate=True, low=0, high=1)
    assert found.interval is not None
    assert found.interval.method == "cluster_t"


@pytest.mark.parametrize("value", [0.0, 0.3, -0.3])
@pytest.mark.parametrize("n", [2, 10, 400])
def test_differences_that_are_all_the_same_have_an_interval(value: float, n: int) -> None:
    found = of_pairs(np.full(n, 0.5 + value), np.full(n, 0.5))
    low, high = ends(found.interval)
    assert -1 <= low < value < high <= 1
    assert found.interval is not None
    assert found.interval.method == "bounded_wilson"


def test_what_was_never_seen_may_be_a_share_of_up_to_wilsons_upper_end() -> None:
    t = stats.t.ppf(0.975, 82)
    share = t**2 / (83 + t**2)
    assert ends(of_pairs(np.ones(83), np.ones(83)).interval) == pytest.approx((-share, share))


def test_same_differences_without_a_range_say_so() -> None:
    found = paired_difference([2, 2], [1, 1], [1, 1], rate=False, low=None, high=None)
    assert (found.value, found.interval, found.reason) == (1, None, "no_variation")


def test_no_pair_and_one_cluster_say_so() -> None:
    assert of_pairs([], []) == PairedDifference(None, None, "no_pairs", 0, 0)
    assert of_pairs([1], [0]) == PairedDifference(1, None, "one_cluster", 1, 1)
    one = paired_difference([3], [1], [4], rate=False, low=0, high=1)
    assert one == PairedDifference(0.5, None, "one_cluster", 4, 1)


def test_scores_of_a_rate_are_0_or_1() -> None:
    with pytest.raises(InputError, match="0 or 1"):
        of_pairs([0.5, 1], [0, 1], rate=True)


def test_at_the_pairs_that_are_needed_half_the_interval_is_the_margin() -> None:
    rng = np.random.default_rng(9)
    d = rng.choice([-0.3, 0, 0.2, 0.5], size=50)
    found = needed(d, np.ones(50), 0.02)
    assert found is not None
    sd = float(np.std(d, ddof=1))

    def half(n: int) -> float:
        return float(stats.t.ppf(0.975, n - 1) * np.sqrt(sd**2 / n + 1 / n**2))

    assert half(found) <= 0.02 < half(found - 1)


def test_clusters_need_more_pairs_the_more_alike_theirs_are() -> None:
    rng = np.random.default_rng(10)
    apart = rng.normal(0, 0.3, (60, 5))
    alike = np.repeat(rng.normal(0, 0.3, (60, 1)), 5, axis=1)
    counts = np.full(60, 5)
    few = needed(apart.sum(1), counts, 0.02)
    many = needed(alike.sum(1), counts, 0.02)
    assert few is not None
    assert many is not None
    assert many > 3 * few


def test_needed_pairs_where_nothing_varies_follow_from_what_was_never_seen() -> None:
    found = needed(np.zeros(20), np.ones(20), 0.05)
    assert found is not None

    def unseen(n: int) -> float:
        t = float(stats.t.ppf(0.975, n - 1))
        return t**2 / (n + t**2)

    assert unseen(found) <= 0.05 < unseen(found - 1)
    assert needed([1.0], [1], 0.05) is None
    free = needed_pairs([2, 2], [1, 1], [1, 1], margin=0.1, rate=False, low=None, high=None)
    assert free is None


def test_needed_pairs_of_rates_follow_newcombes_interval() -> None:
    a, b = np.repeat([1, 1, 0, 0], [40, 3, 1, 39]), np.repeat([1, 0, 1, 0], [40, 3, 1, 39])
    found = needed_pairs(a, b, np.ones(83), margin=0.03, rate=True, low=0, high=1)
    assert found is not None

    def half(n: int) -> float:
        low, high = ends(newcombe_paired(*(count * n / 83 for count in (40, 3, 1, 39))))
        return (high - low) / 2

    assert half(found) <= 0.03 < half(found - 1)
    assert found > 83


@pytest.mark.parametrize("margin", [0, -1, float("nan"), float("inf")])
def test_a_margin_is_above_0(margin: float) -> None:
    with pytest.raises(InputError, match="margin"):
        needed([1, 2], [1, 1], margin)


def test_needed_pairs_where_nothing_varies_go_by_the_width_of_the_range() -> None:
    def of_range(low: float, high: float, margin: float) -> int | None:
        a, b, ones = np.full(20, 3.0), np.full(20, 3.0), np.ones(20)
        return needed_pairs(a, b, ones, margin=margin, rate=False, low=low, high=high)

    assert of_range(1, 5, 0.2) == of_range(0, 4, 0.2)
