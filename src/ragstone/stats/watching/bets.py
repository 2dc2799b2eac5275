"""Bets: a detector's stakes, and how much of its capital lies on each."""

from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

FALLS = 0.08 * 1.6 ** np.arange(12)
"""Falls of the mean, in standard deviations of scores 0 and 1, that one of the bets is best for. A
smaller one takes thousands of answers to show whatever is bet, and steps of 1.6 lose little."""

USUAL_FALL = 0.3
"""The fall that most capital lies on: .85 to .75, .95 to .88, .5 to .35. Other sizes pay with some
more answers: large ones have few to begin with, small ones many."""

SPREAD = 0.8
"""Of the logarithm of the falls, as the capital lies on them."""

LEAST_SHARE = 0.02
"""Of the capital, for the largest bet: graded scores vary less than 0 and 1 and want large ones."""

NEAR_ALL = 0.8
"""A bet above this is not told from the largest one, 1."""


@dataclass(frozen=True, slots=True, eq=False)
class Bets:
    """What is bet against the bar, in parts of the largest bet that cannot lose more than all.

    Attributes:
        stakes: Shape (k,), in (0, 1], ascending; the last is 1.
        shares: Shape (k,), the capital on each, with sum 1.
    """

    stakes: Floats
    shares: Floats


def bets_against(bar: float) -> Bets:
    """The bets of a detector whose mean is not to fall below ``bar``.

    Scores 0 and 1 with mean b vary by σ = √(b (1 - b)), and against a fall by d · σ the capital
    grows fastest with λ = d / σ. The largest λ that never loses more than all is 1 / (1 - b), so
    the stake is d · √((1 - b) / b). The capital is spread over ``FALLS`` as a log-normal density.

    Args:
        bar: In (0, 1).

    Source: Shin, Ramdas & Rinaldo (2024), "E-detectors: a nonparametric framework for sequential
    change detection", section 4, on mixtures over bets; the grid and its shares are ours, chosen
    by simulation.
    """
    stakes = FALLS * sqrt((1 - bar) / bar)
    weights = np.exp(-((np.log(FALLS / USUAL_FALL) / SPREAD) ** 2) / 2)
    small = stakes < NEAR_ALL
    largest = max(float(weights[~small].sum()), LEAST_SHARE * float(weights.sum()))
    shares = np.append(weights[small], largest)
    return Bets(np.append(stakes[small], 1.0), shares / shares.sum())
