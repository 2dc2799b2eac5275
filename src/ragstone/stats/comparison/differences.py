"""Differences: McNemar's test, Newcombe's and unpaired intervals, effect sizes, adjustment."""

import sys
from collections import Counter
from collections.abc import Sequence
from math import sqrt

import numpy as np
from numpy.typing import ArrayLike

from ragstone.stats.distributions import Interval, beta_cdf, wilson

Ps = Sequence[float | None]


def holm(ps: Ps, subjects: Sequence[int] | None = None) -> tuple[float | None, ...]:
    """Holm's adjustment, which controls the family-wise error rate.

        the i-th smallest of m:  max over j <= i of (m - j + 1) · p_j,  at most 1

    Valid for any dependence between the tests. With ``subjects``, m - j + 1 is the number of
    subjects with a test from the j-th on: so many null hypotheses can still be true. The order is
    that of ``ps``; None stays None.

    Args:
        ps: In [0, 1]; None was not tested and is not part of the family.
        subjects: Of each test: of those with the same subject at most one null hypothesis is true,
            as those of a difference and of equivalence. None: each test has its own.

    Source: Holm (1979), "A simple sequentially rejective multiple test procedure"; with
    ``subjects`` Shaffer (1986), "Modified sequentially rejective multiple test procedures".
    """
    order = _smallest_first(ps)
    of = range(len(ps)) if subjects is None else subjects
    left = Counter(of[at] for _, at in order)
    adjusted: dict[int, float] = {}
    largest = 0.0
    for p, at in order:
        largest = max(largest, len(left) * p)
        adjusted[at] = min(1.0, largest)
        left[of[at]] -= 1
        left = +left
    return tuple(adjusted.get(at) for at in range(len(ps)))


def benjamini_hochberg(ps: Ps) -> tuple[float | None, ...]:
    """Benjamini and Hochberg's adjustment, which controls the false discovery rate.

        the i-th smallest of m:  min over j >= i of m · p_j / j,  at most 1

    Valid for independent and for positively dependent tests. The order is that of ``ps``; None
    stays None.

    Source: Benjamini & Hochberg (1995), "Controlling the false discovery rate".
    """
    order = _smallest_first(ps)
    adjusted: dict[int, float] = {}
    smallest = 1.0
    for rank, (p, at) in reversed(list(enumerate(order, start=1))):
        smallest = min(smallest, len(order) * p / rank)
        adjusted[at] = smallest
    return tuple(adjusted.get(at) for at in range(len(ps)))


def _smallest_first(ps: Ps) -> list[tuple[float, int]]:
    return sorted((p, at) for at, p in enumerate(ps) if p is not None)


ROUNDING = 1e-12


def standardised_difference(differences: ArrayLike) -> float | None:
    """Cohen's d_z: the mean of paired differences over their standard deviation.

        d_z = mean(d) / sqrt(sum of (d - mean)² / (n - 1))

    By convention .2 is small and .8 large. It is not Cohen's d, which divides by the standard
    deviation of the scores. The result is None for fewer than two pairs, or if all differences are
    equal.

    Source: Cohen (1988), "Statistical Power Analysis for the Behavioral Sciences", section 2.3.5;
    the name is Lakens's (2013).
    """
    d = np.asarray(differences, dtype=np.float64)
    if len(d) < 2:
        return None
    spread = float(d.std(ddof=1))
    if spread <= ROUNDING * max(1.0, float(np.abs(d).max())):
        return None
    return float(d.mean()) / spread


def relative_change(a: float, b: float) -> float | None:
    """The difference of a and b in percent of b, as reports print it; None if b is 0 or less.

    (a - b) / b · 100

    >>> relative_change(0.75, 0.5), relative_change(0.1, 0.0)
    (50.0, None)
    """
    return None if b <= 0 else (a - b) / b * 100


