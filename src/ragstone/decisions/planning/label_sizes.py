"""Label sizes: how many answers people must label where a judge has read them all."""

from dataclasses import asdict, dataclass
from math import ceil, sqrt
from shlex import quote
from typing import Any

import numpy as np
import polars as pl

from ragstone.decisions.calibrating.correction import MIDDLE, is_rate
from ragstone.decisions.calibrating.people import known_weights, people_scores, units_of, weights_of
from ragstone.decisions.known import known_metric, known_system
from ragstone.decisions.scored import Scored
from ragstone.errors import InputError
from ragstone.examples import from_frame
from ragstone.labels.table import LabelTable
from ragstone.stats.planning.labels_needed import LabelsNeeded, labels_for_mean, labels_for_rate
from ragstone.stats.planning.sample_size import pilot

FEWEST = 10
"""Labels from which the judge's accuracy can be told at all."""


@dataclass(frozen=True, slots=True)
class Accuracy:
    """What is known of the judge and of what it judged.

    A rate goes by ``rate``, ``sensitivity`` and ``specificity``; a mean by ``deviation`` and
    ``correlation``, the others are None then. ``labels`` is how many labels this rests on, None
    where the user said so.
    """

    judged: int
    rate: float | None = None
    sensitivity: float | None = None
    specificity: float | None = None
    deviation: float | None = None
    correlation: float | None = None
    design_effect: float = 1.0
    rows_per_question: float = 1.0
    labels: int | None = None


@dataclass(frozen=True, slots=True)
class LabelSize:
    """How many labels, with the judge and without.

    ``labels`` is None where even all judged rows are too few. ``questions`` are as many whole
    questions as hold the labels, None where rows are independent.
    """

    metric: str | None
    system: str | None
    known: Accuracy
    half_width: float
    level: float
    labels: int | None
    questions: int | None
    labels_only: int
    questions_only: int | None
    reached: float

    def to_dict(self) -> dict[str, Any]:
        """As ``ragstone plan labels --json`` prints it."""
        record = asdict(self)
        return {"plan": "labels", **record.pop("known"), **record, "saved": self.saved}

    @property
    def saved(self) -> float | None:
        """Share of the labels that the judge saves, in [0, 1]."""
        if self.labels is None:
            return None
        return 1 - self.labels / self.labels_only


def label_size(
    known: Accuracy,
    half_width: float,
    *,
    level: float = 0.95,
    metric: str | None = None,
    system: str | None = None,
) -> LabelSize:
    """The fewest labels for a corrected estimate of a wanted half-width.

    Raises:
        InputError: Something needed is not known, or out of its range.
    """
    found = _needed(known, half_width, level)
    each = known.rows_per_question

    def questions(labels: int | None) -> int | None:
        return None if labels is None or each == 1 else ceil(labels / each - 1e-9)

    return LabelSize(
        metric=metric,
        system=system,
        known=known,
        half_width=half_width,
        level=level,
        labels=found.labels,
        questions=questions(found.labels),
        labels_only=found.labels_only,
        questions_only=questions(found.labels_only),
        reached=found.half_width,
    )


def known_of_run(
    scored: Scored,
    metric: str,
    *,
    system: str | None = None,
    labels: LabelTable | None = None,
    rate: float | None = None,
    sensitivity: float | None = None,
    specificity: float | None = None,
    correlation: float | None = None,
) -> Accuracy:
    """What a run, and labels of some of its examples, tell of the judge; given numbers go first.

    The rate is the judge's own, corrected by sensitivity and specificity (Rogan & Gladen). The
    design effect is that of the judge's scores.

    Args:
        scored: The run that the judge has read.
        metric: Of the run.
        system: Of the run; None is all rows.
        labels: What people said of some of them.
        rate: True rate, where known better.
        sensitivity: Of the judge; needs no labels then.
        specificity: Of the judge.
        correlation: Of the judge's scores with people's, for a metric that is no rate.

    Raises:
        UnknownName: A metric or system that the run has not.
        InputError: Too few labels, or nothing said of the judge.
    """
    metric = known_metric(scored, metric)
    if system is not None:
        known_system(scored, system)
    rows = scored.of(metric).filter(pl.col("value").is_not_null())
    if system is not None:
        rows = rows.filter(pl.col("system") == system)
    if rows["cluster"].n_unique() < 2:
        raise InputError(f"{metric} has scores of fewer than two questions in {scored.run.path}.")
    scale = scored.scale(metric)
    both = None if labels is None else _compared(scored, metric, rows, labels)
    of_a_rate = scale.rate if both is None else is_rate(both, scale)
    values = rows["value"].to_numpy()
    if of_a_rate:
        values = (values >= MIDDLE).astype(np.float64)
    first = pilot(values, rows["cluster"].to_numpy())
    judge = _of_rate(both) if of_a_rate else _of_mean(both)
    given = {"sensitivity": sensitivity, "specificity": specificity, "correlation": correlation}
    judge |= {name: value for name, value in given.items() if value is not None}
    if of_a_rate:
        judge["rate"] = rate if rate is not None else _corrected(first.mean, judge)
        judge.pop("correlation", None)
    else:
        judge.setdefault("deviation", first.deviation)
        judge = {name: judge[name] for name in ("deviation", "correlation") if name in judge}
    return Accuracy(
        judged=first.rows,
        design_effect=max(1.0, first.design_effect or 1.0),
        rows_per_question=first.rows_per_cluster,
        labels=None if both is None else both.height,
        **judge,
    )


