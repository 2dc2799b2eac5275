"""Worst and best: bounds on a mean with missing scores."""

from typing import Literal

from ragstone.core.errors import InputError


def worst_best(
    total: float,
    n: float,
    n_missing: float,
    low: float | None,
    high: float | None,
    better: Literal["+", "-", "0"],
) -> tuple[float, float] | None:
    """The mean if every missing score were the worst possible, and if every one were the best.

        (total + n_missing · end of the range) / (n + n_missing)

    Args:
        total: Sum of the known scores.
        n: Number of known scores, or their total weight.
        n_missing: Number of missing scores, or their total weight.
        low: The least possible score; None for no bound.
        high: The greatest possible score; None for no bound.
        better: ``"+"`` if higher scores are better, ``"-"`` if lower ones are,
            ``"0"`` if neither; then the lower bound comes first.

    Returns:
        Worst, then best; None if there is no row at all, or if a score is missing
        and the range has no bounds.

    Raises:
        InputError: A negative count.
    """
    if n < 0 or n_missing < 0:
        raise InputError(f"Counts cannot be negative, got n {n} and n_missing {n_missing}.")
    rows = n + n_missing
    if rows == 0:
        return None
    if n_missing == 0:
        return total / n, total / n
    if low is None or high is None:
        return None
    least, greatest = (total + n_missing * low) / rows, (total + n_missing * high) / rows
    return (greatest, least) if better == "-" else (least, greatest)
