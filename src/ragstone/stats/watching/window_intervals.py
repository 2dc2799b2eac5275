"""Window intervals: of weighted means of windows, each for one look at one window."""

from math import floor, sqrt

import numpy as np
from numpy.typing import NDArray

from ragstone.stats.heavy_rows import heavy_wilson_ends
from ragstone.stats.interval import clamp, upper_quantile
from ragstone.stats.student import t_quantile

from .weighted_sums import WeightedSums

Floats = NDArray[np.float64]

ROUNDING = 1e-9


def window_intervals(
    sums: WeightedSums,
    *,
    low: float | None,
    high: float | None,
    design_effect: float = 1.0,
    level: float = 0.95,
) -> tuple[Floats, Floats]:
    """An interval for the weighted mean of each window.

    Of scores in a range with two ends ``heavy_wilson_ends``, so never a single point; otherwise

        mean ± t(df) · sqrt( variance · k / (k - 1) ),   k = (Σ w)² / Σ w²,   df = k - 1

    with df rounded down, and both variance and k divided by what sessions make of them.

    Args:
        sums: Of each window, shape (K,).
        low: The least possible score, None for no bound.
        high: The greatest possible score, None for no bound.
        design_effect: As for ``window_sequences``.
        level: In (0, 1).

    Returns:
        The low ends and the high ends, shape (K,); NaN for windows of fewer than two scores, and
        where all scores are the same and a bound is lacking.

    Raises:
        InputError: A level or a score out of its range.
    """
    upper = upper_quantile(level)
    lows, highs = np.full(len(sums.n), np.nan), np.full(len(sums.n), np.nan)
    means, variances = sums.mean, sums.variance * design_effect
    with np.errstate(invalid="ignore"):
        sizes = sums.w**2 / np.where(sums.n > 0, sums.ww, np.nan) / design_effect
    for k in np.flatnonzero(sums.n > 1):
        mean, variance, size = float(means[k]), float(variances[k]), float(sizes[k])
        # Whole numbers, so that quantiles that were computed are found again.
        df = max(1.0, floor(size + ROUNDING) - 1)
        if low is not None and high is not None:
            rows = max(1.0, float(sums.w[k] / sums.most[k]) / design_effect)
            ends = heavy_wilson_ends(
                clamp(mean, low, high), variance, rows=rows, df=df, level=level, low=low, high=high
            )
        else:
            half = t_quantile(upper, df) * sqrt(variance * size / max(1.0, size - 1))
            if half <= ROUNDING * abs(mean):
                continue
            ends = clamp(mean - half, low, high), clamp(mean + half, low, high)
        lows[k], highs[k] = ends
    return lows, highs
