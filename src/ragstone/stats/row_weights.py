"""Row weights: how many rows of the whole each drawn row stands for."""

import numpy as np
from numpy.typing import ArrayLike

from ragstone.errors import InputError

from .codes import Floats


def row_weights(weights: ArrayLike | None, rows: int) -> Floats:
    """Weights of mean 1, shape (rows,); all 1 for None, and where they do not differ.

    Args:
        weights: Shape (rows,), above 0: one over the probability with which each row was
            drawn, up to a factor.
        rows: How many there are.

    Raises:
        InputError: Another shape, or a weight that is not finite and above 0.

    Source: Hájek (1971), "Comment on an essay by D. Basu".
    """
    if weights is None or rows == 0:
        return np.ones(rows)
    own = np.asarray(weights, dtype=np.float64)
    if own.shape != (rows,) or not (np.isfinite(own) & (own > 0)).all():
        raise InputError(
            f"Weights must be finite and above 0, one for each of {rows} rows, "
            f"got shape {own.shape}."
        )
    return own / own.mean() if own.max() > own.min() else np.ones(rows)
