"""Needed n: how many rows it would take to show on which side of a bar the true value lies."""

from math import ceil
from statistics import NormalDist

from ragstone.core.errors import InputError

ROUNDING = 1e-9


def needed_n(n: float, p: float, *, level: float = 0.05) -> int | None:
    """Total rows at which a one-sided test would be significant if the value stayed the same.

        n · (z(level) / z(p))²

    The distance from the bar in standard errors grows with the square root of the number of rows.
    Exact for Wilson's interval: 0 events in n rows against a bar of .01 give 268, whatever n is.
    For Student's t it may be about one row too many for small n, as quantiles decrease with n.

    Args:
        n: Present number of rows, above 0.
        p: One-sided p-value for the side on which the value lies, see ``one_sided_p``.
        level: Significance level, in (0, .5).

    Returns:
        At least 1; None if the value is not beyond the bar (p of .5 or more), so that no number
        of rows is enough.

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
