"""Heavy rows: an interval for an estimate of which a few rows may carry much of the weight."""

import numpy as np
from numpy.typing import ArrayLike

from ragstone.errors import InputError

from .interval import upper_quantile
from .kish import kish_df
from .student import t_quantile
from .wilson import wilson_ends

HALF_ROW = 0.5
ALIKE = 1e-15
"""A variance, in squares of the range, that is rounding."""


def heaviest_size(weights: ArrayLike) -> float:
    """How many rows there would be, were all as heavy as the heaviest.

        sum of w / greatest w

    n for equal weights, and never more than Kish's number.

    Args:
        weights: Shape (n,), finite and above 0; of clusters, the sums over their rows.
    """
    own = np.asarray(weights, dtype=np.float64)
    return float(own.sum() / own.max())


def variance_df(weights: ArrayLike) -> float:
    """Degrees of freedom of a variance over rows of such weights: n - 1 for equal ones.

        (sum of w²)² / sum of w⁴ - 1,  at least 1

    A row adds its squared weight times the square of its residual; where residuals do not
    depend on weights, this is Satterthwaite's number for such a sum.

    Args:
        weights: As for ``heaviest_size``.

    Source: Satterthwaite (1946), "An approximate distribution of estimates of variance
    components".
    """
    return kish_df(np.square(np.asarray(weights, dtype=np.float64)))


def heavy_wilson_ends(
    value: float,
    variance: float,
    *,
    rows: float,
    df: float,
    level: float = 0.95,
    low: float = 0.0,
    high: float = 1.0,
) -> tuple[float, float]:
    """Wilson's ends for a bounded estimate, with half a row that was not seen.

        n_eff = (m (1 - m) + h g / k) / (V + h g / k²),    h = 1/2,   g = (m² + (1 - m)²) / 2

    m is the estimate and V its variance, stretched to a scale from 0 to 1; k is ``rows``.
    The variance of rows that were drawn knows nothing of rows that were not: where a few
    heavy ones carry what is rare, many draws meet none of it and their variance is far too
    small. So half a row of the heaviest weight is added, which lies at either end of the
    scale. It changes nothing for a rate of 0 or 1 among equal rows, where n_eff = k.
    Where no row differs from another, the ends are as far off as a rate that was not seen in
    k rows may be: its upper end times the way to each end of the scale.

    Args:
        value: In [low, high].
        variance: Of the value, at least 0.
        rows: ``heaviest_size`` of the rows or clusters, at least 1.
        df: ``variance_df`` of them.
        level: Share of intervals that should hold the true value, in (0, 1).
        low: The least value there can be.
        high: The greatest value there can be.

    Raises:
        InputError: An argument is out of its range.

    Source: Wilson (1927); Dean & Pagano (2015), "Evaluating confidence interval methods for
    binomial proportions in clustered surveys", for his ends on effective rows; that half a row
    is added is ours. ``benchmarks/calibration.py`` shows how often it holds.
    """
    if not (low < high and low <= value <= high and variance >= 0 and rows >= 1):
        raise InputError(
            f"Needs low <= value <= high, a variance of 0 or more and a row, got {low}, {value}, "
            f"{high}, {variance} and {rows}."
        )
    q, span = t_quantile(upper_quantile(level), df), high - low
    share, spread = (value - low) / span, variance / span**2
    if spread <= ALIKE:
        unseen = wilson_ends(0.0, rows, q)[1]
        return value - (value - low) * unseen, value + (high - value) * unseen
    either_end = HALF_ROW * (share**2 + (1 - share) ** 2) / 2
    size = (share * (1 - share) + either_end / rows) / (spread + either_end / rows**2)
    least, most = wilson_ends(share, size, q)
    return low + least * span, low + most * span
