"""Intervals where few rows carry much of the weight."""

import numpy as np
import pytest

from ragstone.stats.distributions import t_quantile, wilson_ends
from ragstone.stats.judge_quality.bias_and_calibration import bias_by_group
from ragstone.stats.weights_and_groups import heaviest_size, heavy_wilson_ends, variance_df


def test_rows_as_heavy_as_the_heaviest_by_hand() -> None:
    assert heaviest_size([5.0] * 7) == 7
    assert heaviest_size([1.0, 1, 2]) == 2


def test_degrees_of_freedom_by_hand() -> None:
    assert variance_df([3.0] * 7) == pytest.approx(6)
    assert variance_df([1.0] * 9 + [3]) == pytest.approx(18**2 / 90 - 1)
    assert variance_df([1.0, 1000]) == 1


def test_rate_of_nothing_has_the_end_of_wilson() -> None:
    """At 0 and at 1 the variance is 0 and the rows are k."""
    q = t_quantile(0.975, 19)
    assert heavy_wilson_ends(0, 0, rows=20, df=19) == pytest.approx(wilson_ends(0, 20, q))
    assert heavy_wilson_ends(1, 0, rows=20, df=19) == pytest.approx(wilson_ends(1, 20, q))


def test_rows_that_never_differ_may_differ_as_a_rate_that_was_not_seen() -> None:
    unseen = wilson_ends(0, 20, t_quantile(0.975, 19))[1]
    ends = heavy_wilson_ends(0.5, 0, rows=20, df=19, low=-1)
    assert ends == pytest.approx((0.5 - 1.5 * unseen, 0.5 + 0.5 * unseen))


def test_rows_that_never_differ_leave_both_ends_open_by_their_way_there() -> None:
    unseen = wilson_ends(0, 20, t_quantile(0.975, 19))[1]
    ends = heavy_wilson_ends(2, 0, rows=20, df=19, low=1, high=5)
    assert ends == pytest.approx((2 - unseen, 2 + 3 * unseen))


def test_half_a_row_at_either_end_is_added_by_hand() -> None:
    # m = 1/2 and k = 10: half a row adds 1/2 · 1/4 / 100 to V, 1/2 · 1/4 / 10 to m (1 - m).
    size = (0.25 + 0.0125) / (0.01 + 0.00125)
    expected = wilson_ends(0.5, size, t_quantile(0.975, 9))
    assert heavy_wilson_ends(0.5, 0.01, rows=10, df=9) == pytest.approx(expected)
    wide = heavy_wilson_ends(0, 0.04, rows=10, df=9, low=-1)
    assert wide == pytest.approx([2 * one - 1 for one in expected])


def test_half_a_row_is_nothing_among_many() -> None:
    expected = wilson_ends(0.5, 10_000, t_quantile(0.975, 9999))
    found = heavy_wilson_ends(0.5, 0.25 / 10_000, rows=10_000, df=9999)
    assert found == pytest.approx(expected, rel=1e-3)


@pytest.mark.parametrize(("light", "heavy", "rate"), [(60, 8, 0.15), (150, 15, 0.08), (20, 4, 0.1)])
def test_bias_that_only_a_few_heavy_rows_show_is_held(light: int, heavy: int, rate: float) -> None:
    """Half of the weight is on rows of which many draws meet none that differs."""
    rng = np.random.default_rng(7)
    weights = np.repeat([1.0, light / heavy], [light, heavy])
    truth, held, plain = -rate / 2, [], []
    for _ in range(300):
        differs = np.append(rng.random(light) < 0.02, rng.random(heavy) < rate)
        signs = np.append(rng.choice([-1.0, 1], light), -np.ones(heavy))
        found = bias_by_group(differs * signs, ["all"] * len(weights), low=-1, high=1,
                              weights=weights)  # fmt: skip
        interval = found[0].interval
        assert interval is not None
        held.append(interval.low <= truth <= interval.high)
        free = bias_by_group(differs * signs, ["all"] * len(weights), weights=weights)[0].interval
        plain.append(free is not None and free.low <= truth <= free.high)
    assert np.mean(held) >= 0.94
    assert np.mean(plain) <= 0.85
