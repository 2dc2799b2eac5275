"""Percentiles from counts are the exact ones, up to a thousandth."""

import random
from math import ceil

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.core.errors import InputError
from ragstone.stats.weights_and_groups import ValueCounts

SHARES = (1, 50, 90, 99, 100)


def counted(values: list[float]) -> ValueCounts:
    counts = ValueCounts()
    for value in values:
        counts.add(value)
    return counts


def exact(values: list[float]) -> list[float]:
    ranked = sorted(values)
    return [ranked[ceil(len(ranked) * share / 100) - 1] for share in SHARES]


@given(st.lists(st.floats(0, 1e9, allow_subnormal=False), min_size=1))
def test_they_are_the_exact_ones_up_to_a_thousandth(values: list[float]) -> None:
    found = counted(values).percentiles(SHARES)
    for one, true in zip(found, exact(values), strict=True):
        assert one <= true <= one * 1.001 * (1 + 1e-9)
        assert one in values


def test_a_million_values_take_a_few_thousand_bins() -> None:
    draw = random.Random(0)
    counts = counted([draw.lognormvariate(0, 1) for _ in range(100_000)])
    assert counts.n == 100_000
    assert len(counts._bins) < 12_000


def test_no_values_have_none() -> None:
    assert ValueCounts().percentiles(SHARES) == ()


@pytest.mark.parametrize("value", [-1.0, float("nan"), float("inf")])
def test_what_cannot_be_counted(value: float) -> None:
    with pytest.raises(InputError):
        ValueCounts().add(value)
