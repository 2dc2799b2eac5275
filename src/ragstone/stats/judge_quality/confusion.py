"""Confusion matrix: a judge against people, its rates and intervals, the best threshold."""

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from ragstone.stats.bootstrap import cluster_bootstrap, percentile_interval
from ragstone.stats.correction.labels_only import rate_of_labels
from ragstone.stats.distributions import Interval, upper_quantile
from ragstone.stats.weights_and_groups import (
    Bools,
    Codes,
    Floats,
    Ints,
    cluster_codes,
    in_order,
    row_weights,
    scores_with_labels,
    shared_codes,
    sums_by,
)

from .rank_measures import NO_NEGATIVES, NO_POSITIVES, NO_VARIATION, TOO_FEW, JudgeMeasure


def cell_bootstrap(
    cells: Ints,
    n_cells: int,
    combine: Callable[[Floats], Floats],
    *,
    weights: Floats | None = None,
    clusters: Codes | None,
    seed: int,
    resamples: int,
    level: float,
) -> Interval | None:
    """Percentile bootstrap for a function of the shares of the cells.

    Whole clusters are resampled; for independent rows of equal weight the table is drawn from a
    multinomial, which costs the same for ten rows and ten million. The interval is None for fewer
    than two rows or clusters, or if both ends coincide.

    Args:
        cells: Shape (n,), the cell of each row, from 0 to ``n_cells`` - 1.
        combine: Takes shares of shape (B, n_cells), returns finite numbers of shape (B,).
        weights: Shape (n,), with mean 1; None if all are equal.

    Source: Efron & Tibshirani (1993), "An Introduction to the Bootstrap", chapters 8 and 13.
    """
    upper_quantile(level)
    n = len(cells)
    if clusters is not None or weights is not None:
        codes = cluster_codes(clusters, n)
        codes = np.arange(n) if codes is None else codes
        size = int(codes.max()) + 1 if n else 0
        table = np.bincount(codes * n_cells + cells, weights, minlength=size * n_cells)
        sums = table.reshape(size, n_cells).astype(np.float64)
        counts = np.repeat(sums.sum(axis=1, keepdims=True), n_cells, axis=1)
        return cluster_bootstrap(sums, counts, combine, seed=seed, resamples=resamples, level=level)
    if n < 2:
        return None
    shares = np.bincount(cells, minlength=n_cells) / n
    drawn = np.random.default_rng(seed).multinomial(n, shares, size=resamples) / n
    return percentile_interval(combine(drawn), level, "multinomial_bootstrap")


NO_ROWS = "no_rows"
NO_SUCH_ROWS = "no_such_rows"
NOT_BINARY = "not_binary"


@dataclass(frozen=True, slots=True)
class Confusion:
    """A confusion matrix and its rates.

    ``counts[i][j]`` rows have ``labels[i]`` from people and ``labels[j]`` from the judge. For two
    labels, one of them positive: ``sensitivity`` is the share of people's positives that the judge
    calls positive, ``specificity`` the share of their negatives that it calls negative,
    ``precision`` the share of the judge's positives that are people's too. They are None, with
    ``reason`` ``not_binary``, for other labels.
    """

    labels: tuple[Hashable, ...]
    counts: tuple[tuple[int, ...], ...]
    n: int
    accuracy: JudgeMeasure
    sensitivity: JudgeMeasure | None
    specificity: JudgeMeasure | None
    precision: JudgeMeasure | None
    reason: str | None


def confusion(
    judge: Codes,
    people: Codes,
    *,
    positive: Hashable = 1,
    weights: ArrayLike | None = None,
    clusters: Codes | None = None,
    level: float = 0.95,
) -> Confusion:
    """Confusion matrix of a judge and people, and its rates with intervals.

    Rates and intervals are those of ``rate_of_labels``: Wilson's, or ``cluster_wilson`` for
    clustered rows. Counts are unweighted. No label may be missing.

    Args:
        positive: Which label is positive; True equals 1. Rates require it to be one of at most two
            labels.
    """
    by_judge, by_people = (
        labels.tolist() if isinstance(labels, np.ndarray) else labels for labels in (judge, people)
    )
    labels = in_order({*by_judge, *by_people})
    codes = {label: code for code, label in enumerate(labels)}
    a = np.array([codes[label] for label in by_judge], dtype=np.int64)
    b = np.array([codes[label] for label in by_people], dtype=np.int64)
    kinds = len(labels)
    table = np.bincount(b * kinds + a, minlength=kinds**2).reshape(kinds, kinds)
    groups = cluster_codes(clusters, len(a))
    mass = row_weights(weights, len(a))
    accuracy = share_of(a == b, np.ones(len(a), dtype=bool), mass, groups, level)
    counts = tuple(tuple(int(count) for count in row) for row in table)
    binary = kinds <= 2 and (positive in codes or len(a) == 0)
    if not binary:
        return Confusion(labels, counts, len(a), accuracy, None, None, None, NOT_BINARY)
    yes, truth = a == codes.get(positive), b == codes.get(positive)
    return Confusion(
        labels,
        counts,
        len(a),
        accuracy,
        share_of(yes, truth, mass, groups, level),
        share_of(~yes, ~truth, mass, groups, level),
        share_of(truth, yes, mass, groups, level),
        None if len(a) else NO_ROWS,
    )


