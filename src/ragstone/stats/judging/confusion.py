"""Confusion: the confusion matrix of a judge and people, with its rates."""

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ragstone.core.errors import InputError
from ragstone.stats.codes import Codes, Floats, Ints, codes_of, in_order, shared_codes
from ragstone.stats.correcting.labels_only import labels_only_rate
from ragstone.stats.interval import Interval
from ragstone.stats.row_weights import row_weights

NO_ROWS = "no_rows"
NO_SUCH_ROWS = "no_such_rows"
NOT_BINARY = "not_binary"


@dataclass(frozen=True, slots=True)
class ShareEstimate:
    """A share of ``n`` rows.

    ``value`` is None, and ``reason`` says why, for no rows (``no_such_rows``).
    ``interval`` is also None if all rows are in one cluster.
    """

    value: float | None
    interval: Interval | None
    n: int
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Confusion:
    """A confusion matrix and its rates.

    ``counts[i][j]`` rows have ``labels[i]`` from people and ``labels[j]`` from
    the judge. For two labels, one of them positive: ``sensitivity`` is the share
    of people's positives that the judge calls positive, ``specificity`` the share
    of their negatives that it calls negative, ``precision`` the share of the judge's
    positives that are people's too. They are None, with ``reason`` ``not_binary``,
    for other labels.
    """

    labels: tuple[Hashable, ...]
    counts: tuple[tuple[int, ...], ...]
    n: int
    accuracy: ShareEstimate
    sensitivity: ShareEstimate | None
    specificity: ShareEstimate | None
    precision: ShareEstimate | None
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

    Rates and intervals are those of ``labels_only_rate``: Wilson's, or ``cluster_wilson``
    for clustered rows. Counts are unweighted.

    Args:
        judge: Shape (n,), one label per row, none missing.
        people: Shape (n,), for the same rows.
        positive: Which label is positive; True equals 1. Rates require it to be one
            of at most two labels.
        weights: Shape (n,). Inverse sampling probabilities, up to a common factor.
        clusters: Shape (n,). Rows with the same value are not independent.
        level: Share of intervals that should hold the true rate, in (0, 1).

    Raises:
        InputError: Different numbers of rows, or a missing label.
    """
    said, meant = list_labels("judge", judge), list_labels("people", people)
    if len(said) != len(meant):
        raise InputError(f"The judge has {len(said)} labels and people have {len(meant)}.")
    if clusters is not None and len(codes_of(clusters)) != len(said):
        raise InputError(f"{len(said)} rows have {len(clusters)} clusters.")
    labels = in_order({*said, *meant})
    place = {label: code for code, label in enumerate(labels)}
    a = np.array([place[one] for one in said], dtype=np.int64)
    b = np.array([place[one] for one in meant], dtype=np.int64)
    kinds = len(labels)
    table = np.bincount(b * kinds + a, minlength=kinds**2).reshape(kinds, kinds)
    groups = None if clusters is None else codes_of(clusters)
    mass = row_weights(weights, len(a))
    accuracy = share_of(a == b, np.ones(len(a), dtype=bool), mass, groups, level)
    counts = tuple(tuple(int(one) for one in row) for row in table)
    binary = kinds <= 2 and (positive in place or len(a) == 0)
    if not binary:
        return Confusion(labels, counts, len(a), accuracy, None, None, None, NOT_BINARY)
    yes, truth = a == place.get(positive), b == place.get(positive)
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
    hits: NDArray[np.bool_],
    among: NDArray[np.bool_],
    weights: Floats,
    clusters: Ints | None,
    level: float,
) -> ShareEstimate:
    """The weighted share of ``hits`` among the rows ``among``, with an interval."""
    n = int(among.sum())
    if n == 0:
        return ShareEstimate(None, None, 0, NO_SUCH_ROWS)
    own = None if clusters is None else shared_codes(clusters[among])
    rows = hits[among].astype(np.float64)
    found = labels_only_rate(rows, weights=weights[among], clusters=own, level=level)
    return ShareEstimate(found.value, found.interval, n)


def list_labels(name: str, values: Codes) -> list[Hashable]:
    """The labels as a list.

    Raises:
        InputError: One is None or NaN.
    """
    listed: list[Hashable] = values.tolist() if isinstance(values, np.ndarray) else list(values)
    missing = sum(one is None or one != one for one in listed)
    if missing:
        raise InputError(f"{missing} of {len(listed)} labels of the {name} are missing.")
    return listed
