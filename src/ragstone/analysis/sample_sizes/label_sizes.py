"""Label sizes: how many answers people must label if a judge has judged all of them."""

from dataclasses import asdict, dataclass, replace
from math import ceil, sqrt
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import ArrayLike

from ragstone.analysis.calibration.corrected_means import MIDDLE, is_rate
from ragstone.analysis.calibration.people_scores import (
    known_weights,
    people_scores,
    units_of,
    weights_of,
)
from ragstone.analysis.scored_run import Scored, known_metric, known_system
from ragstone.annotation.label_table import LabelTable
from ragstone.core.errors import InputError
from ragstone.core.messages import argument, call, reason
from ragstone.data import from_frame
from ragstone.stats.correction.corrected import strata_of
from ragstone.stats.planning.corrected_rate_width import Design, JudgedRate, judged_rate
from ragstone.stats.planning.labels_needed import (
    NORMAL,
    LabelsNeeded,
    Method,
    labels_for_mean,
    labels_for_rate,
)
from ragstone.stats.planning.sample_size import pilot
from ragstone.stats.weights_and_groups import Floats, kish_size

MOST = 0.5
ROUNDING = 1e-12
# The smallest number of labels from which the judge's accuracy is estimated.
FEWEST = 10


@dataclass(frozen=True, slots=True)
class VerdictGroup:
    """People's labels of the rows to which a judge gives one score, or similar scores.

    ``share`` is the group's share of the judged rows, ``rate`` the share of its labelled rows that
    people call true, and ``labels`` the effective number of labels behind ``rate``.
    """

    score: float
    share: float
    labels: float
    rate: float


