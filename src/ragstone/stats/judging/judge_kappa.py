"""Kappa of a judge with people, for plain and for graded labels, with its interval."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from ragstone.errors import InputError
from ragstone.stats.correcting.labelled_rows import Codes, Floats, in_order
from ragstone.stats.interval import Interval

from .cells import cell_bootstrap
from .confusion import list_labels

NO_ROWS = "no_rows"
NO_VARIATION = "no_variation"

Disagreement = Literal["nominal", "linear", "quadratic"]
TINY = 1e-12


@dataclass(frozen=True, slots=True)
class Kappa:
    """Agreement beyond chance over ``n`` rows.

    ``value`` is None, and ``reason`` says why, where there is none: ``no_rows``,
    or ``no_variation`` when all labels are the same one. ``interval`` is None
    where resampling cannot tell: one cluster, or all labels agree.
    """

    value: float | None
    interval: Interval | None
    n: int
    reason: str | None = None


def judge_kappa(
    judge: Codes,
    people: Codes,
    *,
    disagreement: Disagreement = "nominal",
    clusters: Codes | None = None,
    seed: int = 0,
    resamples: int = 2000,
    level: float = 0.95,
) -> Kappa:
    """Cohen's kappa, each pair of labels weighted by how far they disagree.

        1 - observed disagreement / disagreement of the same labels paired at random

    A pair of different labels counts 1 (nominal), the distance between their
    grades (linear) or its square (quadratic). Percentile bootstrap over rows or
    clusters; a draw in which all labels are the same one counts as 0.

    Args:
        judge: Shape (n,), one label a row, none missing; numbers unless nominal.
        people: Shape (n,), for the same rows.
        disagreement: How pairs count.
        clusters: Shape (n,). Rows with one value share their fate.
        seed: The same seed gives the same interval on every machine.
        resamples: Draws.
        level: Share of intervals that should hold the true value, in (0, 1).

    Raises:
        InputError: Different numbers of rows, a missing label, grades that are
            not numbers.

    Source: Cohen (1968), "Weighted kappa: nominal scale agreement with provision
    for scaled disagreement or partial credit".
    """
    said, meant = list_labels("judge", judge), list_labels("people", people)
    if len(said) != len(meant):
        raise InputError(f"The judge has {len(said)} labels and people {len(meant)}.")
    if not said:
        return Kappa(None, None, 0, NO_ROWS)
    labels = in_order({*said, *meant})
    kinds, n = len(labels), len(said)
    if kinds == 1:
        return Kappa(None, None, n, NO_VARIATION)
    place = {label: code for code, label in enumerate(labels)}
    costs = _costs(labels, disagreement)
    pairs = np.array([place[a] * kinds + place[b] for a, b in zip(said, meant, strict=True)])
    cells, index = np.unique(pairs, return_inverse=True)
    rows, columns = cells // kinds, cells % kinds
    own = costs[rows, columns]
    to_row, to_column = np.eye(kinds)[rows], np.eye(kinds)[columns]

    def kappa(shares: Floats) -> Floats:
        expected = ((shares @ to_row @ costs) * (shares @ to_column)).sum(axis=1)
        varied = expected > TINY
        ratio = np.divide(shares @ own, expected, out=np.ones_like(expected), where=varied)
        return np.asarray(1 - ratio)

    value = float(kappa(np.bincount(index)[None, :] / n)[0])
    interval = cell_bootstrap(
        index.astype(np.int64),
        len(cells),
        kappa,
        clusters=clusters,
        seed=seed,
        resamples=resamples,
        level=level,
    )
    return Kappa(value, interval, n)


def _costs(labels: tuple[object, ...], disagreement: Disagreement) -> Floats:
    if disagreement == "nominal":
        return 1 - np.eye(len(labels))
    try:
        grades = np.asarray(labels, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"Grades must be numbers for {disagreement} weights: {error}.") from error
    distance = np.abs(grades[:, None] - grades[None, :])
    return distance if disagreement == "linear" else distance**2
