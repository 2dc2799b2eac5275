"""Intervals that hold at every look: by hand, and over runs looked at after every ten labels."""

from math import lgamma

import numpy as np
import pytest

from ragstone.core.errors import InputError
from ragstone.stats.correction.anytime import anytime_mean, log_capital
from ragstone.stats.distributions import Interval


def ends(labels: object, level: float = 0.95, low: float = 0.0, high: float = 1.0) -> Interval:
    found = anytime_mean(labels, low=low, high=high).at(level)  # type: ignore[arg-type]
    assert found.interval is not None
    return found.interval


def looked(labels: np.ndarray, truth: float) -> bool:
    """Whether the interval held the truth at every look."""
    looks = [ends(labels[:n]) for n in (10, 40, 120)]
    return all(look.low <= truth <= look.high for look in looks)


@pytest.mark.parametrize("rate", [0.05, 0.5, 0.8])
def test_rates_are_held_at_every_look(rate: float) -> None:
    rng = np.random.default_rng(7)
    held = [looked((rng.random(120) < rate).astype(float), rate) for _ in range(30)]
    assert np.mean(held) >= 0.95


@pytest.mark.parametrize("order", [np.sort, lambda labels: np.sort(labels)[::-1], np.flip])
@pytest.mark.parametrize("values", [[0.0, 1.0], [0.0, 0.5, 1.0], np.linspace(0, 1, 41)])
def test_the_order_of_the_labels_does_not_matter(values: list[float], order: object) -> None:
    labels = np.random.default_rng(1).choice(values, size=160)
    assert callable(order)
    assert ends(order(labels)) == ends(labels)


@pytest.mark.parametrize("level", [0.01, 0.5, 0.95])
def test_no_interval_leaves_out_its_own_mean(level: float) -> None:
    rng = np.random.default_rng(2)
    for labels in (
        [0.3005] * 30_000,
        [0.0] * 9 + [1.0],
        rng.beta(0.1, 3, 40),
        1 - rng.beta(9, 1, 15),
    ):
        found = ends(labels, level)
        assert found.low <= np.mean(labels) <= found.high


def test_the_capital_against_a_mean_by_hand() -> None:
    # Bernoulli labels: the mean over q of q^k (1 - q)^(n - k), which for the Beta(1/2, 1/2) is
    # B(k + 1/2, n - k + 1/2) / B(1/2, 1/2), over m^k (1 - m)^(n - k).
    log_beta = lgamma(1.5) + lgamma(2.5) - lgamma(4) - 2 * lgamma(0.5)
    by_hand = log_beta - np.log(0.4 * 0.6**2)
    assert log_capital(np.array([1.0, 0.0, 0.0]))[400] == pytest.approx(by_hand, abs=1e-3)


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
