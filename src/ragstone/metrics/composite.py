"""Composite: a single number from several metrics, with its weights in its name."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, Self

import polars as pl

from ragstone.core.errors import InputError
from ragstone.judgements import (
    MISSING,
    NO_ANSWER,
    REQUIREMENTS,
    UNDEFINED,
    VALUE,
    Topic,
    same_outcome,
)

from .metric import Metric, Part, Range
from .metric_names import parse_metric


@dataclass(frozen=True)
class Composite(Metric):
    """Weighted mean of other metrics, for each example.

        arithmetic  sum w·x / sum w
        harmonic    sum w / sum (w / x), 0 if any x is 0 or less

    ``weights`` names the components: ``"faithfulness:0.3 precision(k=5):0.2"``; without a number,
    the weight is 1. By default, undefined or missing if a component is. With
    ``missing="renormalise"``, components without a value are left out, the sum is divided by the
    remaining weight, and the score notes how many and how much was left out; compare systems only
    over components both have. The range follows from the components.
    """

    name = "composite"
    family = "composite"

    over_means = False
    """True if it is computed from dataset means instead of an example's scores."""

    weights: str = ""
    kind: Literal["arithmetic", "harmonic"] = "arithmetic"
    missing: Literal["propagate", "renormalise"] = "propagate"

    def __post_init__(self) -> None:
        super().__post_init__()
        names = [name for name, _ in self.terms]
        if not names:
            raise InputError(f"{self.name}: weights must name at least one metric.")
        if len(set(names)) < len(names):
            raise InputError(f"{self.name}: weights names a metric twice.")
        if any(not weight > 0 for _, weight in self.terms):
            raise InputError(f"{self.name}: every weight must be above 0.")
        object.__setattr__(self, "range", self._range())

    @cached_property
    def terms(self) -> tuple[tuple[str, float], ...]:
        """The components' text forms and weights."""
        return tuple(_terms(self.weights))

    def components(self) -> dict[str, Metric]:
        """The component metrics, by the names in ``weights``.

        Raises:
            InputError: One of them is a composite, or not a metric.
        """
        metrics = {name: parse_metric(name) for name, _ in self.terms}
        if any(isinstance(metric, Composite) for metric in metrics.values()):
            raise InputError(f"{self.name}: a composite cannot be a component.")
        return metrics

    def with_components(self, forms: Mapping[str, str]) -> Self:
        """The same composite where components have other settings.

        Args:
            forms: Their text forms with the new settings, by those without them.
        """
        weights = " ".join(f"{forms.get(name, name)}:{weight}" for name, weight in self.terms)
        return replace(self, weights=weights) if forms.keys() & dict(self.terms).keys() else self

    @property
    def topics(self) -> frozenset[Topic]:
        return frozenset[Topic]().union(*(metric.topics for metric in self.components().values()))

    def _range(self) -> Range:
        """The weighted ends of the components' ranges; a direction only if all share it."""
        ranges = [(metric.range, weight) for metric, (_, weight) in
                  zip(self.components().values(), self.terms, strict=True)]  # fmt: skip
        total = sum(weight for _, weight in ranges)
        low = sum(scale.low * weight for scale, weight in ranges) / total
        high = sum(scale.high * weight for scale, weight in ranges) / total
        if self.kind == "harmonic" or self.missing == "renormalise":
            low = min(scale.low for scale, _ in ranges)
            high = max(scale.high for scale, _ in ranges)
        if self.kind == "harmonic":
            low = max(low, 0)
        better = {scale.better for scale, _ in ranges}
        return Range(low, high, better.pop() if len(better) == 1 else "0")

    def parts(self) -> dict[str, Part]:
        return {}

    def of(self, values: dict[str, pl.Expr]) -> tuple[pl.Expr, pl.Expr]:
        """The composite of component values, and the share of the weight that was present.

        Null values are left out, so the caller decides beforehand what null means.
        """
        present = [(values[name], weight) for name, weight in self.terms]
        total = sum(weight for _, weight in self.terms)
        used = pl.sum_horizontal(
            pl.when(value.is_not_null()).then(weight).otherwise(0.0) for value, weight in present
        )
        if self.kind == "arithmetic":
            # Polars divides by a constant, as here without nulls, by way of its reciprocal. Done so
            # for all, the last digit of a score does not depend on the other examples.
            mean = pl.sum_horizontal(value * weight for value, weight in present) * (1.0 / used)
        else:
            inverse = pl.sum_horizontal(weight / value for value, weight in present)
            zero = pl.any_horizontal(value <= 0 for value, _ in present)
            mean = pl.when(zero).then(0.0).otherwise(used / inverse)
        return pl.when(used > 0).then(mean), used / total


@dataclass(frozen=True)
class RagasScore(Composite):
    """The composite of GraphRAG reports: four RAG metrics over the weight present.

    .30 faithfulness (an answer without claims is faithful), .20 context precision as a mean, .20
    context recall, .30 answer relevance. The last is left out if there are no generated
    questions, which each score notes.
    """

    name = "ragas_score"

    weights: str = (
        "faithfulness(no_claims=1.0):0.3 precision:0.2 context_recall:0.2 answer_relevance:0.3"
    )
    missing: Literal["propagate", "renormalise"] = "renormalise"


_RUBRIC = {"faithfulness": 1.5, "answer_relevance": 1.5, "answer_correctness": 1.5,
           "context_precision": 1.0, "context_recall": 1.0, "response_completeness": 0.8,
           "source_attribution": 0.7}  # fmt: skip


@dataclass(frozen=True)
class OverallWeighted(Composite):
    """Weighted mean of the seven rubric metrics: 1.5, 1.5, 1.5, 1, 1, .8 and .7."""

    name = "overall_weighted"

    weights: str = " ".join(
        f'rating(criterion="{criterion}"):{weight}' for criterion, weight in _RUBRIC.items()
    )


