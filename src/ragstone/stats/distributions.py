"""Distributions: beta, t and F, the interval type, one-sided p-values, and intervals for a rate.

The intervals for a rate, Wilson's and Clopper and Pearson's, assume independent rows. The quantile
for every look makes intervals wide enough to hold at all looks while labels come in.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from math import erf, exp, lgamma, log, log1p, pi, sqrt, tan
from statistics import NormalDist
from typing import Literal

from ragstone.core.errors import InputError

NEGLIGIBLE = 1e-15
# Relative Newton step below which the next step would be lost in the cdf's rounding error.
CONVERGED = 1e-12

LARGEST_LOG = 700.0
TINY = 1e-300
MOST_TERMS = 100_000


def beta_cdf(x: float, a: float, b: float) -> float:
    """Regularised incomplete beta function: P(X <= x) for X ~ Beta(a, b), a and b above 0.

    Lentz's algorithm on the continued fraction, for the tail on which it converges fast. Accurate
    to 1e-11 for a, b up to 1,000 and to 1e-9 at 1e6.

    Source: NIST Digital Library of Mathematical Functions, 8.17(v).
    """
    if x in (0, 1):
        return float(x)
    log_front = lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x)
    if x < (a + 1) / (a + b + 2):
        return exp(log_front) / (a * _continued_fraction(x, a, b))
    return 1 - exp(log_front) / (b * _continued_fraction(1 - x, b, a))


def beta_quantile(q: float, a: float, b: float) -> float:
    """The x with ``beta_cdf(x, a, b) == q``, q in (0, 1), by Newton's method within a bracket."""
    low, high, x = 0.0, 1.0, a / (a + b)
    log_scale = lgamma(a + b) - lgamma(a) - lgamma(b)
    while high - low > NEGLIGIBLE * high:
        excess = beta_cdf(x, a, b) - q
        low, high = (x, high) if excess < 0 else (low, x)
        log_density = log_scale + (a - 1) * log(x) + (b - 1) * log1p(-x)
        # The density may overflow near 0 or 1; where it underflows to 0, the step is a bisection.
        density = exp(min(log_density, LARGEST_LOG))
        new = x - excess / density if density else low
        # Newton's step may leave the bracket where the density is small: bisect instead.
        if not low < new < high:
            new = (low + high) / 2
        if new in (low, high) or abs(new - x) <= CONVERGED * x:
            return new
        x = new
    return (low + high) / 2


def _continued_fraction(x: float, a: float, b: float) -> float:
    value, c, d = 1.0, 1.0, 0.0
    for term in range(1, MOST_TERMS):
        m = term // 2
        if term % 2:
            numerator = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        else:
            numerator = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        # Lentz's method replaces a denominator of exactly 0 by a tiny number.
        d = 1 / (1 + numerator * d or TINY)
        c = 1 + numerator / c or TINY
        value *= c * d
        if abs(c * d - 1) < NEGLIGIBLE:
            break
    return value


Method = Literal[
    "wilson",
    "clopper_pearson",
    "cluster_wilson",
    "cluster_clopper_pearson",
    "t",
    "cluster_t",
    "bounded_wilson",
    "cluster_bootstrap",
    "multinomial_bootstrap",
    "basic_bootstrap",
    "ratio_delta",
    "newcombe",
    "square_and_add",
    "poststratified_wilson",
    "ppi_plus_plus",
    "rogan_gladen",
    "item_bootstrap",
    "linearised_wilson",
    "betting_sequence",
    "asymptotic_sequence",
    "bradley_terry",
    "delong",
]


@dataclass(frozen=True, slots=True)
class Interval:
    """A confidence interval: two ends with ``low <= high``, in the unit of the estimate.

    ``level`` is the share of such intervals that should hold the true value, in (0, 1); ``method``
    names how the ends were computed.
    """

    low: float
    high: float
    level: float
    method: Method

    def __post_init__(self) -> None:
        if not self.low <= self.high:
            raise InputError(f"An interval needs low <= high, got {self.low} and {self.high}.")
        upper_quantile(self.level)


def upper_quantile(level: float) -> float:
    """The cumulative probability at the upper end of a central interval: (1 + level) / 2."""
    if not 0 < level < 1:
        raise InputError(f"The level of an interval must lie inside (0, 1), got {level}.")
    return (1 + level) / 2


def ends_of(interval: Interval | None, prefix: str = "") -> dict[str, float | None]:
    """``low`` and ``high`` as plain data with a prefix; both None if there is no interval.

    >>> ends_of(Interval(0.25, 0.5, 0.95, "wilson"), "kappa_"), ends_of(None)
    ({'kappa_low': 0.25, 'kappa_high': 0.5}, {'low': None, 'high': None})
    """
    low, high = (None, None) if interval is None else (interval.low, interval.high)
    return {f"{prefix}low": low, f"{prefix}high": high}


