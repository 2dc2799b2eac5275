"""Detector: raises an alarm when the mean of a stream of scores has fallen below its bar."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from math import log, sqrt
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from ragstone.core.errors import InputError
from ragstone.stats.weights_and_groups import Floats

# Falls of the mean, in standard deviations of scores 0 and 1, that one of the bets is best for. A
# smaller one takes thousands of answers to show whatever is bet, and steps of 1.6 lose little.
FALLS = 0.08 * 1.6 ** np.arange(12)

# The fall that most capital lies on: .85 to .75, .95 to .88, .5 to .35. Other sizes pay with some
# more answers: large ones have few to begin with, small ones many.
USUAL_FALL = 0.3

# The standard deviation of the logarithm of a fall, in the density that spreads the capital.
SPREAD = 0.8

# The least share of the capital on the largest bet: graded scores vary less and want large ones.
LEAST_SHARE = 0.02

# A bet above this is not told from the largest one, 1.
NEAR_ALL = 0.8


def bets_against(bar: float) -> tuple[Floats, Floats]:
    """The stakes of a detector whose mean is not to fall below ``bar``, and the capital on each.

    Stakes are parts of the largest bet that cannot lose more than all, in (0, 1], ascending, the
    last is 1; the capital has sum 1; both of shape (k,).

    Scores 0 and 1 with mean b vary by σ = √(b (1 - b)), and against a fall by d · σ the capital
    grows fastest with λ = d / σ. The largest λ that never loses more than all is 1 / (1 - b), so
    the stake is d · √((1 - b) / b). The capital is spread over ``FALLS`` as a log-normal density.

    Source: Shin, Ramdas & Rinaldo (2024), "E-detectors: a nonparametric framework for sequential
    change detection", section 4, on mixtures over bets; the grid and its shares are ours, chosen by
    simulation.
    """
    stakes = FALLS * sqrt((1 - bar) / bar)
    weights = np.exp(-((np.log(FALLS / USUAL_FALL) / SPREAD) ** 2) / 2)
    small = stakes < NEAR_ALL
    largest = max(float(weights[~small].sum()), LEAST_SHARE * float(weights.sum()))
    shares = np.append(weights[small], largest)
    return np.append(stakes[small], 1.0), shares / shares.sum()


def promised_limit(alpha: float, looks: int, *, detectors: int = 1) -> float:
    """The evidence at which ``detectors`` together keep a promise on false alarms.

        limit = looks · detectors / α

    Each has a share α / detectors of the promise. The probability that any of them raises a false
    alarm, while each looks at ``looks`` healthy answers of its own, is at most α: each alone at
    most α / detectors (see ``Detector``), and the sum bounds all together, however they depend on
    each other. The promise renews itself: of k times as many looks, at most k · α false alarms are
    expected, so evidence need not be thrown away after ``looks``.

    Args:
        detectors: Rules times slices, at least 1.
    """
    if not 0 < alpha < 1:
        raise InputError(f"A promise on false alarms is a share inside (0, 1), got {alpha}.")
    if looks < 1 or detectors < 1:
        raise InputError(
            f"A promise is for one look and one detector at least, got {looks} looks "
            f"and {detectors} detectors."
        )
    return looks * detectors / alpha


def limit_of_gap(looks: float, *, detectors: int = 1) -> float:
    """The evidence at which false alarms of all detectors lie ``looks`` apart on average, or more.

        limit = looks · detectors

    Args:
        looks: Judged answers of one detector, at least 1, where all have as many.
    """
    return looks * detectors


def on_a_share(scores: ArrayLike, *, low: float, high: float, less_is_better: bool) -> Floats:
    """Scores as shares of the way from the worst to the best that is possible.

        (score - low) / (high - low),   or   (high - score) / (high - low) where less is better

    A bar is turned in the same way.
    """
    values = np.asarray(scores, dtype=np.float64)
    return np.asarray((high - values if less_is_better else values - low) / (high - low))


@dataclass(frozen=True, slots=True)
class DetectorState:
    """The memory of a detector: a few numbers, however many answers it has seen.

    Attributes:
        looks: Answers seen since the start or the last alarm.
        evidence: For each bet, its share of the sum over all answers at which it may have begun.
        runs: For each bet, what it gained since the answer at which to begin was best.
        since: For each bet, the number of that answer; 0 before the first.
    """

    looks: int
    evidence: tuple[float, ...]
    runs: tuple[float, ...]
    since: tuple[int, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return plain data; through JSON and back it is the same state to the last bit."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Return the state that ``to_dict`` gave."""
        return cls(data["looks"], *(tuple(data[name]) for name in ("evidence", "runs", "since")))


