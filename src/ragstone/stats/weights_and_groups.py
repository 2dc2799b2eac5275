"""Weights and groups: row weights, effective sample sizes, codes, bins, ranks and percentiles."""

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from math import ceil, floor, log, log1p

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ragstone.core.errors import InputError

from .distributions import t_quantile, upper_quantile, wilson_ends

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


def kish_size(weights: ArrayLike) -> float:
    """Effective sample size: the number of equally weighted rows with the same information.

        (sum of w)² / sum of w²

    Exact if weights and labels are independent; between 1 and n. The result is 0 for no rows, or if
    all weights are 0.

    Args:
        weights: Shape (n,), finite and at least 0; for a sample drawn with known probabilities,
            their inverses; for clusters, their numbers of rows.

    Source: Kish (1965), "Survey Sampling", section 11.7.
    """
    values = np.asarray(weights, dtype=np.float64)
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
    """
    return max(1.0, kish_size(weights) - 1)


# One name per row, such as its cluster.
Codes = Sequence[Hashable] | NDArray[np.generic]


def codes_of(values: Codes) -> Ints:
    """An integer code from 0 for each distinct value, shape (n,), in no particular order."""
    array = np.asarray(values) if isinstance(values, np.ndarray) else None
    if array is not None and array.ndim == 1 and array.dtype.kind in "iub":
        return np.unique(array, return_inverse=True)[1].astype(np.int64)
    seen: dict[Hashable, int] = {}
    listed = array.tolist() if array is not None else values
    return np.fromiter((seen.setdefault(value, len(seen)) for value in listed), dtype=np.int64)


def cluster_codes(clusters: Codes | None, rows: int) -> Ints | None:
    """Return the codes of as many clusters as there are rows; None if rows are independent."""
    if clusters is not None and len(clusters) != rows:
        raise InputError(f"{rows} rows have {len(clusters)} clusters.")
    return None if clusters is None else codes_of(clusters)


def scores_with_labels(scores: ArrayLike, labels: ArrayLike) -> tuple[Floats, Bools]:
    """Read finite scores and labels, true or false (1 or 0), both of shape (n,)."""
    values, positive = np.asarray(scores, dtype=np.float64), np.asarray(labels)
    if values.ndim != 1 or values.shape != positive.shape:
        raise InputError(
            f"Scores and labels must be of one shape (n,), got {values.shape} and {positive.shape}."
        )
    if not np.isfinite(values).all() or not np.isin(positive, (0, 1)).all():
        raise InputError("Scores must be finite and labels true or false.")
    return values, positive.astype(bool)


def in_order(labels: Iterable[Hashable]) -> tuple[Hashable, ...]:
    """The distinct labels, sorted; if they are not comparable, by type and then as text."""
    different = set(labels)
    try:
        return tuple(sorted(different))  # type: ignore[type-var]
    except TypeError:
        return tuple(sorted(different, key=lambda label: (type(label).__name__, str(label))))


def sums_by(codes: Ints, values: Floats, parts: int = 0) -> Floats:
    """Sum of the values of each code, shape (at least ``parts``,)."""
    return np.bincount(codes, weights=values, minlength=parts).astype(np.float64)


def shared_codes(codes: Ints) -> Ints | None:
    """The codes; None if every row has its own, so that rows are independent."""
    return None if len(np.unique(codes)) == len(codes) else codes


def row_weights(weights: ArrayLike | None, rows: int) -> Floats:
    """Weights with mean 1, shape (rows,); all 1 for None, and for equal weights.

    Source: Hájek (1971), "Comment on an essay by D. Basu".
    """
    if weights is None or rows == 0:
        return np.ones(rows)
    values = np.asarray(weights, dtype=np.float64)
    if values.shape != (rows,) or not (np.isfinite(values) & (values > 0)).all():
        raise InputError(
            f"Weights must be finite and above 0, one for each of the {rows} rows, "
            f"got shape {values.shape}."
        )
    return values / values.mean() if values.max() > values.min() else np.ones(rows)


HALF_ROW = 0.5
# A variance below this, in units of the squared range, is rounding error.
ALIKE = 1e-15


def heaviest_size(weights: ArrayLike) -> float:
    """The total weight in units of the largest weight.

        sum of w / greatest w

    n for equal weights, and never more than Kish's effective sample size.

    Args:
        weights: Shape (n,), finite and above 0; of clusters, the sums over their rows.
    """
    values = np.asarray(weights, dtype=np.float64)
    return float(values.sum() / values.max())


def variance_df(weights: ArrayLike) -> float:
    """Degrees of freedom of a variance estimated from weighted rows: n - 1 for equal weights.

        (sum of w²)² / sum of w⁴ - 1,  at least 1

    Each row contributes its squared weight times its squared residual; if residuals do not depend
    on weights, this is Satterthwaite's approximation for such a sum.

    Source: Satterthwaite (1946), "An approximate distribution of estimates of variance components".
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

    m is the estimate and V its variance, rescaled to a range from 0 to 1; k is ``rows``. The
    variance of the sampled rows ignores the rows that were not sampled: if rare events occur in a
    few heavy rows, many samples hold none of them, and their variance is far too small. So half a
    row with the largest weight is added, which lies at either end of the range. It changes nothing
    for a rate of 0 or 1 of equally weighted rows, where n_eff = k. If all rows are equal (V = 0),
    each end lies at the fraction u of the way to that end of the range, u being the upper Wilson
    bound of a rate that was 0 in k rows.

    Args:
        rows: ``heaviest_size`` of the rows or clusters, at least 1.
        df: ``variance_df`` of them.

    Source: Wilson (1927); Dean & Pagano (2015), "Evaluating confidence interval methods for
    binomial proportions in clustered surveys", for his interval on an effective sample size; adding
    half a row is ours.
    """
    q, span = t_quantile(upper_quantile(level), df), high - low
    share, spread = (value - low) / span, variance / span**2
    if spread <= ALIKE:
        unseen = wilson_ends(0.0, rows, q)[1]
        return value - (value - low) * unseen, value + (high - value) * unseen
    either_end = HALF_ROW * (share**2 + (1 - share) ** 2) / 2
    size = (share * (1 - share) + either_end / rows) / (spread + either_end / rows**2)
    least, most = wilson_ends(share, size, q)
    return low + least * span, low + most * span


def weighted_wilson_ends(
    value: float, variance: float, weights: ArrayLike, *, level: float, low: float, high: float
) -> tuple[float, float]:
    """Return the ends of ``heavy_wilson_ends`` for rows or clusters of these weights."""
    rows, df = heaviest_size(weights), variance_df(weights)
    return heavy_wilson_ends(value, variance, rows=rows, df=df, level=level, low=low, high=high)


def equal_mass_bins(values: Floats, bins: int, weights: Floats | None = None) -> Ints:
    """The bin of each value, from 0 for the lowest; bins of about equal size, ties in one bin.

    With weights, the bins have about equal total weight.
    """
    codes, counts = np.unique(values, return_inverse=True, return_counts=True)[1:]
    mass = counts if weights is None else sums_by(codes, weights)
    middle = (np.cumsum(mass) - mass / 2) / mass.sum()
    bin_of_code = np.minimum(np.floor(middle * bins), bins - 1)
    return np.unique(bin_of_code, return_inverse=True)[1][codes].astype(np.int64)


def mean_ranks(values: Floats, weights: Floats | None = None) -> Floats:
    """Ranks from 1; tied values get the mean of their ranks.

    With weights, a row counts as that many rows: its rank is the total weight below it, plus half
    the weight of its ties, itself included, plus 1/2.
    """
    codes, ties = np.unique(values, return_inverse=True, return_counts=True)[1:]
    mass = ties if weights is None else sums_by(codes, weights)
    return np.asarray((np.cumsum(mass) - (mass - 1) / 2)[codes])


# Larger sizes are of no practical use.
MOST = 10**12


def smallest(enough: Callable[[int], bool], *, least: int = 1, most: int = MOST) -> int:
    """The smallest whole number from ``least`` that is enough; every larger one must be too.

    Raises:
        InputError: Not even ``most`` is enough.
    """
    high = least
    while not enough(high):
        if high >= most:
            raise InputError(f"Not even {most:,} would be enough. Ask for less precision.")
        high = min(2 * high, most)
    low = least
    while low < high:
        middle = (low + high) // 2
        if enough(middle):
            high = middle
        else:
            low = middle + 1
    return low


# The relative width of a bin.
WIDTH = 0.001


@dataclass(slots=True)
class ValueCounts:
    """Values of at least 0, counted in bins of a thousandth of their size.

    A bin is known by the least value in it, so that what is told occurred, and the order of the
    values does not matter.
    """

    n: int = 0
    _bins: dict[int | None, tuple[float, int]] = field(default_factory=dict)

    def add(self, value: float) -> None:
        """Count a value."""
        if not 0 <= value < float("inf"):
            raise InputError(f"A value from 0 on is needed, got {value}.")
        bin = floor(log(value) / log1p(WIDTH)) if value else None
        least, count = self._bins.get(bin, (value, 0))
        self._bins[bin] = min(least, value), count + 1
        self.n += 1

    def percentiles(self, shares: Sequence[float]) -> tuple[float, ...]:
        """For each share the least value that so many percent do not exceed, within .1 %.

        Each is a value that occurred, at most .1 % below the exact one; none of no values.

        Args:
            shares: In percent, in (0, 100].
        """
        if not self.n:
            return ()
        bins = sorted(self._bins.values())
        ends = np.cumsum([count for _, count in bins])
        ranks = [ceil(self.n * share / 100) for share in shares]
        return tuple(bins[int(np.searchsorted(ends, rank))][0] for rank in ranks)
