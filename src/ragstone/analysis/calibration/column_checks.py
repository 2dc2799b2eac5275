"""Judge checks: agreement, errors and bias of a judge against people's labels, column by column."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from ragstone.judgements import KINDS
from ragstone.stats import ends_of
from ragstone.stats.agreement.coefficients import (
    CoefficientName,
    agreement_coefficients,
    kappa_with_interval,
)
from ragstone.stats.agreement.ratings import AgreementCoefficient
from ragstone.stats.judge_quality.bias_and_calibration import (
    CalibrationError,
    GroupBias,
    bias_along,
    bias_by_group,
    calibration_error,
)
from ragstone.stats.judge_quality.confusion import (
    Confusion,
    Criterion,
    Threshold,
    best_threshold,
    confusion,
)
from ragstone.stats.judge_quality.rank_measures import (
    JudgeMeasure,
    auroc_interval,
    kendall,
    spearman,
)
from ragstone.stats.weights_and_groups import Codes, Floats, Ints, kish_size, row_weights

from .corrected_means import MIDDLE, PEOPLE
from .labelled_run import LabelledRun
from .people_scores import KEYS, METRIC, judged_units, known_weights, weights_of

FEWEST = 2


# The mean difference of judge minus people in one group of units, with its field.
#
# ``length`` is words of the answer, ``position`` the rank of the context; of these the group is the
# range of a third.
Bias = tuple[str, GroupBias]


def group_words(bias: GroupBias) -> str:
    """The value of a field, or the range of a third, for which there is a bias."""
    group = bias.group
    return f"{group[0]:g} to {group[1]:g}" if isinstance(group, tuple) else str(group)


@dataclass(frozen=True, slots=True)
class JudgeCheck:
    """A judge compared with people over the ``n`` units that both judged.

    Where units were drawn with unequal chances, each counts as one over its own, in everything but
    ``confusion``'s counts; ``effective`` is how many units of equal weight these are worth. What
    does not apply is None: sensitivity, specificity, AUROC and the error of calibration where
    nothing is a yes or a no; rank correlations where labels have no order. ``kappa`` is weighted by
    squared distance (``quadratic``) where they have one. ``reason`` says why nothing can be told,
    such as ``no_variation``.
    """

    kind: str
    column: str
    n: int
    effective: float
    words: Confusion | None
    yes: Confusion | None
    kappa: AgreementCoefficient
    weighting: str
    auroc: JudgeMeasure | None
    error: CalibrationError | None
    spearman: JudgeMeasure | None
    kendall: JudgeMeasure | None
    threshold: Threshold | None
    bias: tuple[Bias, ...]
    beside: Mapping[CoefficientName, AgreementCoefficient]
    """Krippendorff's alpha and Gwet's AC1 on the same; none where chances are unequal."""

    def to_dict(self) -> dict[str, Any]:
        yes = self.yes
        return {
            "kind": self.kind,
            "column": self.column,
            "n": self.n,
            "effective": self.effective,
            **_found("accuracy", None if self.words is None else self.words.accuracy),
            **_found("sensitivity", None if yes is None else yes.sensitivity),
            **_found("specificity", None if yes is None else yes.specificity),
            **_found("precision", None if yes is None else yes.precision),
            **_found("kappa", self.kappa),
            "weighting": self.weighting,
            **_found("krippendorff_alpha", self.beside.get("krippendorff_alpha")),
            **_found("gwet_ac1", self.beside.get("gwet_ac1")),
            **_found("auroc", self.auroc),
            **_found("spearman", self.spearman),
            **_found("kendall", self.kendall),
            **_found("ece", self.error),
            "ece_by_chance": None if self.error is None else self.error.by_chance,
            "threshold": _threshold(self.threshold),
            "confusion": self.words and {
                "labels": [str(label) for label in self.words.labels],
                "people_by_judge": [list(row) for row in self.words.counts],
            },
            "bias": [
                {"by": by, "group": group_words(bias), "difference": bias.value,
                 **ends_of(bias.interval), "n": bias.n}
                for by, bias in self.bias
            ],
            "reason": self.kappa.reason,
        }  # fmt: skip


def check_column(
    kind: str, column: str, rows: pl.DataFrame, criterion: Criterion, level: float, seed: int
) -> JudgeCheck:
    """Compare a judge with people.

    Args:
        kind: Of the judgement, or ``metric``.
        rows: One row a unit: ``people`` and ``value`` in words, ``people_number`` and ``number``,
            ``probability`` of a yes, ``unit``, ``cluster``, ``system``, ``length``, ``by FIELD``;
            ``weight``, one over the probability of being drawn, null where none is known.
    """
    clusters = rows["cluster"].rank("dense").to_numpy().astype(np.int64)
    weights = known_weights(rows)
    alike: dict[str, Any] = {"weights": weights, "clusters": clusters, "level": level}
    means = pl.col("people_number", "number")
    numbers = rows.select(means).null_count().sum_horizontal().item() == 0
    people, judge = (rows[name].to_numpy() for name in ("people_number", "number"))
    truth, scores = _yes(kind, column, rows, numbers=numbers)
    verdicts = None if scores is None else _verdicts(scores, rows, kind, column)
    graded = numbers and not _only(people, 0, 1)
    words: Codes = people if numbers else rows["people"].to_list()
    verdict_words: Codes = judge if numbers else rows["value"].to_list()
    measured = kind == METRIC and not (_only(people, 0, 1) and _only(judge, 0, 1))
    compared: tuple[Codes, Codes] = (
        verdicts if measured and verdicts is not None else verdict_words,
        truth if measured and truth is not None else words,
    )
    kappa = kappa_with_interval(
        *compared, disagreement="quadratic" if graded else "nominal", seed=seed, **alike
    )
    yes_or_no = auroc = error = threshold = None
    if truth is not None and scores is not None and verdicts is not None:
        yes_or_no = confusion(verdicts, truth, **alike)
        auroc = auroc_interval(scores, truth, **alike)
        if not _only(scores, 0, 1):
            if scores.min() >= 0 and scores.max() <= 1:
                error = calibration_error(scores, truth, seed=seed, **alike)
            threshold = best_threshold(scores, truth, criterion=criterion, seed=seed, **alike)
    difference = judge - people if numbers else None
    if difference is None and truth is not None and verdicts is not None:
        difference = (verdicts - truth).astype(np.float64)
    both = np.concatenate([people, judge])
    span = 1.0 if not numbers or ((both >= 0) & (both <= 1)).all() else None
    return JudgeCheck(
        kind,
        column,
        rows.height,
        kish_size(row_weights(weights, rows.height)),
        None if measured else confusion(verdict_words, words, positive=1.0, **alike),
        yes_or_no,
        kappa,
        "quadratic" if graded else "nominal",
        auroc,
        error,
        spearman(judge, people, **alike) if graded else None,
        kendall(judge, people, **alike) if graded else None,
        threshold,
        tuple(_biases(rows, difference, span, alike)),
        {} if weights is not None and np.ptp(weights) > 0 else agreement_coefficients(
            [np.asarray(codes).tolist() for codes in compared],
            scale="interval" if graded else "nominal", clusters=clusters.tolist(), seed=seed,
            level=level, only=("krippendorff_alpha", "gwet_ac1"),
        ),
    )  # fmt: skip


def _yes(
    kind: str, column: str, rows: pl.DataFrame, *, numbers: bool
) -> tuple[Ints | None, Floats | None]:
    if numbers and _only(rows["people_number"].to_numpy(), 0, 1):
        truth = rows["people_number"].to_numpy().astype(np.int64)
        scores = rows["probability"] if rows["probability"].null_count() == 0 else rows["number"]
        return truth, scores.to_numpy().astype(np.float64)
    positive = _positive(kind, column)
    if not positive:
        return None, None
    truth = rows["people"].is_in(positive).to_numpy().astype(np.int64)
    verdict = rows["value"].is_in(positive).cast(pl.Float64)
    return truth, rows["probability"].fill_null(verdict).to_numpy().astype(np.float64)


def _positive(kind: str, column: str) -> tuple[str, ...]:
    known = KINDS[kind].columns if kind in KINDS else {}
    return known[column].positive if column in known else ()


def _verdicts(scores: Floats, rows: pl.DataFrame, kind: str, column: str) -> Ints:
    if positive := _positive(kind, column):
        return rows["value"].is_in(positive).to_numpy().astype(np.int64)
    numbers = rows["number"].to_numpy()
    if _only(numbers, 0, 1):
        return numbers.astype(np.int64)
    return (scores >= MIDDLE).astype(np.int64)


def _biases(
    rows: pl.DataFrame, difference: Floats | None, span: float | None, alike: Mapping[str, Any]
) -> Iterator[Bias]:
    if difference is None or rows.height < FEWEST:
        return
    alike = {"low": None if span is None else -span, "high": span, **alike}
    fields = ["system", *(name for name in rows.columns if name.startswith("by "))]
    for field in fields:
        if rows[field].n_unique() > 1:
            groups = bias_by_group(difference, rows[field].to_list(), **alike)
            yield from ((field.removeprefix("by "), group) for group in groups)
    # The rank of a context; null for other units.
    position = rows["unit"].cast(pl.Float64, strict=False)
    for name, column in (("length", rows["length"]), ("position", position)):
        if column.null_count() or column.n_unique() < FEWEST:
            continue
        numbers = column.to_numpy().astype(np.float64)
        yield from ((name, part) for part in bias_along(difference, numbers, **alike))


def _only(values: Floats | Sequence[float], *allowed: float) -> bool:
    return bool(np.isin(np.asarray(values, dtype=np.float64), allowed).all())


def _found(
    name: str, measure: JudgeMeasure | AgreementCoefficient | CalibrationError | None
) -> dict[str, float | None]:
    if measure is None:
        return {name: None, **ends_of(None, f"{name}_")}
    return {name: measure.value, **ends_of(measure.interval, f"{name}_")}


def _threshold(threshold: Threshold | None) -> dict[str, Any] | None:
    return None if threshold is None else {
        "value": threshold.value, "criterion": threshold.criterion,
        "in_sample": threshold.in_sample, "cross_validated": threshold.cross_validated,
        **ends_of(threshold.interval), "folds": threshold.folds,
        "seed": threshold.seed, "reason": threshold.reason,
    }  # fmt: skip


YES_NO = {"true": "yes", "1.0": "yes", "1": "yes", "false": "no", "0.0": "no", "0": "no"}


def compared_units(of: LabelledRun) -> Iterator[tuple[str, str, pl.DataFrame]]:
    """The judge beside people by unit, and by example for the values of metrics.

    Yields:
        Kind, column, and the rows that ``check_column`` takes, with ``example_id``.
    """
    facts = of.facts().join(weights_of(of.labels), on="example_id")
    judged = judged_units(of.judged)
    people = of.labels.adjudicated().filter(pl.col("value").is_not_null())
    both = people.select(*KEYS, people="value", people_number="number").join(
        judged, on=KEYS, how="inner", nulls_equal=True, maintain_order="left"
    )
    for (kind, column), rows in both.group_by("kind", "column", maintain_order=True):
        yield str(kind), str(column), rows.join(facts, on="example_id", maintain_order="left")
    values = people.filter(pl.col("kind") == METRIC)
    for metric, scores in of.scores.items():
        if values.filter(pl.col("column") == metric).is_empty():
            continue
        rows = scores.filter((pl.col("status") == "value") & pl.col(PEOPLE).is_not_null())
        words = rows.select(
            "example_id",
            pl.lit(None, pl.String).alias("unit"),
            people=pl.col(PEOPLE).cast(pl.String),
            people_number=pl.col(PEOPLE),
            value=pl.col("value").cast(pl.String),
            number=pl.col("value"),
            probability=pl.lit(None, pl.Float64),
        )
        joined = words.join(facts, on="example_id", maintain_order="left")
        if joined.height:
            yield METRIC, metric, joined


def said_of(check: JudgeCheck, rows: pl.DataFrame) -> pl.DataFrame:
    """Set both words on each unit side by side, as in the confusion matrix, furthest apart first.

    A judge's score beside people's yes or no is a yes from the middle on, as in the matrix.
    """
    people, judge = (pl.col(name) for name in ("people_number", "number"))
    numbers = rows.select(people, judge).null_count().sum_horizontal().item() == 0
    if not numbers:
        people, judge = pl.col("people"), pl.col("value")
        apart = (people != judge).cast(pl.Float64)
    else:
        apart = (people - judge).abs()
    verdicts = numbers and check.words is None and check.yes is not None
    words = rows.select(
        "example_id",
        "system",
        "unit",
        people=people.cast(pl.String),
        judge=(judge >= MIDDLE).cast(pl.String) if verdicts else judge.cast(pl.String),
        apart=apart,
    )
    both = pl.concat([words["people"], words["judge"]]).unique()
    if both.is_in(list(YES_NO)).all():
        words = words.with_columns(pl.col("people", "judge").replace(YES_NO))
    return words.sort("apart", descending=True, maintain_order=True).drop("apart")


def label_words(labels: list[str]) -> list[str]:
    """The labels of a confusion matrix, as ``said_of`` has them."""
    return [YES_NO[label] for label in labels] if set(labels) <= set(YES_NO) else labels