@dataclass(frozen=True, slots=True)
class Detected:
    """One alarm.

    Attributes:
        number: Of the answer at which the evidence reached the limit.
        since: Number of the answer from which on the scores speak most for a fall: an estimate.
        looks: Answers seen since the start or the alarm before.
        evidence: At least the limit.
    """

    number: int
    since: int
    looks: int
    evidence: float


@dataclass(frozen=True)
class Detector:
    """An e-detector of Shiryaev-Roberts' kind for a mean that is not to fall below a bar.

        S_k ← (S_k + q_k) · (1 + λ_k · v · (bar - x)),   alarm when the sum of all S_k ≥ limit,
        v = least / p,   λ_k ≤ 1 / (1 - bar),   q_k with sum 1

    x is an answer's score, p the probability with which it was drawn to be judged. After an alarm
    it starts anew.

    **Promise.** Call a stream healthy where at every answer, given all before, the mean score of
    the answers that may come, judged or not, is at least the bar. Then

    - the probability of an alarm within the first N looks is at most N / limit;
    - of any K looks, at most K / limit false alarms are expected;
    - the mean number of looks to a false alarm is at least the limit.

    **Proof.** Of an answer that was drawn, E[v (bar - x)] is least · (bar - mean) / P(drawn), so at
    most 0, and the factor has a mean of at most 1; it is never negative, because v ≤ 1. So the sum
    of all S_k, less the number of looks, is a supermartingale that starts at 0. Stopped at the
    alarm or after N looks, whichever is first, it says limit · P(alarm) ≤ E[looks] ≤ N. Summed over
    starts, and without a stop at N, it says the other two. Where the limit grows on the way, each
    look adds at most one over its own limit to the false alarms that are expected.

    Only judged answers are looks. An answer without a score is none.

    Attributes:
        bar: In (0, 1). Scores lie in [0, 1] and 1 is best, see ``on_a_share``.
        limit: At least 1, see ``promised_limit``.
        least: The least probability with which an answer is drawn, in (0, 1]. It bounds the bets,
            so it must not lie below what the design has; it may change from answer to answer, as
            the design does, and states stay good.

    Source: Shin, Ramdas & Rinaldo (2024), "E-detectors: a nonparametric framework for sequential
    change detection", sections 2 to 4: e-SR, mixtures, means of bounded scores. Inverse
    probabilities in bets: Waudby-Smith & Ramdas (2024), "Estimating means of bounded random
    variables by betting"; Horvitz & Thompson (1952).
    """

    bar: float
    limit: float
    least: float = 1.0

    def __post_init__(self) -> None:
        if not 0 < self.bar < 1:
            raise InputError(
                f"A bar lies inside (0, 1), got {self.bar}: a mean of 0 cannot fall, "
                "and the first score below 1 refutes a mean of 1."
            )
        if not 1 <= self.limit < float("inf"):
            raise InputError(f"The limit of a detector is finite and at least 1, got {self.limit}.")
        if not 0 < self.least <= 1:
            raise InputError(f"A least probability lies in (0, 1], got {self.least}.")

    @cached_property
    def bets(self) -> tuple[Floats, Floats]:
        """``bets_against`` the bar: stakes and shares of the capital."""
        return bets_against(self.bar)

    def start(self) -> DetectorState:
        """The state before the first answer."""
        none = (0.0,) * len(self.bets[0])
        return DetectorState(0, none, none, (0,) * len(none))

    def factors(self, scores: ArrayLike, probabilities: ArrayLike | None = None) -> Floats:
        """Return the factor of each answer on each bet, at least 0. Shape (n, k)."""
        x = np.atleast_1d(np.asarray(scores, dtype=np.float64))
        p = np.ones_like(x) if probabilities is None else np.asarray(probabilities, dtype=float)
        # Divided before it is multiplied: at the worst answer this is exactly -1, never below.
        worth = (self.bar - x) / (1 - self.bar) * (self.least / p)
        return np.asarray(1 + worth[:, None] * self.bets[0])

    def step(
        self,
        state: DetectorState,
        scores: ArrayLike,
        *,
        probabilities: ArrayLike | None = None,
        numbers: ArrayLike | None = None,
    ) -> tuple[DetectorState, tuple[Detected, ...]]:
        """The state after more answers, and the alarms on the way.

        Many answers at once give the same, to the last bit, as one by one.

        Args:
            state: Of a detector with the same bar.
            scores: Shape (n,), in [0, 1], in the order in which they came.
            numbers: Shape (n,), by which the caller knows the answers again. None: looks, from 1.
        """
        factors, (_, shares) = self.factors(scores, probabilities), self.bets
        first = state.looks + 1
        ids = range(first, first + len(factors)) if numbers is None else np.asarray(numbers)
        looks, alarms = state.looks, list[Detected]()
        evidence, runs = np.array(state.evidence), np.array(state.runs)
        since = np.array(state.since, dtype=np.int64)
        for number, factor in zip(ids, factors, strict=True):
            looks += 1
            evidence += shares
            evidence *= factor
            # A run that lost is worth less than one that begins here.
            begins = runs < 1
            runs[begins] = 1.0
            since[begins] = number
            runs *= factor
            total = float(evidence.sum())
            if total >= self.limit:
                best = int(np.argmax(runs * shares))
                alarms.append(Detected(int(number), int(since[best]), looks, total))
                looks = 0
                evidence[:], runs[:], since[:] = 0.0, 0.0, 0
        return DetectorState(
            looks, tuple(evidence.tolist()), tuple(runs.tolist()), tuple(since.tolist())
        ), tuple(alarms)


