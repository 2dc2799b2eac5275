"""Intervals of a mean that hold at every look: by Wilson's formula, in paths, and where none is."""

from math import sqrt

import numpy as np
import pytest

from ragstone.core.errors import InputError
from ragstone.stats.correction.anytime import mean_sequence
from ragstone.stats.correction.labels_only import mean_of_labels
from ragstone.stats.distributions import Interval, look_quantile, wilson_ends

LOOKS = (50, 70, 100, 150, 250, 400)


def found(labels: object, **given: object) -> Interval:
    interval = mean_sequence(labels, **given)  # type: ignore[arg-type]
    assert interval is not None
    return interval


def test_a_rate_has_wilsons_interval_with_the_quantile_of_all_looks() -> None:
    labels = [1.0] * 30 + [0.0] * 50
    # The variance of 80 rows is taken from 79 degrees of freedom.
    interval = found(labels, low=0, high=1)
    ends = wilson_ends(30 / 80, 80, look_quantile(80, 0.95))
    assert (interval.low, interval.high) == pytest.approx(ends, abs=2e-3)
    assert (interval.level, interval.method) == (0.95, "asymptotic_sequence")


def test_labels_without_ends_have_the_quantile_times_the_standard_error() -> None:
    labels = np.random.default_rng(1).normal(3, 2, 90)
    interval = found(labels)
    half = look_quantile(90, 0.95) * labels.std(ddof=1) / sqrt(90)
    assert (interval.low, interval.high) == pytest.approx(
        (labels.mean() - half, labels.mean() + half)
    )


def test_ratings_are_as_their_shares_of_the_scale() -> None:
    shares = np.random.default_rng(2).choice([0, 0.25, 0.5, 0.75, 1], 120)
    stars, one = found(1 + 4 * shares, low=1, high=5), found(shares, low=0, high=1)
    assert (stars.low, stars.high) == pytest.approx((1 + 4 * one.low, 1 + 4 * one.high))


def test_weights_move_it_about_the_weighted_mean() -> None:
    labels, weights = np.repeat([1.0, 0.0], [40, 60]), np.repeat([1.0, 4.0], [40, 60])
    interval = found(labels, low=0, high=1, weights=weights)
    assert interval.low < 40 / 280 < interval.high < 0.4
    once = mean_of_labels(labels, low=0, high=1, weights=weights).at(0.95).interval
    assert once is not None
    assert interval.low < once.low < once.high < interval.high


def test_rows_of_a_cluster_count_together() -> None:
    labels = (np.random.default_rng(3).random(60) < 0.4).astype(float)
    alone = found(labels, low=0, high=1)
    copies = found(np.tile(labels, 5), low=0, high=1, clusters=np.tile(np.arange(60), 5))
    assert copies.low < alone.low < alone.high < copies.high
    assert copies.high - copies.low < 1.15 * (alone.high - alone.low)


def test_too_little_is_known_for_a_sequence() -> None:
    assert mean_sequence([], low=0, high=1) is None
    assert mean_sequence([1.0] * 49, low=0, high=1) is None
    all_yes = found([1.0] * 50, low=0, high=1)
    assert (all_yes.low, all_yes.high) == pytest.approx(wilson_ends(1, 50, look_quantile(50, 0.95)))
    assert mean_sequence([1.0] * 50) is None
    assert mean_sequence([0.0, 1.0] * 49, low=0, high=1, clusters=list(range(49)) * 2) is None
    with pytest.raises(InputError, match="outside the scale"):
        mean_sequence([2.0] * 50, low=0, high=1)


@pytest.mark.parametrize("rate", [0.02, 0.4])
def test_all_looks_together_hold_the_truth_in_most_paths(rate: float) -> None:
    held = 0
    for path in range(100):
        labels = (np.random.default_rng(path).random(LOOKS[-1]) < rate).astype(float)
        looks = [found(labels[:n], low=0, high=1) for n in LOOKS]
        held += all(one.low <= rate <= one.high for one in looks)
    # 100 paths at .95 give 89 or more in 99 of 100 cases.
    assert held >= 89


def test_all_looks_hold_the_mean_of_what_was_sampled_by_doubt() -> None:
    held = 0
    for path in range(100):
        rng = np.random.default_rng(path)
        doubt = rng.random(2_000)
        said = (rng.random(2_000) < 0.6 * doubt).astype(float)
        # Priority sampling: Duffield, Lund & Thorup (2007).
        priority = (doubt + 0.1) / rng.random(2_000)
        order = np.argsort(-priority)
        drawn = rng.permutation(order[: LOOKS[-1]])
        chance = np.minimum(1, (doubt[drawn] + 0.1) / priority[order[LOOKS[-1]]])
        looks = [found(said[drawn[:n]], low=0, high=1, weights=1 / chance[:n]) for n in LOOKS]
        held += all(one.low <= said.mean() <= one.high for one in looks)
    assert held >= 89
