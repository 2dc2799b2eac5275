"""AUROC: how well a score ranks positives above negatives."""

import numpy as np
from numpy.typing import ArrayLike

from ragstone.core.errors import InputError

from .mean_ranks import mean_ranks
from .row_weights import row_weights


def auroc(
    scores: ArrayLike, positive: ArrayLike, *, weights: ArrayLike | None = None
) -> float | None:
    """Share of (positive, negative) pairs that the score orders correctly; a tie counts as half.

    Args:
        scores: Shape (n,), finite; higher means more likely positive.
        positive: Shape (n,), true or 1 for a positive, false or 0 for a negative.
        weights: Shape (n,). Inverse sampling probabilities, up to a common factor; the weight of a
            pair is the product of its two rows' weights.

    Returns:
        From 0 to 1, .5 for an uninformative score; None if there is no positive
        or no negative.

    Raises:
        InputError: Wrong shapes, scores that are not finite, labels that are
            neither true nor false.

    Source: Hanley & McNeil (1982), "The meaning and use of the area under a
    receiver operating characteristic (ROC) curve".
    """
    values, labels = np.asarray(scores, dtype=np.float64), np.asarray(positive)
    if values.ndim != 1 or values.shape != labels.shape:
        raise InputError(
            f"scores and positive must be of one shape (n,), got {values.shape} and {labels.shape}."
        )
    if not np.isfinite(values).all() or not np.isin(labels, (0, 1)).all():
        raise InputError("Scores must be finite and labels true or false.")
    true, mass = labels.astype(bool), row_weights(weights, len(values))
    if not true.any() or true.all():
        return None
    own = mass[true]
    # The rank among all rows minus the rank among positives is the weight of the negatives below,
    # ties counted half: so all pairs are counted by sorting, without forming any.
    beaten = mean_ranks(values, mass)[true] - mean_ranks(values[true], own)
    return float(np.clip(own @ beaten / (own.sum() * mass[~true].sum()), 0, 1))
