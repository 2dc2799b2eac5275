"""Window means: weighted means of windows, with intervals for a single look or for every look.

Answers of the same session are alike and therefore say less about a mean; a design effect accounts
for that.
"""

from dataclasses import dataclass, fields, replace
from math import floor, sqrt
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from ragstone.stats.cluster_means import HALF_CLUSTER
from ragstone.stats.distributions import clamp, t_quantile, upper_quantile
from ragstone.stats.weights_and_groups import Codes, Floats, codes_of, heavy_wilson_ends, sums_by


def session_effect(scores: ArrayLike, weights: ArrayLike, sessions: Codes) -> float:
    """The design effect of sessions on the variance of a weighted mean, at least 1.

        (V + h n̄² s²) / (S + h n̄ s²),   h = 1/2,   s² = S / n,   n̄ = n / C
        V = C / (C - 1) · sum over sessions of (sum of r)²,   S = n / (n - 1) · sum of r²

    r = w (x - mean) are the weighted gaps of n answers in C sessions. As in ``effective_rows``,
    half a session of mean size, whose answers all agree, is added: otherwise a few sessions could
    seem alike, or unlike, by accident. The result is 1 for a single session, and where no answer
    differs from the mean.

    Args:
        sessions: Shape (n,). An answer without one is a session of its own.

    Source: Kish (1965), "Survey Sampling", section 5.4, for the design effect.
    """
    x, w, code = np.asarray(scores, float), np.asarray(weights, float), codes_of(sessions)
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
        """Return the sums of one window."""
        x = np.asarray(scores, dtype=np.float64)
        w = np.ones_like(x) if weights is None else np.asarray(weights, dtype=np.float64)
        ww = w * w
        sums = (len(x), w.sum(), w @ x, ww.sum(), ww @ x, ww @ (x * x), w.max(initial=0.0))
        return cls(*(np.array([float(value)]) for value in sums))

    @property
    def _columns(self) -> tuple[Floats, ...]:
        return tuple(getattr(self, field.name) for field in fields(self))

    @property
    def mean(self) -> Floats:
        """The weighted mean (Hájek's); NaN without scores."""
        with np.errstate(invalid="ignore"):
            return np.asarray(self.wx / np.where(self.n > 0, self.w, np.nan))

    @property
    def variance(self) -> Floats:
        """The variance of the mean, for independent rows; NaN without scores.

        sum of w² (x - mean)² / (sum of w)²
        """
        mean = self.mean
        about = self.wwxx - 2 * mean * self.wwx + mean * mean * self.ww
        with np.errstate(invalid="ignore"):
            return np.asarray(np.maximum(about, 0.0) / (self.w * self.w))

    def stretched(self, low: float, high: float) -> Self:
        """Return the sums of the scores rescaled so that ``low`` becomes 0 and ``high`` 1."""
        span = high - low
        return replace(
            self,
            wx=(self.wx - low * self.w) / span,
            wwx=(self.wwx - low * self.ww) / span,
            wwxx=(self.wwxx - 2 * low * self.wwx + low * low * self.ww) / (span * span),
        )

    def mirrored(self) -> Self:
        """Return the sums of the scores 1 - x."""
        wwxx = self.ww - 2 * self.wwx + self.wwxx
        return replace(self, wx=self.w - self.wx, wwx=self.ww - self.wwx, wwxx=wwxx)

    def over(self, steps: int) -> Self:
        """Return the sums of windows of as many successive ones: K - steps + 1 windows."""
        # Window by window: differences of cumulated sums would carry the rounding of all before.
        *sums, most = (np.lib.stride_tricks.sliding_window_view(c, steps) for c in self._columns)
        columns = [*(windows.sum(axis=1) for windows in sums), most.max(axis=1)]
        return type(self)(*columns)

    def since(self, first: int) -> Self:
        """Return the sums without those of the windows before one."""
        return type(self)(*(column[first:] for column in self._columns))


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

    with df rounded down, and both variance and k divided by what sessions make of them. The low
    ends and the high ends have shape (K,); NaN for windows of fewer than two scores, and where all
    scores are the same and a bound is lacking.
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


# From those that are best for a million scores to those that are for ten.
STAKES = 2.0 ** np.arange(-8, 6)

# Leave 1 / 260,000 of the way from the mean to the end of the range.
HALVINGS = 18


