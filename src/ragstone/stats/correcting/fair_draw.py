"""Fair draw: tests whether a sample could have been drawn at random, by its composition."""

from math import ceil

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ragstone.core.errors import InputError

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

FIRST = 200
"""First batch of draws; it is usually enough if the sample was drawn at random."""

ENOUGH = 20
"""Expected exceedances at p = ``below``: this many give its relative error as about a fifth."""

SAME = 1e-9
"""Distances that differ by less than this count as equal."""


def fair_draw_p(
    levels: ArrayLike,
    chosen: ArrayLike,
    *,
    clusters: ArrayLike | None = None,
    below: float = 0.001,
    seed: int = 0,
) -> float:
    """Monte Carlo p-value for the hypothesis that the chosen rows are a random sample.

        distance = sum over levels of (share among the chosen - share among all)² / share among all

    The null distribution is simulated twice: by drawing as many rows at random, and by drawing as
    many whole clusters as hold a chosen row. The larger p counts, so both a random sample of rows
    and one of whole questions pass; the latter differs more from all rows if a question's rows are
    alike. Drawing stops as soon as p is certain not to lie below the threshold.

    Args:
        levels: Shape (n,), whole numbers from 0: a property of each row, such as its system.
        chosen: Shape (n,), whether each row was chosen.
        clusters: Shape (n,), whole numbers; rows of one cluster are not independent.
        below: The threshold of interest; p is resolved down to a twentieth of it.
        seed: The same seed gives the same p.

    Returns:
        In (0, 1]; 1 if all rows are chosen, or none, or there is only one level.

    Raises:
        InputError: Arrays of different lengths, or ``below`` outside (0, 1).

    Source: Phipson & Smyth (2010), "Permutation p-values should never be zero".
    """
    of, among = np.asarray(levels, dtype=np.int64), np.asarray(chosen, dtype=np.bool_)
    if of.shape != among.shape or (clusters is not None and np.shape(clusters) != of.shape):
        raise InputError("levels, chosen and clusters must have the same length.")
    if not 0 < below < 1:
        raise InputError(f"The threshold for p must lie inside (0, 1), got {below}.")
    counts = np.bincount(of)
    counts, place = counts[counts > 0], np.cumsum(counts > 0) - 1
    n = int(among.sum())
    if len(counts) < 2 or n in (0, len(of)):
        return 1.0
    of = place[of]
    rng = np.random.default_rng(seed)
    observed = np.bincount(of[among], minlength=len(counts))[None, :]
    distance = float(_distance(observed, counts)[0])
    by_rows = _p(np.eye(len(counts), dtype=np.int64), counts, n, counts, distance, below, rng)
    if clusters is None or by_rows >= below:
        return by_rows
    _, number = np.unique(np.asarray(clusters), return_inverse=True)
    made = np.zeros((number.max() + 1, len(counts)), dtype=np.int64)
    np.add.at(made, (number, of), 1)
    touched = len(np.unique(number[among]))
    if touched == len(made):
        return by_rows
    kinds, times = np.unique(made, axis=0, return_counts=True)
    by_clusters = _p(kinds, times, touched, counts, distance, below, rng)
    return max(by_rows, by_clusters)


def _p(
    kinds: Ints,
    times: Ints,
    n: int,
    counts: Ints,
    distance: float,
    below: float,
    rng: np.random.Generator,
) -> float:
    """The share of random draws of ``n`` units that are at least as far from all rows.

    ``kinds`` (kinds, levels) is the number of rows of each level in a unit of each kind, ``times``
    (kinds,) the number of units of each kind.
    """
    most = ceil(ENOUGH / below)
    drawn = beyond = 0
    size = FIRST
    while drawn < most and (beyond + 1) / (most + 1) < below:
        units = rng.multivariate_hypergeometric(times, n, size=size, method="marginals")
        beyond += int((_distance(units @ kinds, counts) >= distance - SAME).sum())
        drawn += size
        size = min(2 * size, 20_000, most - drawn)
    return (beyond + 1) / (drawn + 1)


def _distance(rows: Ints, counts: Ints) -> Floats:
    """The distance of each draw from all rows, given its rows by level (B, levels)."""
    total = np.maximum(rows.sum(axis=1, keepdims=True), 1)
    share = counts / counts.sum()
    return np.asarray(((rows / total - share) ** 2 / share).sum(axis=1))
