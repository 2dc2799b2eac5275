"""Exact bound: how many hits of n a promise on a rate allows, and how many rows it needs."""

from ragstone.core.errors import InputError
from ragstone.stats.exact_rate import ExactRate
from ragstone.stats.smallest import smallest
from ragstone.stats.wilson import clopper_pearson

ROUNDING = 1e-12
"""1 - .9 is a little less than .1: a p-value of exactly .1 is enough for a confidence of .9."""


def upper_bound(hits: int, n: int, *, confidence: float) -> float:
    """The one-sided exact upper bound of a rate: too low with chance 1 - confidence.

    Args:
        hits: In [0, n].
        n: Independent rows, at least 0.
        confidence: In (.5, 1).

    Returns:
        In (0, 1]; 1 for no rows.

    Raises:
        InputError: An argument is out of its range.

    Source: Clopper & Pearson (1934), "The use of confidence or fiducial limits illustrated in the
    case of the binomial".
    """
    found = clopper_pearson(hits, n, level=_two_sided(confidence))
    return 1.0 if found is None else found.high


def lower_bound(hits: int, n: int, *, confidence: float) -> float:
    """The one-sided exact lower bound of a rate; 0 for no rows. Otherwise as ``upper_bound``."""
    found = clopper_pearson(hits, n, level=_two_sided(confidence))
    return 0.0 if found is None else found.low


def is_kept(hits: int, n: int, bound: float, *, confidence: float) -> bool:
    """Whether a rate is shown to be at most the bound: P(X <= hits | n, bound) <= 1 - confidence.

    Args:
        hits: In [0, n].
        n: Independent rows, at least 0.
        bound: In (0, 1).
        confidence: In (.5, 1).

    Raises:
        InputError: An argument is out of its range.
    """
    if not 0 < bound < 1:
        raise InputError(f"The bound of a rate must lie inside (0, 1), got {bound}.")
    if not 0 <= hits <= n:
        raise InputError(f"A rate needs 0 <= hits <= n, got {hits} of {n}.")
    _two_sided(confidence)
    if n == 0:
        return False
    return ExactRate(hits / n, n).p(bound, beyond="below") <= 1 - confidence + ROUNDING


def most_hits(n: int, bound: float, *, confidence: float) -> int | None:
    """The largest number of hits of n with which the bound is kept; None if not even 0 is.

    Raises:
        InputError: An argument is out of its range.
    """
    if not is_kept(0, n, bound, confidence=confidence):
        return None
    # All n hits never keep a bound, so there is a least number that does not.
    return smallest(lambda hits: not is_kept(hits, n, bound, confidence=confidence), most=n) - 1


def rows_needed(bound: float, *, confidence: float, hits: int = 0) -> int:
    """The least n of which this many hits keep the bound.

    Raises:
        InputError: An argument is out of its range.
    """
    return smallest(
        lambda n: is_kept(min(hits, n), n, bound, confidence=confidence), least=max(1, hits)
    )


def _two_sided(confidence: float) -> float:
    """The level of the central interval whose ends are one-sided bounds of this confidence."""
    if not 0.5 < confidence < 1:
        raise InputError(f"The confidence of a promise must lie inside (.5, 1), got {confidence}.")
    return 2 * confidence - 1
