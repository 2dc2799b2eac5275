"""Rogan and Gladen: a rate of positive verdicts, corrected by sensitivity and specificity."""

from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import ArrayLike

from ragstone.core.errors import InputError
from ragstone.stats.codes import Codes, Floats
from ragstone.stats.interval import Interval, clamp
from ragstone.stats.student import quantile

from .corrected import (
    NO_LABELS,
    ONE_CLUSTER,
    Corrected,
    effective_labels_of_rate,
    label_flags,
)
from .labelled_rows import LabelledRows, read_labelled
from .labels_only import rate_of_labels

NO_POSITIVES = "no_labelled_positives"
NO_NEGATIVES = "no_labelled_negatives"
NO_BETTER_THAN_CHANCE = "judge_no_better_than_chance"


@dataclass(frozen=True, slots=True)
class CountedRate:
    """A rate with its effective sample size."""

    rate: float
    rows: float


@dataclass(frozen=True, slots=True)
class RoganGladen:
    """A corrected rate; ``at`` gives an interval of any level."""

    judged: CountedRate
    sensitivity: CountedRate
    specificity: CountedRate
    df: float | None
    n_labels: int
    flags: tuple[str, ...]
    reason: str | None

    @property
    def value(self) -> float | None:
        if self.reason is not None:
            return None
        gain = self.sensitivity.rate + self.specificity.rate - 1
        return clamp((self.judged.rate + self.specificity.rate - 1) / gain, 0, 1)

    def at(self, level: float) -> Corrected:
        """The corrected rate with its interval at ``level``, in (0, 1)."""
        q, value = quantile(level, self.df), self.value
        if value is None:
            return Corrected(None, None, "rogan_gladen", self.n_labels, None, reason=self.reason)
        low, high = adjusted_ends(self.judged, self.sensitivity, self.specificity, q)
        low, high = min(low, value), max(high, value)
        interval = Interval(low, high, level, "rogan_gladen")
        effective = effective_labels_of_rate(value, interval)
        return Corrected(
            value, interval, "rogan_gladen", self.n_labels, effective, flags=self.flags
        )


def rogan_gladen(
    verdicts: ArrayLike,
    labelled: ArrayLike,
    labels: ArrayLike,
    *,
    weights: ArrayLike | None = None,
    clusters: Codes | None = None,
    level: float = 0.95,
) -> Corrected:
    """Estimate of people's rate in all judged rows, from the judge's error rates.

        (share of positive verdicts + specificity - 1) / (sensitivity + specificity - 1)

    clipped to [0, 1]. Sensitivity and specificity are estimated from the labelled
    rows. The interval is that of Lang and Reiczigel; with clusters or weights it uses
    effective sample sizes and Student's t. It assumes that there are many more judged
    rows than labelled ones. It is wide if sensitivity + specificity is little above
    1, and usually wider than that of ``poststratified_rate``.

    Undefined without a labelled positive (``no_labelled_positives``) or negative
    (``no_labelled_negatives``), and if sensitivity + specificity <= 1
    (``judge_no_better_than_chance``).

    Args:
        verdicts: Shape (N,). The judge's verdict on each row, 0 or 1.
        labelled: Shape (n,) indices or shape (N,) mask of the labelled rows.
        labels: Shape (n,), 0 or 1, in the order of the rows.
        weights: Shape (n,). Inverse probabilities of being drawn for labelling,
            up to a common factor.
        clusters: Shape (N,). Rows with the same value are not independent.
        level: Share of intervals that should hold the true rate, in (0, 1).

    Raises:
        InputError: Wrong shapes or numbers.

    Source: Rogan & Gladen (1978), "Estimating prevalence from the results of a
    screening test"; Lang & Reiczigel (2014), "Confidence limits for prevalence
    of disease adjusted for estimated sensitivity and specificity".
    """
    return error_corrected(verdicts, labelled, labels, weights=weights, clusters=clusters).at(level)


def error_corrected(
    verdicts: ArrayLike,
    labelled: ArrayLike,
    labels: ArrayLike,
    *,
    weights: ArrayLike | None = None,
    clusters: Codes | None = None,
) -> RoganGladen:
    """``rogan_gladen`` in prepared form, whose ``at`` gives the estimate at any level."""
    said = np.asarray(verdicts, dtype=np.float64)
    if said.ndim != 1 or len(said) == 0 or not np.isin(said, (0, 1)).all():
        raise InputError("Verdicts must be of shape (N,), at least one, each 0 or 1.")
    sample = read_labelled(
        len(said), labelled, labels, rate=True, weights=weights, clusters=clusters
    )
    sensitivity = _rate_where(said, sample, 1)
    specificity = _rate_where(1 - said, sample, 0)
    everywhere = rate_of_labels(said, clusters=sample.clusters)
    return RoganGladen(
        CountedRate(float(said.mean()), everywhere.size),
        sensitivity,
        specificity,
        sample.df,
        sample.n,
        label_flags(sample.n, sample.n_clusters),
        _reason(sample, sensitivity, specificity),
    )


def adjusted_ends(
    judged: CountedRate, sensitivity: CountedRate, specificity: CountedRate, q: float
) -> tuple[float, float]:
    """Ends of Lang and Reiczigel's interval; 0 and 1 for a judge no better than chance."""
    # A success and a failure are added to each error rate, q² / 2 of each to the verdicts.
    found = CountedRate(
        (judged.rate * judged.rows + q * q / 2) / (judged.rows + q * q), judged.rows + q * q
    )
    hits, passes = _with_one_of_each(sensitivity), _with_one_of_each(specificity)
    gain = hits.rate + passes.rate - 1
    if gain <= 0:
        return 0.0, 1.0
    value = clamp((found.rate + passes.rate - 1) / gain, 0, 1)
    missed, passed = value * _variance(hits), (1 - value) * _variance(passes)
    shift = 2 * q * q * (missed - passed)
    variance = _variance(found) + (1 - value) * passed + value * missed
    half = q * sqrt(variance) / gain
    low = clamp(value + shift - half, 0, 1)
    return low, clamp(value + shift + half, low, 1)


def _variance(of: CountedRate) -> float:
    return of.rate * (1 - of.rate) / of.rows


def _with_one_of_each(of: CountedRate) -> CountedRate:
    return CountedRate((of.rate * of.rows + 1) / (of.rows + 2), of.rows + 2)


def _rate_where(right: Floats, sample: LabelledRows, label: int) -> CountedRate:
    """The judge's accuracy on the rows with ``label``; with 0 rows if there are none."""
    chosen = sample.labels == label
    rows = sample.rows[chosen]
    clusters = None if sample.clusters is None else sample.clusters[rows]
    ready = rate_of_labels(right[rows], weights=sample.weights[chosen], clusters=clusters)
    return CountedRate(0.0 if ready.value is None else ready.value, ready.size)


def _reason(sample: LabelledRows, sensitivity: CountedRate, specificity: CountedRate) -> str | None:
    if sample.n == 0:
        return NO_LABELS
    if sensitivity.rows == 0:
        return NO_POSITIVES
    if specificity.rows == 0:
        return NO_NEGATIVES
    if sensitivity.rate + specificity.rate <= 1:
        return NO_BETTER_THAN_CHANCE
    return ONE_CLUSTER if sample.n_clusters == 1 else None
