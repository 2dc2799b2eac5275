"""Answered: from which score on the share of wrong answers among those given keeps a promise."""

import numpy as np
from numpy.typing import ArrayLike

from ragstone.core.errors import InputError
from ragstone.stats.codes import Codes

from .exact_bound import is_kept, rows_needed, upper_bound
from .highest import highest_of_clusters
from .threshold import PromisedThreshold, Refusal

GRID = 1000
"""Thresholds are tried at every thousandth: a grid that was fixed before the data was seen."""


def answered_from(
    scores: ArrayLike,
    wrong: ArrayLike,
    *,
    bound: float,
    confidence: float,
    clusters: Codes | None = None,
) -> PromisedThreshold:
    """The lowest threshold with a promise on P(wrong | score >= threshold).

        p(t) = P(X <= k(t)) for X ~ Binomial(C(t), bound)
        C(t) = clusters with a score >= t,  k(t) = those with a wrong row of a score >= t

    As ``promised_threshold``, but the share is one of what is answered and need not fall with
    the threshold. So the thresholds are the points of a fixed grid from 1 down to 0, beginning
    where enough clusters are answered to show the bound without any wrong one, and the first that
    fails ends it.

    Args:
        scores: Shape (n,), in [0, 1].
        wrong: Shape (n,), true or 1 for a row that should not have been answered.
        bound: The promise, in (0, 1).
        confidence: In (.5, 1).
        clusters: Shape (n,). Rows with the same value are not independent; None: all are.

    Returns:
        ``hits`` are clusters with a wrong row among those answered, ``clusters`` those with an
        answer at the threshold, and ``rows`` all rows given.

    Raises:
        InputError: Wrong shapes or numbers.

    Source: Geifman & El-Yaniv (2017), "Selective Classification for Deep Neural Networks";
    Angelopoulos et al. (2021), "Learn then Test", for the fixed sequence.
    """
    values, false = np.asarray(scores, dtype=np.float64), np.asarray(wrong)
    if values.ndim != 1 or values.shape != false.shape:
        raise InputError(f"Scores and labels must be of one shape (n,): {values.shape}, "
                         f"{false.shape}.")  # fmt: skip
    if not ((values >= 0) & (values <= 1)).all() or not np.isin(false, (0, 1)).all():
        raise InputError("Scores must lie in [0, 1] and labels be true or false.")
    names = np.arange(len(values)) if clusters is None else clusters
    highest = np.sort(highest_of_clusters(values, names))
    worst = np.sort(highest_of_clusters(np.where(false.astype(bool), values, -np.inf), names))
    grid = np.arange(GRID, -1, -1) / GRID
    answered = len(highest) - np.searchsorted(highest, grid, side="left")
    hits = len(worst) - np.searchsorted(worst, grid, side="left")
    start = int(np.searchsorted(answered, rows_needed(bound, confidence=confidence), side="left"))
    at, kept = start, False
    for tried in range(start, len(grid)):
        if not is_kept(int(hits[tried]), int(answered[tried]), bound, confidence=confidence):
            break
        at, kept = tried, True
    # Where too few clusters are there at all, the last point tells how many.
    at = min(at, GRID)
    reason: Refusal | None = None
    if not kept:
        reason = "not_apart" if start <= GRID else "too_few" if len(values) else "nothing_to_test"
    return PromisedThreshold(
        value=float(grid[at]) if kept else None,
        hits=int(hits[at]),
        upper=upper_bound(int(hits[at]), int(answered[at]), confidence=confidence),
        clusters=int(answered[at]),
        rows=len(values),
        bound=bound,
        confidence=confidence,
        reason=reason,
    )
