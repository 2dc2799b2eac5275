"""Sampling: rows drawn by chance, each with a probability of being drawn that is known.

Whatever is drawn can be counted for the whole: a row that had a chance of π
stands for 1 / π rows (Horvitz & Thompson, 1952).
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ragstone.errors import InputError

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]
Allocation = Literal["proportional", "equal", "neyman"]

FEWEST = 2
"""Rows of a stratum that must be drawn to know how it varies."""

NEGLIGIBLE = 1e-9
"""A deviation so small beside the largest is none."""


@dataclass(frozen=True, slots=True, eq=False)
class Drawn:
    """A sample without replacement.

    Attributes:
        picked: Shape (n,). Indices of the rows, ascending.
        probability: Shape (N,). How likely each row was to be in it, in (0, 1].
    """

    picked: Whole
    probability: Floats


def draw_random(rows: int, size: int, rng: np.random.Generator) -> Drawn:
    """Every row with the same chance, size / rows.

    Args:
        rows: N, at least ``size``.
        size: n, at least 1.
        rng: Seeded by the caller.

    Raises:
        InputError: More rows wanted than there are, or none.
    """
    _check_size(rows, size)
    picked = np.sort(rng.choice(rows, size, replace=False))
    return Drawn(picked.astype(np.int64), np.full(rows, size / rows))


def allocate(
    sizes: ArrayLike,
    size: int,
    how: Allocation = "proportional",
    *,
    deviations: ArrayLike | None = None,
) -> Whole:
    """How many rows to draw from each stratum, as whole numbers that add up.

    Shares are of N_h (proportional), of 1 (equal) or of N_h · S_h (neyman).
    Every stratum gets two rows at least, so that it tells how it varies, or one
    where two each are more than the sample, and never more than it has; what is
    left goes by the shares, by largest remainder.

    Args:
        sizes: Shape (H,). N_h, each at least 1.
        size: n, from H to the sum of ``sizes``.
        how: The rule.
        deviations: Shape (H,). S_h for neyman, at least 0, not all 0.

    Raises:
        InputError: A size that cannot be, or neyman without deviations.

    Source: Cochran (1977), "Sampling Techniques", chapter 5; Neyman (1934).
    """
    there = np.asarray(sizes, dtype=np.int64)
    _check_size(int(there.sum()), size)
    if size < len(there):
        raise InputError(
            f"{len(there)} strata need a sample of {len(there)} at least, one each, got {size}."
        )
    wanted = _shares(there, how, deviations)
    least = np.minimum(there, FEWEST)
    if least.sum() > size:
        least = np.minimum(there, 1)
    return _whole(_between(wanted, least.astype(np.float64), there.astype(np.float64), size), there)


def draw_stratified(strata: ArrayLike, sizes: ArrayLike, rng: np.random.Generator) -> Drawn:
    """So many rows of each stratum, inside it each with the same chance.

    Args:
        strata: Shape (N,). The stratum of each row, from 0.
        sizes: Shape (H,). Rows to draw of each, as ``allocate`` gives them.
        rng: Seeded by the caller.

    Raises:
        InputError: More rows of a stratum than it has, or none.
    """
    place, wanted = np.asarray(strata, dtype=np.int64), np.asarray(sizes, dtype=np.int64)
    there = np.bincount(place, minlength=len(wanted))
    if len(there) != len(wanted) or (wanted < 1).any() or (wanted > there).any():
        raise InputError(f"Strata of {there.tolist()} rows cannot give {wanted.tolist()}.")
    picked = [
        rng.choice(np.flatnonzero(place == one), count, replace=False)
        for one, count in enumerate(wanted)
    ]
    return Drawn(np.sort(np.concatenate(picked)), (wanted / there)[place])


def inclusion_probabilities(weights: ArrayLike, size: int) -> Floats:
    """Chances in proportion to weights, at most 1, that add up to the sample's size.

        π_i = min(1, c · w_i),  sum of π_i = n

    Args:
        weights: Shape (N,), finite, each above 0, so that every row has a chance.
        size: n, from 1 to N.

    Returns:
        Shape (N,), in (0, 1].

    Raises:
        InputError: A weight that is not above 0, or a size that cannot be.

    Source: Särndal, Swensson & Wretman (1992), "Model Assisted Survey
    Sampling", section 3.6.1.
    """
    given = np.asarray(weights, dtype=np.float64)
    _check_size(len(given), size)
    if given.ndim != 1 or not np.isfinite(given).all() or not (given > 0).all():
        raise InputError("Weights must be finite and above 0, one a row.")
    order = np.sort(given)[::-1]
    rest = np.cumsum(order[::-1])[::-1]
    certain = int(np.argmax((size - np.arange(len(order))) * order < rest))
    if size == len(given):
        return np.ones(len(given))
    return np.asarray(np.minimum(1.0, (size - certain) * given / rest[certain]))


def draw_systematic(probability: ArrayLike, rng: np.random.Generator) -> Drawn:
    """Rows with unequal chances, exactly as many as these add up to.

    The chances are laid end to end on a line, in random order; one random start
    in [0, 1) and every whole step from it pick the rows they fall into.

    Args:
        probability: Shape (N,), in (0, 1], with a whole sum of at least 1.
        rng: Seeded by the caller.

    Raises:
        InputError: Chances out of their range, or a sum that is not whole.

    Source: Madow (1949), "On the theory of systematic sampling, II"; in random
    order: Goodman & Kish (1950).
    """
    chance = np.asarray(probability, dtype=np.float64)
    total = float(chance.sum())
    size = round(total)
    if not ((chance > 0) & (chance <= 1)).all() or size < 1 or abs(total - size) > 1e-6:
        raise InputError(
            f"Chances must lie in (0, 1] and add up to a whole number of rows, got {total:g}."
        )
    order = rng.permutation(len(chance))
    ends = np.cumsum(chance[order]) * (size / total)
    ends[-1] = size
    steps = rng.random() + np.arange(size)
    picked = order[np.searchsorted(ends, steps, side="right")]
    return Drawn(np.sort(picked), chance)


def _shares(there: Whole, how: Allocation, deviations: ArrayLike | None) -> Floats:
    if how == "equal":
        return np.ones(len(there))
    if how == "proportional":
        return there.astype(np.float64)
    spread = np.asarray([] if deviations is None else deviations, dtype=np.float64)
    if spread.shape != there.shape or not (spread >= 0).all() or not spread.any():
        raise InputError(
            "The neyman allocation needs a standard deviation for each stratum, and one above 0."
        )
    relative = spread / spread.max()
    return np.asarray(there * np.where(relative < NEGLIGIBLE, 0, relative))


def _between(shares: Floats, least: Floats, most: Floats, size: int) -> Floats:
    """c · shares held between the two, with c such that they add up to the size."""

    def held(factor: float) -> Floats:
        return np.asarray(np.clip(factor * shares, least, most))

    low, high = 0.0, 1.0
    while held(high).sum() < size and not np.isclose(held(high)[shares > 0].sum(),
                                                     most[shares > 0].sum()):  # fmt: skip
        high *= 2
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if held(middle).sum() < size else (low, middle)
    found = held(high)
    short = size - found.sum()
    if short > 1e-6:
        room = most - found
        found = found + room * (short / room.sum())
    return found


def _whole(shares: Floats, most: Whole) -> Whole:
    """Whole numbers with the same sum, by largest remainder, none beyond what is there."""
    size = round(float(shares.sum()))
    found = np.floor(shares + 1e-9).astype(np.int64)
    remainder = np.where(found < most, shares - found, -1.0)
    for place in np.argsort(-remainder, kind="stable")[: size - int(found.sum())]:
        found[place] += 1
    return np.asarray(found)


def _check_size(rows: int, size: int) -> None:
    if size < 1:
        raise InputError(f"A sample needs a row at least, got {size}.")
    if size > rows:
        raise InputError(f"A sample of {size:,} is more than there is: {rows:,}.")
