"""Bradley-Terry: strengths of several systems from pairwise comparisons."""

from dataclasses import dataclass
from math import exp
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ragstone.core.errors import InputError
from ragstone.stats.interval import Interval, upper_quantile
from ragstone.stats.student import t_quantile

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MOST_STEPS = 100
SETTLED = 1e-12
NOTHING = 1e-12


@dataclass(frozen=True, slots=True)
class Strength:
    """A system's strength: its log-odds of beating a system of average strength, 0.

    ``win_probability``, ``win_low`` and ``win_high`` are the same as probabilities.
    """

    value: float
    interval: Interval | None
    win_probability: float
    win_low: float | None
    win_high: float | None


@dataclass(frozen=True, slots=True)
class BradleyTerry:
    """Strengths in the order of the systems, from ``n`` comparisons in ``clusters`` clusters.

    ``strengths`` is None, and ``reason`` says why, if there is no finite
    maximum-likelihood estimate: ``no_comparisons``, or ``not_connected``, if a
    system or group of systems never lost to the others, never won against them,
    or never met them.
    """

    strengths: tuple[Strength, ...] | None
    reason: Literal["no_comparisons", "not_connected"] | None
    n: int
    clusters: int


def bradley_terry(
    first: ArrayLike,
    second: ArrayLike,
    outcome: ArrayLike,
    cluster: ArrayLike,
    *,
    systems: int,
    level: float = 0.95,
) -> BradleyTerry:
    """Strengths by maximum likelihood, with cluster-robust intervals.

        P(i beats j) = 1 / (1 + exp(θ_j - θ_i)),   mean of θ = 0

    A tie is half a win for both. Newton's method with step halving. The variance is
    the sandwich estimator over clusters, because comparisons on one question are not
    independent, times C / (C - 1), with Student's t of C - 1 degrees of freedom. Where
    it is 0, for example if all comparisons are ties, the model's own variance is used,
    counting one comparison for each cluster and pair of systems.

    Args:
        first: Shape (n,). Number of a system, from 0.
        second: Shape (n,). Number of the other system.
        outcome: Shape (n,). 1 if the first wins, 0 if the second does, .5 for a tie.
        cluster: Shape (n,). Whole numbers from 0; comparisons with the same number are not
            independent.
        systems: Number of systems, at least 2.
        level: Of the intervals, in (0, 1).

    Raises:
        InputError: Wrong shapes or numbers.

    Source: Bradley & Terry (1952), "Rank analysis of incomplete block designs";
    Ford (1957) for when strengths are finite; Liang & Zeger (1986) for the
    sandwich.
    """
    i, j, won, group = _read(first, second, outcome, cluster, systems)
    upper = upper_quantile(level)
    n = len(won)
    if n == 0:
        return BradleyTerry(None, "no_comparisons", 0, 0)
    clusters = len(np.unique(group))
    wins = np.zeros((systems, systems))
    np.add.at(wins, (i, j), won)
    np.add.at(wins, (j, i), 1 - won)
    if not _strongly_connected(wins > 0):
        return BradleyTerry(None, "not_connected", n, clusters)
    theta = _fitted(wins)
    errors = _errors(theta, wins, i, j, won, group)
    t = t_quantile(upper, clusters - 1) if clusters > 1 else None
    strengths = tuple(
        _strength(float(value), None if t is None else t * float(error), level)
        for value, error in zip(theta, errors, strict=True)
    )
    return BradleyTerry(strengths, None, n, clusters)


def _read(
    first: ArrayLike, second: ArrayLike, outcome: ArrayLike, cluster: ArrayLike, systems: int
) -> tuple[Ints, Ints, Floats, Ints]:
    if systems < 2:
        raise InputError(f"A ranking needs at least two systems, got {systems}.")
    i, j, group = (np.asarray(one, dtype=np.int64) for one in (first, second, cluster))
    won = np.asarray(outcome, dtype=np.float64)
    if won.ndim != 1 or not i.shape == j.shape == group.shape == won.shape:
        raise InputError("first, second, outcome and cluster must be of one shape (n,).")
    named = np.concatenate([i, j])
    if ((named < 0) | (named >= systems)).any() or (i == j).any() or (group < 0).any():
        raise InputError(
            f"A comparison needs two different systems from 0 to {systems - 1} and a cluster "
            "from 0."
        )
    if not ((won >= 0) & (won <= 1)).all():
        raise InputError("An outcome must be 1, 0, or .5 for a tie.")
    return i, j, won, group