def share_of(
    hits: Bools,
    among: Bools,
    weights: Floats,
    clusters: Ints | None,
    level: float,
) -> JudgeMeasure:
    """The weighted share of ``hits`` among the rows ``among``; ``no_such_rows`` if there are none.

    Without an interval if all of them are in one cluster.
    """
    n = int(among.sum())
    if n == 0:
        return JudgeMeasure(None, None, 0, NO_SUCH_ROWS)
    codes = None if clusters is None else shared_codes(clusters[among])
    rows = hits[among].astype(np.float64)
    share = rate_of_labels(rows, weights=weights[among], clusters=codes).at(level)
    return JudgeMeasure(share.value, share.interval, n)


Criterion = Literal["f1", "youden", "accuracy", "kappa"]

CELLS = 4
TINY = 1e-12


@dataclass(frozen=True, slots=True)
class Threshold:
    """Scores of at least ``value`` are positive.

    ``in_sample`` is the criterion on the rows used to choose the threshold, and so optimistic;
    ``cross_validated`` is computed from verdicts on held-out rows, all folds together, with its
    ``interval``. All are None, and ``reason`` says why, if no threshold can be chosen:
    ``no_positives``, ``no_negatives``, ``no_variation`` of the scores. Only the last two are None,
    with reason ``too_few``, if there are fewer rows or clusters than folds, or if no threshold can
    be chosen without some fold.
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

    Candidate thresholds lie half-way between neighbouring scores, or at the lowest score; of
    equally good ones the lowest is taken. Clusters are kept whole in the folds and in the
    bootstrap. The bootstrap does not choose thresholds again: the interval is for the criterion of
    these thresholds on other rows.

    Source: Youden (1950), "Index for rating diagnostic tests"; Stone (1974), "Cross-validatory
    choice and assessment of statistical predictions".
    """
    values, true = scores_with_labels(scores, labels)
    codes = cluster_codes(clusters, len(values))
    reason = _nothing_to_choose(values, true)
    if reason is not None:
        return Threshold(None, criterion, None, None, None, len(values), folds, seed, reason)
    mass = row_weights(weights, len(values))
    value, in_sample = _choose(values, true, mass, criterion)
    units = np.arange(len(values)) if codes is None else codes
    verdicts = _verdicts_of_others(values, true, mass, units, criterion, folds, seed)
    if verdicts is None:
        return Threshold(value, criterion, in_sample, None, None, len(values), folds, seed, TOO_FEW)
    cells = 2 * true.astype(np.int64) + verdicts
    shares = sums_by(cells, mass, CELLS)[None, :] / len(cells)
    interval = cell_bootstrap(
        cells,
        CELLS,
        lambda drawn: criterion_of(drawn, criterion),
        weights=mass if mass.min() < mass.max() else None,
        clusters=codes,
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
    true_negative, false, missed, hit = np.moveaxis(np.asarray(shares, dtype=np.float64), -1, 0)
    positives, negatives, called = hit + missed, true_negative + false, hit + false
    if criterion == "accuracy":
        return np.asarray(hit + true_negative)
    if criterion == "f1":
        return _ratio(2 * hit, positives + called)
    if criterion == "youden":
        both = _ratio(hit, positives) + _ratio(true_negative, negatives) - 1
        return np.asarray(np.where((positives > 0) & (negatives > 0), both, 0.0))
    total = positives + negatives
    expected = (positives * called + negatives * (total - called)) / total
    return _ratio(hit + true_negative - expected, total - expected)


def _ratio(over: Floats, under: Floats) -> Floats:
    return np.divide(over, under, out=np.zeros_like(under), where=under > TINY)


def _choose(values: Floats, true: Bools, mass: Floats, criterion: Criterion) -> tuple[float, float]:
    distinct, codes = np.unique(values, return_inverse=True)
    # Cumulative sums from the top: the counts above every candidate threshold in one pass.
    hits = sums_by(codes, mass * true)[::-1].cumsum()[::-1]
    called = sums_by(codes, mass)[::-1].cumsum()[::-1]
    n, positives = float(mass.sum()), float(mass @ true)
    false = called - hits
    table = np.stack([n - positives - false, false, positives - hits, hits], axis=1) / n
    worth = criterion_of(table, criterion)
    best = int(np.flatnonzero(worth >= worth.max() - TINY)[0])
    value = distinct[0] if best == 0 else (distinct[best - 1] + distinct[best]) / 2
    return float(value), float(worth[best])


def _verdicts_of_others(
    values: Floats,
    true: Bools,
    mass: Floats,
    codes: Ints,
    criterion: Criterion,
    folds: int,
    seed: int,
) -> Ints | None:
    units = np.unique(codes, return_inverse=True)[1]
    size = int(units.max()) + 1
    if size < folds:
        return None
    fold = (np.random.default_rng(seed).permutation(size) % folds)[units]
    verdicts = np.zeros(len(values), dtype=np.int64)
    for held_out in range(folds):
        inside = fold == held_out
        if _nothing_to_choose(values[~inside], true[~inside]) is not None:
            return None
        least, _ = _choose(values[~inside], true[~inside], mass[~inside], criterion)
        verdicts[inside] = values[inside] >= least
    return verdicts


def _nothing_to_choose(values: Floats, true: Bools) -> str | None:
    if not true.any():
        return NO_POSITIVES
    if true.all():
        return NO_NEGATIVES
    return NO_VARIATION if values.min() == values.max() else None
