"""Risk control: score thresholds that keep a promise, risk and coverage, and a two-sample test."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from ragstone.core.errors import InputError

from .distributions import clopper_pearson
from .rate_bounds import ExactRate
from .weights_and_groups import (
    Codes,
    Floats,
    Ints,
    cluster_codes,
    codes_of,
    scores_with_labels,
    smallest,
    sums_by,
)

# 1 - .9 is a little less than .1: a p-value of exactly .1 is enough for a confidence of .9.
ROUNDING = 1e-12


def upper_bound(hits: int, n: int, *, confidence: float) -> float:
    """The one-sided exact upper bound of a rate: too low with chance 1 - confidence.

    The result lies in (0, 1]; 1 for no rows.

    Source: Clopper & Pearson (1934), "The use of confidence or fiducial limits illustrated in the
    case of the binomial".
    """
    exact = clopper_pearson(hits, n, level=_two_sided(confidence))
    return 1.0 if exact is None else exact.high


def lower_bound(hits: int, n: int, *, confidence: float) -> float:
    """The one-sided exact lower bound of a rate; 0 for no rows. Otherwise as ``upper_bound``."""
    exact = clopper_pearson(hits, n, level=_two_sided(confidence))
    return 0.0 if exact is None else exact.low


def is_kept(hits: int, n: int, bound: float, *, confidence: float) -> bool:
    """Test if a rate is at most the bound: P(X <= hits | n, bound) <= 1 - confidence."""
    if not 0 < bound < 1:
        raise InputError(f"The bound of a rate must lie inside (0, 1), got {bound}.")
    _two_sided(confidence)
    if n == 0:
        return False
    return ExactRate(hits / n, n).p(bound, beyond="below") <= 1 - confidence + ROUNDING


def most_hits(n: int, bound: float, *, confidence: float) -> int | None:
    """The largest number of hits of n with which the bound is kept; None if not even 0 is."""
    if not is_kept(0, n, bound, confidence=confidence):
        return None
    # All n hits never keep a bound, so there is a least number that does not.
    return smallest(lambda hits: not is_kept(hits, n, bound, confidence=confidence), most=n) - 1


def rows_needed(bound: float, *, confidence: float, hits: int = 0) -> int:
    """The least n of which this many hits keep the bound."""
    return smallest(
        lambda n: is_kept(min(hits, n), n, bound, confidence=confidence), least=max(1, hits)
    )


def _two_sided(confidence: float) -> float:
    """The level of the central interval whose ends are one-sided bounds of this confidence."""
    if not 0.5 < confidence < 1:
        raise InputError(f"The confidence of a promise must lie inside (.5, 1), got {confidence}.")
    return 2 * confidence - 1


def highest_of_clusters(scores: ArrayLike, clusters: Codes | None = None) -> Floats:
    """The highest score of each cluster, in no particular order.

    The result has shape (number of clusters,).

    Args:
        scores: Shape (n,); minus infinity for what can never reach a threshold, but not NaN.
    """
    values = np.asarray(scores, dtype=np.float64)
    codes = cluster_codes(clusters, len(values))
    if codes is None:
        return values
    highest = np.full(int(codes.max(initial=-1)) + 1, -np.inf)
    np.maximum.at(highest, codes, values)
    return highest


def linked_clusters(*keys: Sequence[Hashable]) -> Ints:
    """A cluster for each row: rows are linked by any equal key, also by way of other rows.

    Answers to one question belong together, and so do those from one set of contexts. The result
    has shape (n,), codes from 0 in the order of the rows.

    Args:
        keys: Each of length n. A row whose key is None is linked by its other keys alone.
    """
    parent = list(range(len(keys[0])))

    def root(row: int) -> int:
        while parent[row] != row:
            parent[row] = parent[parent[row]]
            row = parent[row]
        return row

    for key in keys:
        first: dict[Hashable, int] = {}
        for row, value in enumerate(key):
            if value is not None:
                parent[root(row)] = root(first.setdefault(value, row))
    return np.asarray(codes_of([root(row) for row in range(len(parent))]))


Refusal = Literal["nothing_to_test", "too_few", "not_apart"]


@dataclass(frozen=True, slots=True)
class PromisedThreshold:
    """From which score on at most a promised share is hit.

    Attributes:
        value: A score of at least this is taken; None if there is no such threshold, and ``reason``
            says why: ``nothing_to_test`` (no row), ``too_few`` (not even without a hit is the bound
            kept) or ``not_apart`` (at every candidate there are too many hits).
        hits: Clusters with a score of at least ``value``; without one, of at least the strictest
            candidate.
        upper: The exact upper bound of the share of clusters hit there: the tightest promise that a
            threshold among the candidates can carry, where there is none that carries the one asked
            for.
        clusters: Number of clusters, of which the highest score counts.
        rows: Number of rows.
    """

    value: float | None
    hits: int
    upper: float
    clusters: int
    rows: int
    bound: float
    confidence: float
    reason: Refusal | None = None


def promised_threshold(
    scores: ArrayLike,
    *,
    among: ArrayLike,
    bound: float,
    confidence: float,
    clusters: Codes | None = None,
) -> PromisedThreshold:
    """The lowest candidate that keeps a promise, tested from the strictest down.

        p(t) = P(X <= k(t)) for X ~ Binomial(C, bound),  k(t) = clusters with a score >= t

    The candidates are tested from the highest down, each at level 1 - confidence, and the first
    that fails ends it: a fixed sequence, which spends no level on the number of tests. Of each
    cluster the highest score counts, so that the C clusters are independent whatever holds within
    them. With probability ``confidence`` over the clusters that were drawn,

        P(the highest score of a new cluster >= value) <= bound

    for any number of clusters; also where candidates are scores of the same data, because the share
    of hits falls with the threshold.

    Args:
        scores: Shape (n,), of the rows that must rarely reach the threshold. Not NaN; minus
            infinity for one that never can.
        among: Shape (m,), finite: the candidates.

    Source: Angelopoulos et al. (2021), "Learn then Test: Calibrating Predictive Algorithms to
    Achieve Risk Control", with fixed-sequence testing; Clopper & Pearson (1934) for the test. One
    row a cluster is ours; ``benchmarks/promise.py`` measures how often the promise is kept.
    """
    candidates = np.unique(np.asarray(among, dtype=np.float64))[::-1]
    highest = np.sort(highest_of_clusters(scores, clusters))
    size = len(highest)
    most = most_hits(size, bound, confidence=confidence)
    # From the strictest candidate down the hits never fall, so the first that fails ends it.
    hits = size - np.searchsorted(highest, candidates, side="left")
    passed = 0 if most is None else int(np.searchsorted(hits, most, side="right"))
    reason: Refusal | None = None
    if not passed:
        reason = "not_apart" if most is not None else "too_few" if size else "nothing_to_test"
    hits_there = int(hits[max(passed - 1, 0)]) if len(hits) else size
    return PromisedThreshold(
        value=float(candidates[passed - 1]) if passed else None,
        hits=hits_there,
        upper=upper_bound(hits_there, size, confidence=confidence),
        clusters=size,
        rows=np.size(scores),
        bound=bound,
        confidence=confidence,
        reason=reason,
    )


@dataclass(frozen=True, eq=False, slots=True)
class RiskCoverage:
    """The risk among the answers whose score reaches a threshold, for every threshold.

    Attributes:
        thresholds: Shape (m,), the distinct scores from the highest down.
        coverage: Shape (m,), the share of rows with a score of at least the threshold, in (0, 1].
        risk: Shape (m,), the share of wrong ones among these.
        area: The mean of the risk over all numbers of rows that may be covered, in [0, 1]; lower is
            better. None for no rows.
        best: The area if every wrong row had a lower score than every right one.
        blind: The area of a score that tells nothing: the share of wrong rows.
    """

    thresholds: Floats
    coverage: Floats
    risk: Floats
    area: float | None
    best: float | None
    blind: float | None


def risk_coverage(scores: ArrayLike, wrong: ArrayLike) -> RiskCoverage:
    """The curve of a score by which one abstains, and the area under it.

        area = mean over k = 1..n of (wrong among the k rows of the highest scores) / k

    Rows of one score are covered in random order: the area is its mean over all orders.

    Source: El-Yaniv & Wiener (2010), "On the Foundations of Noise-free Selective Classification";
    Geifman, Uziel & El-Yaniv (2019), "Bias-Reduced Uncertainty Estimation for Deep Neural
    Classifiers", for the area and its least value.
    """
    values, false = scores_with_labels(scores, wrong)
    n = len(values)
    if n == 0:
        nothing = np.empty(0)
        return RiskCoverage(nothing, nothing, nothing, None, None, None)
    thresholds, codes = np.unique(-values, return_inverse=True)
    size = sums_by(codes, np.ones(n))
    faults = sums_by(codes, false.astype(np.float64))
    covered, wrong_covered = size.cumsum(), faults.cumsum()
    # Within a group of one score, the expected number of wrong rows rises evenly.
    k = np.arange(1, n + 1)
    group = np.repeat(np.arange(len(size)), size.astype(np.int64))
    before = wrong_covered[group] - faults[group]
    expected = before + faults[group] * (k - (covered[group] - size[group])) / size[group]
    total = float(wrong_covered[-1])
    best = np.maximum(k - (n - total), 0) / k
    return RiskCoverage(
        thresholds=-thresholds,
        coverage=covered / n,
        risk=wrong_covered / covered,
        area=float((expected / k).mean()),
        best=float(best.mean()),
        blind=total / n,
    )


# Scores of a sample that are compared; more are thinned to as many evenly spaced ranks.
MOST_POINTS = 500

DISTANCE_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class TwoSamples:
    """The distance of two distributions.

    Attributes:
        distance: The largest difference of the two cumulative shares, in [0, 1].
        p: Chance of a distance at least as large between two samples of one distribution.
        n: Scores compared of each sample.
    """

    distance: float
    p: float
    n: tuple[int, int]


def two_samples(first: ArrayLike, second: ArrayLike) -> TwoSamples | None:
    """Kolmogorov and Smirnov's test, with its exact p-value.

    Where scores have ties, p is too large rather than too small. Rows must be independent: give one
    a cluster. The result is None if either is empty.

    Args:
        first: Shape (n,), finite; thinned if longer than 500.

    Source: Smirnov (1939); Hodges (1958), "The significance probability of the Smirnov two-sample
    test", for the exact p-value by counting paths.
    """
    a, b = thinned(first), thinned(second)
    n, m = len(a), len(b)
    if not n or not m:
        return None
    at = np.unique(np.concatenate([a, b]))
    apart = np.searchsorted(a, at, side="right") / n - np.searchsorted(b, at, side="right") / m
    distance = float(np.abs(apart).max())
    return TwoSamples(distance, _chance(n, m, distance), (n, m))


def thinned(scores: ArrayLike) -> Floats:
    """The scores in ascending order; of more than 500, as many at evenly spaced ranks."""
    values = np.sort(np.asarray(scores, dtype=np.float64))
    if len(values) <= MOST_POINTS:
        return values
    ranks = (np.arange(MOST_POINTS) + 0.5) * len(values) / MOST_POINTS
    return np.asarray(values[ranks.astype(np.int64)])


@lru_cache(maxsize=1000)
def _chance(n: int, m: int, distance: float) -> float:
    """The share of the orders of n and m scores in which the distance is reached.

    An order is a path from (0, 0) to (n, m). Points are taken by their sum, and each holds the
    share of its paths that stayed nearer than the distance.
    """
    stayed = np.zeros(n + 1)
    stayed[0] = 1.0
    i = np.arange(n + 1)
    for total in range(1, n + m + 1):
        j = total - i
        inside = (j >= 0) & (j <= m)
        # Of the orders of i and j scores, the share i / (i + j) ends with one of the first sample.
        by_first = np.concatenate([[0.0], stayed[:-1]]) * i / total
        by_second = stayed * j / total
        near = np.abs(i / n - j / m) < distance - DISTANCE_ROUNDING
        stayed = np.where(inside & near, by_first + by_second, 0.0)
    return float(min(1.0, max(0.0, 1 - stayed[n])))
