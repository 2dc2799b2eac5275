"""Anytime means: intervals valid at every look while labels come in, and a sampling test."""

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

from .corrected import NO_LABELS, Corrected, MeanCorrection, bounded_size
from .labels_only import all_labelled, check_scale, variance_of_labels, weighted_mean


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
    labels drawn with equal probabilities. The result is None with fewer than ``FIRST_LOOK`` labels
    or clusters of them, and for labels that are all the same on a scale without two ends.

    Args:
        labels: Shape (n,), finite, on the scale; those so far, which came in random order.

    Source: as ``look_quantile``; Wilson's interval on the effective number of rows, clusters and
    weights as in ``effective_rows``.
    """
    sample = all_labelled(labels, weights, clusters, rate=False)
    check_scale(sample, low, high)
    quantile = look_quantile(max(1, sample.n), level)
    if len(sample.cluster_weights) < FIRST_LOOK:
        return None
    mean, size = weighted_mean(sample), bounded_size(sample, low, high)
    value = clamp(mean, low, high)
    if low is not None and high is not None and size is not None:
        share = clamp((value - low) / (high - low), 0, 1)
        least, most = wilson_ends(share, size, quantile)
        ends = low + least * (high - low), low + most * (high - low)
    else:
        half = quantile * sqrt(variance_of_labels(sample, mean))
        if not half > 0:
            return None
        ends = clamp(value - half, low, high), clamp(value + half, low, high)
    return Interval(*ends, level, "asymptotic_sequence")


# Grid of candidate means; the interval's ends lie one step outside those not ruled out.
STEPS = 1000

# The means that are bet on, with equal capital each: a grid of the Beta(1/2, 1/2) distribution.
BETS = np.sin(np.pi * (np.arange(100) + 0.5) / 200) ** 2

# No candidate mean lies nearer to an end: there the first label elsewhere rules it out.
EDGE = 1e-9


def anytime_mean(labels: ArrayLike, *, low: float, high: float) -> MeanCorrection:
    """A confidence sequence for the mean, by betting against every candidate mean m.

        K(m) = mean over q of the product of (x_i q / m + (1 - x_i) (1 - q) / (1 - m))

    If labels come in random order and m is the true mean, the capital K is a martingale in the
    order in which they came, and the probability that it ever reaches 1 / α is at most α (Ville's
    inequality). As each q stays as it is, K is the same in any order: nobody has to know in which
    the labels came. Against the mean of the labels K is at most 1, so that the interval holds it.
    Intervals hold the candidates against which it is below 1 / (1 - level), so those of higher
    levels contain those of lower levels.

    Source: Cover & Ordentlich (1996), "Universal portfolios with side information"; as confidence
    sequences Orabona & Jun (2024), "Tight concentrations and confidence sequences from the regret
    of universal portfolio".
    """
    known = np.asarray(labels, dtype=np.float64)
    if not low < high or not bool(((known >= low) & (known <= high)).all()):
        raise InputError(f"Labels must lie between low, {low}, and high, {high}.")
    mean = float(known.mean()) if len(known) else None
    span = (high - low) / STEPS
    capital = log_capital((known - low) / (high - low))

    def at(level: float) -> Corrected:
        upper_quantile(level)
        if mean is None:
            return Corrected(None, None, "labels_only", 0, None, reason=NO_LABELS)
        # The nearest candidate is not the mean itself, and may be ruled out at a low level.
        nearest = round((mean - low) / span)
        left = np.append(np.flatnonzero(capital < log(1 / (1 - level))), nearest)
        interval = Interval(
            low + max(int(left.min()) - 1, 0) * span,
            low + min(int(left.max()) + 1, STEPS) * span,
            level,
            "betting_sequence",
        )
        return Corrected(mean, interval, "labels_only", len(known), None)

    return MeanCorrection(at)


def log_capital(shares: Floats) -> Floats:
    """Log of the capital K against each candidate, shape (STEPS + 1,), by labels in [0, 1]."""
    means = np.clip(np.linspace(0, 1, STEPS + 1), EDGE, 1 - EDGE)
    up, down = BETS[:, None] / means, (1 - BETS[:, None]) / (1 - means)
    capital = np.zeros(up.shape)
    for value, count in zip(*np.unique(shares, return_counts=True), strict=True):
        capital += count * np.log(value * up + (1 - value) * down)
    most = capital.max(axis=0)
    return np.asarray(most + np.log(np.exp(capital - most).mean(axis=0)))


# First batch of draws; it is usually enough if the sample was drawn at random.
FIRST_DRAWS = 200

# Expected exceedances at p = ``below``: this many give its relative error as about a fifth.
ENOUGH = 20

# Distances that differ by less than this count as equal.
SAME = 1e-9


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
    alike. Drawing stops as soon as p is certain not to lie below the threshold. The result lies in
    (0, 1]; 1 if all rows are chosen, or none, or there is only one level.

    Args:
        levels: Shape (n,), whole numbers from 0: a property of each row, such as its system.
        chosen: Shape (n,), whether each row was chosen.
        clusters: Shape (n,), whole numbers; rows of one cluster are not independent.
        below: The threshold of interest; p is resolved down to a twentieth of it.

    Source: Phipson & Smyth (2010), "Permutation p-values should never be zero".
    """
    of, among = np.asarray(levels, dtype=np.int64), np.asarray(chosen, dtype=np.bool_)
    counts = np.bincount(of)
    counts, code_of = counts[counts > 0], np.cumsum(counts > 0) - 1
    n = int(among.sum())
    if len(counts) < 2 or n in (0, len(of)):
        return 1.0
    of = code_of[of]
    rng = np.random.default_rng(seed)
    observed = np.bincount(of[among], minlength=len(counts))[None, :]
    distance = float(_distance(observed, counts)[0])
    by_rows = _p(np.eye(len(counts), dtype=np.int64), counts, n, counts, distance, below, rng)
    if clusters is None or by_rows >= below:
        return by_rows
    _, number = np.unique(np.asarray(clusters), return_inverse=True)
    clusters_by_level = np.zeros((number.max() + 1, len(counts)), dtype=np.int64)
    np.add.at(clusters_by_level, (number, of), 1)
    touched = len(np.unique(number[among]))
    if touched == len(clusters_by_level):
        return by_rows
    kinds, times = np.unique(clusters_by_level, axis=0, return_counts=True)
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
    total = np.maximum(rows.sum(axis=1), 1)
    distances = np.zeros(len(rows))
    for level, share in enumerate(counts / counts.sum()):
        distances += (rows[:, level] / total - share) ** 2 / share
    return distances
