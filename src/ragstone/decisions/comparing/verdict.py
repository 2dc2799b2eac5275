"""Verdict: the conclusion from a difference, in a word."""

from typing import Literal

Verdict = Literal["better", "worse", "equivalent", "same", "cannot_tell"]
Better = Literal["+", "-", "0"]

TIE = 1e-12
"""Values that differ by less, relatively, are the same but for rounding."""


def verdict_of(
    difference: float | None,
    *,
    p_equivalence: float | None,
    p: float | None,
    better: Better,
    alpha: float = 0.05,
) -> Verdict:
    """The verdict on system a compared with system b, for different inputs.

    ``equivalent`` if p_equivalence is at most alpha; then ``better`` or ``worse``, if p is;
    else ``cannot_tell``. Of a metric that has no better end, a difference is neither better
    nor worse.

    Args:
        difference: a - b; None where no pair has both values.
        p_equivalence: Of two one-sided tests that it lies inside ±margin, adjusted for all that
            are looked at; None without a margin or an interval.
        p: Two-sided, adjusted likewise; None where there is no test.
        better: Which way the metric points.
        alpha: The share of false findings that is put up with.

    Source: Schuirmann (1987), the two one-sided tests procedure, for equivalence.
    """
    if p_equivalence is not None and p_equivalence <= alpha:
        return "equivalent"
    if difference is None or p is None or p > alpha or better == "0" or difference == 0:
        return "cannot_tell"
    return "better" if (difference > 0) == (better == "+") else "worse"


def winner(a: float, b: float, *, better: Better = "+") -> Literal["a", "b", "tie"]:
    """Which of two values is better; a tie if they are equal up to rounding.

    Where the metric has no better end, the higher one is.

    >>> winner(0.8, 0.8), winner(0.1, 0.2, better="-")
    ('tie', 'a')
    """
    if abs(a - b) <= TIE * max(abs(a), abs(b)):
        return "tie"
    return "b" if (a > b) == (better == "-") else "a"
