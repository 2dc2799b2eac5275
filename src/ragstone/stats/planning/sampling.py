"""Sampling: random samples with known inclusion probabilities.

Each sampled row has the weight 1 / π, where π is its inclusion probability (Horvitz & Thompson,
1952).
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from ragstone.core.errors import InputError
from ragstone.stats.distributions import bisected
from ragstone.stats.weights_and_groups import Floats, Ints

Allocation = Literal["proportional", "equal", "neyman"]

# Rows of a stratum that must be drawn to estimate its variance.
FEWEST = 2

# A deviation below this, relative to the largest, counts as 0.
NEGLIGIBLE = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class Drawn:
    """A sample without replacement.

    Attributes:
        picked: Shape (n,). Indices of the rows, ascending.
        probability: Shape (N,). Inclusion probability of each row, in (0, 1].
    """

    picked: Ints
    probability: Floats


def draw_random(rows: int, size: int, rng: np.random.Generator) -> Drawn:
    """A simple random sample: every row has the inclusion probability size / rows."""
    _check_size(rows, size)
    picked = np.sort(rng.choice(rows, size, replace=False))
    return Drawn(picked.astype(np.int64), np.full(rows, size / rows))


def allocate(
    sizes: ArrayLike,
    size: int,
    how: Allocation = "proportional",
    *,
    deviations: ArrayLike | None = None,
) -> Ints:
    """The number of rows to draw from each stratum, with sum ``size``.

    In proportion to N_h (proportional), 1 (equal) or N_h · S_h (neyman). Every stratum gets at
    least two rows, so that its variance can be estimated (one, if the sample is too small for two
    each), and at most all its rows. Fractions are rounded by largest remainder.

    Args:
        sizes: Shape (H,). N_h, each at least 1.
        size: n, from H to the sum of ``sizes``.
        deviations: Shape (H,). S_h for neyman, at least 0, not all 0.

    Source: Cochran (1977), "Sampling Techniques", chapter 5; Neyman (1934).
    """
    totals = np.asarray(sizes, dtype=np.int64)
    _check_size(int(totals.sum()), size)
    if size < len(totals):
        raise InputError(
            f"{len(totals)} strata need a sample of at least {len(totals)} rows, one each, got "
            f"{size}."
        )
    target = _shares(totals, how, deviations)
    least = np.minimum(totals, FEWEST)
    if least.sum() > size:
        least = np.minimum(totals, 1)
    return _whole(
        _between(target, least.astype(np.float64), totals.astype(np.float64), size), totals
    )


def draw_stratified(strata: ArrayLike, sizes: ArrayLike, rng: np.random.Generator) -> Drawn:
    """A stratified random sample: a simple random sample from each stratum.

    Args:
        strata: Shape (N,). The stratum of each row, from 0.
        sizes: Shape (H,). Rows to draw from each stratum, see ``allocate``.
    """
    codes, target = np.asarray(strata, dtype=np.int64), np.asarray(sizes, dtype=np.int64)
    totals = np.bincount(codes, minlength=len(target))
    picked = [
        rng.choice(np.flatnonzero(codes == stratum), count, replace=False)
        for stratum, count in enumerate(target)
    ]
    return Drawn(np.sort(np.concatenate(picked)), (target / totals)[codes])


def inclusion_probabilities(weights: ArrayLike, size: int) -> Floats:
    """Inclusion probabilities in proportion to weights, at most 1, with the sample size as sum.

        π_i = min(1, c · w_i),  sum of π_i = n

    The result has shape (N,), in (0, 1].

    Args:
        weights: Shape (N,), finite and above 0, so that every row can be drawn.

    Source: Särndal, Swensson & Wretman (1992), "Model Assisted Survey Sampling", section 3.6.1.
    """
    values = np.asarray(weights, dtype=np.float64)
    _check_size(len(values), size)
    # The heaviest rows are drawn with certainty: as many as exceed probability 1 among the rest.
    order = np.sort(values)[::-1]
    rest = np.cumsum(order[::-1])[::-1]
    certain = int(np.argmax((size - np.arange(len(order))) * order < rest))
    if size == len(values):
        return np.ones(len(values))
    return np.asarray(np.minimum(1.0, (size - certain) * values / rest[certain]))


def draw_systematic(probability: ArrayLike, rng: np.random.Generator) -> Drawn:
    """Systematic sampling: a sample of fixed size with unequal inclusion probabilities.

    The probabilities are laid end to end on a line, in random order. A random start in [0, 1) and
    all whole steps from it select the rows in whose segments they fall.

    Args:
        probability: Shape (N,), in (0, 1], with a whole sum of at least 1.

    Source: Madow (1949), "On the theory of systematic sampling, II"; in random order: Goodman &
    Kish (1950).
    """
    chance = np.asarray(probability, dtype=np.float64)
    total = float(chance.sum())
    size = round(total)
    order = rng.permutation(len(chance))
    ends = np.cumsum(chance[order]) * (size / total)
    # Rounding of the cumulative sum must not leave the last step beyond the last row.
    ends[-1] = size
    steps = rng.random() + np.arange(size)
    picked = order[np.searchsorted(ends, steps, side="right")]
    return Drawn(np.sort(picked), chance)


def _shares(totals: Ints, how: Allocation, deviations: ArrayLike | None) -> Floats:
    if how == "equal":
        return np.ones(len(totals))
    if how == "proportional":
        return totals.astype(np.float64)
    spread = np.asarray(deviations, dtype=np.float64)
    relative = spread / spread.max()
    return np.asarray(totals * np.where(relative < NEGLIGIBLE, 0, relative))


def _between(shares: Floats, least: Floats, most: Floats, size: int) -> Floats:

    def held(factor: float) -> Floats:
        return np.asarray(np.clip(factor * shares, least, most))

    high = 1.0
    while held(high).sum() < size and not np.isclose(held(high)[shares > 0].sum(),
                                                     most[shares > 0].sum()):  # fmt: skip
        high *= 2
    rows = held(bisected(lambda factor: held(factor).sum() < size, 0.0, high, 200)[1])
    short = size - rows.sum()
    if short > 1e-6:
        room = most - rows
        rows = rows + room * (short / room.sum())
    return rows


def _whole(shares: Floats, most: Ints) -> Ints:
    """Round to whole numbers with the same sum by largest remainder, at most ``most``."""
    size = round(float(shares.sum()))
    whole = np.floor(shares + 1e-9).astype(np.int64)
    remainder = np.where(whole < most, shares - whole, -1.0)
    whole[np.argsort(-remainder, kind="stable")[: size - int(whole.sum())]] += 1
    return np.asarray(whole)


def _check_size(rows: int, size: int) -> None:
    if size < 1:
        raise InputError(f"A sample needs at least one row, got {size}.")
    if size > rows:
        raise InputError(f"A sample of {size:,} rows is larger than the data: {rows:,} rows.")
