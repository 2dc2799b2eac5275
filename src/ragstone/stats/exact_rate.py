"""Exact rate: binomial tails for a rate, so that an error rate is kept and not only approached."""

from dataclasses import dataclass
from math import ceil
from statistics import NormalDist
from typing import Literal

from numpy.typing import ArrayLike

from .beta import beta_cdf
from .clusters import ALIKE, Clusters, check_rates, effective_rows, read_clusters
from .interval import Interval, clamp, upper_quantile
from .one_sided import LEAST_P, Side
from .smallest import smallest
from .student import t_quantile, t_upper_tail
from .wilson import clopper_pearson

MOST_SEARCHED = 1_000_000
"""Beyond so many rows the normal's number is the binomial's to well below 1 %."""

Method = Literal["clopper_pearson", "cluster_clopper_pearson"]


@dataclass(frozen=True, slots=True)
class ExactRate:
    """A rate and what it rests on.

    Attributes:
        rate: In [0, 1].
        rows: Independent rows of 0 or 1 that it is worth, above 0; fewer than there are, and
            seldom a whole number, where rows share clusters.
        df: Degrees of freedom of the variance behind ``rows``, at least 1; None where rows are
            independent and nothing is estimated.
    """

    rate: float
    rows: float
    df: float | None = None

    def p(self, bar: float, *, beyond: Side) -> float:
        """One-sided p for the truth lying beyond the bar: small means it does.

            above:  P(X >= x | n, bar) = I(bar; x, n - x + 1),  x = rate · n
            below:  P(X <= x | n, bar) = I(1 - bar; n - x, x + 1)

        I is the regularised incomplete beta function: the binomial's tail for whole x and n, and
        its continuation between. So at a truth of the bar p is at most a in at most a share a of
        all samples of independent rows. Where n is estimated from clusters, the normal quantile
        of the tail is taken as one of Student's t.

        Args:
            bar: In [0, 1].
            beyond: On which side of the bar the truth would lie.

        Returns:
            In [1e-9, 1].

        Source: Clopper & Pearson (1934) for the tails; Korn & Graubard (1998), "Confidence
        intervals for proportions with small expected number of positive counts estimated from
        survey data", for the effective sample in them. Student's t on the tail is ours, as in
        ``cluster_wilson``.
        """
        return max(self._tail(bar, beyond, 1.0), LEAST_P)

    def interval(self, level: float) -> Interval:
        """Clopper and Pearson's: beyond either end ``p`` is below (1 - level) / 2.

        Args:
            level: In (0, 1).
        """
        inner = level
        if self.df is not None:
            inner = 2 * NormalDist().cdf(t_quantile(upper_quantile(level), self.df)) - 1
        inner = clamp(inner, LEAST_P, 1 - LEAST_P)
        found = clopper_pearson(self.rate * self.rows, self.rows, level=inner)
        assert found is not None
        method: Method = "clopper_pearson" if self.df is None else "cluster_clopper_pearson"
        return Interval(found.low, found.high, level, method)

    def needed(self, bar: float, *, beyond: Side, level: float) -> float | None:
        """How many times the rows there are would bring p to the level, if the rate stayed.

        Args:
            bar: In [0, 1].
            beyond: As for ``p``.
            level: In (0, .5).

        Returns:
            Above 0; None where the rate does not lie beyond the bar, so that no number does.
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
        """``p`` at so many times the rows there are."""
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
    """A rate by cluster.

    What rows that share clusters are worth is the lesser of ``effective_rows`` and

        N / (1 + (n' - 1) · r),  n' = sum of n_c² / N
        r = 1 - w / v,  w = sum of s_c (n_c - s_c) / n_c / (N - C),  v = N m (1 - m) / (N - 1)

    for sums s_c and counts n_c of C clusters, N rows of mean m. Both are the same for clusters of
    one size. Else the first goes by the few largest clusters, which may all have come out alike;
    r, how much rows of a cluster resemble each other, is known from all of several rows.

    Args:
        sums: Shape (C,). Successes of each cluster, in [0, count].
        counts: Shape (C,). Rows of each cluster, at least 1.

    Returns:
        None for no rows, and for one cluster of several, which tells nothing of others.

    Raises:
        InputError: Wrong shapes, numbers that are not finite, more successes than rows.

    Source: Kish (1965), "Survey Sampling", section 5.4, for the design effect by r; Fleiss, Levin &
    Paik (2003), "Statistical Methods for Rates and Proportions", section 18.3, for r by the
    variance within. That the lesser counts is ours: ``benchmarks/gate.py`` has how often it errs.
    """
    clusters = read_clusters(sums, counts)
    check_rates(clusters)
    if clusters.size == 0:
        return None
    if clusters.single:
        return ExactRate(clusters.mean, clusters.rows)
    if clusters.size == 1:
        return None
    of_rate = Clusters(clusters.sums, clusters.counts, clusters.sums)
    rows = min(effective_rows(of_rate), _rows_by_likeness(of_rate))
    return ExactRate(clamp(of_rate.mean, 0, 1), rows, of_rate.df)


def _rows_by_likeness(clusters: Clusters) -> float:
    rows, sums, counts = clusters.rows, clusters.sums, clusters.counts
    total = clusters.row_variance * rows / (rows - 1)
    if total <= ALIKE:
        return rows
    within = float((sums * (counts - sums) / counts).sum()) / (rows - clusters.size)
    likeness = clamp(1 - within / total, 0, 1)
    return rows / (1 + (float(counts @ counts) / rows - 1) * likeness)