# How much worse than the best one a place for a fall may fit, in nats, to be possible at 95 %.
WITHIN = -log(1 - sqrt(0.95))


def fall_place(scores: ArrayLike, probabilities: ArrayLike) -> tuple[int, int, int]:
    """The score before which a fall of the mean fits best, and the first and the last such place
    that are possible at 95 %; counted from 0.

    A place is possible where the likelihood of one mean before it and a lower one behind it is not
    far below the best. Scores count as shares of zeros and ones, which vary most, so that graded
    scores have too many possible places rather than too few.

    Source: Siegmund (1988), "Confidence sets in change-point problems": the likelihood ratio of the
    true place is at most x with a probability of (1 - exp(-x))².
    """
    if len(np.atleast_1d(scores)) == 1:
        return 0, 0, 0
    x, weights = np.asarray(scores, dtype=float), 1 / np.asarray(probabilities, dtype=float)
    # Unequal weights are worth fewer answers than there are.
    weights *= weights.sum() / (weights**2).sum()
    before, good = np.cumsum(weights)[:-1], np.cumsum(weights * x)[:-1]
    after, good_after = weights.sum() - before, (weights * x).sum() - good
    fit = _fit(before, good) + _fit(after, good_after)
    fit[good_after / after >= good / before] = -np.inf
    possible = np.flatnonzero(fit >= fit.max() - WITHIN) + 1
    return int(fit.argmax()) + 1, int(possible[0]), int(possible[-1])


def _fit(n: Floats, good: Floats) -> Floats:
    mean = np.clip(good / n, 0, 1)
    return np.asarray(n * (_times_log(mean) + _times_log(1 - mean)))


def _times_log(share: Floats) -> Floats:
    return share * np.log(np.where(share > 0, share, 1.0))
