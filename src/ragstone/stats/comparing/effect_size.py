"""Effect size: a difference in standard deviations, and in percent."""

import numpy as np
from numpy.typing import ArrayLike

from ragstone.core.errors import InputError

ROUNDING = 1e-12


def standardised_difference(differences: ArrayLike) -> float | None:
    """Cohen's d_z: the mean of paired differences over their standard deviation.

        d_z = mean(d) / sqrt(sum of (d - mean)² / (n - 1))

    By convention .2 is small and .8 large. It is not Cohen's d, which divides by
    the standard deviation of the scores.

    Args:
        differences: Shape (n,). a - b of each pair, finite.

    Returns:
        None for fewer than two pairs, or if all differences are equal.

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
    """The difference of a and b in percent of b, as reports print it; None if b is 0 or less.

    (a - b) / b · 100

    >>> relative_change(0.75, 0.5), relative_change(0.1, 0.0)
    (50.0, None)
    """
    return None if b <= 0 else (a - b) / b * 100
