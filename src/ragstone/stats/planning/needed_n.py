"""Needed n: how many rows would decide on which side of a bar the truth lies."""

from math import ceil
from statistics import NormalDist

from ragstone.errors import InputError

ROUNDING = 1e-9


def needed_n(n: float, p: float, *, level: float = 0.05) -> int | None:
    """Rows in all at which a one-sided test would reach its level, if the value stayed as it is.

        n · (z(level) / z(p))²

    The distance from the bar in standard errors grows with the square root of the rows. Exact
    for Wilson's interval: no event in n rows against a bar of .01 gives 268, whatever n is. For
    Student's t a row or so too many where rows are few, as its quantiles shrink with them.

    Args:
        n: Rows there are, above 0.
        p: One-sided p of the side on which the value lies, as ``one_sided_p`` gives it.
        level: Of the test, in (0, .5).

    Returns:
        At least 1; None for a value that is not past the bar (p of .5 or more), for which
        no number of rows decides.

    Raises:
        InputError: An argument is out of its range.

    Source: Fleiss, Levin & Paik (2003), "Statistical Methods for Rates and Proportions",
    chapter 2, its test of one proportion solved for n.
    """
    if not (n > 0 and 0 < p < 1 and 0 < level < 0.5):
        raise InputError(
            f"Needed rows: n > 0, p in (0, 1) and level in (0, .5), got {n}, {p} and {level}."
        )
    reached = NormalDist().inv_cdf(1 - p)
    if reached <= ROUNDING:
        return None
    wanted = NormalDist().inv_cdf(1 - level)
    return max(1, ceil(n * (wanted / reached) ** 2 * (1 - ROUNDING)))
