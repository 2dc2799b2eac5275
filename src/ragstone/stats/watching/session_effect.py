"""Session effect: how much less answers tell of a mean because those of one session are alike."""

import numpy as np
from numpy.typing import ArrayLike

from ragstone.core.errors import InputError
from ragstone.stats.clusters import HALF_CLUSTER
from ragstone.stats.codes import Codes, codes_of, sums_by


def session_effect(scores: ArrayLike, weights: ArrayLike, sessions: Codes) -> float:
    """The design effect of sessions on the variance of a weighted mean, at least 1.

        (V + h n̄² s²) / (S + h n̄ s²),   h = 1/2,   s² = S / n,   n̄ = n / C
        V = C / (C - 1) · sum over sessions of (sum of r)²,   S = n / (n - 1) · sum of r²

    r = w (x - mean) are the weighted gaps of n answers in C sessions. As in ``effective_rows``,
    half a session of mean size, whose answers all agree, is added: otherwise a few sessions could
    seem alike, or unlike, by accident.

    Args:
        scores: Shape (n,), finite.
        weights: Shape (n,), above 0: the inverse of each answer's sampling probability.
        sessions: Shape (n,). An answer without one is a session of its own.

    Returns:
        1 for a single session, and where no answer differs from the mean.

    Raises:
        InputError: Wrong shapes or numbers.

    Source: Kish (1965), "Survey Sampling", section 5.4, for the design effect.
    """
    x, w, code = (
        np.asarray(scores, dtype=np.float64),
        np.asarray(weights, float),
        codes_of(sessions),
    )
    if x.ndim != 1 or not x.shape == w.shape == code.shape:
        raise InputError("Scores must be of shape (n,), each with its weight and its session.")
    if not np.isfinite(x).all() or not (np.isfinite(w) & (w > 0)).all():
        raise InputError("Scores must be finite, and weights finite and above 0.")
    if not len(x):
        return 1.0
    r = w * (x - w @ x / w.sum())
    totals = sums_by(code, r)
    if len(totals) < 2 or not r.any():
        return 1.0
    squares = len(r) / (len(r) - 1) * float(r @ r)
    mean_size = len(r) / len(totals)
    unit = HALF_CLUSTER * mean_size * squares / len(r)
    between = len(totals) / (len(totals) - 1) * float(totals @ totals)
    return max(1.0, (between + unit * mean_size) / (squares + unit))
