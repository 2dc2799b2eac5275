"""Threshold: the lowest one that a promise on the share of hits allows."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from ragstone.core.errors import InputError
from ragstone.stats.codes import Codes

from .exact_bound import most_hits, upper_bound
from .highest import highest_of_clusters

Refusal = Literal["nothing_to_test", "too_few", "not_apart"]


@dataclass(frozen=True, slots=True)
class PromisedThreshold:
    """From which score on at most a promised share is hit.

    Attributes:
        value: A score of at least this is taken; None if there is no such threshold, and
            ``reason`` says why: ``nothing_to_test`` (no row), ``too_few`` (not even without a hit
            is the bound kept) or ``not_apart`` (at every candidate there are too many hits).
        hits: Clusters with a score of at least ``value``; without one, of at least the strictest
            candidate.
        upper: The exact upper bound of the share of clusters hit there: the tightest promise that
            a threshold among the candidates can carry, where there is none that carries the
            one asked for.
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
    cluster the highest score counts, so that the C clusters are independent whatever holds
    within them. With probability ``confidence`` over the clusters that were drawn,

        P(the highest score of a new cluster >= value) <= bound

    for any number of clusters; also where candidates are scores of the same data, because the share
    of hits falls with the threshold.

    Args:
        scores: Shape (n,), of the rows that must rarely reach the threshold. Not NaN; minus
            infinity for one that never can.
        among: Shape (m,), finite: the candidates.
        bound: The promise, in (0, 1).
        confidence: In (.5, 1).
        clusters: Shape (n,). Rows with the same value are not independent; None: all are.

    Raises:
        InputError: Wrong shapes or numbers.

    Source: Angelopoulos et al. (2021), "Learn then Test: Calibrating Predictive Algorithms to
    Achieve Risk Control", with fixed-sequence testing; Clopper & Pearson (1934) for the test. One
    row a cluster is ours; ``benchmarks/promise.py`` measures how often the promise is kept.
    """
    candidates = np.unique(np.asarray(among, dtype=np.float64))[::-1]
    if not np.isfinite(candidates).all():
        raise InputError("The candidates for a threshold must be finite.")
    highest = np.sort(highest_of_clusters(scores, clusters))
    size = len(highest)
    most = most_hits(size, bound, confidence=confidence)
    # From the strictest candidate down the hits never fall, so the first that fails ends it.
    hits = size - np.searchsorted(highest, candidates, side="left")
    kept = 0 if most is None else int(np.searchsorted(hits, most, side="right"))
    reason: Refusal | None = None
    if not kept:
        reason = "not_apart" if most is not None else "too_few" if size else "nothing_to_test"
    found = int(hits[max(kept - 1, 0)]) if len(hits) else size
    return PromisedThreshold(
        value=float(candidates[kept - 1]) if kept else None,
        hits=found,
        upper=upper_bound(found, size, confidence=confidence),
        clusters=size,
        rows=np.size(scores),
        bound=bound,
        confidence=confidence,
        reason=reason,
    )
