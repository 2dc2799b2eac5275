"""One-sided p: a one-sided p-value from intervals, by inverting them."""

from collections.abc import Callable
from math import erf, sqrt
from statistics import NormalDist
from typing import Literal

from .interval import Interval

FARTHEST = 6.0
LEAST_P = NormalDist().cdf(-FARTHEST)
"""About 1e-9: the least p that is computed, so a p is never 0."""

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
    """The smallest significance level at which the one-sided bound lies beyond the bar.

        p = inf { a : the bound of one-sided level a lies beyond the bar }

    For ``above`` the bound is the low end of the interval of level 1 - 2 a; for a above
    one half it is the high end of the interval of level 2 a - 1. Found by bisection on the
    normal quantile of a, so intervals of higher levels must contain those of lower levels. If
    the interval inverts a test, this is that test: the score test for Wilson's interval, the t
    test for the t interval.

    Args:
        at: Returns the interval of a level in (0, 1), or None if there is none. At a level near
            0, None stands for the value itself.
        value: The estimate.
        bar: In the unit of the value.
        beyond: The alternative: on which side of the bar the true value lies.
        least: The smallest p to return, such as one draw of a bootstrap.

    Returns:
        In [``least``, 1 - 1e-9]; None if there is no interval.

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
    # On the scale of z, not of p, so that small p-values are relatively precise too; 44 halvings
    # of a bracket of 12 leave 7e-13.
    for _ in range(STEPS):
        middle = (near + far) / 2
        if past(middle):
            near = middle
        else:
            far = middle
    return max(NormalDist().cdf(-near), least)
