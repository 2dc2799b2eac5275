"""Anytime: a mean with a confidence sequence, valid at any time while labels are added."""

from dataclasses import dataclass
from math import log, sqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ragstone.core.errors import InputError
from ragstone.stats.interval import Interval, upper_quantile

from .corrected import NO_LABELS, Corrected

Floats = NDArray[np.float64]

STEPS = 1000
"""Grid of candidate means; the interval's ends lie one step outside those not ruled out."""

MOST_AT_STAKE = 0.5
TUNED_FOR = 0.05


@dataclass(frozen=True, eq=False)
class AnytimeMean:
    """The mean of labels in the order in which they came; ``at`` gives its interval.

    Attributes:
        value: None without a label.
        n: Number of labels.
        most: Shape (STEPS + 1,): log of the largest capital reached so far by betting against
            each candidate mean.
    """

    value: float | None
    n: int
    low: float
    high: float
    most: Floats

    def at(self, level: float) -> Corrected:
        """The candidate means whose betting capital has never reached 1 / (1 - level)."""
        upper_quantile(level)
        if self.value is None:
            return Corrected(None, None, "labels_only", 0, None, reason=NO_LABELS)
        left = np.flatnonzero(self.most < log(1 / (1 - level)))
        first, last = (left[0], left[-1]) if len(left) else (self._nearest(), self._nearest())
        span = (self.high - self.low) / STEPS
        interval = Interval(
            self.low + max(int(first) - 1, 0) * span,
            self.low + min(int(last) + 1, STEPS) * span,
            level,
            "betting_sequence",
        )
        return Corrected(self.value, interval, "labels_only", self.n, None)

    def _nearest(self) -> int:
        share = ((self.value or 0.0) - self.low) / (self.high - self.low)
        return round(share * STEPS)


def anytime_mean(labels: ArrayLike, *, low: float, high: float) -> AnytimeMean:
    """A confidence sequence for the mean, by betting against every candidate mean m.

        K_t(m) = (prod of (1 + b_i (x_i - m)) + prod of (1 - b_i (x_i - m))) / 2

    The bet b_i depends only on the labels before x_i, so if m is the true mean the capital K is a
    martingale, and the probability that it ever reaches 1 / α is at most α (Ville's inequality).
    The maximum of K is kept: a mean that was once ruled out stays ruled out. Intervals of higher
    levels contain those of lower levels.

    Args:
        labels: Shape (n,), independent draws, in the order in which they came.
        low: The least possible label.
        high: The greatest possible label.

    Raises:
        InputError: A label outside the range.

    Source: Waudby-Smith & Ramdas (2024), "Estimating means of bounded random variables by
    betting", section 4, the hedged capital process with predictable plug-in bets.
    """
    given = np.asarray(labels, dtype=np.float64)
    if not low < high or not bool(((given >= low) & (given <= high)).all()):
        raise InputError(f"Labels must lie between low, {low}, and high, {high}.")
    values = (given - low) / (high - low)
    means = np.linspace(0, 1, STEPS + 1)
    # Limits on the bets: no single label can lose more than half of the capital.
    up = MOST_AT_STAKE / np.maximum(means, 1 / STEPS)
    down = MOST_AT_STAKE / np.maximum(1 - means, 1 / STEPS)
    above, below, most = np.zeros(STEPS + 1), np.zeros(STEPS + 1), np.zeros(STEPS + 1)
    # One pseudo-observation, so that the first bet is defined before any label is seen.
    total, squares = 0.5, 0.25
    for t, value in enumerate(values, start=1):
        bet = sqrt(2 * log(2 / TUNED_FOR) / (squares * log(t + 1)))
        # Log capital: the products themselves could over- or underflow after many labels.
        above += np.log1p(np.minimum(bet, up) * (value - means))
        below += np.log1p(-np.minimum(bet, down) * (value - means))
        np.maximum(most, np.logaddexp(above, below) - log(2), out=most)
        total += value
        squares += (value - total / (t + 1)) ** 2
    mean = None if not len(given) else float(given.mean())
    return AnytimeMean(mean, len(given), low, high, most)
