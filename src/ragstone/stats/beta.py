"""Beta distribution: distribution function and quantiles."""

from math import exp, lgamma, log, log1p

from ragstone.core.errors import InputError

NEGLIGIBLE = 1e-15
CONVERGED = 1e-12
"""Relative Newton step below which the next step would be lost in the cdf's rounding error."""

LARGEST_LOG = 700.0
TINY = 1e-300
MOST_TERMS = 100_000


def beta_cdf(x: float, a: float, b: float) -> float:
    """Regularised incomplete beta function: P(X <= x) for X ~ Beta(a, b).

    Lentz's algorithm on the continued fraction, for the tail on which it
    converges fast. Accurate to 1e-11 for a, b up to 1,000 and to 1e-9 at 1e6.

    Args:
        x: In [0, 1].
        a: Above 0.
        b: Above 0.

    Raises:
        InputError: An argument is out of its range.

    Source: NIST Digital Library of Mathematical Functions, 8.17(v).
    """
    if not (0 <= x <= 1 and a > 0 and b > 0):
        raise InputError(f"Beta needs x in [0, 1], a > 0 and b > 0, got {x}, {a} and {b}.")
    if x in (0, 1):
        return float(x)
    log_front = lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x)
    if x < (a + 1) / (a + b + 2):
        return exp(log_front) / (a * _continued_fraction(x, a, b))
    return 1 - exp(log_front) / (b * _continued_fraction(1 - x, b, a))


def beta_quantile(q: float, a: float, b: float) -> float:
    """The x with ``beta_cdf(x, a, b) == q``, by Newton's method within a bracket.

    Args:
        q: In (0, 1).
        a: Above 0.
        b: Above 0.

    Raises:
        InputError: An argument is out of its range.
    """
    if not 0 < q < 1:
        raise InputError(f"A quantile needs a probability inside (0, 1), got {q}.")
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