@dataclass(frozen=True, slots=True)
class Accuracy:
    """The accuracy of a judge, and the rows it judged.

    A rate is described by ``rate``, ``sensitivity`` and ``specificity``, a mean by ``deviation``
    and ``correlation``; the fields of the other are None. ``labels`` is the number of labels they
    were estimated from, None if the user gave them. If a rate is estimated only from labels,
    ``verdicts`` has the labels for each score, and ``distinct_scores`` is the number of different
    scores the judge gives. A mean has the ``kurtosis`` of people's scores around the judge's.
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
    verdicts: tuple[VerdictGroup, ...] = ()
    distinct_scores: int = 2
    kurtosis: float | None = None


@dataclass(frozen=True, slots=True)
class LabelSize:
    """The number of labels that are needed, with the judge and without.

    ``labels`` is None if even all judged rows are too few; ``reason`` then says so. ``questions``
    is the number of whole questions that contain the labels, None if rows are independent.
    ``assurance`` is the share of samples whose interval is no wider than wanted; ``on_average`` and
    ``only_on_average`` are the labels needed to reach the width on average, with the judge and
    without. Without a requested assurance these three are None, and all numbers are for the
    average. ``reached`` is the half-width with ``labels``, or with all judged rows; ``method`` is
    the correction that ``calibrate`` chooses for that many labels.
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
    method: Method
    assurance: float | None = None
    on_average: int | None = None
    only_on_average: int | None = None
    reason: str | None = None

    def to_dict(self) -> dict[str, Any]:
        record = asdict(self)
        known = record.pop("known")
        pilot_labels = known.pop("labels")
        return {
            "plan": "labels", **known, "pilot_labels": pilot_labels, **record, "saved": self.saved
        }  # fmt: skip

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
    assurance: float | None = None,
    metric: str | None = None,
    system: str | None = None,
) -> LabelSize:
    """The smallest number of labels with which a corrected estimate has the wanted half-width.

    Assumes the correction that ``calibrate`` would choose for that many labels. The width of the
    interval varies by chance: planned for its average, about half of all samples are wider.

    Args:
        half_width: Wanted half-width, in the unit of the metric.
        assurance: Probability, in (0, 1), that the interval is no wider; None: plan for the
            average. Computed by ``half_widths`` for a rate, with seeded simulation, and by
            ``mean_half_width`` for a mean, with the F distribution. Labels from which the judge's
            accuracy was measured are a pilot, and its uncertainty is included.
    """
    size = _needed(known, half_width, level, assurance)
    average = None if assurance is None else _needed(known, half_width, level, None)
    on_average = None if average is None else average.labels
    if on_average is not None and size.labels is not None and (assurance or 0) >= MOST:
        # A width reached in most samples is reached on average, though if events are rare the
        # width at expected counts is slightly above the mean width.
        on_average = min(on_average, size.labels)
    why = None
    if size.labels is None:
        often = None if assurance is None else f"{assurance:.5g}"
        half = f"{size.half_width:.4g}"
        why = reason("all_judged_too_few", n=known.judged, half_width=half, assurance=often)
    each = known.rows_per_question

    def questions(labels: int | None) -> int | None:
        return None if labels is None or each == 1 else ceil(labels / each - 1e-9)

    return LabelSize(
        metric=metric,
        system=system,
        known=known,
        half_width=half_width,
        level=level,
        labels=size.labels,
        questions=questions(size.labels),
        labels_only=size.labels_only,
        questions_only=questions(size.labels_only),
        reached=size.half_width,
        method=size.method,
        assurance=assurance,
        on_average=on_average,
        only_on_average=None if average is None else average.labels_only,
        reason=why,
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
    """The judge's accuracy from a run and labels of some of its examples, or as given.

    The rate is estimated from the labels, with each verdict of the judge weighted by its share. If
    any number is given, it is the judge's rate corrected by sensitivity and specificity (Rogan &
    Gladen). The design effect is that of the judge's scores.

    Args:
        correlation: Between the judge's scores and people's, for a metric that is not a rate.
    """
    scored = scored.without_corrections()
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
    scores = rows["value"].to_numpy()
    known = accuracy(scores, rows["cluster"].to_numpy(), both, of_a_rate=of_a_rate)
    if not of_a_rate:
        return known if correlation is None else replace(known, correlation=correlation)
    if rate is sensitivity is specificity is None:
        return known
    sensitivity = known.sensitivity if sensitivity is None else sensitivity
    specificity = known.specificity if specificity is None else specificity
    yes = float((scores >= MIDDLE).mean())
    return replace(
        known, rate=_corrected(yes, sensitivity, specificity) if rate is None else rate,
        sensitivity=sensitivity, specificity=specificity, verdicts=(),
    )  # fmt: skip


def accuracy(
    scores: Floats, clusters: ArrayLike, both: pl.DataFrame | None, *, of_a_rate: bool
) -> Accuracy:
    """The accuracy of a judge, estimated from its scores and people's labels of some rows.

    Args:
        scores: Shape (N,). The judge's scores, in [0, 1] for a rate.
        clusters: Shape (N,). Rows with the same value are not independent.
        both: ``judge``, ``people`` and ``weight`` of the labelled rows; None if there are none.
    """
    values = (scores >= MIDDLE).astype(np.float64) if of_a_rate else scores
    first = pilot(values, clusters)
    known = Accuracy(
        judged=first.rows,
        design_effect=max(1.0, first.design_effect or 1.0),
        rows_per_question=first.rows_per_cluster,
        labels=None if both is None else both.height,
    )
    if both is None and of_a_rate:
        return replace(known, rate=first.mean)
    if both is None:
        return replace(known, deviation=first.deviation)
    if not of_a_rate:
        deviation, correlation, kurtosis = _of_mean(both)
        return replace(known, deviation=deviation, correlation=correlation, kurtosis=kurtosis)
    verdicts = _verdicts(scores, both, known.design_effect)
    sensitivity, specificity = _of_rate(both)
    return replace(
        known, rate=sum(group.share * group.rate for group in verdicts), sensitivity=sensitivity,
        specificity=specificity, verdicts=verdicts, distinct_scores=len(np.unique(scores)),
    )  # fmt: skip


def _needed(
    known: Accuracy, half_width: float, level: float, assurance: float | None
) -> LabelsNeeded:
    design = Design(known.design_effect, known.rows_per_question)
    judged = _judged(known)
    if judged is not None:
        return labels_for_rate(judged, half_width, design=design, level=level, assurance=assurance)
    if known.deviation is not None and known.correlation is not None:
        return labels_for_mean(
            known.deviation, known.correlation, half_width, judged=known.judged, design=design,
            level=level, assurance=assurance,
            pilot=None if known.labels is None else known.labels / known.design_effect,
            kurtosis=NORMAL if known.kurtosis is None else known.kurtosis,
        )  # fmt: skip
    shares = (known.rate, known.sensitivity, known.specificity)
    if any(share is not None for share in shares):
        names = zip(("rate", "sensitivity", "specificity"), shares, strict=True)
        lacking = ", ".join(argument(name, "P") for name, share in names if share is None)
        raise InputError(f"Still needed: {lacking}.")
    raise InputError(
        "It is not known how well the judge agrees with people. Give "
        f"{argument('labels', 'FILE')}, or {argument('sensitivity', 'P')} and "
        f"{argument('specificity', 'P')} for a rate, or {argument('correlation', 'R')} for a mean."
    )


def _judged(known: Accuracy) -> JudgedRate | None:
    if known.verdicts:
        verdicts = known.verdicts
        return JudgedRate(
            np.array([group.score for group in verdicts]),
            known.judged * np.array([group.share for group in verdicts]),
            np.array([group.rate for group in verdicts]),
            known.distinct_scores,
            np.array([group.labels for group in verdicts]),
        )
    if known.rate is None or known.sensitivity is None or known.specificity is None:
        return None
    return judged_rate(known.rate, known.sensitivity, known.specificity, judged=known.judged)


def _compared(scored: Scored, metric: str, rows: pl.DataFrame, labels: LabelTable) -> pl.DataFrame:
    known = scored.metric(metric)
    labels = labels.known_as(scored.facets.select("example_id", "system").iter_rows())
    ids = labels.counted["example_id"].unique()
    examples = from_frame(scored.run.examples(where=pl.col("id").is_in(ids.implode())))
    placed = labels.on(examples)
    units = units_of(scored.run.excerpt(ids))
    people = people_scores(examples, placed, [metric if known is None else known], units)
    both = (
        rows.select("example_id", judge="value")
        .join(people.select("example_id", people="value"), on="example_id")
        .join(weights_of(placed), on="example_id")
    )
    if known_weights(both) is None:
        both = both.with_columns(weight=pl.lit(1.0))
    if both.height < FEWEST:
        facts = {"scored": scored.run.in_hints, "metric": metric, "n": 50}
        arguments = (argument(name, value) for name, value in facts.items())
        raise InputError(
            f"{labels.source} labels {metric} for {both.height} examples that the judge scored: "
            f"its accuracy needs {FEWEST} at least. Begin with {call('draw_sample', *arguments)}."
        )
    return both


def _of_rate(both: pl.DataFrame) -> tuple[float, float]:
    weight = both["weight"].to_numpy()
    true, judged = both["people"].to_numpy() >= MIDDLE, both["judge"].to_numpy() >= MIDDLE
    if true.all() or not true.any():
        raise InputError(
            "People gave all examples one label, so the judge's accuracy on the other is not "
            f"known. Label more, or say {argument('sensitivity', 'P')} and "
            f"{argument('specificity', 'P')}."
        )
    return (
        float(np.average(judged[true], weights=weight[true])),
        float(np.average(~judged[~true], weights=weight[~true])),
    )


def _verdicts(scores: Floats, both: pl.DataFrame, design_effect: float) -> tuple[VerdictGroup, ...]:
    strata = strata_of(scores)
    stratum_of = dict(zip(scores.tolist(), strata.tolist(), strict=True))
    label_strata = np.array([stratum_of[score] for score in both["judge"]])
    people = (both["people"].to_numpy() >= MIDDLE).astype(np.float64)
    weight = both["weight"].to_numpy()
    groups = []
    for stratum in range(int(strata.max()) + 1):
        rows, labelled = strata == stratum, label_strata == stratum
        known = labelled if labelled.any() else np.ones(len(label_strata), dtype=bool)
        groups.append(VerdictGroup(
            score=float(scores[rows].mean()),
            share=float(rows.mean()),
            labels=kish_size(weight[labelled]) / design_effect,
            rate=float(np.average(people[known], weights=weight[known])),
        ))  # fmt: skip
    return tuple(groups)


def _of_mean(both: pl.DataFrame) -> tuple[float, float, float]:
    people, judge, weight = both.select("people", "judge", "weight").to_numpy().T
    if np.ptp(people) == 0:
        raise InputError("People gave all examples one score, so nothing can be said of others.")
    moments = np.cov(np.stack([people, judge]), aweights=weight)
    varies = moments[1, 1] > 0
    agree = moments[0, 1] / sqrt(moments[0, 0] * moments[1, 1]) if varies else 0.0
    left = people - (moments[0, 1] / moments[1, 1] * judge if varies else 0.0)
    left = left - np.average(left, weights=weight)
    square = float(np.average(left**2, weights=weight))
    fourth = float(np.average(left**4, weights=weight))
    # A few labels rarely include a rare large error, so light tails are not trusted.
    kurtosis = max(NORMAL, fourth / square**2) if square > ROUNDING * moments[0, 0] else NORMAL
    return sqrt(moments[0, 0]), float(np.clip(agree, -1, 1)), kurtosis


def _corrected(judged: float, sensitivity: float | None, specificity: float | None) -> float:
    if sensitivity is None or specificity is None:
        return judged
    youden = sensitivity + specificity - 1
    if youden <= 0:
        return judged
    return float(np.clip((judged + specificity - 1) / youden, 0, 1))
