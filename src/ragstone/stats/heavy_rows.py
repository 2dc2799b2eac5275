"""Heavy rows: an interval for an estimate in which a few rows may have most of the weight."""

import numpy as np
from numpy.typing import ArrayLike

from ragstone.core.errors import InputError

from .interval import upper_quantile
from .kish import kish_df
from .student import t_quantile
from .wilson import wilson_ends

HALF_ROW = 0.5
ALIKE = 1e-15
"""A variance below this, in units of the squared range, is rounding error."""


def heaviest_size(weights: ArrayLike) -> float:
    """The total weight in units of the largest weight.

        sum of w / greatest w

    n for equal weights, and never more than Kish's effective sample size.

    Args:
        weights: Shape (n,), finite and above 0; of clusters, the sums over their rows.
    """
    own = np.asarray(weights, dtype=np.float64)
    return float(own.sum() / own.max())


def variance_df(weights: ArrayLike) -> float:
    """Degrees of freedom of a variance estimated from weighted rows: n - 1 for equal weights.

        (sum of w²)² / sum of w⁴ - 1,  at least 1

    Each row contributes its squared weight times its squared residual; if residuals do not
    depend on weights, this is Satterthwaite's approximation for such a sum.

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
    """Ends of Wilson's interval for a weighted, bounded estimate, with half an unseen row added.

        n_eff = (m (1 - m) + h g / k) / (V + h g / k²),    h = 1/2,   g = (m² + (1 - m)²) / 2

    m is the estimate and V its variance, rescaled to a range from 0 to 1; k is ``rows``.
    The variance of the sampled rows ignores the rows that were not sampled: if rare events
    occur in a few heavy rows, many samples hold none of them, and their variance is far too
    small. So half a row with the largest weight is added, which lies at either end of the
    range. It changes nothing for a rate of 0 or 1 of equally weighted rows, where n_eff = k.
    If all rows are equal (V = 0), each end lies at the fraction u of the way to that end of the
    range, u being the upper Wilson bound of a rate that was 0 in k rows.

    Args:
        value: In [low, high].
        variance: Of the value, at least 0.
        rows: ``heaviest_size`` of the rows or clusters, at least 1.
        df: ``variance_df`` of them.
        level: Share of intervals that should hold the true value, in (0, 1).
        low: The least possible value.
        high: The greatest possible value.

    Raises:
        InputError: An argument is out of its range.

    Source: Wilson (1927); Dean & Pagano (2015), "Evaluating confidence interval methods for
    binomial proportions in clustered surveys", for his interval on an effective sample size;
    adding half a row is ours. ``benchmarks/calibration.py`` measures the coverage.
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
