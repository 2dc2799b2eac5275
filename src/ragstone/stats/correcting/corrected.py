"""A judge's mean, corrected by the labels that people gave to some of what it judged."""

from collections.abc import Hashable
from dataclasses import dataclass
from math import inf, sqrt
from statistics import NormalDist
from typing import Literal, Protocol

from ragstone.stats.interval import Interval, upper_quantile

CorrectionMethod = Literal["labels_only", "poststratified", "ppi_plus_plus", "rogan_gladen"]

NO_LABELS = "no_labels"
ONE_CLUSTER = "one_cluster"
NO_VARIATION = "no_variation"

UNLABELLED_STRATUM = "unlabelled_stratum"
FEW_LABELS = "few_labels"
FEW_CLUSTERS = "few_clusters"

FEW = 20


@dataclass(frozen=True, slots=True)
class Stratum:
    """The rows that got one verdict of the judge.

    ``rate`` is the share of positives among its labelled rows, each counted
    with its weight, and ``interval`` where the true share may lie: None and
    [0, 1] where no row is labelled. ``effective_labels`` is how many
    independent labels of equal weight tell as much.
    """

    verdict: Hashable
    share: float
    n_judged: int
    n_labels: int
    effective_labels: float
    rate: float | None
    interval: Interval


@dataclass(frozen=True, slots=True)
class Corrected:
    """What people would have said on average, had they labelled all that the judge judged.

    ``value`` and ``interval`` are None, and ``reason`` says why, where the
    labels cannot tell: ``no_labels``, ``one_cluster``, ``no_variation`` (of
    scores without a range) and what the methods name. ``effective_labels`` is
    how many independent labels without a judge would give an interval as
    narrow. ``flags`` warn: ``unlabelled_stratum`` (a verdict that no one has
    looked at counts as anything from 0 to 1), ``few_labels`` and
    ``few_clusters`` (fewer than 20).
    """

    value: float | None
    interval: Interval | None
    method: CorrectionMethod
    n_labels: int
    effective_labels: float | None
    strata: tuple[Stratum, ...] = ()
    flags: tuple[str, ...] = ()
    reason: str | None = None


class Correction(Protocol):
    """An estimate made ready: ``at`` takes about a millisecond, however many rows there are."""

    def at(self, level: float) -> Corrected: ...


def effective_labels_of_rate(value: float, interval: Interval) -> float:
    """How many independent labels have a Wilson interval at ``value`` of this width.

    For Wilson's own interval it is the number of its rows.

    Args:
        value: The rate, in [0, 1].
        interval: Wider than a point.

    Returns:
        0 for an interval that covers all of [0, 1].
    """
    z = NormalDist().inv_cdf(upper_quantile(interval.level))
    square = (interval.high - interval.low) ** 2
    if square >= 1:
        return 0.0
    # Wilson's width as an equation in u = z² / n: a u² + b u - square / 4 = 0.
    a, b = (1 - square) / 4, value * (1 - value) - square / 2
    root = sqrt(b * b + a * square)
    u = (root - b) / (2 * a) if b <= 0 else square / (2 * (root + b))
    return z * z / u if u else inf


def label_flags(n_labels: int, n_clusters: int | None) -> tuple[str, ...]:
    """Warnings that there are too few labels, or clusters of them, to rely on the level."""
    few_labels = (FEW_LABELS,) if n_labels < FEW else ()
    few_clusters = (FEW_CLUSTERS,) if n_clusters is not None and n_clusters < FEW else ()
    return few_labels + few_clusters
