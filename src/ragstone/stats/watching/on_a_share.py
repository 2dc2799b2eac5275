"""On a share: scores between two ends as shares from 0 to 1, where 1 is the best."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ragstone.core.errors import InputError

Floats = NDArray[np.float64]


def on_a_share(scores: ArrayLike, *, low: float, high: float, less_is_better: bool) -> Floats:
    """Scores as shares of the way from the worst to the best that is possible.

        (score - low) / (high - low),   or   (high - score) / (high - low) where less is better

    A bar is turned in the same way.

    Args:
        scores: Any shape, each in [low, high].
        low: The least possible score.
        high: The greatest possible score.
        less_is_better: Whether ``low`` is the best.

    Raises:
        InputError: A score outside the range, or a range without two finite ends.
    """
    given = np.asarray(scores, dtype=np.float64)
    if not (np.isfinite([low, high]).all() and low < high):
        raise InputError(f"A range needs two finite ends, the lower one first, got {low}, {high}.")
    if not bool(((given >= low) & (given <= high)).all()):
        raise InputError(f"Scores must lie between {low} and {high}.")
    return np.asarray((high - given if less_is_better else given - low) / (high - low))
