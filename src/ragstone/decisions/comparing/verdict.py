"""Verdict: what a difference lets one say in a word."""

from typing import Literal

Verdict = Literal["better", "worse", "equivalent", "cannot_tell"]
Better = Literal["+", "-", "0"]

TIE = 1e-12
"""Values that differ by less, relatively, are the same but for rounding."""


def verdict_of(
    difference: float | None,
    *,
    equivalence: tuple[float, float] | None,
    p: float | None,
    better: Better,
    margin: float | None,
    alpha: float = 0.05,
) -> Verdict:
    """What is to be said of system a against system b.

    ``equivalent`` if the interval lies inside ±margin; then ``better`` or
    ``worse``, if p is at most alpha; else ``cannot_tell``. Of a metric that has
    no better end, a difference is neither better nor worse.

    Args:
        difference: a - b; None where no pair has both values.
        equivalence: The ends of its interval at level 1 - 2 alpha; None where it has none.
        p: Two-sided, adjusted for all that are looked at; None where there is no test.
        better: Which way the metric points.
        margin: What is too small to matter, in the metric's unit; None if not stated.
        alpha: The share of false findings that is put up with.

    Source: Schuirmann (1987), the two one-sided tests procedure, for equivalence.
    """
    if margin is not None and equivalence is not None:
        low, high = equivalence
        if -margin <= low and high <= margin:
            return "equivalent"
    if difference is None or p is None or p > alpha or better == "0" or difference == 0:
        return "cannot_tell"
    return "better" if (difference > 0) == (better == "+") else "worse"


def winner(a: float, b: float, *, better: Better = "+") -> Literal["a", "b", "tie"]:
    """Which of two values is ahead; equal ones are a tie, but for rounding.

    Where the metric has no better end, the higher one is.

    >>> winner(0.8, 0.8), winner(0.1, 0.2, better="-")
    ('tie', 'a')
    """
    if abs(a - b) <= TIE * max(abs(a), abs(b)):
        return "tie"
    return "b" if (a > b) == (better == "-") else "a"
