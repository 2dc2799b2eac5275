"""Rate widths: the width of a corrected rate's interval, expected and simulated."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from ragstone.core.errors import InputError
from ragstone.stats.cluster_means import HALF_CLUSTER
from ragstone.stats.correction.corrected import joined_cells
from ragstone.stats.correction.poststratified import (
    row_share_variance,
    stratified_wilson_ends,
    stratum_rates,
)
from ragstone.stats.correction.ppi_and_rogan_gladen import HALF_ERROR, RateCorrection, favoured_of
from ragstone.stats.distributions import quantile
from ragstone.stats.weights_and_groups import Floats, Ints

# With this many simulated samples a probability of .9 is accurate to about .01.
DRAWS = 4000

JEFFREYS = 0.5
# NumPy's limit for sampling without replacement; beyond it, replacement makes no difference.
MOST_COUNTED = 10**9


@dataclass(frozen=True, eq=False)
class JudgedRate:
    """A judge's scores of rows, in cells, and people's rate in each cell: the input of a plan.

    Attributes:
        scores: Shape (K,), ascending, in [0, 1]: the judge's score of each cell's rows; their mean
            if a cell has several.
        counts: Shape (K,). Judged rows in each cell; need not be whole.
        rates: Shape (K,). Share of each cell's rows that people call true.
        values: Number of distinct scores that the judge gives.
        labels: Shape (K,). Number of independent labels behind each rate; None if all are known.
    """

    scores: Floats
    counts: Floats
    rates: Floats
    values: int
    labels: Floats | None = None

    @property
    def judged(self) -> float:
        return float(self.counts.sum())

    @cached_property
    def shares(self) -> Floats:
        return np.asarray(self.counts / self.counts.sum())

    @property
    def mean(self) -> float:
        """The mean of the judge's scores."""
        return float(self.shares @ self.scores)


def judged_rate(
    rate: float, sensitivity: float, specificity: float, *, judged: float
) -> JudgedRate:
    """A judge with yes/no verdicts."""
    if not (min(rate, sensitivity, specificity) >= 0 and max(rate, sensitivity, specificity) <= 1):
        raise InputError(
            f"A share must lie in [0, 1], got rate {rate}, sensitivity {sensitivity} and "
            f"specificity {specificity}."
        )
    if not judged >= 1:
        raise InputError(f"There must be at least one judged row, got {judged}.")
    yes = rate * sensitivity + (1 - rate) * (1 - specificity)
    shares = np.array([1 - yes, yes])
    true = np.array([rate * (1 - sensitivity), rate * sensitivity])
    rates = np.clip(np.divide(true, shares, out=np.zeros(2), where=shares > 0), 0, 1)
    return JudgedRate(np.array([0.0, 1.0]), judged * shares, rates, 2)


@dataclass(frozen=True, slots=True)
class Design:
    """A sampling design.

    Attributes:
        effect: The design effect: rows per independent row, at least 1.
        rows_per_cluster: Above 1 if whole clusters are labelled, otherwise 1.
    """

    effect: float = 1.0
    rows_per_cluster: float = 1.0

    @property
    def clustered(self) -> bool:
        return self.rows_per_cluster > 1

    def units(self, labels: float) -> float:
        """Number of labelled clusters, or rows."""
        return labels / self.rows_per_cluster

    def df(self, labels: float) -> float:
        """Degrees of freedom of a variance between the units, at least 1."""
        return max(1.0, self.units(labels) - 1)


INDEPENDENT = Design()


def correction_at(
    judged: JudgedRate, labels: float, design: Design = INDEPENDENT
) -> RateCorrection:
    """The method that ``calibrate`` uses with this number of labels, as chosen by ``favoured``."""
    units = design.units(labels)
    return favoured_of(
        judged.mean, judged.values, units, clusters=units if design.clustered else None
    )


def expected_half_width(
    judged: JudgedRate, labels: float, *, design: Design = INDEPENDENT, level: float = 0.95
) -> float:
    """Half-width of the corrected rate's interval if all counts equal their expected values.

    Args:
        labels: Number of labels, drawn at random from the judged rows, in (0, judged].
    """
    counts = labels / design.effect * judged.shares
    return float(
        _half_widths(
            judged, labels, counts[None], (counts * judged.rates)[None], np.ones(1), design, level
        )[0]
    )


