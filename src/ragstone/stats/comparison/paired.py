"""Paired difference: two systems on the same questions, with an interval and the sign-flip test."""

from collections.abc import Callable
from dataclasses import dataclass
from math import sqrt
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from ragstone.core.errors import InputError
from ragstone.stats.bootstrap import join_clusters
from ragstone.stats.cluster_means import Clusters, read_clusters
from ragstone.stats.cluster_moments import ClusterMoments
from ragstone.stats.distributions import Interval, clamp, t_quantile, upper_quantile, wilson_ends
from ragstone.stats.weights_and_groups import Floats, smallest

from .differences import newcombe_paired

BYTE = 8
LOOKED_UP_AT_ONCE = 1_000_000
SIGN_FLIP_ROUNDING = 1e-10


def sign_flip_test(sums: ArrayLike, *, seed: int, resamples: int = 10_000) -> tuple[float, bool]:
    """Two-sided permutation test of the hypothesis that the two systems are interchangeable.

    If the two systems are interchangeable within a cluster, both signs of its sum of differences
    are equally likely. p is the share of sign assignments whose total is at least as far from 0 as
    the observed one:

        p = #(|sum ± s_c| >= |sum s_c|) / 2^C              few clusters: all assignments
        p = (1 + #(…)) / (1 + resamples)                   otherwise: random assignments

    so it is never 0; it comes with whether all assignments were used. Clusters whose sum is 0 do
    not count. More than 10,000 clusters are merged by chance into 10,000 groups that are flipped
    whole: these flips form a subgroup of all flips, so the test stays valid.

    Args:
        sums: Shape (C,). Sum of a - b over the pairs of each cluster, finite.
        resamples: Number of random assignments; if there are no more than this in all, all are used
            instead.

    Source: Fisher (1935), "The Design of Experiments", section 21; Phipson & Smyth (2010),
    "Permutation p-values should never be zero"; Hemerik & Goeman (2018), "Exact testing with random
    permutations", for subgroups.
    """
    if resamples < 1:
        raise InputError(f"A test needs at least one resample, got {resamples}.")
    differences = np.asarray(sums, dtype=np.float64)
    largest = float(np.abs(differences).max(initial=0.0))
    if largest == 0:
        return 1.0, True
    differences = differences / largest
    differences = differences[np.abs(differences) > SIGN_FLIP_ROUNDING]
    if 2 ** len(differences) <= resamples:
        totals = _all_totals(differences)
        return _as_far(totals, differences) / len(totals), True
    as_far = _random_totals_as_far(differences, resamples, np.random.default_rng(seed))
    return (as_far + 1) / (resamples + 1), False


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
    starts = np.arange(0, len(table), 256)
    as_far, block = 0, max(1, LOOKED_UP_AT_ONCE // len(starts))
    for start in range(0, resamples, block):
        size = min(block, resamples - start)
        drawn = rng.integers(256, size=(size, len(starts)), dtype=np.uint8)
        as_far += _as_far(table[drawn + starts].sum(axis=1), differences)
    return as_far


def _as_far(totals: Floats, differences: Floats) -> int:
    # A total that differs only by the order of summation must count as equal to the observed one.
    slack = SIGN_FLIP_ROUNDING * float(np.abs(differences).sum())
    return int(np.count_nonzero(np.abs(totals) >= abs(float(differences.sum())) - slack))


ROUNDING = 1e-12
# A margin that needs more pairs than this counts as unreachable.
MOST_PAIRS = 10**40

# The clusters of both systems, and the moments of their differences.
PairedClusters = tuple[Clusters, Clusters, ClusterMoments]
# Numbers of pairs on which both succeed, only the first, only the second, neither.
Table = tuple[int, int, int, int]

WhyNone = Literal["no_pairs", "one_cluster", "no_variation"]


@dataclass(frozen=True, slots=True)
class PairedDifference:
    """Mean of a - b over ``n`` pairs in ``clusters`` clusters, in the unit of the scores.

    ``value`` is None for no pairs. ``interval`` is None if it cannot be computed, and ``reason``
    says why: ``no_pairs``, ``one_cluster``, or ``no_variation``: all differences are equal and the
    range of the scores is not known.
    """

    value: float | None
    interval: Interval | None
    reason: WhyNone | None
    n: int
    clusters: int


def paired_difference(
    a: ArrayLike,
    b: ArrayLike,
    counts: ArrayLike,
    *,
    rate: bool,
    low: float | None,
    high: float | None,
    level: float = 0.95,
) -> PairedDifference:
    """Mean paired difference, with an interval for the population that the clusters represent.

    | scores | clusters | method |
    |---|---|---|
    | 0 or 1 | one pair each | ``newcombe`` |
    | any | one pair each | ``t`` |
    | any | several pairs | ``cluster_t`` |
    | all clusters have the same difference | | ``bounded_wilson`` |

    For bounded scores, the variance of the t interval includes one additional cluster with the
    largest possible difference: pairs that are nearly all ties hold little information about rare
    large differences.

        variance = C / (C - 1) · sum of (s_c - mean · n_c)² / N²  +  ((high - low) / C)²

    In the last row, t would give a single point d. None of the C clusters had another difference,
    so at most a share u of all clusters has, where u is the upper Wilson bound of 0 in C with
    Student's t; and theirs lie in the range of a difference, [low - high, high - low]:

        d - u (d - (low - high))   to   d + u ((high - low) - d)

    Args:
        a: Shape (C,). Sum of the first system's scores over the pairs of each cluster.
        b: Shape (C,). The same for the second system, over the same pairs.
        counts: Shape (C,). Pairs of each cluster, at least 1.

    Source: Cochran (1977), "Sampling Techniques", chapter 6; Newcombe (1998), method 10. The
    additional cluster is ours: if 3 % of answers lose the whole range and the rest tie, t alone
    finds no harm in a fifth of all samples of 50.
    """
    return difference_of(paired_clusters(a, b, counts), rate=rate, low=low, high=high, level=level)


def difference_of(
    pairs: PairedClusters, *, rate: bool, low: float | None, high: float | None, level: float
) -> PairedDifference:
    """``paired_difference`` of clusters that were summed up once, for several levels."""
    first, second, clusters = pairs
    upper_quantile(level)
    if clusters.size == 0:
        return PairedDifference(None, None, "no_pairs", 0, 0)
    n, value = round(clusters.rows), clusters.mean
    if clusters.size == 1:
        return PairedDifference(value, None, "one_cluster", n, 1)
    if rate and clusters.single:
        interval = newcombe_paired(*_table(first, second), level=level)
    else:
        interval = _mean_interval(clusters, low, high, level)
    reason: WhyNone | None = "no_variation" if interval is None else None
    return PairedDifference(value, interval, reason, n, clusters.size)


def needed_pairs(
    a: ArrayLike,
    b: ArrayLike,
    counts: ArrayLike,
    *,
    margin: float,
    rate: bool,
    low: float | None,
    high: float | None,
    level: float = 0.95,
) -> int | None:
    """The total number of pairs at which the half-width of ``paired_difference`` is the margin.

    Assumes that further pairs are like those so far: the same variance, cluster sizes, and shares
    of pairs on which only one succeeds. The result may be smaller than the present number of pairs.
    The result is at least 2; None for fewer than two clusters, or if no difference varies and the
    range of the scores is not known.

    Args:
        margin: Above 0, in the unit of the scores.
    """
    first, second, clusters = paired_clusters(a, b, counts)
    upper = upper_quantile(level)
    if not 0 < margin < float("inf"):
        raise InputError(f"A margin must be a number above 0, got {margin}.")
    if clusters.size < 2:
        return None
    if rate and clusters.single:
        half = _half_of_newcombe(_table(first, second), level)
    elif not _alike(clusters):
        half = _half_of_t(clusters, None if low is None or high is None else high - low, upper)
    elif low is not None and high is not None:
        half = _half_of_unseen(clusters, high - low, upper)
    else:
        return None
    return smallest(lambda pairs: half(pairs) <= margin, least=2, most=MOST_PAIRS)


def paired_clusters(a: ArrayLike, b: ArrayLike, counts: ArrayLike) -> PairedClusters:
    """The clusters of both systems, and the moments of their differences."""
    first, second = read_clusters(a, counts), read_clusters(b, counts)
    return first, second, read_clusters(first.sums - second.sums, counts).moments


def _mean_interval(
    clusters: ClusterMoments, low: float | None, high: float | None, level: float
) -> Interval | None:
    span = None if low is None or high is None else high - low
    value, upper = clusters.mean, upper_quantile(level)
    if not _alike(clusters):
        half = _half_of_t(clusters, span, upper)(clusters.rows)
        least = None if span is None else -span
        ends = clamp(value - half, least, span), clamp(value + half, least, span)
        return Interval(*ends, level, "t" if clusters.single else "cluster_t")
    if span is None:
        return None
    unseen = _unseen(clusters.size, upper)
    return Interval(
        value - unseen * max(0.0, value + span),
        value + unseen * max(0.0, span - value),
        level,
        "bounded_wilson",
    )


def _half_of_t(
    clusters: ClusterMoments, span: float | None, upper: float
) -> Callable[[float], float]:
    of_one = clusters.variance * clusters.rows
    worth = (clusters.df + 1) / clusters.rows
    far = 0.0 if span is None else span * clusters.rows / clusters.size

    def half(pairs: float) -> float:
        error = sqrt(of_one / pairs + (far / pairs) ** 2)
        return t_quantile(upper, max(1.0, pairs * worth - 1)) * error

    return half


def _half_of_newcombe(table: Table, level: float) -> Callable[[float], float]:
    n = sum(table)

    def half(pairs: float) -> float:
        both, only_a, only_b, neither = (count * pairs / n for count in table)
        interval = newcombe_paired(both, only_a, only_b, neither, level=level)
        return 1.0 if interval is None else (interval.high - interval.low) / 2

    return half


def _half_of_unseen(
    clusters: ClusterMoments, span: float, upper: float
) -> Callable[[float], float]:
    furthest = span + abs(clusters.mean)
    worth = clusters.size / clusters.rows
    return lambda pairs: furthest * _unseen(max(2.0, pairs * worth), upper)


def _alike(clusters: ClusterMoments) -> bool:
    least, greatest = clusters.least, clusters.greatest
    return greatest - least <= ROUNDING * max(1.0, abs(least), abs(greatest))


def _unseen(clusters: float, upper: float) -> float:
    """The upper bound on the share of clusters of a kind that was not observed."""
    return wilson_ends(0.0, clusters, t_quantile(upper, clusters - 1))[1]


def _table(first: Clusters, second: Clusters) -> Table:
    a, b = first.sums, second.sums
    if not (np.isin(a, (0, 1)).all() and np.isin(b, (0, 1)).all()):
        raise InputError("The scores of a rate must be 0 or 1.")
    won_a, won_b = a == 1, b == 1
    cells = (won_a & won_b, won_a & ~won_b, ~won_a & won_b, ~won_a & ~won_b)
    both, only_a, only_b, neither = (int(np.count_nonzero(cell)) for cell in cells)
    return both, only_a, only_b, neither
