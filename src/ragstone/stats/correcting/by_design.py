"""By design: which correction of a rate a sample favours, settled before a label is seen."""

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
    """How to correct a rate of these judged rows from labels of those rows.

    ``ppi_plus_plus`` where all of this holds, else ``poststratified``:

    - The judge gives at most five values, so that a straight line says nearly all that its
      verdicts do. Of finer scores strata tell more.
    - The mean score of all judged rows leads to expect five yes and five no at the
      least among the labelled rows, or clusters of them: Kish's number of these where
      weights differ. With fewer, rare errors go unseen, and PPI++ takes them for none.
    - Where rows share clusters, 20 of these are labelled.

    No label goes into the choice: one made by looking would make the intervals too narrow.

    Args:
        scores: Shape (N,). What the judge gave each row, in [0, 1].
        labelled: Shape (n,) places or shape (N,) mask of the labelled rows.
        weights: Shape (n,). One over the probability of being drawn, up to a factor.
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
    """As ``favoured``, of what it looks at: for labels that are not drawn yet.

    Args:
        mean: Of the judge's scores, in [0, 1].
        values: How many different ones it gives.
        size: Kish's number of labelled rows, or of clusters of them.
        clusters: With a labelled row; None where rows are independent.
    """
    if values > MOST_STRATA or (clusters is not None and clusters < FEW):
        return "poststratified"
    expected = size * min(mean, 1 - mean)
    return "ppi_plus_plus" if expected >= EXPECTED - ROUNDING else "poststratified"
