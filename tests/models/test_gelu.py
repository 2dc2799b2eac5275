"""GELU beside its definition by the error function of the standard library."""

import math

import numpy as np
import pytest

from ragstone.models.numpy_bert import CHUNK, twice_gelu

NEAR = np.linspace(-9, 9, 3001)


def gelu(values: list[float], bias: float = 0) -> list[float]:
    array = np.array(values, np.float32)[:, None]
    twice_gelu(array, np.array([bias], np.float32))
    return [float(value) / 2 for value in array[:, 0]]


def by_erf(x: float) -> float:
    return x * (1 + math.erf(x / math.sqrt(2))) / 2


def test_it_is_exact_to_the_precision_of_float32() -> None:
    given = [float(np.float32(x)) for x in NEAR]
    for x, got in zip(given, gelu(given), strict=True):
        assert abs(got - by_erf(x)) < 2e-7 * max(1, abs(x))


@pytest.mark.parametrize("x", [10.0, 60.0, 1e4, 1e12, 1e30])
def test_far_from_zero_it_is_the_value_or_nothing(x: float) -> None:
    assert gelu([x, -x]) == [pytest.approx(x), 0]


def test_the_bias_is_added_first() -> None:
    assert gelu([0.5], bias=0.75) == [pytest.approx(by_erf(1.25), abs=2e-7)]


def test_rows_beyond_a_chunk_are_reached() -> None:
    values = np.ones((2 * CHUNK + 1, 1), np.float32)
    twice_gelu(values, np.zeros(1, np.float32))
    assert values.min() == values.max() == pytest.approx(2 * by_erf(1), abs=4e-7)