def window_sequences(
    sums: WeightedSums, *, windows: int, design_effect: float = 1.0, level: float = 0.95
) -> tuple[Floats, Floats]:
    """A confidence sequence for the weighted mean of each window, all of them together.

    With probability ``level`` no window's interval ever misses the mean of its scores' expected
    values, at whichever moments one looks while it fills. Scores may depend on those before them,
    and their expectation may change. Exact for any number of scores, however small, and any
    distribution on the range; so it is wider than an interval for one look.

    To bet the share λ of a capital on each answer that a mean is above m multiplies it by 1 + λ w
    (x - m), where w is 1 over the probability with which the answer was drawn, and 0 if it was not.
    If the mean of the answers so far is at most m, the capital is, by the inequality of arithmetic
    and geometric means, at most a martingale that begins at 1. It reaches 2 windows / (1 - level)
    with at most that probability (Ville), in whichever mixture of λ; and so for the other side. Of
    each capital two lower bounds are computed from sums alone, each of which gets half of the
    stakes. With W the largest weight, u = λ W m and g = u / (m - u m), which does not depend on m:

        Σ log(1 + λ w (x - m)) >= (Σ w x / W) log(1 + g) - (Σ w / W) log(1 + g m)
        Σ log(1 + λ w (x - m)) >= u Σ y + (log(1 - u) + u) Σ y²,     y = w (x - m) / (W m)

    The first is equal for scores of 0 and 1 of equal weight, the second is narrower for scores that
    vary less, or of unequal weight. Both ends are values of m at which a bound reaches the limit;
    beyond them the capital itself is larger still.

    It is exact for each mean that stays as it is while the window fills, and for the full window if
    it does not. If answers have unequal weights and the mean of those so far moves meanwhile, it
    holds in simulation only; see ``benchmarks/monitor_numbers.py``. The low ends and the high ends
    have shape (K,); 0 and 1 for a window without scores.

    Args:
        sums: Of windows, or of several looks at them, shape (K,), of scores in [0, 1]. ``most`` is
            the largest weight that any answer could have had, or that was seen in any window.
        windows: How many windows have such a sequence together, at least 1.
        design_effect: Of answers that share sessions, at least 1: sums count for one of as many.
            That is exact only if it is an upper bound.

    Source: Waudby-Smith & Ramdas (2024), "Estimating means of bounded random variables by betting";
    Waudby-Smith, Wu, Ramdas, Karampatziakis & Mineiro (2024), "Anytime-valid off-policy inference
    for contextual bandits", for inverse probabilities and changing means; Fan, Grama & Liu (2015),
    "Exponential inequalities for martingales with applications", lemma 4.1, for the second bound.
    The first is concavity in x and w.
    """
    upper_quantile(level)
    limit = float(np.log(2 * windows / (1 - level)))
    lows = _low_ends(sums, design_effect, limit)
    return lows, 1 - _low_ends(sums.mirrored(), design_effect, limit)


def _low_ends(sums: WeightedSums, design_effect: float, limit: float) -> Floats:
    """The largest mean below the one seen at which the capital reached the limit."""
    some = np.flatnonzero((sums.n > 0) & (sums.wx > 0))
    ends = np.zeros(len(sums.n))
    if not len(some):
        return ends
    most = sums.most.max()
    scale = most * design_effect
    n, s = (column[some, None] / scale for column in (sums.w, sums.wx))
    ww, wwx, wwxx = (
        column[some, None] / (most * scale) for column in (sums.ww, sums.wwx, sums.wwxx)
    )
    low, high = np.zeros(len(some)), np.minimum(sums.mean[some], 1.0)
    won = s * np.log1p(STAKES)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        m = middle[:, None]
        raised = STAKES * m
        lost = np.log1p(raised)
        share = raised / (1 + raised)
        squares = (wwxx - 2 * m * wwx + m * m * ww) / (m * m)
        # log(1 - u) is the negative of log(1 + g m).
        spread = share * (s - n * m) / m + (share - lost) * squares
        capital = np.concatenate([won - n * lost, spread], axis=1)
        peak = capital.max(axis=1, keepdims=True)
        reached = peak[:, 0] + np.log(np.exp(capital - peak).mean(axis=1)) >= limit
        low, high = np.where(reached, middle, low), np.where(reached, high, middle)
    ends[some] = low
    return ends
