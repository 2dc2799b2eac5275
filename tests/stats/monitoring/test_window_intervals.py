"""Intervals of the means of windows, each for one look."""

import numpy as np
import pytest

from ragstone.stats.distributions import t_quantile, wilson_ends
from ragstone.stats.monitoring.windows import WeightedSums, window_intervals
from ragstone.stats.weights_and_groups import heavy_wilson_ends


def ends(
    scores: list[float],
    weights: list[float] | None = None,
    low: float | None = 0,
    high: float | None = 1,
    **of: float,
) -> tuple[float, float]:
    sums = WeightedSums.of(scores, weights)
    lows, highs = window_intervals(sums, low=low, high=high, **of)
    return float(lows[0]), float(highs[0])


def test_a_rate_of_equal_weights_has_wilsons_interval() -> None:
    assert ends([1.0] * 15 + [0.0] * 5) == pytest.approx(
        wilson_ends(0.75, 20, t_quantile(0.975, 19))
    )


def test_weights_count_as_in_an_interval_for_heavy_rows() -> None:
    # Kish's number of rows is 100 / 26.
    x, w = np.array([1.0, 0.0, 1.0, 1.0, 0.5]), np.array([1.0, 4.0, 1.0, 2.0, 2.0])
    mean = 5 / 10
    variance = float(w**2 @ (x - mean) ** 2) / 100
    expected = heavy_wilson_ends(mean, variance, rows=2.5, df=2)
    assert ends(list(x), list(w)) == pytest.approx(expected)


def test_sessions_that_are_alike_count_for_fewer_answers() -> None:
    x = [1.0] * 30 + [0.0] * 10
    assert ends(x, design_effect=2.0) == pytest.approx(ends(x[:15] + x[30:35]))


def test_scores_without_bounds_have_a_t_interval() -> None:
    low, high = ends([1.0, 2.0, 3.0, 6.0], low=0.0, high=None)
    half = t_quantile(0.975, 3) * (14 / 3 / 4) ** 0.5
    assert (low, high) == pytest.approx((max(0.0, 3 - half), 3 + half))


def test_a_single_score_and_equal_scores_without_bounds_have_none() -> None:
    assert np.isnan(ends([1.0])).all()
    assert np.isnan(ends([])).all()
    assert np.isnan(ends([2.0, 2.0, 2.0], low=None, high=None)).all()


def test_a_lower_level_makes_it_narrower() -> None:
    x = [1.0] * 15 + [0.0] * 5
    wide, narrow = ends(x), ends(x, level=0.8)
    assert wide[0] < narrow[0] < narrow[1] < wide[1]
