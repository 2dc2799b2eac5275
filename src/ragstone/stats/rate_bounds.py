"""Rate bounds: bounds on a mean with missing scores, and exact binomial tests and intervals.

The exact methods never exceed their nominal error rate.
"""

from dataclasses import dataclass
from math import ceil
from statistics import NormalDist
from typing import Literal

from numpy.typing import ArrayLike

from .cluster_means import ALIKE, Clusters, check_rates, effective_rows, of_rate, read_clusters
from .distributions import (
    LEAST_P,
    Interval,
    Side,
    beta_cdf,
    clamp,
    clopper_pearson,
    t_quantile,
    t_upper_tail,
    upper_quantile,
)
from .weights_and_groups import smallest


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

    ``total`` is the sum of the ``n`` known scores; both numbers may be weights.

    The worst mean comes first, then the best; None if there is no row at all, or if a score is
    missing and the range has no bounds.

    Args:
        better: ``"+"`` if higher scores are better, ``"-"`` if lower ones are, ``"0"`` if neither;
            then the lower bound comes first.
    """
    rows = n + n_missing
    if rows == 0:
        return None
    if n_missing == 0:
        return total / n, total / n
    if low is None or high is None:
        return None
    least, greatest = (total + n_missing * low) / rows, (total + n_missing * high) / rows
    return (greatest, least) if better == "-" else (least, greatest)


# Above this many rows the normal approximation differs from the binomial by well below 1 %.
MOST_SEARCHED = 1_000_000

Method = Literal["clopper_pearson", "cluster_clopper_pearson"]


@dataclass(frozen=True, slots=True)
class ExactRate:
    """A rate with its effective sample size.

    Attributes:
        rate: In [0, 1].
        rows: Effective sample size, above 0; for clustered rows, less than their number and seldom
            a whole number.
        df: Degrees of freedom of the variance behind ``rows``, at least 1; None for independent
            rows, where no variance is estimated.
    """

    rate: float
    rows: float
    df: float | None = None

    def p(self, bar: float, *, beyond: Side) -> float:
        """One-sided p-value; a small one is evidence that the true rate lies beyond the bar.

            above:  P(X >= x | n, bar) = I(bar; x, n - x + 1),  x = rate · n
            below:  P(X <= x | n, bar) = I(1 - bar; n - x, x + 1)

        I is the regularised incomplete beta function: the binomial tail for whole x and n, and its
        continuation in between. So for independent rows, if the true rate equals the bar, p <= a
        has a probability of at most a. If n is estimated from clusters, the normal quantile of the
        tail is converted to one of Student's t. The result lies in [1e-9, 1].

        Args:
            beyond: The alternative: on which side of the bar the true rate lies.

        Source: Clopper & Pearson (1934) for the tails; Korn & Graubard (1998), "Confidence
        intervals for proportions with small expected number of positive counts estimated from
        survey data", for the effective sample size in them. Student's t on the tail is ours, as in
        ``cluster_wilson``.
        """
        return max(self._tail(bar, beyond, 1.0), LEAST_P)

    def interval(self, level: float) -> Interval:
        """Clopper and Pearson's interval: for a bar beyond either end ``p`` < (1 - level) / 2."""
        inner = level
        if self.df is not None:
            inner = 2 * NormalDist().cdf(t_quantile(upper_quantile(level), self.df)) - 1
        inner = clamp(inner, LEAST_P, 1 - LEAST_P)
        exact = clopper_pearson(self.rate * self.rows, self.rows, level=inner)
        assert exact is not None
        method: Method = "clopper_pearson" if self.df is None else "cluster_clopper_pearson"
        return Interval(exact.low, exact.high, level, method)

    def needed(self, bar: float, *, beyond: Side, level: float) -> float | None:
        """The factor by which the sample must grow for p to reach the level at the same rate.

        The result is above 0; None if the rate does not lie beyond the bar, so that no sample size
        suffices.
        """
        gap = self.rate - bar if beyond == "above" else bar - self.rate
        if gap <= 0:
            return None
        if self._tail(bar, beyond, MOST_SEARCHED / self.rows) > level:
            z = NormalDist().inv_cdf(level)
            return ceil(z * z * bar * (1 - bar) / gap**2) / self.rows
        rows = smallest(
            lambda rows: self._tail(bar, beyond, rows / self.rows) <= level, most=MOST_SEARCHED
        )
        return rows / self.rows

    def _tail(self, bar: float, beyond: Side, times: float) -> float:
        rows = self.rows * times
        successes = self.rate * rows
        if beyond == "below":
            successes, bar = rows - successes, 1 - bar
        tail = 1.0 if successes <= 0 else beta_cdf(bar, successes, rows - successes + 1)
        if self.df is None or not 0 < tail < 1:
            return tail
        t = -NormalDist().inv_cdf(tail)
        return t_upper_tail(t, max(1.0, (self.df + 1) * times - 1))


def exact_rate(sums: ArrayLike, counts: ArrayLike) -> ExactRate | None:
    """A rate of clustered rows, with its effective sample size.

    That is the smaller of ``effective_rows`` and

        N / (1 + (n' - 1) · r),  n' = sum of n_c² / N
        r = 1 - w / v,  w = sum of s_c (n_c - s_c) / n_c / (N - C),  v = N m (1 - m) / (N - 1)

    for sums s_c and counts n_c of C clusters, N rows of mean m. r is the intraclass correlation.
    For clusters of equal size the two agree. Otherwise the first depends on the few largest
    clusters, which may by chance have similar results; r is estimated from all clusters of several
    rows. The result is None for no rows, and for a single cluster of several rows, which does not
    show how clusters vary.

    Source: Kish (1965), "Survey Sampling", section 5.4, for the design effect by r; Fleiss, Levin &
    Paik (2003), "Statistical Methods for Rates and Proportions", section 18.3, for r by the
    variance within. Taking the smaller is ours; the gate's tests measure the error rate.
    """
    read = read_clusters(sums, counts)
    clusters = read.moments
    check_rates(clusters)
    if clusters.size == 0:
        return None
    if clusters.single:
        return ExactRate(clusters.mean, clusters.rows)
    if clusters.size == 1:
        return None
    rows = min(effective_rows(of_rate(clusters)), _rows_by_correlation(read))
    return ExactRate(clamp(clusters.mean, 0, 1), rows, clusters.df)


def _rows_by_correlation(clusters: Clusters) -> float:
    moments, sums, counts = of_rate(clusters.moments), clusters.sums, clusters.counts
    rows = moments.rows
    total = moments.row_variance * rows / (rows - 1)
    if total <= ALIKE:
        return rows
    within = float((sums * (counts - sums) / counts).sum()) / (rows - moments.size)
    correlation = clamp(1 - within / total, 0, 1)
    return rows / (1 + (float(counts @ counts) / rows - 1) * correlation)
