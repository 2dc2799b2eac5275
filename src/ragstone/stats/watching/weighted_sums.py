"""Weighted sums: what weighted means and their intervals need of scores, for many windows."""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ragstone.core.errors import InputError

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class WeightedSums:
    """Sums over the scores x of each window, with their weights w. All of shape (K,).

    Attributes:
        n: Number of scores.
        w: Sum of w.
        wx: Sum of w x.
        ww: Sum of w².
        wwx: Sum of w² x.
        wwxx: Sum of w² x².
        most: The largest w; 0 for none.
    """

    n: Floats
    w: Floats
    wx: Floats
    ww: Floats
    wwx: Floats
    wwxx: Floats
    most: Floats

    @classmethod
    def of(cls, scores: ArrayLike, weights: ArrayLike | None = None) -> Self:
        """Of one window.

        Args:
            scores: Shape (n,), finite.
            weights: Shape (n,), finite and above 0. None: all 1.

        Raises:
            InputError: Wrong shapes or numbers.
        """
        x = np.asarray(scores, dtype=np.float64)
        w = np.ones_like(x) if weights is None else np.asarray(weights, dtype=np.float64)
        if x.ndim != 1 or x.shape != w.shape or not np.isfinite(x).all():
            raise InputError("Scores must be of shape (n,) and finite, each with its weight.")
        if not (np.isfinite(w) & (w > 0)).all():
            raise InputError("Weights must be finite and above 0.")
        ww = w * w
        found = (len(x), w.sum(), w @ x, ww.sum(), ww @ x, ww @ (x * x), w.max(initial=0.0))
        return cls(*(np.array([float(one)]) for one in found))

    @property
    def mean(self) -> Floats:
        """The weighted mean (Hájek's); NaN without scores."""
        with np.errstate(invalid="ignore"):
            return np.asarray(self.wx / np.where(self.n > 0, self.w, np.nan))

    @property
    def variance(self) -> Floats:
        """Of the mean, for independent rows: sum of w² (x - mean)² / (sum of w)²; NaN without."""
        mean = self.mean
        about = self.wwxx - 2 * mean * self.wwx + mean * mean * self.ww
        with np.errstate(invalid="ignore"):
            return np.asarray(np.maximum(about, 0.0) / (self.w * self.w))

    def stretched(self, low: float, high: float) -> Self:
        """The same scores rescaled so that ``low`` becomes 0 and ``high`` becomes 1."""
        span = high - low
        return type(self)(
            self.n,
            self.w,
            (self.wx - low * self.w) / span,
            self.ww,
            (self.wwx - low * self.ww) / span,
            (self.wwxx - 2 * low * self.wwx + low * low * self.ww) / (span * span),
            self.most,
        )

    def mirrored(self) -> Self:
        """The same scores as 1 - x."""
        return type(self)(
            self.n,
            self.w,
            self.w - self.wx,
            self.ww,
            self.ww - self.wwx,
            self.ww - 2 * self.wwx + self.wwxx,
            self.most,
        )

    def over(self, steps: int) -> Self:
        """Of windows that are each as many successive ones: K - steps + 1 windows."""

        def windows(values: Floats) -> NDArray[np.float64]:
            return np.lib.stride_tricks.sliding_window_view(values, steps)

        # Window by window: differences of cumulated sums would carry the rounding of all before.
        return type(self)(
            windows(self.n).sum(axis=1),
            windows(self.w).sum(axis=1),
            windows(self.wx).sum(axis=1),
            windows(self.ww).sum(axis=1),
            windows(self.wwx).sum(axis=1),
            windows(self.wwxx).sum(axis=1),
            windows(self.most).max(axis=1),
        )

    def since(self, first: int) -> Self:
        """Without the windows before one."""
        return type(self)(
            self.n[first:],
            self.w[first:],
            self.wx[first:],
            self.ww[first:],
            self.wwx[first:],
            self.wwxx[first:],
            self.most[first:],
        )
