"""Sample size: rows needed for an interval's width, a paired difference, equivalence, or a bar."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial
from math import ceil, erf, lgamma, log, sqrt
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike

from ragstone.core.errors import InputError
from ragstone.stats.cluster_means import effective_size, read_clusters
from ragstone.stats.distributions import bisected, clamp, t_quantile, upper_quantile, wilson_ends
from ragstone.stats.weights_and_groups import Floats, smallest

NODES, WEIGHTS = np.polynomial.legendre.leggauss(200)
# The integral runs over this many standard deviations of chi on each side.
SPAN = 10.0

LARGE_DF = 100_000
STEPS = 200


def paired_power(difference: float, deviation: float, pairs: int, *, level: float = 0.95) -> float:
    """Power of the two-sided paired t test.

        P(|T| > t(level, n - 1)),  T noncentral t,  ncp = difference / deviation · sqrt(n)

    For clustered pairs, ``pairs`` is the number of clusters, and ``deviation`` is the standard
    deviation per cluster (``Pilot.cluster_deviation``). The result lies in (0, 1).

    Source: Cohen (1988), "Statistical Power Analysis for the Behavioral Sciences", chapter 2; the
    noncentral t distribution by quadrature over chi.
    """
    if not deviation > 0 or pairs < 2:
        raise InputError(
            "Power needs a deviation above 0 and at least two pairs, got a deviation of "
            f"{deviation} and {pairs} pairs."
        )
    df = pairs - 1
    critical = t_quantile(upper_quantile(level), df)
    shift = abs(difference) / deviation * sqrt(pairs)
    return _above(critical, df, shift) + _above(critical, df, -shift)


def paired_sample_size(
    difference: float, deviation: float, *, power: float = 0.8, level: float = 0.95
) -> int:
    """The fewest pairs with which the two-sided paired t test has the wanted power."""
    _check_power(power, level)
    if difference == 0:
        raise InputError("No number of pairs can show a difference of 0.")

    return smallest(
        lambda pairs: paired_power(difference, deviation, pairs, level=level) >= power, least=2
    )


def detectable_difference(
    deviation: float, pairs: int, *, power: float = 0.8, level: float = 0.95
) -> float:
    """The smallest difference that the two-sided paired t test detects with the wanted power.

    The result is above 0, in the unit of ``deviation``.
    """
    _check_power(power, level)

    def misses(difference: float) -> bool:
        return paired_power(difference, deviation, pairs, level=level) < power

    high = deviation
    while misses(high):
        high *= 2
    return bisected(misses, 0.0, high, STEPS)[1]


def _check_power(power: float, level: float) -> None:
    upper_quantile(level)
    if not 1 - level < power < 1:
        raise InputError(
            f"Power must lie between the test's significance level and 1, inside "
            f"({1 - level:g}, 1), got {power}."
        )


def _above(critical: float, df: int, shift: float) -> float:
    """P(T > critical) for the noncentral t: the normal tail probability, averaged over chi."""
    if df >= LARGE_DF:
        return NormalDist().cdf(shift - critical)
    scale, share = _chi(df)
    tails = [(1 + erf((shift - critical * s) / sqrt(2))) / 2 for s in scale]
    return float(share @ np.array(tails))


@lru_cache(maxsize=1024)
def _chi(df: int) -> tuple[Floats, Floats]:
    width = SPAN / sqrt(2 * df)
    low, high = max(0.0, 1 - width), 1 + width
    scale = low + (high - low) * (NODES + 1) / 2
    log_density = (
        log(2) + df / 2 * log(df / 2) - lgamma(df / 2) + (df - 1) * np.log(scale)
        - df * scale**2 / 2
    )  # fmt: skip
    share = WEIGHTS * np.exp(log_density)
    # Normalised: cancels the error of truncating the integral and of lgamma for large df.
    return scale, share / share.sum()


def equivalence_margin(
    deviation: float, pairs: int, *, power: float = 0.8, level: float = 0.95, unseen: float = 0.0
) -> float:
    """The smallest margin at which two one-sided t tests show equivalence if the difference is 0.

        (t(level, n - 1) + t((1 + power) / 2, n - 1)) · sqrt(deviation² / n + (unseen / n)²)

    For clustered pairs, ``pairs`` is the number of clusters, and ``deviation`` is the standard
    deviation per cluster (``Pilot.cluster_deviation``).

    Args:
        deviation: Standard deviation of the differences, 0 or more, in the unit of the scores.
        level: 1 minus the significance level of each one-sided test, in (.5, 1); in a family of k
            tests adjusted by Holm, 1 - .05 / k.
        unseen: The width of the scores' range, for the additional cluster in the variance of
            ``paired_difference``; 0 for unbounded scores.

    Source: Chow, Shao & Wang (2008), "Sample Size Calculations in Clinical Research", section
    3.2.3, solved for the margin; Schuirmann (1987) for the tests.
    """
    if not (deviation >= 0 and pairs >= 2 and 0 < power < 1 and 0.5 < level < 1):
        raise InputError(
            "A margin needs a deviation of 0 or more, two pairs, power in (0, 1) and level in "
            f"(.5, 1), got {deviation}, {pairs}, {power} and {level}."
        )
    reach = t_quantile(level, pairs - 1) + t_quantile((1 + power) / 2, pairs - 1)
    return reach * sqrt(deviation**2 / pairs + (unseen / pairs) ** 2)


SIZE_ROUNDING = 1e-9


def needed_n(n: float, p: float, *, level: float = 0.05) -> int | None:
    """Total rows at which a one-sided test would be significant if the value stayed the same.

        n · (z(level) / z(p))²

    The distance from the bar in standard errors grows with the square root of the number of rows.
    Exact for Wilson's interval: 0 events in n rows against a bar of .01 give 268, whatever n is.
    For Student's t it may be about one row too many for small n, as quantiles decrease with n. The
    result is at least 1; None if the value is not beyond the bar (p of .5 or more), so that no
    number of rows is enough.

    Args:
        p: One-sided p-value for the side on which the value lies, see ``one_sided_p``.

    Source: Fleiss, Levin & Paik (2003), "Statistical Methods for Rates and Proportions", chapter 2,
    its test of one proportion solved for n.
    """
    reached = NormalDist().inv_cdf(1 - p)
    if reached <= SIZE_ROUNDING:
        return None
    critical = NormalDist().inv_cdf(1 - level)
    return max(1, ceil(n * (critical / reached) ** 2 * (1 - SIZE_ROUNDING)))


ROUNDING = 1e-12


@dataclass(frozen=True, slots=True)
class Pilot:
    """The variation of scores in a first sample.

    Attributes:
        mean: Of all rows.
        deviation: Standard deviation of the rows, in their unit.
        cluster_deviation: Standard deviation per cluster: the mean of K such clusters has a
            standard error of ``cluster_deviation / sqrt(K)``.
        rows: Number of rows.
        clusters: Number of clusters.
        df: Degrees of freedom of ``cluster_deviation``.
    """

    mean: float
    deviation: float
    cluster_deviation: float
    rows: int
    clusters: int
    df: float

    @property
    def rows_per_cluster(self) -> float:
        """The average number of rows in a cluster."""
        return self.rows / self.clusters

    @property
    def design_effect(self) -> float | None:
        """Rows per independent row; None if scores do not vary.

        Below 1 if rows of the same cluster differ more than rows of different clusters.
        """
        if self.deviation == 0:
            return None
        return self.cluster_deviation**2 * self.rows_per_cluster / self.deviation**2


@dataclass(frozen=True, slots=True)
class SampleSize:
    """A sample size and the half-width that it gives.

    ``clusters`` is None if rows are independent.
    """

    rows: int
    clusters: int | None
    half_width: float


def pilot(values: ArrayLike, clusters: ArrayLike) -> Pilot:
    """The variation of scores in a first sample, between rows and between clusters."""
    scores, codes = np.asarray(values, dtype=np.float64), np.asarray(clusters)
    _, codes = np.unique(codes, return_inverse=True)
    counts = np.bincount(codes).astype(np.float64)
    read = read_clusters(np.bincount(codes, weights=scores) if len(scores) else [], counts).moments
    if read.size < 2:
        raise InputError(f"A pilot needs at least two clusters, got {read.size}.")
    varies = bool(np.ptp(scores) > ROUNDING * max(1.0, float(np.abs(scores).max())))
    return Pilot(
        mean=read.mean,
        deviation=float(scores.std(ddof=1)) if varies else 0.0,
        cluster_deviation=sqrt(read.variance * read.size) if varies else 0.0,
        rows=len(scores),
        clusters=read.size,
        df=read.df,
    )


def rate_sample_size(rate: float, half_width: float, *, level: float = 0.95) -> int:
    """The fewest independent rows for which Wilson's interval has the wanted half-width.

        half = sqrt(w p (1 - p) + w² / 4) / (1 + w),  w = z² / n

    is solved for n, without a search; unlike Wald's formula it is accurate for rare events too. The
    half-width is half the interval's width, because the interval is not symmetric.

    Source: Wilson (1927), solved for n; Piegorsch (2004), "Sample sizes for improved binomial
    confidence intervals".
    """
    if not 0 <= rate <= 1:
        raise InputError(f"A rate must lie in [0, 1], got {rate}.")
    if not 0 < half_width < 0.5:
        raise InputError(f"The half-width of a rate must lie inside (0, 0.5), got {half_width}.")
    z = NormalDist().inv_cdf(upper_quantile(level))
    spread, square = rate * (1 - rate), half_width**2
    a, b = 0.25 - square, spread - 2 * square
    weight = (sqrt(b * b + 4 * a * square) - b) / (2 * a)
    return ceil(z * z / weight * (1 - ROUNDING))


def rate_half_width(rate: float, rows: float, *, level: float = 0.95) -> float:
    """Half-width of Wilson's interval for a rate of this many independent rows."""
    if not (0 <= rate <= 1 and rows > 0):
        raise InputError(
            f"A rate must lie in [0, 1] and rows must be above 0, got {rate} and {rows}."
        )
    low, high = wilson_ends(rate, rows, NormalDist().inv_cdf(upper_quantile(level)))
    return (high - low) / 2


