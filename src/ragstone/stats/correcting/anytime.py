"""Anytime: a mean whose interval holds however often one looks while labels keep coming in."""

from dataclasses import dataclass
from math import log, sqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ragstone.errors import InputError
from ragstone.stats.interval import Interval, upper_quantile

from .corrected import NO_LABELS, Corrected

Floats = NDArray[np.float64]

STEPS = 1000
"""Means that are bet against; the ends lie one step outside of those not ruled out."""

MOST_AT_STAKE = 0.5
TUNED_FOR = 0.05


@dataclass(frozen=True, eq=False)
class AnytimeMean:
    """The mean of labels, in the order in which they came; ``at`` gives its interval.

    Attributes:
        value: None without a label.
        n: Labels.
        most: Shape (STEPS + 1,): the most that anybody has won who bet against each mean, as a
            logarithm.
    """

    value: float | None
    n: int
    low: float
    high: float
    most: Floats

    def at(self, level: float) -> Corrected:
        """The means against which nobody has won 1 / (1 - level) times the stake, at any time."""
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
    """Bet on labels as they come, against every mean that they might have.

        K_t(m) = (prod of (1 + b_i (x_i - m)) + prod of (1 - b_i (x_i - m))) / 2

    The bet b_i goes by the labels before x_i alone, so where m is the mean nobody wins on
    average, and K ever reaches 1 / α with a chance of α at most (Ville). What it has reached is
    kept: a mean that was ruled out stays so. Intervals of higher levels hold those of lower.

    Args:
        labels: Shape (n,), independent draws, in the order in which they came.
        low: The least that a label can be.
        high: The greatest.

    Raises:
        InputError: A label outside of the range.

    Source: Waudby-Smith & Ramdas (2024), "Estimating means of bounded random variables by
    betting", section 4, the hedged capital process with predictable plug-in bets.
    """
    given = np.asarray(labels, dtype=np.float64)
    if not low < high or not bool(((given >= low) & (given <= high)).all()):
        raise InputError(f"Labels lie from {low} to {high}.")
    values = (given - low) / (high - low)
    means = np.linspace(0, 1, STEPS + 1)
    up = MOST_AT_STAKE / np.maximum(means, 1 / STEPS)
    down = MOST_AT_STAKE / np.maximum(1 - means, 1 / STEPS)
    above, below, most = np.zeros(STEPS + 1), np.zeros(STEPS + 1), np.zeros(STEPS + 1)
    total, squares = 0.5, 0.25
    for t, value in enumerate(values, start=1):
        bet = sqrt(2 * log(2 / TUNED_FOR) / (squares * log(t + 1)))
        above += np.log1p(np.minimum(bet, up) * (value - means))
        below += np.log1p(-np.minimum(bet, down) * (value - means))
        np.maximum(most, np.logaddexp(above, below) - log(2), out=most)
        total += value
        squares += (value - total / (t + 1)) ** 2
    mean = None if not len(given) else float(given.mean())
    return AnytimeMean(mean, len(given), low, high, most)
