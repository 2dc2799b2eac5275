"""Cluster moments: what a mean and its interval need of clustered rows, in ten numbers that merge.

Clusters may come in any number of pieces, as long as each is whole: the moments of all of them are
the sum of the pieces' moments, up to rounding.
"""

from dataclasses import dataclass, replace

import numpy as np

from .weights_and_groups import Floats


@dataclass(frozen=True, slots=True)
class ClusterMoments:
    """Sums over C clusters, each with a sum of scores s, n rows and a sum of squared scores q.

    Attributes:
        size: C.
        rows: N = sum of n.
        total: S = sum of s.
        squares: Sum of q.
        spread: Sum of r², for the residuals r = s - mean · n.
        slope: Sum of r · u, for the relative sizes u = n / ``largest``.
        sizes: Sum of u².
        largest: The greatest n.
        least: The least mean s / n of a cluster.
        greatest: The greatest.
    """

    size: int
    rows: float
    total: float
    squares: float
    spread: float
    slope: float
    sizes: float
    largest: float
    least: float
    greatest: float

    @property
    def mean(self) -> float:
        """The mean of all rows, equally weighted."""
        return self.total / self.rows

    @property
    def single(self) -> bool:
        """True if every cluster is a single row."""
        return self.largest == 1

    @property
    def variance(self) -> float:
        """The variance of ``mean``, for two clusters or more.

        C / (C - 1) · sum of (s - mean · n)² / N²
        """
        return self.size / (self.size - 1) * self.spread / self.rows**2

    @property
    def row_variance(self) -> float:
        """The variance of the rows about ``mean``, regardless of clusters."""
        # A difference of two large numbers: rounding may carry it below 0.
        return max(0.0, self.squares / self.rows - self.mean**2)

    @property
    def kish(self) -> float:
        """Kish's effective number of clusters, (sum of n)² / sum of n²; see ``kish_size``."""
        return (self.rows / self.largest) ** 2 / self.sizes

    @property
    def df(self) -> float:
        """Degrees of freedom of ``variance``: C - 1 for clusters of equal size; see ``kish_df``."""
        return max(1.0, self.kish - 1)

    def stretched(self, low: float, high: float) -> "ClusterMoments":
        """The same scores rescaled so that ``low`` becomes 0 and ``high`` becomes 1."""
        span = high - low
        return replace(
            self,
            total=(self.total - low * self.rows) / span,
            squares=(self.squares - 2 * low * self.total + low**2 * self.rows) / span**2,
            spread=self.spread / span**2,
            slope=self.slope / span,
            least=(self.least - low) / span,
            greatest=(self.greatest - low) / span,
        )

    def __add__(self, other: "ClusterMoments") -> "ClusterMoments":
        """The moments of the clusters of both, none of which is in both.

        With mean m of N rows here and m', N' there, d = (m' - m) · N' / (N + N') is how far the
        joint mean is from m, so that every residual here becomes r - d · n, and likewise there.

        Source: Chan, Golub & LeVeque (1983), "Algorithms for computing the sample variance", for
        merging centred sums; here they are centred on the ratio of two sums.
        """
        if not self.size or not other.size:
            return self if self.size else other
        rows, largest = self.rows + other.rows, max(self.largest, other.largest)
        gap = other.mean - self.mean
        mine = self._centred(gap * (other.rows / rows), largest)
        theirs = other._centred(-gap * (self.rows / rows), largest)
        spread, slope, sizes = (a + b for a, b in zip(mine, theirs, strict=True))
        return ClusterMoments(
            size=self.size + other.size,
            rows=rows,
            total=self.total + other.total,
            squares=self.squares + other.squares,
            spread=spread,
            slope=slope,
            sizes=sizes,
            largest=largest,
            least=min(self.least, other.least),
            greatest=max(self.greatest, other.greatest),
        )

    def _centred(self, shift: float, largest: float) -> tuple[float, float, float]:
        """Spread, slope and sizes about a mean ``shift`` higher, for a larger ``largest``."""
        step, scale = shift * self.largest, self.largest / largest
        spread = self.spread - 2 * step * self.slope + step * step * self.sizes
        return max(0.0, spread), (self.slope - step * self.sizes) * scale, self.sizes * scale**2


# Added to others it changes nothing.
NO_CLUSTERS = ClusterMoments(0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


def moments_of(sums: Floats, counts: Floats, squares: Floats) -> ClusterMoments:
    """The moments of clusters that are held as arrays."""
    if not len(sums):
        return NO_CLUSTERS
    rows, total, largest = float(counts.sum()), float(sums.sum()), float(counts.max())
    residuals = sums - total / rows * counts
    relative = counts / largest
    # A denominator of a ratio may be 0; its range is then looked at by nobody.
    with np.errstate(divide="ignore"):
        means = sums / counts
    return ClusterMoments(
        size=len(sums),
        rows=rows,
        total=total,
        squares=float(squares.sum()),
        spread=float(np.square(residuals).sum()),
        slope=float((residuals * relative).sum()),
        sizes=float(np.square(relative).sum()),
        largest=largest,
        least=float(means.min()),
        greatest=float(means.max()),
    )
