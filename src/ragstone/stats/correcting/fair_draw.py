"""Fair draw: could rows have been chosen at random, going by what they are made of?"""

from math import ceil

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ragstone.errors import InputError

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

FIRST = 200
"""Draws after which most fair draws are known to be one."""

ENOUGH = 20
"""So many draws beyond, of all, settle on which side of ``below`` a p lies to about a fifth."""

SAME = 1e-9
"""Distances that differ by less differ by rounding alone."""


def fair_draw_p(
    levels: ArrayLike,
    chosen: ArrayLike,
    *,
    clusters: ArrayLike | None = None,
    below: float = 0.001,
    seed: int = 0,
) -> float:
    """How likely a fair draw would be at least as unlike all rows as the chosen ones are.

        distance = sum over levels of (share among the chosen - share among all)² / share among all

    As many rows are drawn at random and again as many whole clusters as hold a chosen row, and
    the larger p of the two counts: so a draw of rows and a draw of whole questions, which is
    further from all rows where a question's rows are alike, are both fair. Monte Carlo, with no
    approximation but the number of draws, which stop as soon as p is sure not to lie below.

    Args:
        levels: Shape (n,), whole numbers from 0: what each row is, such as its system.
        chosen: Shape (n,), whether each row was chosen.
        clusters: Shape (n,), whole numbers; rows of one cluster are not independent.
        below: Where p is to be told apart from; it is told down to a twentieth of it.
        seed: The same seed gives the same p.

    Returns:
        In (0, 1]; 1 where there is nothing to tell: all rows chosen, or none, or one level.

    Raises:
        InputError: Arrays of different lengths, or ``below`` outside (0, 1).

    Source: Phipson & Smyth (2010), "Permutation p-values should never be zero".
    """
    of, among = np.asarray(levels, dtype=np.int64), np.asarray(chosen, dtype=np.bool_)
    if of.shape != among.shape or (clusters is not None and np.shape(clusters) != of.shape):
        raise InputError("Every row needs its level, and whether it was chosen.")
    if not 0 < below < 1:
        raise InputError(f"A p lies inside (0, 1), got {below}.")
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
    """The share of draws of ``n`` units that lie as far from all rows.

    ``kinds`` (kinds, levels) says how many rows of each level a unit of a kind holds, ``times``
    (kinds,) how many such units there are.
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
    """Of each draw's rows by level (B, levels) from all rows."""
    total = np.maximum(rows.sum(axis=1, keepdims=True), 1)
    share = counts / counts.sum()
    return np.asarray(((rows / total - share) ** 2 / share).sum(axis=1))
