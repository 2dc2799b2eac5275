"""Intervals that hold at every look: by hand, and over runs looked at after every ten labels."""

from itertools import pairwise

import numpy as np
import pytest

from ragstone.core.errors import InputError
from ragstone.stats.correction.anytime import anytime_mean
from ragstone.stats.distributions import Interval


def ends(labels: object, level: float = 0.95, low: float = 0.0, high: float = 1.0) -> Interval:
    found = anytime_mean(labels, low=low, high=high).at(level)  # type: ignore[arg-type]
    assert found.interval is not None
    return found.interval


def looked(labels: np.ndarray, truth: float) -> bool:
    """Whether the interval held the truth at every look, after ten labels each time.

    A mean that was ruled out stays so, and the interval holds what was not: the last look tells.
    """
    last = ends(labels)
    return last.low <= truth <= last.high


@pytest.mark.parametrize("rate", [0.05, 0.5, 0.8])
def test_rates_are_held_at_every_look(rate: float) -> None:
    rng = np.random.default_rng(7)
    held = [looked((rng.random(120) < rate).astype(float), rate) for _ in range(150)]
    assert np.mean(held) >= 0.95


def test_a_mean_that_was_ruled_out_stays_so() -> None:
    rng = np.random.default_rng(1)
    labels = rng.beta(2, 4, size=120)
    looks = [ends(labels[:n]) for n in range(10, 121, 10)]
    for before, after in pairwise(looks):
        assert before.low <= after.low <= after.high <= before.high


def test_the_first_bet_by_hand() -> None:
    # Against a mean of .9 after one label of 0: the bet is at most half of what can be lost, .5 /
    # (1 - .9) downwards and .5 / .9 upwards, or sqrt(2 ln 40 / (.25 ln 2)) = 6.53.
    found = anytime_mean([0.0], low=0, high=1)
    up, down = 1 - min(6.5257, 0.5 / 0.9) * 0.9, 1 + min(6.5257, 0.5 / 0.1) * 0.9
    assert found.most[900] == pytest.approx(np.log((up + down) / 2), abs=1e-4)


def test_higher_levels_hold_lower_ones_and_other_ranges_are_as_their_shares() -> None:
    labels = np.random.default_rng(2).random(80)
    wide, narrow = ends(labels, 0.99), ends(labels, 0.8)
    assert wide.low <= narrow.low < narrow.high <= wide.high
    stars = ends(1 + 4 * labels, low=1, high=5)
    assert (stars.low, stars.high) == pytest.approx(
        (1 + 4 * ends(labels).low, 1 + 4 * ends(labels).high)
    )


def test_no_label_tells_nothing_and_all_alike_still_have_a_width() -> None:
    nothing = anytime_mean([], low=0, high=1).at(0.95)
    assert (nothing.reason, nothing.method, nothing.n_labels) == ("no_labels", "labels_only", 0)
    one = ends(np.ones(50))
    assert one.high == 1
    assert 0 < one.low < 1


def test_a_label_out_of_range_is_refused() -> None:
    with pytest.raises(InputError, match="must lie between"):
        anytime_mean([2.0], low=0, high=1)


def test_ends_lie_a_thousandth_outside_of_the_means_against_which_nobody_has_won() -> None:
    labels = np.random.default_rng(3).random(40)
    means = np.linspace(0, 1, 1001)
    above, below, most = np.ones(1001), np.ones(1001), np.zeros(1001)
    before, squares = [0.5], 0.25
    for label in labels:
        bet = np.sqrt(2 * np.log(40) / (squares * np.log(len(before) + 1)))
        above *= 1 + np.minimum(bet, 0.5 / np.maximum(means, 1e-3)) * (label - means)
        below *= 1 - np.minimum(bet, 0.5 / np.maximum(1 - means, 1e-3)) * (label - means)
        most = np.maximum(most, (above + below) / 2)
        before.append(label)
        squares += (label - np.mean(before)) ** 2
    left = means[most < 1 / (1 - 0.9)]
    found = ends(labels, 0.9)
    assert (found.low, found.high) == pytest.approx((left[0] - 0.001, left[-1] + 0.001))


def test_where_every_mean_was_lost_against_the_interval_lies_about_the_mean_of_the_labels() -> None:
    labels = 1 + 4 * np.random.default_rng(0).random(30)
    found = ends(labels, 0.01, low=1, high=5)
    assert found.high - found.low == pytest.approx(2 * 4 / 1000)
    assert found.low < labels.mean() < found.high
