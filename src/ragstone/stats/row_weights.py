"""Row weights: checks sampling weights and scales them to a mean of 1."""

import numpy as np
from numpy.typing import ArrayLike

from ragstone.core.errors import InputError

from .codes import Floats


def row_weights(weights: ArrayLike | None, rows: int) -> Floats:
    """Weights with mean 1, shape (rows,); all 1 for None, and for equal weights.

    Args:
        weights: Shape (rows,), above 0: the inverse of each row's sampling probability, up to a
            common factor.
        rows: Number of rows.

    Raises:
        InputError: Another shape, or a weight that is not finite and above 0.

    Source: Hájek (1971), "Comment on an essay by D. Basu".
    """
    if weights is None or rows == 0:
        return np.ones(rows)
    own = np.asarray(weights, dtype=np.float64)
    if own.shape != (rows,) or not (np.isfinite(own) & (own > 0)).all():
        raise InputError(
            f"Weights must be finite and above 0, one for each of the {rows} rows, "
            f"got shape {own.shape}."
        )
    return own / own.mean() if own.max() > own.min() else np.ones(rows)
