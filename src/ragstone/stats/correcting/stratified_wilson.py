"""Wilson's interval for a stratified rate."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

FIRST, STRIDE = 16.0, 4.0
CLOSE = 1e-12
MOST_STEPS = 100
TINY = 1e-300


def stratified_wilson_ends(
    shares: Floats,
    rates: Floats,
    sizes: Floats,
    quantile: float,
    share_variance: float | Floats = 0.0,
) -> tuple[Floats, Floats]:
    """The true rates θ = sum of P_k t_k that lie ``quantile`` standard errors from the estimate.

        (sum of P_k (m_k - t_k))² = q² · (sum of P_k² t_k (1 - t_k) / n_k + S)

    with t the maximum-likelihood rates of the strata subject to θ. For a single
    stratum this is Wilson's interval. By Lagrange multipliers each t_k solves

        n_k (m_k - t_k) = μ P_k t_k (1 - t_k)

    and the statistic increases with |μ|, so μ is found by regula falsi, for all
    intervals of the arrays at once. A stratum without rows may have any rate: its
    share is added in full to the upper end.

    Args:
        shares: Shape (..., K). P, with sum 1; S accounts for their sampling error.
        rates: Shape (..., K). m, in [0, 1]; ignored for strata without rows.
        sizes: Shape (..., K). n, effective sample sizes, 0 for none.
        quantile: q, above 0, of the normal or of Student's t.
        share_variance: Shape (...). S, the variance of θ due to the shares.

    Returns:
        Lower and upper ends, shape (...), in [0, 1].

    Source: Wilson (1927); Miettinen & Nurminen (1985), "Comparative analysis of
    two rates", for score intervals with restricted likelihood over strata.
    """
    there = sizes > 0
    weights = np.where(there, shares, 0.0)
    found = np.where(there, rates, 0.0)
    rows = np.where(there, sizes, 1.0)
    apart = np.asarray(share_variance, dtype=np.float64)
    low = _end(weights, found, rows, quantile, apart)
    missed = _end(weights, 1 - found, rows, quantile, apart)
    return np.clip(low, 0, 1), np.clip(shares.sum(axis=-1) - missed, 0, 1)


def _end(shares: Floats, rates: Floats, rows: Floats, quantile: float, apart: Floats) -> Floats:
    """The lower end; 0 where even a rate of 0 is less than ``quantile`` errors away."""
    found = (shares * rates).sum(axis=-1)
    reached = found > quantile * np.sqrt(apart)

    def beyond(multiplier: Floats) -> Floats:
        distance = _distance(multiplier, shares, rates, rows, apart)[0]
        return np.where(reached, distance - quantile, 0.0)

    multiplier = _root(beyond, found.shape)
    return np.where(reached, _distance(multiplier, shares, rates, rows, apart)[1], 0.0)


def _root(rising: Callable[[Floats], Floats], shape: tuple[int, ...]) -> Floats:
    """Roots of increasing functions that are negative at 0: regula falsi, Illinois variant."""
    least, most = np.zeros(shape), np.full(shape, FIRST)
    below, above = rising(least), rising(most)
    # Extend each bracket until it holds its root.
    for _ in range(MOST_STEPS):
        short = above < 0
        if not short.any():
            break
        least, below = np.where(short, most, least), np.where(short, above, below)
        most = np.where(short, STRIDE * most, most)
        above = rising(most)
    middle, before = most, np.zeros(shape)
    for _ in range(MOST_STEPS):
        gap = np.where(above > below, above - below, 1)
        middle = np.where(above > below, (least * above - most * below) / gap, most)
        here = rising(middle)
        if ((np.abs(here) < CLOSE) | (most - least <= CLOSE * most)).all():
            break
        over = here > 0
        # Illinois: halve the value at an end that was kept twice in a row, or it would never move.
        below = np.where(over, np.where(before > 0, below / 2, below), here)
        above = np.where(over, here, np.where(before < 0, above / 2, above))
        least, most = np.where(over, least, middle), np.where(over, middle, most)
        before = np.where(over, 1.0, -1.0)
    return middle


def _distance(
    multiplier: Floats, shares: Floats, rates: Floats, rows: Floats, apart: Floats
) -> tuple[Floats, Floats]:
    """How many standard errors θ lies below the estimate, and θ itself, for μ > 0."""
    pull = multiplier[..., None] * shares
    total = rows + pull
    root = np.sqrt(np.maximum(0, total**2 - 4 * pull * rows * rates))
    # This form of the root has no difference of nearly equal numbers, which total - root would be.
    likely = np.minimum(1, 2 * rows * rates / (total + root))
    variance = (shares**2 * likely * (1 - likely) / rows).sum(axis=-1)
    distance = multiplier * variance / np.sqrt(np.maximum(variance + apart, TINY))
    return distance, (shares * likely).sum(axis=-1)
