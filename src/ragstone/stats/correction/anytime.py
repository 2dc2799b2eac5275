"""Anytime means: intervals valid at every look while labels come in, and a sampling test."""

from dataclasses import dataclass
from math import ceil, log, sqrt

import numpy as np
from numpy.typing import ArrayLike

from ragstone.core.errors import InputError
from ragstone.stats.distributions import (
    FIRST_LOOK,
    Interval,
    clamp,
    look_quantile,
    upper_quantile,
    wilson_ends,
)
from ragstone.stats.weights_and_groups import Codes, Floats, Ints

from .corrected import NO_LABELS, Corrected, read_labelled
from .labels_only import mean_of_labels


def mean_sequence(
    labels: ArrayLike,
    *,
    low: float | None = None,
    high: float | None = None,
    weights: ArrayLike | None = None,
    clusters: Codes | None = None,
    level: float = 0.95,
) -> Interval | None:
    """An asymptotic confidence sequence for the mean of labels, weighted and in clusters.

    The interval of ``mean_of_labels`` with ``look_quantile`` in place of Student's t: on a scale
    with two ends Wilson's on the effective number of rows, otherwise mean ± quantile · standard
    error. All intervals from ``FIRST_LOOK`` clusters on hold the true mean together with about this
    probability, so that labelling may stop at any look. ``anytime_mean`` is exact and wider, for
    labels drawn with equal probabilities.

    Args:
        labels: Shape (n,), finite, on the scale; those so far, which came in random order.
        low: The least possible label, None for no bound.
        high: The greatest possible label, None for no bound.
        weights: Shape (n,). Inverse sampling probabilities, up to a common factor.
        clusters: Shape (n,). Rows with the same value are not independent.
        level: In (0, 1).

    Returns:
        None with fewer than ``FIRST_LOOK`` labels or clusters of them, and for labels that are all
        the same on a scale without two ends.

    Raises:
        InputError: Wrong shapes or numbers.

    Source: as ``look_quantile``; Wilson's interval on the effective number of rows, clusters and
    weights as in ``effective_rows``. ``benchmarks/looking_again.py`` measures how often they hold.
    """
    ready = mean_of_labels(labels, low=low, high=high, weights=weights, clusters=clusters)
    quantile = look_quantile(max(1, ready.n_labels), level)
    rows = np.arange(ready.n_labels)
    sample = read_labelled(len(rows), rows, labels, rate=False, weights=weights, clusters=clusters)
    if ready.value is None or len(sample.cluster_weights) < FIRST_LOOK:
        return None
    if low is not None and high is not None and ready.size is not None:
        share = clamp((ready.value - low) / (high - low), 0, 1)
        least, most = wilson_ends(share, ready.size, quantile)
        ends = low + least * (high - low), low + most * (high - low)
    else:
        half = quantile * ready.standard_error
        if not half > 0:
            return None
        ends = clamp(ready.value - half, low, high), clamp(ready.value + half, low, high)
    return Interval(*ends, level, "asymptotic_sequence")


STEPS = 1000
"""Grid of candidate means; the interval's ends lie one step outside those not ruled out."""

MOST_AT_STAKE = 0.5
TUNED_FOR = 0.05


@dataclass(frozen=True, eq=False)
class AnytimeMean:
    """The mean of labels in the order in which they came; ``at`` gives its interval.

    Attributes:
        value: None without a label.
        n: Number of labels.
        most: Shape (STEPS + 1,): log of the largest capital reached so far by betting against
            each candidate mean.
    """

    value: float | None
    n: int
    low: float
    high: float
    most: Floats

    def at(self, level: float) -> Corrected:
        """The candidate means whose betting capital has never reached 1 / (1 - level)."""
        upper_quantile(level)
        if self.value is None:
            return Corrected(None, None, "labels_only", 0, None, reason=NO_LABELS)
        left = np.flatnonzero(self.most < log(1 / (1 - level)))
        first, last = (left[0], left[-1]) if len(left) else (self._nearest(), self._nearest())
        span = (self.high - self.low) / STEPS
        interval = Interval(
            self.low + max(int(first) - 1, 0) * span,
            self.low + min(int(last) + 1, STEPS) * span,
            level,
            "betting_sequence",
        )
        return Corrected(self.value, interval, "labels_only", self.n, None)

    def _nearest(self) -> int:
        share = ((self.value or 0.0) - self.low) / (self.high - self.low)
        return round(share * STEPS)