def half_widths(
    judged: JudgedRate,
    labels: float,
    *,
    design: Design = INDEPENDENT,
    level: float = 0.95,
    seed: int = 0,
    draws: int = DRAWS,
) -> Floats:
    """Half-widths of the corrected rate's interval in simulated samples of labels.

    Simulated are

    - the rate of each cell, if it is estimated from a pilot: from its posterior, Beta(true + 1/2,
      false + 1/2). Known rates are used as they are;
    - the number of labelled rows in each cell: hypergeometric, as the cells' sizes are known;
    - the number of these that people call true: binomial;
    - if whole clusters are labelled: sample sizes are divided by the design effect, and the
      estimate of that varies as chi² over its degrees of freedom.

    Args:
        labels: Number of labels, drawn at random from the judged rows, in (0, judged].

    Source: Beal (1989), "Sample size determination for confidence intervals on the population mean
    and on the difference between two population means", for treating the width as random; Joseph,
    Wolfson & du Berger (1995), "Sample size calculations for binomial proportions via highest
    posterior density intervals", for rates from a prior; O'Hagan, Stevens & Campbell (2005),
    "Assurance in clinical trial design", for the posterior of a pilot as that prior.
    """
    rng = np.random.default_rng(seed)
    rates = _rates(judged, draws, rng)
    sizes = _whole(judged.counts / design.effect)
    rows = min(max(1, round(labels / design.effect)), int(sizes.sum()))
    if sizes.sum() < MOST_COUNTED:
        counts = rng.multivariate_hypergeometric(sizes, rows, draws, method="marginals")
    else:
        counts = rng.multinomial(rows, judged.shares, draws)
    positives = rng.binomial(counts, rates)
    return _half_widths(
        judged,
        labels,
        counts.astype(np.float64),
        positives.astype(np.float64),
        _doubt(labels, design, draws, rng),
        design,
        level,
    )


def expected_half_width_alone(
    judged: JudgedRate, labels: float, *, design: Design = INDEPENDENT, level: float = 0.95
) -> float:
    """Return ``expected_half_width`` without the judge, with any number of labels."""
    rate = np.array([judged.shares @ judged.rates])
    size = np.array([labels / design.effect])
    return float(_half_alone(rate, size, np.ones(1), labels, design, level)[0])


def half_widths_alone(
    judged: JudgedRate,
    labels: float,
    *,
    design: Design = INDEPENDENT,
    level: float = 0.95,
    seed: int = 0,
    draws: int = DRAWS,
) -> Floats:
    """Simulate ``half_widths`` without the judge, with any number of labels."""
    rng = np.random.default_rng(seed)
    rows = max(1, round(labels / design.effect))
    rates = rng.binomial(rows, np.minimum(1, _rates(judged, draws, rng) @ judged.shares)) / rows
    sizes = np.full(draws, float(rows))
    return _half_alone(rates, sizes, _doubt(labels, design, draws, rng), labels, design, level)


def _rates(judged: JudgedRate, draws: int, rng: np.random.Generator) -> Floats:
    shape = (draws, len(judged.rates))
    if judged.labels is None:
        return np.broadcast_to(judged.rates, shape)
    true = judged.labels * judged.rates
    return rng.beta(true + JEFFREYS, judged.labels - true + JEFFREYS, shape)


def _doubt(labels: float, design: Design, draws: int, rng: np.random.Generator) -> Floats:
    """The ratio of the estimated to the true variance between clusters, shape (draws,)."""
    if not design.clustered:
        return np.ones(draws)
    df = design.df(labels)
    return np.asarray(rng.chisquare(df, draws) / df)


def _half_widths(
    judged: JudgedRate,
    labels: float,
    counts: Floats,
    positives: Floats,
    doubt: Floats,
    design: Design,
    level: float,
) -> Floats:
    df = design.df(labels)
    everyone = judged.judged / design.effect
    if correction_at(judged, labels, design) == "ppi_plus_plus":
        value, size = _powered(judged, counts, positives, everyone, doubt, labels, design)
        return _wilson_half(value, size, quantile(level, df))
    strata = joined_cells(judged.counts, judged.counts * judged.scores, labels)
    joined = np.eye(strata.max() + 1)[strata]
    rows = counts @ joined
    rates = stratum_rates(positives @ joined, rows)
    shares = np.broadcast_to(judged.shares @ joined, rates.shape)
    sizes = rows * (design.effect / _effect(shares, rates, rows, doubt, labels, design))[:, None]
    apart = row_share_variance(shares, rates, everyone)
    q = quantile(level, df if design.clustered else None)
    low, high = stratified_wilson_ends(shares, rates, sizes, q, apart)
    return np.asarray((high - low) / 2)


