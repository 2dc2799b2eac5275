"""Nonnegative coefficients: fitted to preferences by a logistic model, to ratings by least squares.

Divided by their sum they lie on the simplex, like the weights of a mean.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ragstone.core.errors import InputError

Floats = NDArray[np.float64]

RIDGE = 1.0
"""Penalty of the logistic model, about the information of one pair: it keeps coefficients finite
if a few pairs are all won by the same side."""

MOST_STEPS = 500
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
        """Their sum."""
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

    Without an intercept, so the order of the two in a pair does not matter.
    Minimises the log loss plus a small ridge penalty on β_j times the root mean
    square of column j, which keeps β finite and divides weight among collinear
    scores. Projected Newton steps with backtracking.

    Args:
        differences: Shape (n, m), finite. Score of a minus score of b.
        wins: Shape (n,), in [0, 1]. 1 if a is preferred, 0 if b is, .5 for a tie.
        ridge: At least 0; must be above 0 if a column separates the pairs.

    Returns:
        Coefficients, in the inverse unit of the scores.

    Raises:
        InputError: Wrong shapes, numbers that are not finite or not in range.

    Source: Bradley & Terry (1952) with scores for strengths; Bertsekas (1982),
    "Projected Newton methods for optimization problems with simple constraints".
    """
    x, y = _read(differences, wins)
    if ((y < 0) | (y > 1)).any() or not ridge >= 0:
        raise InputError("Preferences must lie in [0, 1], and the ridge must be at least 0.")
    size = np.sqrt((x**2).mean(axis=0)) if len(x) else np.zeros(x.shape[1])
    varies = size > 0
    scaled = x[:, varies] / size[varies]
    found = _projected_newton(scaled, y, ridge)
    values = np.zeros(x.shape[1])
    values[varies] = found / size[varies]
    return Coefficients(values, 0.0)


def nonnegative_least_squares(scores: ArrayLike, ratings: ArrayLike) -> Coefficients:
    """Nonnegative weights of scores that best explain people's ratings.

        rating = intercept + sum of β_j x_j,  β_j >= 0,  least squares

    Args:
        scores: Shape (n, m), finite, n at least 1.
        ratings: Shape (n,), finite, in any unit.

    Raises:
        InputError: Wrong shapes, or numbers that are not finite.

    Source: Lawson & Hanson (1974), "Solving Least Squares Problems", chapter
    23, on centred columns.
    """
    x, y = _read(scores, ratings)
    if len(x) == 0:
        raise InputError("Ratings need at least one row.")
    middle, mean = x.mean(axis=0), float(y.mean())
    values = _active_set(x - middle, y - mean)
    return Coefficients(values, mean - float(middle @ values))


def log_loss(margins: ArrayLike, wins: ArrayLike) -> Floats:
    """The log loss of each pair: -y log p - (1 - y) log(1 - p) with p = 1 / (1 + exp(-margin)).

    Args:
        margins: Shape (n,).
        wins: Shape (n,), in [0, 1].

    Returns:
        Shape (n,), in nats; log 2 for a margin of 0.
    """
    margin, y = np.asarray(margins, dtype=np.float64), np.asarray(wins, dtype=np.float64)
    return np.asarray(np.logaddexp(0.0, margin) - y * margin)


def _projected_newton(x: Floats, y: Floats, ridge: float) -> Floats:
    def loss(beta: Floats) -> float:
        return float(log_loss(x @ beta, y).sum() + ridge / 2 * (beta @ beta))

    beta = np.zeros(x.shape[1])
    value = loss(beta)
    for _ in range(MOST_STEPS):
        p = _sigmoid(x @ beta)
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
            there = loss(tried)
            if there <= value + 1e-4 * float(slope @ (tried - beta)):
                break
            length /= 2
        else:
            break
        still = bool(np.abs(tried - beta).max() <= CLOSE * max(1.0, np.abs(tried).max()))
        beta, value = tried, there
        if still:
            break
    return beta


def _active_set(x: Floats, y: Floats) -> Floats:
    """Nonnegative least squares."""
    columns = x.shape[1]
    beta, free = np.zeros(columns), np.zeros(columns, dtype=bool)
    tolerance = CLOSE * max(1.0, float(np.abs(x.T @ y).max(initial=0.0)))
    for _ in range(3 * columns + MOST_STEPS):
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


def _sigmoid(margin: Floats) -> Floats:
    return np.asarray(np.exp(-np.logaddexp(0.0, -margin)))


def _read(scores: ArrayLike, outcome: ArrayLike) -> tuple[Floats, Floats]:
    x, y = np.asarray(scores, dtype=np.float64), np.asarray(outcome, dtype=np.float64)
    if x.ndim != 2 or y.shape != x.shape[:1]:
        raise InputError(f"Scores must be (n, m) and outcomes (n,), got {x.shape} and {y.shape}.")
    if not (np.isfinite(x).all() and np.isfinite(y).all()):
        raise InputError("Scores and outcomes must be finite.")
    return x, y