def clamp(value: float, low: float | None, high: float | None) -> float:
    """The value limited to a range; None means no bound."""
    if low is not None and value < low:
        return low
    if high is not None and value > high:
        return high
    return value


LARGE_DF = 1000
MOST_STEPS = 100


@lru_cache(maxsize=4096)
def t_quantile(q: float, df: float) -> float:
    """The ``q`` quantile of Student's t distribution.

    Newton's method on the upper tail, which is convex, so that it cannot diverge; from 1,000
    degrees of freedom, an expansion about the normal quantile, accurate to 1e-9 there.

    Args:
        df: Degrees of freedom, at least 1; need not be whole.

    Source: Abramowitz & Stegun (1964), 26.5.27 and 26.7.5.
    """
    if not (0 < q < 1 and df >= 1):
        raise InputError(f"Student's t needs q in (0, 1) and df >= 1, got {q} and {df}.")
    if q < 0.5:
        return -t_quantile(1 - q, df)
    if q == 0.5:
        return 0.0
    if df >= LARGE_DF:
        return _expansion(q, df)
    tail = 1 - q
    # For few degrees of freedom the expansion is poor: start from the quantile for df = 1 (Cauchy).
    t = 1 / tan(pi * tail) if df < 3 else _expansion(q, df)
    for _ in range(MOST_STEPS):
        step = (t_upper_tail(t, df) - tail) / _density(t, df)
        t = max(t / 2, t + step)
        if abs(step) <= 1e-14 * t:
            break
    return t


def t_upper_tail(t: float, df: float) -> float:
    """P(T > t) for Student's t distribution with ``df`` degrees of freedom, above 0."""
    half = beta_cdf(df / (df + t * t), df / 2, 0.5) / 2
    return half if t >= 0 else 1 - half


def quantile(level: float, df: float | None) -> float:
    """The critical value: half-width of an interval of this level, in standard errors.

    Args:
        df: Degrees of freedom of Student's t, at least 1; None for the normal.
    """
    upper = upper_quantile(level)
    return NormalDist().inv_cdf(upper) if df is None else t_quantile(upper, df)


def _expansion(q: float, df: float) -> float:
    z = NormalDist().inv_cdf(q)
    s = z * z
    terms = (
        z * (s + 1) / 4,
        z * ((5 * s + 16) * s + 3) / 96,
        z * (((3 * s + 19) * s + 17) * s - 15) / 384,
        z * ((((79 * s + 776) * s + 1482) * s - 1920) * s - 945) / 92160,
    )
    return z + sum(term / df ** (power + 1) for power, term in enumerate(terms))


def _density(t: float, df: float) -> float:
    log_scale = lgamma((df + 1) / 2) - lgamma(df / 2)
    return exp(log_scale - (df + 1) / 2 * log1p(t * t / df)) / sqrt(df * pi)


# Degrees of freedom that stand for a known variance: its error is well below 1 %.
KNOWN = 1e6


def f_quantile(q: float, above: float, below: float = KNOWN) -> float:
    """The ``q`` quantile of the ratio of two independent estimates of the same variance.

        below · x / (above · (1 - x)),   x the quantile of Beta(above / 2, below / 2)

    Args:
        below: Degrees of freedom of the denominator; by default it is a known variance, which gives
            the quantile of chi² over its degrees of freedom.

    Source: Abramowitz & Stegun (1964), 26.6.2.
    """
    x = beta_quantile(q, above / 2, below / 2)
    return below * x / (above * (1 - x))


FARTHEST = 6.0
# About 1e-9: the least p that is computed, so a p is never 0.
LEAST_P = NormalDist().cdf(-FARTHEST)

LEAST_LEVEL = 1e-9
STEPS = 44

Side = Literal["above", "below"]


