"""Filters: which examples are shown, in which order, as an address says it and in words."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Self

import polars as pl

from ragstone.analysis.summaries.failure_stages import NO_FAULT
from ragstone.core.errors import InputError
from ragstone.report.number_format import short_name
from ragstone.report.sentences.summary_words import NAMES

from .asked import fields_of
from .example_rows import OUTCOME, ExampleRows
from .tagged import TagLookup, Tags, TagSlice

FIELDS = (
    "q", "where", "system", "slice", "status", "outcome", "stage", "reason", "labels", "changed",
    "tag", "untagged",
)  # fmt: skip
"""The fields of an address that filter examples."""

SORT, WORST = "sort", "worst"
DIFFER, SHORT = "differ", "short"
SAME = 1e-9

Baseline = Callable[[], tuple[str, ExampleRows] | None]
"""The name and the rows of the run that others are compared with; None if none is pinned."""


@dataclass(frozen=True, slots=True)
class Condition:
    """One condition.

    Attributes:
        field: Of the address.
        value: As it is written there.
    """

    field: str
    value: str

    @property
    def words(self) -> str:
        """The condition in words.

        >>> Condition("where", "faithfulness:0..0.5").words
        'faithfulness ≤ 0.5'
        >>> Condition("status", "missing").words, Condition("stage", "not_retrieved").words
        ('a score is missing', 'first fault: not retrieved')
        """
        name, _, rest = self.value.partition(":")
        match self.field:
            case "q":
                return f"“{self.value}” in question or answer"
            case "where":
                return _range_words(self.value)
            case "slice":
                return f"{name} is {rest}"
            case "status" if rest:
                return f"{_metric(name)} is {rest}"
            case "status":
                return f"a score is {self.value}"
            case "stage" if self.value == SHORT:
                return "the answer fell short"
            case "stage" if self.value == NO_FAULT:
                return "no fault"
            case "stage":
                return f"first fault: {NAMES.get(self.value, self.value)}"
            case "reason":
                return f"because of {self.value.replace('_', ' ')}"
            case "labels":
                return "a person says otherwise than the judge"
            case "changed":
                return f"{_metric(self.value)} changed against the baseline"
            case "tag":
                return f"tagged “{self.value}”"
            case "untagged":
                return f"labelled without the tag “{self.value}”"
            case "outcome":
                return f"outcome is {self.value.replace('_', ' ')}"
        return f"{self.field} is {self.value}"


@dataclass(frozen=True, slots=True)
class ExampleFilter:
    """What is asked of examples.

    Attributes:
        conditions: All must hold; several values of one field, such as two systems, are
            alternatives, but for ranges and words.
        sort: A metric, ``worst`` or ``system``; ``-`` before it for the other way round.
    """

    conditions: tuple[Condition, ...] = ()
    sort: str = ""

    @classmethod
    def of(cls, query: Sequence[tuple[str, str]]) -> Self:
        """From the fields of an address; others are left out."""
        conditions = (Condition(key, value) for key, value in query if key in FIELDS and value)
        sort = next((value for key, value in reversed(query) if key == SORT), "")
        return cls(tuple(dict.fromkeys(conditions)), sort)

    @classmethod
    def read(cls, text: str) -> Self:
        """From the query of an address.

        Raises:
            InputError: It is too long.
        """
        return cls.of(fields_of(text))

    @property
    def query(self) -> list[tuple[str, str]]:
        """The fields of an address."""
        fields = [(one.field, one.value) for one in self.conditions]
        return fields + ([(SORT, self.sort)] if self.sort else [])

    @property
    def words(self) -> str:
        """All conditions, joined."""
        return " and ".join(one.words for one in self.conditions)

    def chosen(
        self,
        of: ExampleRows,
        baseline: Baseline = lambda: None,
        tags: TagLookup = lambda: {},
    ) -> pl.DataFrame:
        """The rows of the examples that are meant, in order.

        Args:
            of: The run.
            baseline: Finds the run that it is compared with.
            tags: Finds the tags of its answers.

        Raises:
            InputError: The run has no such metric, field or tag, or a condition cannot be read.
        """
        rows = of.rows
        by_field: dict[str, list[str]] = {}
        for one in self.conditions:
            by_field.setdefault(one.field, []).append(one.value)
        for name, values in by_field.items():
            rows = rows.filter(_holds(of, name, values, baseline, tags))
        return _sorted(of, rows, self.sort)


def _holds(
    of: ExampleRows, name: str, values: Sequence[str], baseline: Baseline, tags: TagLookup
) -> pl.Expr:
    match name:
        case "q":
            return pl.all_horizontal(_among(of.with_words(one)) for one in values)
        case "where":
            return pl.all_horizontal(_in_range(of, one) for one in values)
        case "system":
            return pl.col("system").is_in(values)
        case "slice":
            return pl.all_horizontal(_in_slice(of, *one) for one in _fields(values).items())
        case "status":
            return pl.any_horizontal(_has_status(of, one) for one in values)
        case "outcome":
            if OUTCOME not in of.metrics:
                raise InputError(f"This run has no {OUTCOME}, which tells outcomes.")
            return pl.col(f"label {OUTCOME}").cast(pl.String).is_in(values)
        case "stage":
            return _among(_at_stage(of, values))
        case "reason":
            return pl.any_horizontal(
                pl.col(f"reason {metric}").cast(pl.String).str.split("?").list.first().is_in(values)
                for metric in of.metrics
            )
        case "labels":
            return _among(of.disputed)
        case "changed":
            return pl.any_horizontal(_among(_changed(of, one, baseline)) for one in values)
        case "tag":
            return pl.any_horizontal(_among(_slice(tags(), one).tagged) for one in values)
        case "untagged":
            return pl.all_horizontal(_among(_slice(tags(), one).others) for one in values)
    return pl.lit(value=True)


def _among(ids: pl.Series | Collection[str]) -> pl.Expr:
    return pl.col("id").is_in(ids.implode() if isinstance(ids, pl.Series) else list(ids))


def _slice(tags: Tags, name: str) -> TagSlice:
    if name not in tags:
        there = f" There are: {', '.join(tags)}." if tags else ""
        raise InputError(f"No answer of this run is tagged {name!r}.{there}")
    return tags[name]


def _known(of: ExampleRows, metric: str) -> str:
    if metric not in of.metrics:
        raise InputError(f"This run has no metric {metric}. It has: {', '.join(of.metrics)}.")
    return metric


def _in_range(of: ExampleRows, value: str) -> pl.Expr:
    metric, low, high = read_range(value)
    score = pl.col(_known(of, metric))
    # What a page shows as 0.50 was often written .4999999 by a sum of floats.
    least = score >= low - SAME if low is not None else score.is_not_null()
    return least if high is None else least & (score <= high + SAME)


def read_range(value: str) -> tuple[str, float | None, float | None]:
    """The metric and the two ends of a range, None for an end that is open.

    Raises:
        InputError: It is no range.
    """
    metric, _, ends = value.rpartition(":")
    low, dots, high = ends.partition("..")
    try:
        found = float(low) if low else None, float(high) if high else None
    except ValueError:
        found = None, None
        dots = ""
    if not metric or not dots:
        raise InputError(f"where={value}: expected METRIC:LOW..HIGH, such as faithfulness:0..0.5.")
    return metric, *found


def _range_words(value: str) -> str:
    try:
        metric, low, high = read_range(value)
    except InputError:
        return value
    name = _metric(metric)
    if high is None:
        return f"{name} has a value" if low is None else f"{name} ≥ {low:g}"
    if low is None or low == 0 <= high:
        return f"{name} ≤ {high:g}" if low is None or high else f"{name} = 0"
    return f"{name} = {low:g}" if low == high else f"{low:g} ≤ {name} ≤ {high:g}"


def _fields(values: Sequence[str]) -> Mapping[str, list[str]]:
    found: dict[str, list[str]] = {}
    for one in values:
        name, _, value = one.partition(":")
        found.setdefault(name, []).append(value)
    return found


def _in_slice(of: ExampleRows, name: str, values: Sequence[str]) -> pl.Expr:
    there = of.field(name)
    return _among(of.rows["id"].filter(there.is_in(values)))


def _has_status(of: ExampleRows, value: str) -> pl.Expr:
    metric, _, status = value.rpartition(":")
    metrics = [_known(of, metric)] if metric else of.metrics
    return pl.any_horizontal(
        pl.col(f"status {one}").cast(pl.String).eq(status).fill_null(value=False) for one in metrics
    )


def _at_stage(of: ExampleRows, values: Sequence[str]) -> pl.Series:
    chosen = pl.col("stage").is_in(values)
    if SHORT in values:
        chosen |= pl.col("stage") != NO_FAULT
    return of.stages.filter(chosen)["id"]


def _changed(of: ExampleRows, metric: str, baseline: Baseline) -> pl.Series:
    """The ids of answers whose score is not that of the same question in the baseline."""
    found = baseline()
    if found is None:
        raise InputError("No other run is pinned as the baseline: pin one on the page of the runs.")
    pinned, rows = found
    run, _, system = pinned.partition("/")
    before = rows.rows
    if metric not in of.metrics or metric not in before.columns:
        raise InputError(f"{metric} is not a metric of both this run and {run}.")
    keys = ["question_id"] if system else ["question_id", "system"]
    if system:
        before = before.filter(pl.col("system") == system)
    before = before.group_by(keys).agg(pl.col(metric).mean().alias("before"))
    both = of.rows.join(before, on=keys, how="inner")
    return both.filter((pl.col(metric) - pl.col("before")).abs() > SAME)["id"]


def _sorted(of: ExampleRows, rows: pl.DataFrame, sort: str) -> pl.DataFrame:
    name, down = sort.removeprefix("-"), sort.startswith("-")
    if name == WORST:
        rows = rows.join(of.shortfalls, on="id", how="left")
        return rows.sort("shortfall", "place", descending=[not down, False], nulls_last=True)
    if name in (*of.metrics, "system"):
        return rows.sort(name, "place", descending=[down, False], nulls_last=True)
    return rows


def _metric(name: str) -> str:
    return short_name(name).replace("_", " ")
