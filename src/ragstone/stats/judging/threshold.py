"""Threshold: the score from which a judge's verdict should be positive."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ragstone.core.errors import InputError
from ragstone.stats.codes import Codes, Floats, Ints, codes_of, sums_by
from ragstone.stats.interval import Interval
from ragstone.stats.row_weights import row_weights

from .cells import cell_bootstrap

NO_POSITIVES = "no_positives"
NO_NEGATIVES = "no_negatives"
NO_VARIATION = "no_variation"
TOO_FEW = "too_few"

Criterion = Literal["f1", "youden", "accuracy", "kappa"]

CELLS = 4
TINY = 1e-12


@dataclass(frozen=True, slots=True)
class Threshold:
    """Scores of at least ``value`` are positive.

    ``in_sample`` is the criterion on the rows used to choose the threshold, and so
    optimistic; ``cross_validated`` is computed from verdicts on held-out rows, all
    folds together, with its ``interval``. All are None, and ``reason`` says why, if
    no threshold can be chosen: ``no_positives``, ``no_negatives``, ``no_variation``
    of the scores. Only the last two are None, with reason ``too_few``, if there are
    fewer rows or clusters than folds, or if no threshold can be chosen without some
    fold.
    """

    value: float | None
    criterion: Criterion
    in_sample: float | None
    cross_validated: float | None
    interval: Interval | None
    n: int
    folds: int
    seed: int
    reason: str | None = None


def best_threshold(
    scores: ArrayLike,
    labels: ArrayLike,
    *,
    criterion: Criterion = "f1",
    folds: int = 5,
    seed: int = 0,
    weights: ArrayLike | None = None,
    clusters: Codes | None = None,
    resamples: int = 2000,
    level: float = 0.95,
) -> Threshold:
    """The threshold that maximises a criterion, with a cross-validated estimate of it.

    | criterion | |
    |---|---|
    | ``f1`` | 2 TP / (2 TP + FP + FN) |
    | ``youden`` | sensitivity + specificity - 1 |
    | ``accuracy`` | share of correct verdicts |
    | ``kappa`` | Cohen's kappa with people |

    Candidate thresholds lie half-way between neighbouring scores, or at the lowest
    score; of equally good ones the lowest is taken. Clusters are kept whole in the
    folds and in the bootstrap. The bootstrap does not choose thresholds again: the
    interval is for the criterion of these thresholds on other rows.

    Args:
        scores: Shape (n,), finite; higher means more likely positive.
        labels: Shape (n,), true or 1 for a positive.
        criterion: What to maximise.
        folds: At least 2.
        seed: Of the folds and of the bootstrap.
        weights: Shape (n,). Inverse sampling probabilities, up to a common factor.
        clusters: Shape (n,). Rows with the same value are not independent.
        resamples: Number of resamples.
        level: Share of intervals that should hold the true value, in (0, 1).

    Raises:
        InputError: Wrong shapes or numbers.

    Source: Youden (1950), "Index for rating diagnostic tests"; Stone (1974),
    "Cross-validatory choice and assessment of statistical predictions".
    """
    values, positive = np.asarray(scores, dtype=np.float64), np.asarray(labels)
    if values.ndim != 1 or values.shape != positive.shape or folds < 2:
        raise InputError(
            "A threshold needs scores and labels of one shape (n,) and folds >= 2, "
            f"got {values.shape}, {positive.shape} and {folds}."
        )
    if not np.isfinite(values).all() or not np.isin(positive, (0, 1)).all():
        raise InputError("Scores must be finite and labels true or false.")
    true = positive.astype(bool)
    codes = np.arange(len(values)) if clusters is None else codes_of(clusters)
    if len(codes) != len(values):
        raise InputError(f"{len(values)} rows have {len(codes)} clusters.")
    reason = _nothing_to_choose(values, true)
    if reason is not None:
        return Threshold(None, criterion, None, None, None, len(values), folds, seed, reason)
    mass = row_weights(weights, len(values))
    value, in_sample = _choose(values, true, mass, criterion)
    verdicts = _verdicts_of_others(values, true, mass, codes, criterion, folds, seed)
    if verdicts is None:
        return Threshold(value, criterion, in_sample, None, None, len(values), folds, seed, TOO_FEW)
    cells = 2 * true.astype(np.int64) + verdicts
    shares = sums_by(cells, mass, CELLS)[None, :] / len(cells)
    interval = cell_bootstrap(
        cells,
        CELLS,
        lambda drawn: criterion_of(drawn, criterion),
        weights=mass if mass.min() < mass.max() else None,
        clusters=None if clusters is None else codes,
        seed=seed,
        resamples=resamples,
        level=level,
    )
    held_out = float(criterion_of(shares, criterion)[0])
    return Threshold(value, criterion, in_sample, held_out, interval, len(values), folds, seed)


def criterion_of(shares: Floats, criterion: Criterion) -> Floats:
    """The criterion from the shares of TN, FP, FN and TP (true negatives, …), in this order.

    Shape (B, 4) in, shape (B,) out; 0 where it would be 0 / 0.
    """
    passed, false, missed, hit = np.moveaxis(np.asarray(shares, dtype=np.float64), -1, 0)
    positives, negatives, said = hit + missed, passed + false, hit + false
    if criterion == "accuracy":
        return np.asarray(hit + passed)
    if criterion == "f1":
        return _ratio(2 * hit, positives + said)
    if criterion == "youden":
        both = _ratio(hit, positives) + _ratio(passed, negatives) - 1
        return np.asarray(np.where((positives > 0) & (negatives > 0), both, 0.0))
    total = positives + negatives
    expected = (positives * said + negatives * (total - said)) / total
    return _ratio(hit + passed - expected, total - expected)


def _ratio(over: Floats, under: Floats) -> Floats:
    return np.divide(over, under, out=np.zeros_like(under), where=under > TINY)


def _choose(
    values: Floats, true: NDArray[np.bool_], mass: Floats, criterion: Criterion
) -> tuple[float, float]:
    distinct, place = np.unique(values, return_inverse=True)
    # Cumulative sums from the top: the counts above every candidate threshold in one pass.
    hits = sums_by(place, mass * true)[::-1].cumsum()[::-1]
    said = sums_by(place, mass)[::-1].cumsum()[::-1]
    n, positives = float(mass.sum()), float(mass @ true)
    false = said - hits
    table = np.stack([n - positives - false, false, positives - hits, hits], axis=1) / n
    worth = criterion_of(table, criterion)
    best = int(np.flatnonzero(worth >= worth.max() - TINY)[0])
    value = distinct[0] if best == 0 else (distinct[best - 1] + distinct[best]) / 2
    return float(value), float(worth[best])


def _verdicts_of_others(
    values: Floats,
    true: NDArray[np.bool_],
    mass: Floats,
    codes: Ints,
    criterion: Criterion,
    folds: int,
    seed: int,
) -> Ints | None:
    """A verdict on each row, by a threshold chosen without its fold; None if that is impossible."""
    units = np.unique(codes, return_inverse=True)[1]
    size = int(units.max()) + 1
    if size < folds:
        return None
    fold = (np.random.default_rng(seed).permutation(size) % folds)[units]
    verdicts = np.zeros(len(values), dtype=np.int64)
    for one in range(folds):
        inside = fold == one
        if _nothing_to_choose(values[~inside], true[~inside]) is not None:
            return None
        least, _ = _choose(values[~inside], true[~inside], mass[~inside], criterion)
        verdicts[inside] = values[inside] >= least
    return verdicts


def _nothing_to_choose(values: Floats, true: NDArray[np.bool_]) -> str | None:
    if not true.any():
        return NO_POSITIVES
    if true.all():
        return NO_NEGATIVES
    return NO_VARIATION if values.min() == values.max() else None
