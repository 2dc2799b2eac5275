"""Expected delay: after how many judged answers a fall of a certain size is noticed."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ragstone.core.errors import InputError

from .detector import Detector
from .traffic import Traffic

Floats = NDArray[np.float64]

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
    """How long a detector takes to notice that the mean score fell by ``drop``; simulated.

    Each draw has ``before`` healthy answers and then fallen ones, until the alarm. A false alarm
    on the way is not counted; the detector starts anew after it. Answers are independent. The
    median of 400 draws is known to within about 5 %, the same seed gives the same.

    Args:
        detector: With its bar and limit.
        healthy: The answers before the fall, on the detector's scale.
        drop: Of the mean, above 0 and below the healthy mean.
        before: Judged answers before the fall, at least 0.
        most: Judged answers after it that are waited for, at least 1.
        draws: At least 10.
        seed: Of the random numbers.

    Raises:
        InputError: A number is out of its range, or answers are drawn with a probability below
            the detector's least.
    """
    mean = healthy.mean
    if not 0 < drop < mean:
        raise InputError(f"A fall of a mean of {mean:.3g} lies between 0 and that, got {drop}.")
    if before < 0 or most < 1 or draws < 10:
        raise InputError(f"A delay needs 10 draws and one answer at least, got {draws}, {most}.")
    rng = np.random.default_rng(seed)
    evidence = np.zeros((draws, len(detector.bets.stakes)))
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
    """For each look, what the answers of all draws do to each bet. Shape (draws, bets)."""
    table = detector.factors(traffic.scores, traffic.probabilities)
    ends = np.cumsum(traffic.shares)[:-1]
    for first in range(0, looks, AT_ONCE):
        which = np.searchsorted(ends, rng.random((min(AT_ONCE, looks - first), draws)), "right")
        for row in which:
            yield table[row]


def _look(detector: Detector, evidence: Floats, factors: Floats) -> NDArray[np.bool_]:
    """One look of each draw: its evidence is moved on, and whether it reached the limit is told."""
    evidence += detector.bets.shares
    evidence *= factors
    return np.asarray(evidence.sum(axis=1) >= detector.limit)


def _rank(delays: NDArray[np.int64], share: float, most: int) -> int | None:
    """The delay within which this share of the falls is noticed."""
    found = int(np.sort(delays)[int(np.ceil(share * len(delays))) - 1])
    return found if found <= most else None
