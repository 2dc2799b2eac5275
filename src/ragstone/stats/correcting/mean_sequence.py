"""Mean sequence: intervals of a mean that hold however often they are looked at as labels come."""

import numpy as np
from numpy.typing import ArrayLike

from ragstone.stats.codes import Codes
from ragstone.stats.every_look import FIRST, look_quantile
from ragstone.stats.interval import Interval, clamp
from ragstone.stats.wilson import wilson_ends

from .labelled_rows import read_labelled
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
    error. All intervals from ``FIRST`` clusters on hold the true mean together with about this
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
        None with fewer than ``FIRST`` labels or clusters of them, and for labels that are all the
        same on a scale without two ends.

    Raises:
        InputError: Wrong shapes or numbers.

    Source: as ``look_quantile``; Wilson's interval on the effective number of rows, clusters and
    weights as in ``effective_rows``. ``benchmarks/looking_again.py`` measures how often they hold.
    """
    ready = mean_of_labels(labels, low=low, high=high, weights=weights, clusters=clusters)
    quantile = look_quantile(max(1, ready.n_labels), level)
    rows = np.arange(ready.n_labels)
    sample = read_labelled(len(rows), rows, labels, rate=False, weights=weights, clusters=clusters)
    if ready.value is None or len(sample.cluster_weights) < FIRST:
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