def unpaired_difference(
    a: float, of_a: Interval, b: float, of_b: Interval, *, level: float
) -> Interval:
    """Interval for mean a - mean b, of two samples that have nothing to do with each other, from
    their own intervals of the same level.

        low  = a - b - sqrt( (a - low a)² + (high b - b)² )
        high = a - b + sqrt( (high a - a)² + (b - low b)² )

    Each side keeps the shape of the means' own intervals, so that rates near 0 or 1 have one that
    is not symmetric.

    Source: Newcombe (1998), "Interval estimation for the difference between independent
    proportions", method 10; Zou & Donner (2008), "Construction of confidence limits about effect
    measures", for any two estimates.
    """
    difference = a - b
    low = difference - sqrt((a - of_a.low) ** 2 + (of_b.high - b) ** 2)
    high = difference + sqrt((of_a.high - a) ** 2 + (b - of_b.low) ** 2)
    return Interval(low, high, level, "square_and_add")


def mcnemar_exact(only_a: int, only_b: int) -> float:
    """Two-sided exact binomial p-value for the hypothesis that two rates are equal.

    The arguments count the pairs on which only the first, or only the second, succeeds.

        min(1, 2 · P(X <= min(only_a, only_b))),   X ~ Binomial(only_a + only_b, 1/2)

    Pairs must be independent: for clustered pairs use ``sign_flip_test``, which for independent
    pairs is the same test. The result lies in (0, 1]; at least the smallest positive float.

    Source: McNemar (1947), "Note on the sampling error of the difference between correlated
    proportions or percentages"; the exact form is the sign test.
    """
    fewer, more = sorted((only_a, only_b))
    if fewer == more:
        return 1.0
    tail = beta_cdf(0.5, more, fewer + 1)
    return min(1.0, max(2 * tail, sys.float_info.min))


def newcombe_paired(
    both: float, only_a: float, only_b: float, neither: float, *, level: float = 0.95
) -> Interval | None:
    """Interval for rate a - rate b, inside [-1, 1] and never a single point.

    The arguments count the rows on which both succeed, only a, only b, and neither (or fractions).

    Combines the distances from each rate to the ends of its Wilson interval by the law of cosines,
    with the correlation of a and b as the cosine:

        low  = d - sqrt(l_a² - 2 φ l_a u_b + u_b²),   l_a = rate a - its lower end, …
        high = d + sqrt(u_a² - 2 φ u_a l_b + l_b²)

    φ is the correlation of the 2 × 2 table; if it is positive, its numerator is reduced by n / 2,
    but not below 0. Rows must be independent: for clustered rows use ``paired_difference``. The
    interval is None for no rows.

    Source: Newcombe (1998), "Improved confidence intervals for the difference between binomial
    proportions based on paired data", method 10.
    """
    n = both + only_a + only_b + neither
    of_a, of_b = wilson(both + only_a, n, level=level), wilson(both + only_b, n, level=level)
    if of_a is None or of_b is None:
        return None
    rate_a, rate_b = (both + only_a) / n, (both + only_b) / n
    below_a, above_a = rate_a - of_a.low, of_a.high - rate_a
    below_b, above_b = rate_b - of_b.low, of_b.high - rate_b
    phi = _correlation(both, only_a, only_b, neither)
    difference = (only_a - only_b) / n
    low = difference - sqrt(_third_side(below_a, above_b, phi))
    high = difference + sqrt(_third_side(above_a, below_b, phi))
    return Interval(max(-1.0, low), min(1.0, high), level, "newcombe")


def _third_side(a: float, b: float, cosine: float) -> float:
    return max(0.0, a * a - 2 * cosine * a * b + b * b)


def _correlation(both: float, only_a: float, only_b: float, neither: float) -> float:
    n = both + only_a + only_b + neither
    margins = (both + only_a) * (only_b + neither) * (both + only_b) * (only_a + neither)
    if margins == 0:
        return 0.0
    numerator = both * neither - only_a * only_b
    if numerator > 0:
        numerator = max(numerator - n / 2, 0.0)
    return numerator / sqrt(margins)