@dataclass(frozen=True)
class OverallSimple(Composite):
    """Unweighted mean of the seven rubric metrics."""

    name = "overall_simple"

    weights: str = " ".join(f'rating(criterion="{criterion}"):1' for criterion in _RUBRIC)


@dataclass(frozen=True)
class RagasHarmonic(Composite):
    """Harmonic mean of three dataset means: faithfulness, answer relevance, context precision.

    Computed from means, not per example: its estimate from the components' means, its interval
    by resampling the questions.

    Source: the single score of early Ragas releases.
    """

    name = "ragas_harmonic"
    over_means = True

    weights: str = "faithfulness:1 answer_relevance:1 context_precision:1"
    kind: Literal["arithmetic", "harmonic"] = "harmonic"


def _terms(weights: str) -> Iterable[tuple[str, float]]:
    """Split at spaces outside of parentheses; the weight follows the last colon."""
    word, depth = "", 0
    for letter in weights + " ":
        depth += (letter == "(") - (letter == ")")
        if letter != " " or depth:
            word += letter
        elif word:
            yield _term(word)
            word = ""


def _term(word: str) -> tuple[str, float]:
    name, colon, number = word.rpartition(":")
    if not colon or number.endswith(")"):
        return word, 1.0
    try:
        return name, float(number)
    except ValueError:
        raise InputError(f"composite: {number!r} in {word!r} is not a weight.") from None


# The code for why a composite of dataset means has no score for a single example.
OVER_MEANS = "over_data_set_means"


def weight_coverage() -> pl.Expr:
    """The share of a composite's weight that a score with a value is made of."""
    noted = pl.col("reason").str.extract(r"weight_coverage=([0-9.]+)").cast(pl.Float64)
    return noted.fill_null(1.0)


def compose(metric: Composite, scores: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    """One row per example: value, label, status and reason; see ``Composite``.

    Args:
        metric: The composite.
        scores: The scores of its components, by their text forms.
    """
    names = {name: str(component) for name, component in metric.components().items()}
    parts = {str(number): scores[full] for number, full in enumerate(names.values())}
    if metric.over_means:
        outcome = same_outcome(UNDEFINED, OVER_MEANS, parts["0"].height)
        nothing = pl.lit(None, pl.Float64).alias("value"), pl.lit(None, pl.String).alias("label")
        return outcome.select(*nothing, "status", "reason")
    frame = pl.concat([part.select(pl.all().name.suffix(f"_{number}"))
                       for number, part in parts.items()], how="horizontal")  # fmt: skip
    numbers = dict(zip(names, parts, strict=True))
    silent = pl.any_horizontal(_is(n, MISSING, NO_ANSWER) for n in parts)
    # A system that gave no answer gave no contexts either, so these are no reason of their own.
    failed = {n: silent & _is(n, UNDEFINED, REQUIREMENTS["contexts"].reason) for n in parts}
    frame = frame.with_columns(
        *(_where(failed[n], pl.lit(MISSING, pl.UInt8), f"status_{n}") for n in parts),
        *(_where(failed[n], pl.lit(NO_ANSWER), f"reason_{n}") for n in parts),
    )
    value, coverage = metric.of({name: pl.col(f"value_{n}") for name, n in numbers.items()})
    present = pl.sum_horizontal(
        (pl.col(f"status_{n}") == VALUE).cast(pl.UInt32) for n in numbers.values()
    )
    undefined, missing = _any(numbers, UNDEFINED), _any(numbers, MISSING)
    if metric.missing == "renormalise":
        none = present == 0
        no_part = pl.lit("no_component_defined")
        owed = missing[0] & (none | silent)
        first, second = (owed, MISSING, missing[1]), (none, UNDEFINED, no_part)
    else:
        first, second = (undefined[0], UNDEFINED, undefined[1]), (missing[0], MISSING, missing[1])
    status = (
        pl.when(first[0]).then(first[1]).when(second[0]).then(second[1]).otherwise(VALUE)
    ).cast(pl.UInt8)
    reason = pl.when(first[0]).then(first[2]).when(second[0]).then(second[2])
    note = pl.when(present < len(numbers)).then(
        pl.format(
            "components={}/{},weight_coverage={}", present, pl.lit(len(numbers)), coverage.round(4)
        )
    )
    return frame.select(
        pl.when(status == VALUE).then(value).alias("value"),
        pl.lit(None, pl.String).alias("label"),
        status.alias("status"),
        pl.when(status == VALUE).then(note).otherwise(reason).alias("reason"),
    )


def component_metrics(metrics: Sequence[Metric]) -> list[Metric]:
    """The components whose means a composite combines, each once."""
    names: dict[str, float] = {}
    for metric in metrics:
        if isinstance(metric, Composite) and metric.over_means:
            names.update(metric.terms)
    return list(map(parse_metric, names))


def _is(number: str, code: int, why: str) -> pl.Expr:
    return (pl.col(f"status_{number}") == code) & pl.col(f"reason_{number}").eq_missing(why)


def _where(condition: pl.Expr, value: pl.Expr, column: str) -> pl.Expr:
    return pl.when(condition).then(value).otherwise(column).alias(column)


def _any(numbers: Mapping[str, str], code: int) -> tuple[pl.Expr, pl.Expr]:
    conditions = {name: pl.col(f"status_{n}") == code for name, n in numbers.items()}
    reason = pl.coalesce(
        pl.when(condition).then(pl.format("{}: {}", pl.lit(name), f"reason_{numbers[name]}"))
        for name, condition in conditions.items()
    )
    return pl.any_horizontal(conditions.values()), reason