def bisected(
    short: Callable[[float], bool], low: float, high: float, steps: int
) -> tuple[float, float]:
    """The ends between which ``short``, true at first, turns false, after halvings of the range."""
    for _ in range(steps):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        low, high = (middle, high) if short(middle) else (low, middle)
    return low, high


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

    For ``above`` the bound is the low end of the interval of level 1 - 2 a; for a above one half it
    is the high end of the interval of level 2 a - 1. Found by bisection on the normal quantile of
    a, so intervals of higher levels must contain those of lower levels. If the interval inverts a
    test, this is that test: the score test for Wilson's interval, the t test for the t interval.
    The result lies in [``least``, 1 - 1e-9]; None if there is no interval.

    Args:
        at: Returns the interval of a level in (0, 1), or None if there is none. At a level near 0,
            None stands for the value itself.
        beyond: The alternative: on which side of the bar the true value lies.
        least: The smallest p to return, such as one draw of a bootstrap.

    Source: Casella & Berger (2002), "Statistical Inference", theorem 9.2.2.
    """
    if at(0.5) is None:
        return None
    sign = 1 if beyond == "above" else -1

    def past(z: float) -> bool:
        interval = at(max(erf(abs(z) / sqrt(2)), LEAST_LEVEL))
        if interval is None:
            return sign * (value - bar) > 0
        lower = (z > 0) == (beyond == "above")
        return sign * ((interval.low if lower else interval.high) - bar) > 0

    if past(FARTHEST):
        return max(LEAST_P, least)
    if not past(-FARTHEST):
        return 1 - LEAST_P
    # On the scale of z, not of p, so that small p-values are relatively precise too; 44 halvings
    # of a bracket of 12 leave 7e-13.
    near, _ = bisected(past, -FARTHEST, FARTHEST, STEPS)
    return max(NormalDist().cdf(-near), least)


# Labels, or clusters of them, from which on such an interval holds; it is narrowest at as many.
FIRST_LOOK = 50

# More than enough: each round leaves at most a third of the error at usual levels.
ROUNDS = 100


def look_quantile(n: float, level: float) -> float:
    """Return the quantile that replaces the normal one in intervals that hold at all looks
    together.

        √( (1 + 1/x) (log(1 + x) - 2 log α) ),   x = n r²,   α = 1 - level

    The mean of n values, whose variance is estimated from them, stays within as many standard
    errors of the true mean, for all n from ``FIRST_LOOK`` on together, with about the probability
    ``level``. r² is such that it is least for ``FIRST_LOOK``: there x = log(1 + x) - 2 log α.

    Args:
        n: Number of values so far, at least 1. More than are independent is on the safe side.

    Source: Waudby-Smith, Arbour, Sinha, Kennedy & Ramdas (2024), "Time-uniform central limit theory
    and asymptotic confidence sequences", theorem 2.2 and section 2.2, with ρ² there as r² here.
    """
    upper_quantile(level)
    far = -2 * log(1 - level)
    best = far
    for _ in range(ROUNDS):
        best = log(1 + best) + far
    x = n / FIRST_LOOK * best
    return sqrt((1 + 1 / x) * (log(1 + x) + far))


def wilson(successes: float, n: float, *, level: float = 0.95) -> Interval | None:
    """Score interval for a rate: inside [0, 1], never a single point.

    Too narrow for rows that share questions: use ``cluster_wilson`` for those. The interval is None
    for no rows.

    Args:
        n: Number of rows, at least 0; need not be whole.

    Source: Wilson (1927), "Probable inference, the law of succession, and statistical inference".
    """
    z = NormalDist().inv_cdf(upper_quantile(level))
    _check(successes, n)
    if n == 0:
        return None
    low, high = wilson_ends(successes / n, n, z)
    return Interval(low, high, level, "wilson")


def wilson_ends(rate: float, n: float, quantile: float) -> tuple[float, float]:
    """The true rates p for which ``rate`` is ``quantile`` standard errors sqrt(p (1 - p) / n) away.

    Args:
        n: Sample size, or effective sample size. Above 0.
    """
    weight = quantile * quantile / n
    centre = (rate + weight / 2) / (1 + weight)
    half = sqrt(weight * (rate * (1 - rate) + weight / 4)) / (1 + weight)
    return max(0.0, min(rate, centre - half)), min(1.0, max(rate, centre + half))


def clopper_pearson(successes: float, n: float, *, level: float = 0.95) -> Interval | None:
    """Exact interval for a rate: its coverage is at least ``level``, so it is often wider.

    The interval is None for no rows.

    Source: Clopper & Pearson (1934), "The use of confidence or fiducial limits illustrated in the
    case of the binomial".
    """
    upper = upper_quantile(level)
    _check(successes, n)
    if n == 0:
        return None
    failures = n - successes
    low = beta_quantile(1 - upper, successes, failures + 1) if successes else 0.0
    high = beta_quantile(upper, successes + 1, failures) if failures else 1.0
    return Interval(low, high, level, "clopper_pearson")


def _check(successes: float, n: float) -> None:
    if not 0 <= successes <= n < float("inf"):
        raise InputError(f"A rate needs 0 <= successes <= n, got {successes} of {n}.")
