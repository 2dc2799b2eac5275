"""A judge's mean of drawn rows is corrected by labels of some of these."""

from collections.abc import Sequence

import numpy as np
import pytest

from ragstone.stats.correction.corrected import Corrected, two_phase_mean
from ragstone.stats.correction.ppi_and_rogan_gladen import prediction_powered
from ragstone.stats.monitoring.windows import WeightedSums
from ragstone.stats.weights_and_groups import heavy_wilson_ends


def estimate(
    f: Sequence[float], w: Sequence[float], labelled: list[int], y: Sequence[float],
    v: Sequence[float],
    low: float | None = 0, high: float | None = 1, **of: float,
) -> Corrected:  # fmt: skip
    judged = WeightedSums.of(f, w)
    return two_phase_mean(
        judged, [f[k] for k in labelled], [w[k] for k in labelled], y, v, low=low, high=high, **of
    )


def test_by_hand() -> None:
    # Judged: 1, 1, 0, 0 of weight 2 each; the first and third are labelled 1 and 0, weight 4 each.
    found = estimate([1, 1, 0, 0], [2.0] * 4, [0, 2], [1, 0], [4, 4])
    # ȳ = f̄_l = f̄ = 1/2. adds = ±1/4; first = ±1/8; follows = ∓1/8.
    # spread = 1/16 + 0, and adds · follows = -1/16, so g = 1 and the variance is 1/8 - 1/8 + 1/16.
    assert found.value == 0.5
    expected = heavy_wilson_ends(0.5, 1 / 16, rows=2, df=1)
    assert found.interval is not None
    assert [found.interval.low, found.interval.high] == pytest.approx(expected)


def test_a_right_judge_is_moved_to_its_mean_over_all_rows() -> None:
    found = estimate([1, 0, 0, 0, 0, 0], [1.0] * 6, [0, 1], [1, 0], [3, 3])
    assert found.value == pytest.approx(0.5 + 1 * (1 / 6 - 0.5), abs=0.25)
    assert found.value is not None
    assert found.value < 0.5


def test_a_judge_that_says_the_same_of_all_leaves_the_labels_mean() -> None:
    found = estimate([1.0] * 6, [1.0] * 6, [0, 1, 2], [1, 0, 0], [1, 2, 1])
    assert found.value == pytest.approx(0.25)


def test_for_equal_weights_it_is_about_ppi() -> None:
    rng = np.random.default_rng(1)
    f = rng.beta(4, 1, 400)
    y = np.clip(f + rng.normal(-0.1, 0.1, 400), 0, 1)
    labelled = list(range(80))
    found = estimate(list(f), [1.0] * 400, labelled, list(y[:80]), [5.0] * 80)
    other = prediction_powered(f, labelled, y[:80], low=0, high=1).at(0.95)
    assert found.value == pytest.approx(other.value, abs=0.005)
    assert found.interval is not None
    assert other.interval is not None
    width = found.interval.high - found.interval.low
    assert width == pytest.approx(other.interval.high - other.interval.low, rel=0.2)


@pytest.mark.parametrize("truth", [0.8, 0.97])
def test_it_holds_as_often_as_it_says_where_both_phases_are_unequal(truth: float) -> None:
    rng = np.random.default_rng(2)
    held = []
    for _ in range(400):
        doubted = rng.random(1500) < 0.3
        expected = np.where(doubted, truth - 0.7 * (1 - truth), truth + 0.3 * (1 - truth))
        y = (rng.random(1500) < expected).astype(float)
        # A judge that misses a third of what is wrong, and finds fault with one good in ten.
        f = np.where(y == 1, rng.random(1500) < 0.9, rng.random(1500) < 1 / 3).astype(float)
        p = np.where(doubted, 0.85, 0.2)
        judged = rng.random(1500) < p
        chosen = judged & (rng.random(1500) < 0.25)
        found = two_phase_mean(
            WeightedSums.of(f[judged], 1 / p[judged]), f[chosen], 1 / p[chosen], y[chosen],
            4 / p[chosen], low=0, high=1,
        )  # fmt: skip
        assert found.interval is not None
        held.append(found.interval.low <= expected.mean() <= found.interval.high)
    assert np.mean(held) >= 0.93


def test_sessions_that_are_alike_count_for_fewer_labels() -> None:
    # As by hand above, with twice the variance of half as many labels.
    found = estimate([1, 1, 0, 0], [2.0] * 4, [0, 2], [1, 0], [4, 4], design_effect=2.0)
    assert found.interval is not None
    expected = heavy_wilson_ends(0.5, 1 / 8, rows=1, df=1)
    assert [found.interval.low, found.interval.high] == pytest.approx(expected)


def test_without_bounds_it_is_a_t_interval_or_none_where_nothing_varies() -> None:
    found = estimate([3, 4, 5], [1.0] * 3, [0, 1, 2], [4, 5, 7], [1.0] * 3, None, None)
    assert found.interval is not None
    assert found.interval.low < 5 < found.interval.high
    alike = estimate([3, 3, 3], [1.0] * 3, [0, 1], [4, 4], [1.0] * 2, None, None)
    assert (alike.value, alike.interval, alike.reason) == (4, None, "no_variation")


def test_fewer_than_two_labels_correct_nothing() -> None:
    assert estimate([1.0], [1.0], [], [], []).reason == "no_labels"
    assert estimate([1.0], [1.0], [0], [1], [1.0]).reason == "one_cluster"
