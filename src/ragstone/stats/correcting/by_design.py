"""By design: chooses the correction of a rate from the design alone, before labels are seen."""

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from ragstone.stats.codes import Codes
from ragstone.stats.kish import kish_size

from .corrected import FEW
from .labelled_rows import read_labelled
from .verdict_strata import EXPECTED, MOST_STRATA

RateCorrection = Literal["poststratified", "ppi_plus_plus"]

ROUNDING = 1e-9


def favoured(
    scores: ArrayLike,
    labelled: ArrayLike,
    *,
    weights: ArrayLike | None = None,
    clusters: Codes | None = None,
) -> RateCorrection:
    """The method to correct a rate of the judged rows with labels of some of them.

    ``ppi_plus_plus`` if all of the following hold, otherwise ``poststratified``:

    - The judge gives at most five distinct scores, so that a linear correction uses nearly all
      of their information. Finer scores are better used by strata.
    - By the mean score of all judged rows, at least five positives and five negatives are
      expected among the labelled rows or clusters (Kish's effective number for unequal weights).
      With fewer, rare errors may not occur in the sample, and PPI++ takes them for impossible.
    - For clustered rows, at least 20 clusters are labelled.

    The choice uses no label; otherwise the intervals would be too narrow.

    Args:
        scores: Shape (N,). The judge's score of each row, in [0, 1].
        labelled: Shape (n,) indices or shape (N,) mask of the labelled rows.
        weights: Shape (n,). Inverse sampling probabilities, up to a common factor.
        clusters: Shape (N,). Rows with the same value are not independent.

    Raises:
        InputError: Wrong shapes or numbers.

    ``benchmarks/correction.py`` measures both and the choice.
    """
    judged = np.asarray(scores, dtype=np.float64)
    places = np.asarray(labelled)
    n = int(places.sum()) if places.dtype == bool else len(places)
    sample = read_labelled(
        len(judged), places, np.zeros(n), rate=True, weights=weights, clusters=clusters
    )
    if sample.n == 0:
        return "poststratified"
    return favoured_of(
        float(judged.sum()) / len(judged),
        len(np.unique(judged)),
        kish_size(sample.cluster_weights),
        clusters=sample.n_clusters,
    )


def favoured_of(
    mean: float, values: int, size: float, *, clusters: float | None = None
) -> RateCorrection:
    """As ``favoured``, from summary statistics, so that it can be planned before labelling.

    Args:
        mean: Of the judge's scores, in [0, 1].
        values: Number of distinct scores.
        size: Kish's effective number of labelled rows or clusters.
        clusters: Number of labelled clusters; None for independent rows.
    """
    if values > MOST_STRATA or (clusters is not None and clusters < FEW):
        return "poststratified"
    expected = size * min(mean, 1 - mean)
    return "ppi_plus_plus" if expected >= EXPECTED - ROUNDING else "poststratified"