def mean_sample_size(
    first: Pilot,
    half_width: float,
    *,
    rate: bool,
    low: float | None = None,
    high: float | None = None,
    level: float = 0.95,
) -> SampleSize | None:
    """Number of clusters like the pilot's for which ``mean_interval`` has the wanted half-width.

    The pilot's mean, variance and design effect are used as if they were exact, so the result is as
    uncertain as they are. The interval is the one that ``mean_interval`` would choose: Wilson's on
    the effective sample size for a rate and for bounded scores, t for others. The size's
    ``clusters`` is None if every cluster has one row. None for unbounded scores that do not vary in
    the pilot.
    """
    if not half_width > 0:
        raise InputError(f"A half-width must be above 0, got {half_width}.")
    upper = upper_quantile(level)
    single = first.rows == first.clusters
    if rate and single:
        mean = clamp(first.mean, 0, 1)
        rows = rate_sample_size(mean, half_width, level=level)
        return SampleSize(rows, None, rate_half_width(mean, rows, level=level))
    low, high = (0.0, 1.0) if rate else (low, high)
    if low is not None and high is not None:
        half = _bounded(first, low, high, upper)
    elif first.cluster_deviation > 0:
        half = partial(_unbounded, first, upper)
    else:
        return None
    clusters = smallest(lambda size: half(size) <= half_width, least=2)
    rows = ceil(clusters * first.rows_per_cluster - ROUNDING)
    return SampleSize(rows, None if single else clusters, half(clusters))


def _unbounded(first: Pilot, upper: float, clusters: int) -> float:
    return t_quantile(upper, _df(first, clusters)) * first.cluster_deviation / sqrt(clusters)


def _bounded(first: Pilot, low: float, high: float, upper: float) -> Callable[[int], float]:
    span = high - low
    mean = clamp((first.mean - low) / span, 0, 1)
    variance = (first.deviation / span) ** 2 * (first.rows - 1) / first.rows
    size = first.rows_per_cluster

    def half(clusters: int) -> float:
        worth = effective_size(
            mean,
            variance,
            clusters * (first.cluster_deviation / span * size) ** 2,
            rows=clusters * size,
            clusters=clusters,
            kish=_kish(first, clusters),
        )
        ends = wilson_ends(mean, worth, t_quantile(upper, _df(first, clusters)))
        return (ends[1] - ends[0]) / 2 * span

    return half


def _df(first: Pilot, clusters: int) -> float:
    return max(1.0, _kish(first, clusters) - 1)


def _kish(first: Pilot, clusters: int) -> float:
    """Kish's effective number of this many clusters, as unequal in size as the pilot's."""
    return (first.df + 1) * clusters / first.clusters
