"""Window sequences: intervals of weighted means that hold in all windows and at every look."""

import numpy as np
from numpy.typing import NDArray

from ragstone.core.errors import InputError
from ragstone.stats.interval import upper_quantile

from .weighted_sums import WeightedSums

Floats = NDArray[np.float64]

STAKES = 2.0 ** np.arange(-8, 6)
"""From those that are best for a million scores to those that are for ten."""

HALVINGS = 18
"""Leave 1 / 260,000 of the way from the mean to the end of the range."""


def window_sequences(
    sums: WeightedSums, *, windows: int, design_effect: float = 1.0, level: float = 0.95
) -> tuple[Floats, Floats]:
    """A confidence sequence for the weighted mean of each window, all of them together.

    With probability ``level`` no window's interval ever misses the mean of its scores' expected
    values, at whichever moments one looks while it fills. Scores may depend on those before them,
    and their expectation may change. Exact for any number of scores, however small, and any
    distribution on the range; so it is wider than an interval for one look.

    To bet the share λ of a capital on each answer that a mean is above m multiplies it by
    1 + λ w (x - m), where w is 1 over the probability with which the answer was drawn, and 0 if it
    was not. If the mean of the answers so far is at most m, the capital is, by the inequality of
    arithmetic and geometric means, at most a martingale that begins at 1. It reaches
    2 windows / (1 - level) with at most that probability (Ville), in whichever mixture of λ; and
    so for the other side. Of each capital two lower bounds are computed from sums alone, each of
    which gets half of the stakes. With W the largest weight, u = λ W m and
    g = u / (m - u m), which does not depend on m:

        Σ log(1 + λ w (x - m)) >= (Σ w x / W) log(1 + g) - (Σ w / W) log(1 + g m)
        Σ log(1 + λ w (x - m)) >= u Σ y + (log(1 - u) + u) Σ y²,     y = w (x - m) / (W m)

    The first is equal for scores of 0 and 1 of equal weight, the second is narrower for scores that
    vary less, or of unequal weight. Both ends are values of m at which a bound reaches the limit;
    beyond them the capital itself is larger still.

    It is exact for each mean that stays as it is while the window fills, and for the full window if
    it does not. If answers have unequal weights and the mean of those so far moves meanwhile, it
    holds in simulation only; see ``benchmarks/monitor_numbers.py``.

    Args:
        sums: Of windows, or of several looks at them, shape (K,), of scores in [0, 1]. ``most`` is
            the largest weight that any answer could have had, or that was seen in any window.
        windows: How many windows have such a sequence together, at least 1.
        design_effect: Of answers that share sessions, at least 1: sums count for one of as many.
            That is exact only if it is an upper bound.
        level: In (0, 1).

    Returns:
        The low ends and the high ends, shape (K,); 0 and 1 for a window without scores.

    Raises:
        InputError: A number is out of its range.

    Source: Waudby-Smith & Ramdas (2024), "Estimating means of bounded random variables by betting";
    Waudby-Smith, Wu, Ramdas, Karampatziakis & Mineiro (2024), "Anytime-valid off-policy inference
    for contextual bandits", for inverse probabilities and changing means; Fan, Grama & Liu (2015),
    "Exponential inequalities for martingales with applications", lemma 4.1, for the second bound.
    The first is concavity in x and w.
    """
    upper_quantile(level)
    if windows < 1 or design_effect < 1:
        raise InputError(
            f"Sequences need a window, and a design effect of 1 or more, "
            f"got {windows} and {design_effect}."
        )
    if (sums.wx < -1e-9 * sums.w).any() or (sums.wx > (1 + 1e-9) * sums.w).any():
        raise InputError("Scores must lie in [0, 1].")
    limit = float(np.log(2 * windows / (1 - level)))
    lows = _low_ends(sums, design_effect, limit)
    return lows, 1 - _low_ends(sums.mirrored(), design_effect, limit)


def _low_ends(sums: WeightedSums, design_effect: float, limit: float) -> Floats:
    """The largest mean below the one seen at which the capital reached the limit."""
    some = np.flatnonzero((sums.n > 0) & (sums.wx > 0))
    found = np.zeros(len(sums.n))
    if not len(some):
        return found
    most = sums.most.max()
    scale = most * design_effect
    n, s = (one[some, None] / scale for one in (sums.w, sums.wx))
    ww, wwx, wwxx = (one[some, None] / (most * scale) for one in (sums.ww, sums.wwx, sums.wwxx))
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
        reached = _log_mean(capital) >= limit
        low, high = np.where(reached, middle, low), np.where(reached, high, middle)
    found[some] = low
    return found


def _log_mean(logs: Floats) -> Floats:
    """The log of the mean of exponentials, row by row."""
    most = logs.max(axis=1, keepdims=True)
    return np.asarray(most[:, 0] + np.log(np.exp(logs - most).mean(axis=1)))
