"""Kish's effective sample size for unequal weights."""

import numpy as np
from numpy.typing import ArrayLike

from ragstone.core.errors import InputError


def kish_size(weights: ArrayLike) -> float:
    """Effective sample size: the number of equally weighted rows with the same information.

        (sum of w)² / sum of w²

    Exact if weights and labels are independent; between 1 and n.

    Args:
        weights: Shape (n,), finite and at least 0; for a sample drawn with known
            probabilities, their inverses; for clusters, their numbers of rows.

    Returns:
        0 for no rows, or if all weights are 0.

    Raises:
        InputError: A weight that is not finite and at least 0.

    Source: Kish (1965), "Survey Sampling", section 11.7.
    """
    values = np.asarray(weights, dtype=np.float64)
    if values.ndim != 1 or not (np.isfinite(values) & (values >= 0)).all():
        raise InputError("Weights must be of shape (n,), finite and at least 0.")
    largest = float(values.max(initial=0.0))
    if largest == 0:
        return 0.0
    # Only ratios matter, and squares of very large or small weights could over- or underflow.
    relative = values / largest
    return float(relative.sum() ** 2 / np.square(relative).sum())


def kish_df(weights: ArrayLike) -> float:
    """Degrees of freedom of a variance between weighted clusters: n - 1 for equal weights.

        (sum of w)² / sum of w² - 1,  at least 1

    A few large clusters among many small ones determine the variance almost alone.

    Args:
        weights: As for ``kish_size``.

    Raises:
        InputError: As ``kish_size``.
    """
    return max(1.0, kish_size(weights) - 1)
