"""Student's t: quantiles and tail probabilities."""

from functools import lru_cache
from math import exp, lgamma, log1p, pi, sqrt, tan
from statistics import NormalDist

from ragstone.core.errors import InputError

from .beta import beta_cdf
from .interval import upper_quantile

LARGE_DF = 1000
MOST_STEPS = 100


@lru_cache(maxsize=4096)
def t_quantile(q: float, df: float) -> float:
    """The ``q`` quantile of Student's t distribution.

    Newton's method on the upper tail, which is convex, so that it cannot
    diverge; from 1,000 degrees of freedom, an expansion about the normal
    quantile, accurate to 1e-9 there.

    Args:
        q: In (0, 1).
        df: Degrees of freedom, at least 1; need not be whole.

    Raises:
        InputError: ``q`` or ``df`` is out of its range.

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
    """P(T > t) for Student's t distribution.

    Args:
        t: Any number.
        df: Degrees of freedom, above 0; need not be whole.
    """
    half = beta_cdf(df / (df + t * t), df / 2, 0.5) / 2
    return half if t >= 0 else 1 - half


def quantile(level: float, df: float | None) -> float:
    """The critical value: half-width of an interval of this level, in standard errors.

    Args:
        level: In (0, 1).
        df: Degrees of freedom of Student's t, at least 1; None for the normal.

    Raises:
        InputError: An argument is out of its range.
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