def anytime_mean(labels: ArrayLike, *, low: float, high: float) -> AnytimeMean:
    """A confidence sequence for the mean, by betting against every candidate mean m.

        K_t(m) = (prod of (1 + b_i (x_i - m)) + prod of (1 - b_i (x_i - m))) / 2

    The bet b_i depends only on the labels before x_i, so if m is the true mean the capital K is a
    martingale, and the probability that it ever reaches 1 / α is at most α (Ville's inequality).
    The maximum of K is kept: a mean that was once ruled out stays ruled out. Intervals of higher
    levels contain those of lower levels.

    Args:
        labels: Shape (n,), independent draws, in the order in which they came.
        low: The least possible label.
        high: The greatest possible label.

    Raises:
        InputError: A label outside the range.

    Source: Waudby-Smith & Ramdas (2024), "Estimating means of bounded random variables by
    betting", section 4, the hedged capital process with predictable plug-in bets.
    """
    given = np.asarray(labels, dtype=np.float64)
    if not low < high or not bool(((given >= low) & (given <= high)).all()):
        raise InputError(f"Labels must lie between low, {low}, and high, {high}.")
    values = (given - low) / (high - low)
    means = np.linspace(0, 1, STEPS + 1)
    # Limits on the bets: no single label can lose more than half of the capital.
    up = MOST_AT_STAKE / np.maximum(means, 1 / STEPS)
    down = MOST_AT_STAKE / np.maximum(1 - means, 1 / STEPS)
    above, below, most = np.zeros(STEPS + 1), np.zeros(STEPS + 1), np.zeros(STEPS + 1)
    # One pseudo-observation, so that the first bet is defined before any label is seen.
    total, squares = 0.5, 0.25
    for t, value in enumerate(values, start=1):
        bet = sqrt(2 * log(2 / TUNED_FOR) / (squares * log(t + 1)))
        # Log capital: the products themselves could over- or underflow after many labels.
        above += np.log1p(np.minimum(bet, up) * (value - means))
        below += np.log1p(-np.minimum(bet, down) * (value - means))
        np.maximum(most, np.logaddexp(above, below) - log(2), out=most)
        total += value
        squares += (value - total / (t + 1)) ** 2
    mean = None if not len(given) else float(given.mean())
    return AnytimeMean(mean, len(given), low, high, most)


FIRST_DRAWS = 200
"""First batch of draws; it is usually enough if the sample was drawn at random."""

ENOUGH = 20
"""Expected exceedances at p = ``below``: this many give its relative error as about a fifth."""

SAME = 1e-9
"""Distances that differ by less than this count as equal."""


def fair_draw_p(
    levels: ArrayLike,
    chosen: ArrayLike,
    *,
    clusters: ArrayLike | None = None,
    below: float = 0.001,
    seed: int = 0,
) -> float:
    """Monte Carlo p-value for the hypothesis that the chosen rows are a random sample.

        distance = sum over levels of (share among the chosen - share among all)² / share among all

    The null distribution is simulated twice: by drawing as many rows at random, and by drawing as
    many whole clusters as hold a chosen row. The larger p counts, so both a random sample of rows
    and one of whole questions pass; the latter differs more from all rows if a question's rows are
    alike. Drawing stops as soon as p is certain not to lie below the threshold.

    Args:
        levels: Shape (n,), whole numbers from 0: a property of each row, such as its system.
        chosen: Shape (n,), whether each row was chosen.
        clusters: Shape (n,), whole numbers; rows of one cluster are not independent.
        below: The threshold of interest; p is resolved down to a twentieth of it.
        seed: The same seed gives the same p.

    Returns:
        In (0, 1]; 1 if all rows are chosen, or none, or there is only one level.

    Raises:
        InputError: Arrays of different lengths, or ``below`` outside (0, 1).

    Source: Phipson & Smyth (2010), "Permutation p-values should never be zero".
    """
    of, among = np.asarray(levels, dtype=np.int64), np.asarray(chosen, dtype=np.bool_)
    if of.shape != among.shape or (clusters is not None and np.shape(clusters) != of.shape):
        raise InputError("levels, chosen and clusters must have the same length.")
    if not 0 < below < 1:
        raise InputError(f"The threshold for p must lie inside (0, 1), got {below}.")
    counts = np.bincount(of)
    counts, place = counts[counts > 0], np.cumsum(counts > 0) - 1
    n = int(among.sum())
    if len(counts) < 2 or n in (0, len(of)):
        return 1.0
    of = place[of]
    rng = np.random.default_rng(seed)
    observed = np.bincount(of[among], minlength=len(counts))[None, :]
    distance = float(_distance(observed, counts)[0])
    by_rows = _p(np.eye(len(counts), dtype=np.int64), counts, n, counts, distance, below, rng)
    if clusters is None or by_rows >= below:
        return by_rows
    _, number = np.unique(np.asarray(clusters), return_inverse=True)
    made = np.zeros((number.max() + 1, len(counts)), dtype=np.int64)
    np.add.at(made, (number, of), 1)
    touched = len(np.unique(number[among]))
    if touched == len(made):
        return by_rows
    kinds, times = np.unique(made, axis=0, return_counts=True)
    by_clusters = _p(kinds, times, touched, counts, distance, below, rng)
    return max(by_rows, by_clusters)


def _p(
    kinds: Ints,
    times: Ints,
    n: int,
    counts: Ints,
    distance: float,
    below: float,
    rng: np.random.Generator,
) -> float:
    """The share of random draws of ``n`` units that are at least as far from all rows.

    ``kinds`` (kinds, levels) is the number of rows of each level in a unit of each kind, ``times``
    (kinds,) the number of units of each kind.
    """
    most = ceil(ENOUGH / below)
    drawn = beyond = 0
    size = FIRST_DRAWS
    while drawn < most and (beyond + 1) / (most + 1) < below:
        units = rng.multivariate_hypergeometric(times, n, size=size, method="marginals")
        beyond += int((_distance(units @ kinds, counts) >= distance - SAME).sum())
        drawn += size
        size = min(2 * size, 20_000, most - drawn)
    return (beyond + 1) / (drawn + 1)


def _distance(rows: Ints, counts: Ints) -> Floats:
    """The distance of each draw from all rows, given its rows by level (B, levels)."""
    total = np.maximum(rows.sum(axis=1, keepdims=True), 1)
    share = counts / counts.sum()
    return np.asarray(((rows / total - share) ** 2 / share).sum(axis=1))