def _needed(known: Accuracy, half_width: float, level: float) -> LabelsNeeded:
    shares = (known.rate, known.sensitivity, known.specificity)
    if known.rate is not None and known.sensitivity is not None and known.specificity is not None:
        return labels_for_rate(
            known.rate,
            known.sensitivity,
            known.specificity,
            half_width,
            judged=known.judged,
            design_effect=known.design_effect,
            level=level,
        )
    if known.deviation is not None and known.correlation is not None:
        return labels_for_mean(
            known.deviation,
            known.correlation,
            half_width,
            judged=known.judged,
            design_effect=known.design_effect,
            level=level,
        )
    if any(one is not None for one in shares):
        names = zip(("--rate", "--sensitivity", "--specificity"), shares, strict=True)
        raise InputError(f"Still needed: {', '.join(name for name, one in names if one is None)}.")
    raise InputError(
        "Nothing is known of how well the judge agrees with people: --labels FILE, or "
        "--sensitivity and --specificity for a rate, or --correlation for a mean."
    )


def _compared(scored: Scored, metric: str, rows: pl.DataFrame, labels: LabelTable) -> pl.DataFrame:
    """Judge's and people's value of each example that has both, and its ``weight``: 1 / chance."""
    known = scored.metric(metric)
    labels = labels.known_as(scored.facets.select("example_id", "system").iter_rows())
    ids = labels.used["example_id"].unique()
    examples = from_frame(scored.run.examples().filter(pl.col("id").is_in(ids.implode())))
    placed = labels.on(examples)
    people = people_scores(
        examples, placed, [metric if known is None else known], units_of(scored.run)
    )
    both = (
        rows.select("example_id", judge="value")
        .join(people.select("example_id", people="value"), on="example_id")
        .join(weights_of(placed), on="example_id")
    )
    if known_weights(both) is None:
        both = both.with_columns(weight=pl.lit(1.0))
    if both.height < FEWEST:
        raise InputError(
            f"{labels.source} labels {metric} for {both.height} examples that the judge scored: "
            f"its accuracy needs {FEWEST} at least. Begin with ragstone sample "
            f"{quote(str(scored.run.path))} --metric {quote(metric)} --n 50."
        )
    return both


def _of_rate(both: pl.DataFrame | None) -> dict[str, float]:
    if both is None:
        return {}
    weight = both["weight"].to_numpy()
    true, said = both["people"].to_numpy() >= MIDDLE, both["judge"].to_numpy() >= MIDDLE
    if true.all() or not true.any():
        raise InputError(
            "People gave all examples one label, so the judge's accuracy on the other is not "
            "known. Label more, or say --sensitivity and --specificity."
        )
    return {
        "sensitivity": float(np.average(said[true], weights=weight[true])),
        "specificity": float(np.average(~said[~true], weights=weight[~true])),
    }


def _of_mean(both: pl.DataFrame | None) -> dict[str, float]:
    if both is None:
        return {}
    pair = both.select("people", "judge").to_numpy().T
    if np.ptp(pair[0]) == 0:
        raise InputError("People gave all examples one score, so nothing can be said of others.")
    moments = np.cov(pair, aweights=both["weight"].to_numpy())
    agree = moments[0, 1] / sqrt(moments[0, 0] * moments[1, 1]) if moments[1, 1] > 0 else 0.0
    return {"deviation": sqrt(moments[0, 0]), "correlation": float(np.clip(agree, -1, 1))}


def _corrected(judged: float, judge: dict[str, float]) -> float:
    """The true rate behind the judge's."""
    if not {"sensitivity", "specificity"} <= set(judge):
        return judged
    youden = judge["sensitivity"] + judge["specificity"] - 1
    if youden <= 0:
        return judged
    return float(np.clip((judged + judge["specificity"] - 1) / youden, 0, 1))
