"""Preference models: Bradley-Terry strengths of systems, and nonnegative weights of scores.

The weights are fitted to preferences by a logistic model, to ratings by least squares. Divided by
their sum they lie on the simplex, like the weights of a mean.
"""

from dataclasses import dataclass
from math import exp
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from ragstone.stats.distributions import Interval, t_quantile, upper_quantile
from ragstone.stats.weights_and_groups import Bools, Floats, Ints

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

    ``strengths`` is None, and ``reason`` says why, if there is no finite maximum-likelihood
    estimate: ``no_comparisons``, or ``not_connected``, if a system or group of systems never lost
    to the others, never won against them, or never met them.
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

    A tie is half a win for both. Newton's method with step halving. The variance is the sandwich
    estimator over clusters, because comparisons on one question are not independent, times C / (C -
    1), with Student's t of C - 1 degrees of freedom. Where it is 0, for example if all comparisons
    are ties, the model's own variance is used, counting one comparison for each cluster and pair of
    systems.

    Args:
        first: Shape (n,). Number of a system, from 0.
        outcome: Shape (n,). 1 if the first wins, 0 if the second does, .5 for a tie.
        cluster: Shape (n,). Whole numbers from 0; comparisons with the same number are not
            independent.

    Source: Bradley & Terry (1952), "Rank analysis of incomplete block designs"; Ford (1957) for
    when strengths are finite; Liang & Zeger (1986) for the sandwich.
    """
    i, j, group = (np.asarray(codes, dtype=np.int64) for codes in (first, second, cluster))
    won = np.asarray(outcome, dtype=np.float64)
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


def _strongly_connected(beats: Bools) -> bool:
    reach = beats | np.eye(len(beats), dtype=bool)
    # Each squaring doubles the length of the chains that are covered.
    for _ in range(len(beats).bit_length()):
        reach = (reach.astype(np.int64) @ reach.astype(np.int64)) > 0
    return bool(reach.all())


def _fitted(wins: Floats) -> Floats:
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
    return np.asarray(1 / (1 + np.exp(theta[None, :] - theta[:, None])))


def _likelihood(theta: Floats, wins: Floats) -> float:
    return -float((wins * np.logaddexp(0, theta[None, :] - theta[:, None])).sum())


def _information(theta: Floats, games: Floats) -> Floats:
    p = _odds(theta)
    weight = games * p * (1 - p)
    np.fill_diagonal(weight, 0)
    return np.asarray(np.diag(weight.sum(axis=1)) - weight)


def _errors(
    theta: Floats, wins: Floats, i: Ints, j: Ints, won: Floats, group: Ints
) -> Floats:  # fmt: skip
    size, games = len(theta), wins + wins.T
    inverse = np.linalg.pinv(_information(theta, games), hermitian=True)
    clusters, codes = np.unique(group, return_inverse=True)
    residual = won - _odds(theta)[i, j]
    flat = len(clusters) * size
    scores = np.bincount(codes * size + i, residual, minlength=flat)
    scores -= np.bincount(codes * size + j, residual, minlength=flat)
    by_cluster = scores.reshape(len(clusters), size) @ inverse
    variance = (by_cluster**2).sum(axis=0) * len(clusters) / max(1, len(clusters) - 1)
    met = np.unique(np.stack([codes, np.minimum(i, j), np.maximum(i, j)]), axis=1).shape[1]
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


# Penalty of the logistic model, about the information of one pair: it keeps coefficients finite
# if a few pairs are all won by the same side.
RIDGE = 1.0

SIMPLEX_MOST_STEPS = 500
CLOSE = 1e-10


@dataclass(frozen=True, slots=True, eq=False)
class Coefficients:
    """Nonnegative coefficients.

    Attributes:
        values: Shape (m,), at least 0.
        intercept: 0 for a logistic model of differences.
    """

    values: Floats
    intercept: float

    @property
    def scale(self) -> float:
        """The sum of the coefficients."""
        return float(self.values.sum())

    @property
    def weights(self) -> Floats | None:
        """On the simplex: at least 0, with sum 1. None if all coefficients are 0."""
        return self.values / self.scale if self.scale > 0 else None


def nonnegative_logistic(
    differences: ArrayLike, wins: ArrayLike, *, ridge: float = RIDGE
) -> Coefficients:
    """Nonnegative weights of scores that best explain people's preferences.

        P(a preferred to b) = 1 / (1 + exp(-sum of β_j (x_aj - x_bj))),  β_j >= 0

    Without an intercept, so the order of the two in a pair does not matter. Minimises the log loss
    plus a small ridge penalty on β_j times the root mean square of column j, which keeps β finite
    and divides weight among collinear scores. Projected Newton steps with backtracking. The
    coefficients are in the inverse unit of the scores.

    Args:
        differences: Shape (n, m), finite. Score of a minus score of b.
        wins: Shape (n,), in [0, 1]. 1 if a is preferred, 0 if b is, .5 for a tie.
        ridge: At least 0; must be above 0 if a column separates the pairs.

    Source: Bradley & Terry (1952) with scores for strengths; Bertsekas (1982), "Projected Newton
    methods for optimization problems with simple constraints".
    """
    x, y = np.asarray(differences, dtype=np.float64), np.asarray(wins, dtype=np.float64)
    size = np.sqrt((x**2).mean(axis=0)) if len(x) else np.zeros(x.shape[1])
    varies = size > 0
    scaled = x[:, varies] / size[varies]
    values = np.zeros(x.shape[1])
    values[varies] = _projected_newton(scaled, y, ridge) / size[varies]
    return Coefficients(values, 0.0)


def nonnegative_least_squares(scores: ArrayLike, ratings: ArrayLike) -> Coefficients:
    """Nonnegative weights of scores that best explain people's ratings.

        rating = intercept + sum of β_j x_j,  β_j >= 0,  least squares

    Args:
        scores: Shape (n, m), finite, n at least 1.
        ratings: Shape (n,), finite, in any unit.

    Source: Lawson & Hanson (1974), "Solving Least Squares Problems", chapter 23, on centred
    columns.
    """
    x, y = np.asarray(scores, dtype=np.float64), np.asarray(ratings, dtype=np.float64)
    middle, mean = x.mean(axis=0), float(y.mean())
    values = _active_set(x - middle, y - mean)
    return Coefficients(values, mean - float(middle @ values))


def log_loss(margins: ArrayLike, wins: ArrayLike) -> Floats:
    """The log loss of each pair: -y log p - (1 - y) log(1 - p) with p = 1 / (1 + exp(-margin)).

    The result has shape (n,), in nats; log 2 for a margin of 0.

    Args:
        margins: Shape (n,).
        wins: Shape (n,), in [0, 1].
    """
    margin, y = np.asarray(margins, dtype=np.float64), np.asarray(wins, dtype=np.float64)
    return np.asarray(np.logaddexp(0.0, margin) - y * margin)


def _projected_newton(x: Floats, y: Floats, ridge: float) -> Floats:
    def loss(beta: Floats) -> float:
        return float(log_loss(x @ beta, y).sum() + ridge / 2 * (beta @ beta))

    beta = np.zeros(x.shape[1])
    value = loss(beta)
    for _ in range(SIMPLEX_MOST_STEPS):
        p = np.exp(-np.logaddexp(0.0, -(x @ beta)))
        slope = x.T @ (p - y) + ridge * beta
        # A coefficient at 0 that the slope would push below stays there; Newton's step is over the
        # others alone, for with it the clipped step need not lower the loss.
        held = (beta <= 0) & (slope > 0)
        free = ~held
        if not free.any() or np.abs(slope[free]).max() <= CLOSE * max(1, len(x)):
            break
        inner = x[:, free]
        curve = (inner * (p * (1 - p))[:, None]).T @ inner
        curve[np.diag_indices(len(curve))] += ridge + CLOSE
        step = np.zeros_like(beta)
        step[free] = -np.linalg.solve(curve, slope[free])
        # Clipped at 0, a full step may overshoot: halve it until the loss falls enough (Armijo).
        length = 1.0
        while length > CLOSE:
            tried = np.maximum(0.0, beta + length * step)
            reached = loss(tried)
            if reached <= value + 1e-4 * float(slope @ (tried - beta)):
                break
            length /= 2
        else:
            break
        still = bool(np.abs(tried - beta).max() <= CLOSE * max(1.0, np.abs(tried).max()))
        beta, value = tried, reached
        if still:
            break
    return beta


def _active_set(x: Floats, y: Floats) -> Floats:
    columns = x.shape[1]
    beta, free = np.zeros(columns), np.zeros(columns, dtype=bool)
    tolerance = CLOSE * max(1.0, float(np.abs(x.T @ y).max(initial=0.0)))
    for _ in range(3 * columns + SIMPLEX_MOST_STEPS):
        gain = x.T @ (y - x @ beta)
        gain[free] = -np.inf
        if free.all() or gain.max(initial=-np.inf) <= tolerance:
            break
        free[int(np.argmax(gain))] = True
        while True:
            tried = np.zeros(columns)
            tried[free] = np.linalg.lstsq(x[:, free], y, rcond=None)[0]
            below = free & (tried <= 0)
            if not below.any():
                beta = tried
                break
            # Go only as far as the first coefficient reaches 0, and hold that one there.
            share = float((beta[below] / (beta[below] - tried[below])).min())
            beta = beta + share * (tried - beta)
            free &= beta > tolerance * CLOSE
    return beta
