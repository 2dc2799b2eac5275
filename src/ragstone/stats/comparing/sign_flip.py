"""Sign-flip test: a permutation test of a mean paired difference."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ragstone.core.errors import InputError
from ragstone.stats.join_clusters import join_clusters

Floats = NDArray[np.float64]

BYTE = 8
LOOKED_UP_AT_ONCE = 1_000_000
ROUNDING = 1e-10


@dataclass(frozen=True, slots=True)
class SignFlip:
    """``p`` in (0, 1] from ``flips`` sign assignments; from all of them if ``exact``."""

    p: float
    exact: bool
    flips: int


def sign_flip_test(sums: ArrayLike, *, seed: int, resamples: int = 10_000) -> SignFlip:
    """Two-sided permutation test of the hypothesis that the two systems are interchangeable.

    If the two systems are interchangeable within a cluster, both signs of its
    sum of differences are equally likely. p is the share of sign assignments
    whose total is at least as far from 0 as the observed one:

        p = #(|sum ± s_c| >= |sum s_c|) / 2^C              few clusters: all assignments
        p = (1 + #(…)) / (1 + resamples)                   otherwise: random assignments

    so it is never 0. Clusters whose sum is 0 do not count. More than 10,000
    clusters are merged by chance into 10,000 groups that are flipped whole: these
    flips form a subgroup of all flips, so the test stays valid.

    Args:
        sums: Shape (C,). Sum of a - b over the pairs of each cluster, finite.
        seed: The same seed gives the same flips on every machine.
        resamples: Number of random assignments; if there are no more than this in
            all, all are used instead.

    Raises:
        InputError: A wrong shape, sums that are not finite, no resamples.

    Source: Fisher (1935), "The Design of Experiments", section 21; Phipson &
    Smyth (2010), "Permutation p-values should never be zero"; Hemerik & Goeman
    (2018), "Exact testing with random permutations", for subgroups.
    """
    differences = _read(sums)
    if resamples < 1:
        raise InputError(f"A test needs at least one resample, got {resamples}.")
    size = len(differences)
    if size == 0:
        return SignFlip(1.0, True, 1)
    if 2**size <= resamples:
        totals = _all_totals(differences)
        return SignFlip(_as_far(totals, differences) / len(totals), True, 2 * len(totals))
    found = _random_totals_as_far(differences, resamples, np.random.default_rng(seed))
    return SignFlip((found + 1) / (resamples + 1), False, resamples)


def _read(sums: ArrayLike) -> Floats:
    """The nonzero sums, divided by the largest so that totals cannot overflow."""
    try:
        differences = np.asarray(sums, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"sums must be an array of numbers: {error}.") from error
    if differences.ndim != 1 or not np.isfinite(differences).all():
        raise InputError(f"sums must be finite and of shape (C,), got {differences.shape}.")
    largest = float(np.abs(differences).max(initial=0.0))
    if largest == 0:
        return np.empty(0)
    scaled = differences / largest
    return np.asarray(scaled[np.abs(scaled) > ROUNDING])


def _all_totals(differences: Floats) -> Floats:
    """The totals of all sign assignments with the first sign fixed, shape (2^(C-1),).

    The other half are these with opposite signs, and so equally far from 0.
    """
    totals = differences[:1]
    for difference in differences[1:]:
        totals = np.concatenate([totals + difference, totals - difference])
    return totals


def _random_totals_as_far(differences: Floats, resamples: int, rng: np.random.Generator) -> int:
    """The number of random sign assignments whose total is at least as far from 0 as observed.

    A random byte flips eight clusters at once; a table holds the 256 totals of each eight.
    """
    joined = join_clusters(differences, None, rng)
    padded = np.pad(joined, (0, -len(joined) % BYTE))
    bits = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1)
    table = (padded.reshape(-1, BYTE) @ (1.0 - 2.0 * bits).T).ravel()
    places = np.arange(0, len(table), 256)
    found, block = 0, max(1, LOOKED_UP_AT_ONCE // len(places))
    for start in range(0, resamples, block):
        size = min(block, resamples - start)
        drawn = rng.integers(256, size=(size, len(places)), dtype=np.uint8)
        found += _as_far(table[drawn + places].sum(axis=1), differences)
    return found


def _as_far(totals: Floats, differences: Floats) -> int:
    """The number of totals at least as far from 0 as the observed one."""
    # A total that differs only by the order of summation must count as equal to the observed one.
    slack = ROUNDING * float(np.abs(differences).sum())
    return int(np.count_nonzero(np.abs(totals) >= abs(float(differences.sum())) - slack))
