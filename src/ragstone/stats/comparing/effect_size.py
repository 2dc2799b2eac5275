"""Effect size: a difference in units of how much differences vary, and in percent."""

import numpy as np
from numpy.typing import ArrayLike

from ragstone.errors import InputError

ROUNDING = 1e-12


def standardised_difference(differences: ArrayLike) -> float | None:
    """Cohen's d_z: the mean of paired differences over their standard deviation.

        d_z = mean(d) / sqrt(sum of (d - mean)² / (n - 1))

    It says how far a question's difference lies on one side of 0: .2 is small, .8
    large. It is not Cohen's d, which divides by how much the scores vary.

    Args:
        differences: Shape (n,). a - b of each pair, finite.

    Returns:
        None for fewer than two pairs, or where all differ alike.

    Raises:
        InputError: A wrong shape, or numbers that are not finite.

    Source: Cohen (1988), "Statistical Power Analysis for the Behavioral
    Sciences", section 2.3.5; the name is Lakens's (2013).
    """
    d = np.asarray(differences, dtype=np.float64)
    if d.ndim != 1 or not np.isfinite(d).all():
        raise InputError(f"Differences must be finite and of shape (n,), got {d.shape}.")
    if len(d) < 2:
        return None
    spread = float(d.std(ddof=1))
    if spread <= ROUNDING * max(1.0, float(np.abs(d).max())):
        return None
    return float(d.mean()) / spread


def relative_change(a: float, b: float) -> float | None:
    """How much a lies above b in percent of b, as reports print it; None where b is 0 or less.

    (a - b) / b · 100

    >>> relative_change(0.75, 0.5), relative_change(0.1, 0.0)
    (50.0, None)
    """
    return None if b <= 0 else (a - b) / b * 100
