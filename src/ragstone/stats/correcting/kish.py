"""What unequal weights cost: Kish's effective number of rows."""

import numpy as np
from numpy.typing import ArrayLike

from ragstone.errors import InputError


def kish_size(weights: ArrayLike) -> float:
    """How many rows of equal weight tell as much as these.

        (sum of w)² / sum of w²

    Exact where the weights have nothing to do with the labels; between 1 and n.

    Args:
        weights: Shape (n,), finite and above 0; for a sample drawn with known
            probabilities, one over them.

    Returns:
        0 for no rows.

    Raises:
        InputError: A weight that is not finite and above 0.

    Source: Kish (1965), "Survey Sampling", section 11.7.
    """
    values = np.asarray(weights, dtype=np.float64)
    if values.ndim != 1 or not (np.isfinite(values) & (values > 0)).all():
        raise InputError("Weights must be of shape (n,), finite and above 0.")
    if len(values) == 0:
        return 0.0
    relative = values / values.max()
    return float(relative.sum() ** 2 / (relative @ relative))
