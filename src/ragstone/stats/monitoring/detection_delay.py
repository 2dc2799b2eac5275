"""Detection delay: after how many judged answers a fall of the mean is noticed, by simulation."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from ragstone.core.errors import InputError
from ragstone.stats.distributions import beta_quantile, bisected
from ragstone.stats.weights_and_groups import Bools, Floats, Ints

from .detector import Detector

# Scores that stand for a graded distribution.
GRADES = 100

# From this part of the largest variance on, scores are taken for 0 and 1.
ALL_OR_NOTHING = 0.98

STEEPEST = 1e4
HALVINGS = 100


@dataclass(frozen=True, slots=True, eq=False)
class Traffic:
    """The judged answers that may come.

    Attributes:
        scores: Shape (m,), in [0, 1].
        probabilities: Shape (m,), in (0, 1]: with which such an answer is drawn to be judged.
        shares: Shape (m,): how frequent it is among judged ones; sum 1.
    """

    scores: Floats
    probabilities: Floats
    shares: Floats

    @property
    def mean(self) -> float:
        """The mean score of all answers, judged or not."""
        weights = self.shares / self.probabilities
        return float((weights * self.scores).sum() / weights.sum())

    @classmethod
    def of(
        cls,
        mean: float,
        *,
        deviation: float | None = None,
        probabilities: ArrayLike = 1.0,
        received: ArrayLike | None = None,
    ) -> Self:
        """Scores with a mean and a standard deviation, whichever probability they are drawn with.

        They are 0 and 1, or follow a beta distribution.

        Args:
            deviation: Of the scores, above 0. None, or as much as a mean allows: 0 and 1.
            probabilities: With which answers are drawn, in (0, 1]: one, or several, shape (m,).
            received: Shape (m,): how many of the answers that come have each of these; None: all as
                many.
        """
        if not 0 < mean < 1:
            raise InputError(f"A mean of scores lies inside (0, 1), got {mean}.")
        part = 1.0 if deviation is None else deviation**2 / (mean * (1 - mean))
        if not part > 0:
            raise InputError(f"A standard deviation of scores is above 0, got {deviation}.")
        scores, shares = np.array([0.0, 1.0]), np.array([1 - mean, mean])
        if part < ALL_OR_NOTHING:
            size = 1 / part - 1
            ranks = (np.arange(GRADES) + 0.5) / GRADES
            a, b = mean * size, (1 - mean) * size
            scores = np.array([beta_quantile(float(rank), a, b) for rank in ranks])
            shares = np.full(GRADES, 1 / GRADES)
        drawn = np.atleast_1d(np.asarray(probabilities, dtype=np.float64))
        counts = np.ones_like(drawn) if received is None else np.asarray(received, dtype=float)
        judged = counts * drawn / (counts * drawn).sum()
        graded = np.tile(scores, len(drawn)), np.repeat(drawn, len(scores))
        # A hundred grades miss the mean of a steep beta distribution by a little.
        return cls(*graded, np.outer(judged, shares).ravel()).with_mean(mean)

    @classmethod
    def seen(cls, scores: ArrayLike, probabilities: ArrayLike | None = None) -> Self:
        """Scores as they came, each with the probability with which it was drawn."""
        x = np.asarray(scores, dtype=np.float64)
        p = np.ones_like(x) if probabilities is None else np.asarray(probabilities, dtype=float)
        pairs, counts = np.unique(np.column_stack([x, p]), axis=0, return_counts=True)
        return cls(pairs[:, 0], pairs[:, 1], counts / len(x))

    def with_mean(self, mean: float) -> Self:
        """The same answers, low scores so much more or less frequent that the mean is ``mean``.

        Each score x is e^(θx) times as frequent, which of all distributions with this mean is the
        hardest to tell from the one before. Where no score lies beyond the mean, all of them move
        towards 0 or 1 in proportion.

        Source: Csiszár (1975), "I-divergence geometry of probability distributions".
        """
        if not 0 < mean < 1:
            raise InputError(f"A mean of scores lies inside (0, 1), got {mean}.")
        now = self.mean
        if not self.scores.min() < mean < self.scores.max():
            moved = (
                self.scores * (mean / now)
                if mean < now
                else 1 - (1 - self.scores) * ((1 - mean) / (1 - now))
            )
            return type(self)(moved, self.probabilities, self.shares)
        low, high = bisected(
            lambda slope: self._tilted(slope).mean < mean, -STEEPEST, STEEPEST, HALVINGS
        )
        return self._tilted((low + high) / 2)

    def _tilted(self, slope: float) -> Self:
        power = slope * self.scores
        shares = self.shares * np.exp(power - power.max())
        return type(self)(self.scores, self.probabilities, shares / shares.sum())


DRAWS = 400
HEALTHY = 2_000
MOST = 10_000
AT_ONCE = 50


@dataclass(frozen=True, slots=True)
class Delay:
    """Judged answers from a fall to its alarm.

    Attributes:
        median: None where fewer than half of the falls are noticed in time.
        p90: Nine of ten falls are noticed after as many; None where fewer are noticed in time.
        noticed: Share of the falls that are noticed in time.
        most: The judged answers that are in time.
    """

    median: int | None
    p90: int | None
    noticed: float
    most: int


def expected_delay(
    detector: Detector,
    healthy: Traffic,
    drop: float,
    *,
    before: int = HEALTHY,
    most: int = MOST,
    draws: int = DRAWS,
    seed: int = 0,
) -> Delay:
    """Simulate how long a detector takes to notice that the mean score fell by ``drop``.

    Each draw has ``before`` healthy answers and then fallen ones, until the alarm. A false alarm on
    the way is not counted; the detector starts anew after it. Answers are independent. The median
    of 400 draws is known to within about 5 %, the same seed gives the same.

    Args:
        healthy: The answers before the fall, on the detector's scale.
        drop: Of the mean, above 0 and below the healthy mean.
        before: Judged answers before the fall, at least 0.
        most: Judged answers after it that are waited for, at least 1.
        draws: At least 10.
    """
    mean = healthy.mean
    if not 0 < drop < mean:
        raise InputError(f"A fall of a mean of {mean:.3g} lies between 0 and that, got {drop}.")
    rng = np.random.default_rng(seed)
    evidence = np.zeros((draws, len(detector.bets[0])))
    for rows in _drawn(detector, healthy, before, draws, rng):
        evidence[_look(detector, evidence, rows)] = 0.0
    delays = np.full(draws, most + 1)
    waiting = np.arange(draws)
    fallen = healthy.with_mean(mean - drop)
    for look, rows in enumerate(_drawn(detector, fallen, most, draws, rng), start=1):
        reached = _look(detector, evidence, rows[waiting])
        if reached.any():
            delays[waiting[reached]] = look
            evidence, waiting = evidence[~reached], waiting[~reached]
            if not len(waiting):
                break
    return Delay(
        _rank(delays, 0.5, most), _rank(delays, 0.9, most), float((delays <= most).mean()), most
    )


def _drawn(
    detector: Detector, traffic: Traffic, looks: int, draws: int, rng: np.random.Generator
) -> Iterator[Floats]:
    table = detector.factors(traffic.scores, traffic.probabilities)
    ends = np.cumsum(traffic.shares)[:-1]
    for first in range(0, looks, AT_ONCE):
        which = np.searchsorted(ends, rng.random((min(AT_ONCE, looks - first), draws)), "right")
        for row in which:
            yield table[row]


def _look(detector: Detector, evidence: Floats, factors: Floats) -> Bools:
    evidence += detector.bets[1]
    evidence *= factors
    return np.asarray(evidence.sum(axis=1) >= detector.limit)


def _rank(delays: Ints, share: float, most: int) -> int | None:
    delay = int(np.sort(delays)[int(np.ceil(share * len(delays))) - 1])
    return delay if delay <= most else None
