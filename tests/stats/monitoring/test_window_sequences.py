"""Sequences of windows hold for all windows and at every look, together."""

from dataclasses import replace
from math import exp, log

import numpy as np
import pytest
from numpy.typing import NDArray

from ragstone.stats.monitoring.windows import HALVINGS, STAKES, WeightedSums, window_sequences

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


def ends(scores: Floats, weights: Floats | None = None, **of: float) -> tuple[float, float]:
    """Of one window."""
    windows = int(of.pop("windows", 1))
    low, high = window_sequences(WeightedSums.of(scores, weights), windows=windows, **of)
    return float(low[0]), float(high[0])


def capital(x: Floats, w: Floats, m: float) -> float:
    """What betting that the mean is above m has made of 1: the product, answer by answer."""
    made = 0.0
    for stake in STAKES:
        share = stake / (1 + stake * m)
        made += float(np.prod(1 + share * w / w.max() * (x - m))) / len(STAKES)
    return made


def bound(x: Floats, w: Floats, m: float) -> float:
    """The two lower bounds on it, as the docstring has them, answer by answer."""
    most, made = w.max(), 0.0
    for stake in STAKES:
        u = stake * m / (1 + stake * m)
        first = sum(
            w_i * x_i / most * log(1 + stake) - w_i / most * log(1 + stake * m)
            for x_i, w_i in zip(x, w, strict=True)
        )
        second = sum(u * y + (log(1 - u) + u) * y * y for y in w * (x - m) / (most * m))
        made += (exp(first) + exp(second)) / (2 * len(STAKES))
    return made


@pytest.mark.parametrize("windows", [1, 240])
@pytest.mark.parametrize("graded", [False, True])
def test_ends_are_where_the_bounds_reach_the_limit_and_the_capital_passed_it(
    windows: int, graded: bool
) -> None:
    rng = np.random.default_rng(1)
    x = rng.beta(6, 2, 80) if graded else (rng.random(80) < 0.8).astype(float)
    w = rng.choice([1 / 0.85, 10.0], 80, p=[0.8, 0.2])
    low, high = ends(x, w, windows=windows)
    limit = 2 * windows / 0.05
    fine = 2**-HALVINGS
    for x_i, end in ((x, low), (1 - x, 1 - high)):
        assert bound(x_i, w, end) >= limit * (1 - 1e-9)
        assert bound(x_i, w, end + fine) < limit
        assert capital(x_i, w, end) >= limit


def test_the_first_bound_is_the_capital_itself_for_yes_and_no_of_one_weight() -> None:
    x = np.array([1.0] * 18 + [0.0] * 2)
    low, _ = ends(x)
    # Half of the stakes go to the bound that is equal, and each of the others adds something.
    assert 40 <= capital(x, np.ones(20), low) <= 80


def test_only_how_weights_compare_matters() -> None:
    rng = np.random.default_rng(2)
    x, w = rng.random(50), rng.random(50) + 0.1
    assert ends(x, w) == pytest.approx(ends(x, 7 * w))


def test_the_largest_weight_of_any_window_counts_for_all() -> None:
    x = (np.arange(60) % 4 > 0).astype(float)
    plain, heavy = WeightedSums.of(x), WeightedSums.of(x, np.where(x > 0, 1.0, 10.0))
    names = ("n", "w", "wx", "ww", "wwx", "wwxx", "most")
    both = WeightedSums(
        *(np.concatenate([getattr(plain, one), getattr(heavy, one)]) for one in names)
    )
    lows, _ = window_sequences(both, windows=2)
    alone = replace(plain, most=np.array([10.0]))
    assert lows[0] == window_sequences(alone, windows=2)[0][0]
    assert lows[0] < window_sequences(plain, windows=2)[0][0] - 0.01


def test_where_less_is_better_the_ends_are_mirrored() -> None:
    x = np.random.default_rng(3).beta(5, 1, 70)
    low, high = ends(x)
    assert ends(1 - x) == pytest.approx((1 - high, 1 - low), abs=2**-HALVINGS)


def test_more_windows_and_a_higher_level_and_alike_sessions_make_it_wider() -> None:
    x = (np.arange(100) % 5 > 0).astype(float)
    low, high = ends(x)
    for wider in (ends(x, windows=24), ends(x, level=0.99), ends(x, design_effect=2.0)):
        assert wider[0] < low
        assert wider[1] > high


def test_a_design_effect_of_two_is_half_as_many_answers() -> None:
    x = (np.arange(100) % 5 > 0).astype(float)
    assert ends(x, design_effect=2.0) == pytest.approx(ends(x[:50]), abs=1e-9)


def test_without_a_score_anything_is_possible() -> None:
    assert ends(np.array([])) == (0, 1)


def test_few_scores_leave_nearly_everything_possible() -> None:
    low, high = ends(np.array([1.0, 1.0]), windows=240)
    assert low < 0.01
    assert high == 1


WINDOWS, RECEIVED, LOOKS, DRAWS = 6, 300, 10, 60


def held(mean: Floats, probabilities: Floats) -> Bools:
    """In which draws the sequences of all windows held at all looks.

    Of each answer that comes, half its weight in the odds of being good lies in what decides with
    which probability it is drawn, as where answers of which the guard doubts are judged more often.
    """
    drawn = np.array([np.random.default_rng(seed).random((3, WINDOWS, RECEIVED))
                      for seed in range(DRAWS)])  # fmt: skip
    doubted = drawn[:, 0] < 0.3
    expected = np.clip(mean + np.where(doubted, -0.7, 0.3) * np.minimum(mean, 1 - mean), 0, 1)
    x = (drawn[:, 1] < expected).astype(float)
    p = np.where(doubted, probabilities[1], probabilities[0])
    w = (drawn[:, 2] < p) / p
    looks = np.linspace(10, RECEIVED, LOOKS).astype(int) - 1
    some = [
        np.cumsum(one, axis=2)[..., looks].ravel()
        for one in (w > 0, w, w * x, w**2, w**2 * x, w**2 * x**2)
    ]
    some.append(np.full(some[0].shape, 1 / p.min()))
    sums = WeightedSums(*(np.asarray(one, dtype=float) for one in some))
    low, high = window_sequences(sums, windows=WINDOWS)
    true = (np.cumsum(expected, axis=2)[..., looks] / (looks + 1)).ravel()
    return np.asarray(((low <= true) & (true <= high)).reshape(DRAWS, -1).all(axis=1))


@pytest.mark.parametrize("probabilities", [(1.0, 1.0), (0.1, 0.85)])
@pytest.mark.parametrize("means", [(0.85, 0.85), (0.98, 0.98), (0.02, 0.02), (0.95, 0.5)])
def test_all_windows_hold_at_all_looks(
    means: tuple[float, float], probabilities: tuple[float, float]
) -> None:
    mean = np.linspace(*means, RECEIVED)
    # In ``benchmarks/monitor_numbers.py`` in more draws, more windows and at every answer.
    assert np.mean(held(mean, np.array(probabilities))) >= 0.95
