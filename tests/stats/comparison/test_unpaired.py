"""The difference of two means of different rows has an interval by those of the means."""

import numpy as np
import pytest

from ragstone.stats.comparison.differences import unpaired_difference
from ragstone.stats.distributions import Interval, wilson


def test_newcombes_own_example() -> None:
    # Newcombe (1998), table II: 56/70 - 48/80, method 10, gives .0524 to .3339.
    a, b = wilson(56, 70), wilson(48, 80)
    assert a is not None
    assert b is not None
    found = unpaired_difference(0.8, a, 0.6, b, level=0.95)
    assert [found.low, found.high] == pytest.approx([0.0524, 0.3339], abs=5e-5)
    assert found.method == "square_and_add"


def test_without_a_difference_on_one_side_nothing_is_symmetric() -> None:
    # The same table: 5/56 - 0/29 gives -.0381 to .1926.
    a, b = wilson(5, 56), wilson(0, 29)
    assert a is not None
    assert b is not None
    found = unpaired_difference(5 / 56, a, 0, b, level=0.95)
    assert [found.low, found.high] == pytest.approx([-0.0381, 0.1926], abs=5e-5)


def test_a_mean_that_is_known_adds_nothing() -> None:
    known = Interval(0.5, 0.5, 0.95, "t")
    found = unpaired_difference(0.7, Interval(0.6, 0.9, 0.95, "t"), 0.5, known, level=0.95)
    assert [found.low, found.high] == pytest.approx([0.1, 0.4])


def test_it_holds_as_often_as_it_says() -> None:
    rng = np.random.default_rng(1)
    held = []
    for x, y in zip(rng.binomial(60, 0.9, 2000), rng.binomial(40, 0.7, 2000), strict=True):
        a, b = wilson(x, 60), wilson(y, 40)
        assert a is not None
        assert b is not None
        found = unpaired_difference(x / 60, a, y / 40, b, level=0.95)
        held.append(found.low <= 0.2 <= found.high)
    assert 0.935 <= np.mean(held) <= 0.97
