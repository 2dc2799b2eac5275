"""Highest: one row a cluster, the one with the highest score."""

import numpy as np
from numpy.typing import ArrayLike

from ragstone.core.errors import InputError
from ragstone.stats.codes import Codes, Floats, codes_of


def highest_of_clusters(scores: ArrayLike, clusters: Codes | None = None) -> Floats:
    """The highest score of each cluster, in no particular order.

    Args:
        scores: Shape (n,); minus infinity for what can never reach a threshold, but not NaN.
        clusters: Shape (n,). Rows with the same value are not independent; None: all are.

    Returns:
        Shape (number of clusters,).

    Raises:
        InputError: Wrong shapes, or a score that is no number.
    """
    values = np.asarray(scores, dtype=np.float64)
    if values.ndim != 1 or np.isnan(values).any():
        raise InputError("Scores must be of shape (n,) and none may be NaN.")
    if clusters is None:
        return values
    codes = codes_of(clusters)
    if len(codes) != len(values):
        raise InputError(f"{len(values)} scores have {len(codes)} clusters.")
    highest = np.full(int(codes.max(initial=-1)) + 1, -np.inf)
    np.maximum.at(highest, codes, values)
    return highest