def _effect(
    shares: Floats, rates: Floats, sizes: Floats, doubt: Floats, labels: float, design: Design
) -> Floats:
    """The estimated ``design_effect`` for strata with these effective sizes, shape (B,)."""
    if not design.clustered:
        return np.ones(len(doubt))
    labelled, clusters = sizes > 0, max(1.0, design.units(labels))
    rows = sizes * design.effect
    per_row = np.divide(shares**2, rows, out=np.zeros_like(rows), where=labelled)
    within = (per_row * rates * (1 - rates)).sum(axis=-1)
    agreeing = HALF_CLUSTER * (np.where(labelled, shares, 0) ** 2).sum(axis=-1) / clusters**2
    apart = HALF_CLUSTER * per_row.sum(axis=-1) / clusters
    return np.asarray(np.maximum(1, (design.effect * doubt * within + agreeing) / (within + apart)))


def _powered(
    judged: JudgedRate,
    counts: Floats,
    positives: Floats,
    everyone: float,
    doubt: Floats,
    labels: float,
    design: Design,
) -> tuple[Floats, Floats]:
    """Value and effective size of a rate as in ``prediction_powered``, shape (B,) each."""
    scores, shares = judged.scores, judged.shares
    n, units, each = counts.sum(axis=-1), design.units(labels), design.rows_per_cluster
    rest = np.maximum(0, everyone - n)
    people, seen = positives.sum(axis=-1) / n, counts @ scores / n
    spread = counts @ scores**2 / n - seen**2
    together = positives @ scores / n - people * seen
    mean = float(shares @ scores)
    varies = (float(shares @ scores**2) - mean**2) * everyone / (everyone - 1)
    most = everyone / np.maximum(1, rest)
    gain = np.clip(together / varies if varies > 0 else 0 * together, 0, most)
    power = gain * rest / everyone
    others = np.maximum(0, everyone * shares - counts)
    left = np.maximum(1, others.sum(axis=-1))
    unlike = np.maximum(0, others @ scores**2 / left - (others @ scores / left) ** 2)
    binomial = people * (1 - people)
    free = n * max(1.0, units - 1) / units
    alone = doubt * binomial / free
    inside = doubt * np.maximum(0, binomial + power**2 * spread - 2 * power * together) / free
    outside = power**2 * unlike / np.maximum(1, rest - 1)
    unseen = HALF_ERROR / units**2
    within = labels * binomial
    between = labels**2.0 * alone  # NumPy 1 takes an integer beyond 64 bits for an object.
    size = labels * np.minimum(
        1, (within + HALF_CLUSTER * each) / (between + HALF_CLUSTER * each**2)
    )
    value = np.clip(people + gain * (mean - seen), 0, 1)
    gained = (alone + unseen) / (inside + outside + unseen)
    return value, size * np.where(binomial > 0, gained, 1)


def _half_alone(
    rates: Floats, sizes: Floats, doubt: Floats, labels: float, design: Design, level: float
) -> Floats:
    effect = _effect(
        np.ones((len(rates), 1)), rates[:, None], sizes[:, None], doubt, labels, design
    )
    df = design.df(labels) if design.clustered else None
    return _wilson_half(rates, sizes * design.effect / effect, quantile(level, df))


def _wilson_half(rates: Floats, sizes: Floats, q: float) -> Floats:
    w = q**2 / sizes
    return np.asarray(np.sqrt(w * rates * (1 - rates) + w**2 / 4) / (1 + w))


def _whole(counts: ArrayLike) -> Ints:
    """Round to whole numbers that keep the rounded sum (at least 1), by largest remainder."""
    exact = np.asarray(counts, dtype=np.float64)
    whole = np.floor(exact).astype(np.int64)
    left = max(1, round(float(exact.sum()))) - int(whole.sum())
    whole[np.argsort(whole - exact, kind="stable")[:left]] += 1
    return whole
