"""Weighable: which metrics of a run can be weighted together, and their scores for each pair."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ragstone.core.errors import InputError
from ragstone.core.messages import Reason, argument, reason
from ragstone.decisions.known import known_metric
from ragstone.decisions.scored import Scored
from ragstone.metrics import AspectVerdict, Composite, parse_metric

from .opinions import JointOpinion

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]

FILLED = 0.9
"""A metric is chosen by default only if it has scores for at least this share of the pairs."""


@dataclass(frozen=True, eq=False)
class WeighingTable:
    """The pairs or ratings for which all scores exist, one row for each.

    Attributes:
        x: Shape (n, m). Scores of b minus those of a, or of the rated example; the sign is reversed
            if less is better.
        said: Shape (n,). People's mean preference or rating.
        cluster: Shape (n,). The index of the question, from 0.
        annotators: Shape (n,). The number of annotators.
    """

    x: Floats
    said: Floats
    cluster: Whole
    annotators: Whole

    @property
    def size(self) -> int:
        """The number of rows."""
        return len(self.said)


def composite_terms(start: str) -> dict[str, float]:
    """The metrics of a composite and their weights.

    Raises:
        InputError: It is not a composite, or not a weighted mean of an example's scores.
    """
    metric = parse_metric(start)
    if not isinstance(metric, Composite) or metric.kind != "arithmetic" or metric.over_means:
        raise InputError(
            f"{argument('start', start)}: it takes equal, or a composite that is a weighted mean, "
            'such as ragas_score or composite(weights="faithfulness:2 context_recall:1").'
        )
    return {str(metric.components()[name]): weight for name, weight in metric.terms}


def weighable(
    scored: Scored,
    asked: Sequence[str],
    begin: Mapping[str, float] | None,
    pairs: Sequence[JointOpinion],
) -> tuple[list[str], dict[str, str], int]:
    """The metrics to weight, why others are excluded, and a sign: -1 if less is better in all.

    Args:
        scored: The run.
        asked: Metrics that the user named.
        begin: Metrics and weights of the starting composite; None for equal weights.
        pairs: People's opinions.

    Raises:
        UnknownName: The run does not have such a metric.
        InputError: No metric is left, or the starting composite has one that cannot be weighted.
    """
    named = [known_metric(scored, name) for name in dict.fromkeys([*(begin or {}), *asked])]
    excluded: dict[str, str] = {}
    fitting = []
    for name in named or scored.metrics:
        if why := _unfit(scored, name):
            excluded[name] = why
        elif not named and (share := _filled(scored, name, pairs)) < FILLED:
            excluded[name] = reason("few_scores", share=f"{share:.2f}")
        else:
            fitting.append(name)
    better = {name: scored.scale(name).better for name in fitting}
    wanted = "+" if "+" in better.values() else "-"
    for name in fitting:
        if better[name] != wanted:
            excluded[name] = "less_is_better" if better[name] == "-" else "neither_is_better"
    kept = [name for name in fitting if better[name] == wanted]
    if begin and (lost := [name for name in begin if name in excluded]):
        why_lost = reasons({name: excluded[name] for name in lost})
        raise InputError("The starting weights cannot be fitted.", notes=why_lost)
    if not kept:
        raise InputError("No metric is left to weight.", notes=reasons(excluded))
    return kept, excluded, 1 if wanted == "+" else -1


def _unfit(scored: Scored, name: str) -> str | None:
    metric = scored.metric(name)
    if metric is None:
        return "not_loaded"
    if isinstance(metric, Composite):
        return "composite_in_composite"
    if isinstance(metric, AspectVerdict):
        return "critique_in_composite"
    if not scored.of(name)["value"].count():
        return "no_score_in_run"
    return None


def _filled(scored: Scored, name: str, pairs: Sequence[JointOpinion]) -> float:
    there = scored.of(name)["value"].is_not_null().to_numpy()
    full = [
        all(any(there[row] for row in side) for side in (one.a, one.b) if side) for one in pairs
    ]
    return sum(full) / len(full) if full else 0.0


def score_table(
    scored: Scored, names: Sequence[str], pairs: Sequence[JointOpinion], turn: int
) -> tuple[WeighingTable, dict[str, int], int]:
    """The rows with all scores, the rows without a score by metric, and the rows left out in total.

    Args:
        scored: The run.
        names: Metrics of the run.
        pairs: People's opinions.
        turn: -1 if less is better, otherwise 1.
    """
    values = np.column_stack([scored.of(name)["value"].cast(float).to_numpy() for name in names])

    def mean(rows: Sequence[int]) -> Floats:
        there = values[list(rows)]
        known = np.isfinite(there)
        sums = np.where(known, there, 0).sum(axis=0)
        return np.where(known.any(axis=0), sums / np.maximum(known.sum(axis=0), 1), np.nan)

    x = np.array([mean(one.b) - (mean(one.a) if one.a else 0.0) for one in pairs])
    x = turn * x.reshape(len(pairs), len(names))
    full = np.isfinite(x).all(axis=1)
    clusters = scored.facets["cluster"].to_list()
    codes = {name: code for code, name in enumerate(dict.fromkeys(clusters))}
    table = WeighingTable(
        x[full],
        np.array([one.value for one in pairs])[full],
        np.array([codes[clusters[one.b[0]]] for one in pairs], dtype=np.int64)[full],
        np.array([one.annotators for one in pairs], dtype=np.int64)[full],
    )
    lacking = {name: int(count) for name, count in
               zip(names, (~np.isfinite(x)).sum(axis=0), strict=True) if count}  # fmt: skip
    return table, lacking, int((~full).sum())


def reasons(excluded: Mapping[str, str]) -> list[str]:
    """The reasons why metrics are excluded, one for each."""
    return [str(Reason.read(why).about(name)) for name, why in excluded.items()]
