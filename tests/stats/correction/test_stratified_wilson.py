"""Wilson's interval for a rate put together from strata."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.optimize import brentq, minimize_scalar

from ragstone.stats.correction.poststratified import stratified_wilson_ends
from ragstone.stats.distributions import wilson_ends

Floats = NDArray[np.float64]


@st.composite
def strata(draw: st.DrawFn) -> tuple[Floats, Floats, Floats]:
    kinds = draw(st.integers(1, 5))
    judged = np.array([draw(st.integers(1, 50)) for _ in range(kinds)], dtype=float)
    sizes = [draw(st.integers(0, 40)) for _ in range(kinds)]
    rates = [draw(st.integers(0, n)) / n if n else 0.0 for n in sizes]
    return judged / judged.sum(), np.array(rates), np.array(sizes, dtype=float)


def one(*arguments: object) -> tuple[float, float]:
    low, high = stratified_wilson_ends(*arguments)  # type: ignore[arg-type]
    return float(low), float(high)


@pytest.mark.parametrize("quantile", [0.1, 1.96, 12.7])
def test_one_stratum_has_wilsons_own_ends(quantile: float) -> None:
    rng = np.random.default_rng(1)
    n = rng.integers(1, 400, 300).astype(float)
    rates = rng.binomial(n.astype(int), rng.choice([0, 0.03, 0.5, 1], 300)) / n
    low, high = stratified_wilson_ends(np.ones((300, 1)), rates[:, None], n[:, None], quantile)
    expected = [wilson_ends(float(m), float(k), quantile) for m, k in zip(rates, n, strict=True)]
    assert np.stack([low, high], axis=1) == pytest.approx(np.array(expected), abs=1e-10)


def test_equal_strata_with_equal_rates_are_one() -> None:
    ends = one(np.full(4, 0.25), np.full(4, 0.3), np.full(4, 25.0), 1.96)
    assert ends == pytest.approx(wilson_ends(0.3, 100, 1.96))


def test_ends_solve_the_score_equation_over_the_most_likely_strata() -> None:
    """The plain way: for a rate, maximise the likelihood along the line of strata that give it."""
    shares, found, rows = np.array([0.3, 0.7]), np.array([0.9, 0.1]), np.array([20.0, 40.0])
    q, apart, value = 1.96, 0.0004, float(shares @ found)

    def beyond(theta: float) -> float:
        def second(first: float) -> float:
            return float((theta - shares[0] * first) / shares[1])

        def unlikely(first: float) -> float:
            pair = np.clip([first, second(first)], 1e-12, 1 - 1e-12)
            likely = rows * (found * np.log(pair) + (1 - found) * np.log(1 - pair))
            return -float(likely.sum())

        bounds = (max(0, (theta - shares[1]) / shares[0]), min(1, theta / shares[0]))
        found_at = minimize_scalar(
            unlikely, bounds=bounds, method="bounded", options={"xatol": 1e-13}
        )
        first = float(found_at.x)
        strata = np.array([first, second(first)])
        variance = float((shares**2 * strata * (1 - strata) / rows).sum())
        return float((value - theta) ** 2 / (variance + apart) - q**2)

    expected = brentq(beyond, 0.05, value), brentq(beyond, value, 0.9)
    assert one(shares, found, rows, q, apart) == pytest.approx(expected, abs=1e-6)


def test_stratum_without_rows_may_have_any_rate() -> None:
    # Only 60 % are known to lie around 1/2; of the other 40 % none or all are positive.
    shares, rates, sizes = np.array([0.6, 0.4]), np.array([0.5, 0.0]), np.array([30.0, 0.0])
    known = wilson_ends(0.5, 30, 1.96)
    expected = 0.6 * known[0], 0.6 * known[1] + 0.4
    assert one(shares, rates, sizes, 1.96) == pytest.approx(expected)


def test_no_rows_at_all_leave_everything_open() -> None:
    assert one(np.array([0.5, 0.5]), np.zeros(2), np.zeros(2), 1.96) == (0, 1)


def test_shares_that_are_unsure_can_leave_the_lower_end_at_0() -> None:
    arrays = np.array([0.5, 0.5]), np.array([0.0, 0.1]), np.array([50.0, 50.0])
    assert one(*arrays, 1.96, 0.01)[0] == 0
    assert one(*arrays, 1.96, 0.0)[0] > 0


@given(strata(), st.floats(0.05, 6), st.floats(0, 0.01))
def test_interval_lies_in_the_range_and_holds_what_was_found(
    drawn: tuple[Floats, Floats, Floats], quantile: float, apart: float
) -> None:
    shares, rates, sizes = drawn
    low, high = one(shares, rates, sizes, quantile, apart)
    known = sizes > 0
    value = float(shares[known] @ rates[known])
    assert 0 <= low <= value + 1e-9
    assert value - 1e-9 <= high <= 1
    assert low < high


@given(strata(), st.floats(0, 0.01))
def test_failures_have_the_mirrored_interval(
    drawn: tuple[Floats, Floats, Floats], apart: float
) -> None:
    shares, rates, sizes = drawn
    low, high = one(shares, rates, sizes, 1.96, apart)
    mirrored = one(shares, 1 - rates, sizes, 1.96, apart)
    assert mirrored == pytest.approx((1 - high, 1 - low), abs=1e-9)


@given(strata(), st.floats(0.2, 3), st.floats(0, 0.01))
def test_ends_move_outwards_with_the_quantile(
    drawn: tuple[Floats, Floats, Floats], quantile: float, apart: float
) -> None:
    inner = one(*drawn, quantile, apart)
    outer = one(*drawn, 1.1 * quantile, apart)
    assert outer[0] <= inner[0] + 1e-9
    assert outer[1] >= inner[1] - 1e-9
