"""One-sided p: how surely the truth lies beyond a bar, read off intervals of every level."""

from collections.abc import Callable
from math import erf, sqrt
from statistics import NormalDist
from typing import Literal

from .interval import Interval

FARTHEST = 6.0
LEAST_P = NormalDist().cdf(-FARTHEST)
"""About 1e-9: a p is not followed below it, and so is never 0."""

LEAST_LEVEL = 1e-9
STEPS = 44

Side = Literal["above", "below"]


def one_sided_p(
    at: Callable[[float], Interval | None],
    value: float,
    bar: float,
    *,
    beyond: Side,
    least: float = LEAST_P,
) -> float | None:
    """The least one-sided level at which the interval says that the truth lies beyond the bar.

        p = inf { a : the bound of one-sided level a lies beyond the bar }

    For ``above`` the bound is the low end of the interval of level 1 - 2 a; for a above
    one half it is the high end of the one of level 2 a - 1. Found by bisection on the normal
    quantile of a, so the interval's ends must not move inwards as its level rises. Where the
    interval inverts a test, this is that test: the score test for Wilson's, the t test for t.

    Args:
        at: The interval of a level in (0, 1), with ``low <= high``; None where there is none.
            At a level near 0, None stands for the value itself.
        value: What the intervals are about.
        bar: In the unit of the value.
        beyond: On which side of the bar the truth would lie.
        least: A p below it is given as this, such as one draw in a bootstrap's.

    Returns:
        In [``least``, 1 - 1e-9]; None where there is no interval.

    Source: Casella & Berger (2002), "Statistical Inference", theorem 9.2.2.
    """
    if at(0.5) is None:
        return None
    sign = 1 if beyond == "above" else -1

    def past(z: float) -> bool:
        """Whether the one-sided bound at the normal quantile ``z`` lies beyond the bar."""
        interval = at(max(erf(abs(z) / sqrt(2)), LEAST_LEVEL))
        if interval is None:
            return sign * (value - bar) > 0
        lower = (z > 0) == (beyond == "above")
        return sign * ((interval.low if lower else interval.high) - bar) > 0

    near, far = -FARTHEST, FARTHEST
    if past(far):
        return max(LEAST_P, least)
    if not past(near):
        return 1 - LEAST_P
    for _ in range(STEPS):
        middle = (near + far) / 2
        if past(middle):
            near = middle
        else:
            far = middle
    return max(NormalDist().cdf(-near), least)