def _strongly_connected(beats: NDArray[np.bool_]) -> bool:
    """Whether a chain of wins leads from every system to every other."""
    reach = beats | np.eye(len(beats), dtype=bool)
    # Each squaring doubles the length of the chains that are covered.
    for _ in range(len(beats).bit_length()):
        reach = (reach.astype(np.int64) @ reach.astype(np.int64)) > 0
    return bool(reach.all())


def _fitted(wins: Floats) -> Floats:
    """The maximum-likelihood strengths, with mean 0."""
    theta = np.zeros(len(wins))
    likelihood = _likelihood(theta, wins)
    for _ in range(MOST_STEPS):
        games = wins + wins.T
        expected = games * _odds(theta)
        # Only differences of strengths are identified, so the information matrix is singular; its
        # pseudo-inverse takes the step that leaves their sum unchanged.
        step = np.linalg.pinv(_information(theta, games), hermitian=True) @ (wins - expected).sum(1)
        # The log-likelihood is concave, so a short enough step never lowers it.
        while True:
            better = theta + step
            reached = _likelihood(better, wins)
            if reached >= likelihood - SETTLED * abs(likelihood) or np.abs(step).max() < SETTLED:
                break
            step /= 2
        theta, likelihood = better - better.mean(), reached
        if np.abs(step).max() < SETTLED:
            break
    return np.asarray(theta)


def _odds(theta: Floats) -> Floats:
    """The probability that system i beats system j, shape (k, k)."""
    return np.asarray(1 / (1 + np.exp(theta[None, :] - theta[:, None])))


def _likelihood(theta: Floats, wins: Floats) -> float:
    return -float((wins * np.logaddexp(0, theta[None, :] - theta[:, None])).sum())


def _information(theta: Floats, games: Floats) -> Floats:
    """The information matrix: minus the second derivatives; its rows sum to 0."""
    p = _odds(theta)
    weight = games * p * (1 - p)
    np.fill_diagonal(weight, 0)
    return np.asarray(np.diag(weight.sum(axis=1)) - weight)


def _errors(
    theta: Floats, wins: Floats, i: Ints, j: Ints, won: Floats, group: Ints
) -> Floats:  # fmt: skip
    """Standard errors, shape (k,)."""
    size, games = len(theta), wins + wins.T
    inverse = np.linalg.pinv(_information(theta, games), hermitian=True)
    clusters, place = np.unique(group, return_inverse=True)
    residual = won - _odds(theta)[i, j]
    flat = len(clusters) * size
    scores = np.bincount(place * size + i, residual, minlength=flat)
    scores -= np.bincount(place * size + j, residual, minlength=flat)
    by_cluster = scores.reshape(len(clusters), size) @ inverse
    variance = (by_cluster**2).sum(axis=0) * len(clusters) / max(1, len(clusters) - 1)
    met = np.unique(np.stack([place, np.minimum(i, j), np.maximum(i, j)]), axis=1).shape[1]
    of_model = np.diag(inverse) * len(won) / met
    return np.asarray(np.sqrt(np.where(variance > NOTHING * of_model, variance, of_model)))


def _strength(value: float, half: float | None, level: float) -> Strength:
    if half is None:
        return Strength(value, None, _probability(value), None, None)
    interval = Interval(value - half, value + half, level, "bradley_terry")
    low, high = _probability(interval.low), _probability(interval.high)
    return Strength(value, interval, _probability(value), low, high)


def _probability(log_odds: float) -> float:
    return 1 / (1 + exp(-log_odds)) if log_odds >= 0 else exp(log_odds) / (1 + exp(log_odds))
