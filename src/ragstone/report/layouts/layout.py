"""Report layouts: a run as another tool reports it, with its files, columns and numbers.

All series and tables of ``ReportData`` have a row for each example, in the order of the data.
"""

import json
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import polars as pl

from ragstone.analysis.scored_run import Scored, by_cluster
from ragstone.data import Example
from ragstone.judgements import ASKS, KINDS, Kind, Topic
from ragstone.metrics import Composite, Limit, read_metric
from ragstone.metrics.composite import weight_coverage
from ragstone.report.reason_words import explain
from ragstone.report.run_contents import as_bytes
from ragstone.run import Estimate, Run
from ragstone.stats.cluster_means import mean_of_clusters

LINES = pl.Schema({"example_id": pl.String, "reason": pl.String, "line": pl.String})
NOTHING = pl.Schema(
    {"value": pl.Float64, "label": pl.String, "status": pl.String, "reason": pl.String}
)
PLACES = ("slices", "meta", "labels")


class ReportData:
    """The examples of a run, with their scores and estimates."""

    def __init__(self, run: Run) -> None:
        self.run, self.scored = run, Scored(run)

    @cached_property
    def table(self) -> pl.DataFrame:
        """``example_id``, ``question_id``, ``method``, ``question``, ``answer``, ``reference``.

        And ``question_type``, null if an example has none.
        """
        columns = ["id", "question_id", "system", "question", "answer", "reference", *PLACES]
        examples = self.run.examples(columns)
        types = []
        for texts in examples.iter_rows(named=True):
            places = {field: json.loads(texts[field]) for field in PLACES}
            types.append(Example(texts["id"], texts["id"], "", **places).facet("question_type"))
        return examples.select(
            pl.col("id").alias("example_id"),
            "question_id",
            pl.col("system").alias("method"),
            "question",
            "answer",
            pl.col("reference").list.first(),
            pl.Series("question_type", types, pl.String),
        )

    def forms(self, metric: str) -> list[str]:
        """The metrics of the run that are this one, whatever their ``k`` is."""
        name = read_metric(metric).name
        return [
            text
            for text in self.scored.metrics
            if (item := self.scored.metric(text)) is not None
            and item.name == name
            and item.parameters.keys() <= {"k"}
        ]

    def has(self, metric: str) -> bool:
        """Tell whether the run has scores of the metric."""
        return metric in self.scored.metrics

    def valued(self, metric: str) -> bool:
        """Tell whether any estimate of the metric has a value."""
        estimates = (estimate for (name, _), estimate in self._estimates.items() if name == metric)
        return any(item.value is not None for item in estimates)

    def scores(self, metric: str) -> pl.DataFrame:
        """``value``, ``label``, ``status``, ``reason``; all null if the run lacks the metric."""
        if not self.has(metric):
            return NOTHING.to_frame().clear(self.table.height)
        scores = self.scored.of(metric)
        return scores.select(pl.col(name).cast(dtype) for name, dtype in NOTHING.items())

    def estimate(self, metric: str, method: str) -> Estimate | None:
        """The estimate for a system; None if the run lacks the metric."""
        return self._estimates.get((metric, method))

    def reasons(self, metric: str) -> pl.Series:
        """Return what the judges said for a metric, a text an example, a line a judgement."""
        built = read_metric(metric)
        kinds = dict.fromkeys(ASKS[ask].kind for ask in ASKS if ask in built.asks)
        lines = [_lines(self.run.judgements(name), KINDS[name], built.topics) for name in kinds
                 if not (KINDS[name].made or KINDS[name].derived)]  # fmt: skip
        reasons = pl.concat(lines) if lines else LINES.to_frame()
        numbered = pl.format("{}. {}", pl.int_range(1, pl.len() + 1), "line").str.join("\n")
        alone = pl.len() == 1
        texts = reasons.group_by("example_id", maintain_order=True).agg(
            pl.when(alone).then(pl.col("reason").first()).otherwise(numbered.first()).alias("said")
        )
        ids = self.table.select("example_id")
        return ids.join(texts, on="example_id", how="left", maintain_order="left")["said"]

    def coverage(self, metric: str) -> pl.Series:
        """The share of a composite's weight that is in each score; null if there is no score."""
        value = pl.when(pl.col("status") == "value").then(weight_coverage())
        return self.scores(metric).select(weight_coverage=value).to_series()

    @cached_property
    def _estimates(self) -> dict[tuple[str, str], Estimate]:
        return {
            (estimate.metric, estimate.group["system"]): estimate
            for estimate in self.run.estimate_list
            if estimate.group.keys() == {"system"}
        }


def _lines(rows: pl.DataFrame, kind: type[Kind], topics: Collection[Topic]) -> pl.DataFrame:
    names = [topic.name for topic in topics if topic.ask == kind.name]
    for name in kind.having("topic"):
        rows = rows.filter(pl.col(name).is_in(names))
    units = kind.having("unit", "vote")
    reasons = rows.filter(pl.col("reason").is_not_null()).unique(
        ["example_id", *kind.having("topic"), *units], keep="first", maintain_order=True
    )
    verdict = pl.col(kind.decides).cast(pl.String)
    spoken = pl.col("reason").map_elements(explain, return_dtype=pl.String)
    return (
        reasons.sort(units, maintain_order=True)
        .select("example_id", reason=spoken, verdict=verdict)
        .select("example_id", "reason", line=pl.concat_str("verdict", "reason", separator=": "))
    )


@dataclass(frozen=True, slots=True)
class ReportColumn:
    """A column of a report: its name there, and the metric, by its text form here.

    It shows the value, the word that comes with it, or the judges' reasons.
    """

    name: str
    metric: str
    shows: Literal["value", "label", "reason"] = "value"


@dataclass(frozen=True, slots=True)
class ReportFile:
    """A file of a report: its name, and its tables, one below the other."""

    name: str
    tables: tuple[pl.DataFrame, ...]

    @property
    def content(self) -> bytes:
        """The tables as CSV, with an empty line between two."""
        return b"\n".join(as_bytes(table, "csv") for table in self.tables)


@dataclass(frozen=True, slots=True)
class OtherFile:
    """A file of a report that is no table."""

    name: str
    content: bytes


@dataclass(frozen=True, slots=True)
class Report:
    """A run as the report of another tool."""

    files: tuple[ReportFile | OtherFile, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Layout:
    """The report of the tool that a suite is named after, with its columns in the tool's order.

    ``reasons`` are columns of the tool for what judges say, and ``behind`` are columns of ours;
    the advice of ``limits`` stands last. ``at_any_k`` shows a metric at each ``k`` of the run.
    """

    suite: str
    columns: tuple[ReportColumn, ...]
    files: "Callable[[Layout, ReportData], Sequence[ReportFile]]"
    percent: bool = False
    reasons: tuple[ReportColumn, ...] = ()
    behind: tuple[ReportColumn, ...] = ()
    limits: tuple[Limit, ...] = ()
    at_any_k: bool = False

    @property
    def metrics(self) -> tuple[str, ...]:
        """The text forms of its metrics, each once."""
        return tuple(dict.fromkeys(column.metric for column in self.columns))


OUTCOMES = ("undefined", "missing")
NOT_RETRIEVED = "no_retrieval"
# Of values, in percent and not.
DECIMALS = {True: 2, False: 6}


def values(scores: pl.DataFrame, *, percent: bool) -> pl.Series:
    """Values as text, in percent with two decimals; empty if undefined or missing.

    ``N/A`` where the system does not retrieve and the metric is about contexts.
    """
    number = pl.col("value") * (100 if percent else 1)
    places = DECIMALS[percent]
    text = number.round(places).cast(pl.Decimal(38, places) if percent else pl.Float64)
    value = pl.when(pl.col("status") == "value").then(text.cast(pl.String))
    not_applicable = (pl.col("status") == "undefined") & (pl.col("reason") == NOT_RETRIEVED)
    return scores.select(value.when(not_applicable).then(pl.lit("N/A"))).to_series()


def value_of(estimate: Estimate | None, *, percent: bool) -> str | None:
    """A mean as text, written as ``values`` writes values."""
    if estimate is None:
        return None
    if estimate.value is None:
        return "N/A" if set(estimate.reasons) == {NOT_RETRIEVED} else None
    return number(estimate.value, percent=percent)


def number(value: float | None, *, percent: bool) -> str | None:
    """A number as text.

    >>> number(2 / 3, percent=True), number(0.5, percent=False), number(None, percent=True)
    ('66.67', '0.5', None)
    """
    if value is None:
        return None
    return f"{round(value * 100, 2) + 0.0:.2f}" if percent else repr(round(value, 6) + 0.0)


def not_there(columns: Sequence[ReportColumn], data: ReportData, outcome: str) -> pl.Series:
    """For each example the names of the columns that are ``undefined``, or ``missing``."""
    status = pl.DataFrame({column.name: data.scores(column.metric)["status"] for column in columns})
    names = pl.concat_list(
        pl.when(pl.col(column.name) == outcome).then(pl.lit(column.name)) for column in columns
    )
    joined = names.list.drop_nulls().list.join(", ").replace("", None).alias(outcome)
    return status.select(joined).to_series()


def behind(name: str, estimate: Estimate | None, *, percent: bool) -> dict[str, str | int | None]:
    """Return the columns behind a tool's own: n, interval, undefined and missing."""
    if estimate is None:
        return dict.fromkeys(f"{name}_{part}" for part in ("n", "low", "high", *OUTCOMES))
    return {
        f"{name}_n": estimate.n,
        f"{name}_low": number(estimate.low, percent=percent),
        f"{name}_high": number(estimate.high, percent=percent),
        f"{name}_undefined": estimate.n_undefined,
        f"{name}_missing": estimate.n_missing,
    }


def shares(
    words: pl.Series, status: pl.Series, cluster: pl.Series, classes: Sequence[str]
) -> Iterator[tuple[int, str | None, dict[str, str | int | None]]]:
    """Yield for each class its count, its percentage with one decimal, and the columns behind.

    ``words`` is null for a row without a value; classes that were not given stay, with 0.
    """
    frame = pl.DataFrame({"word": words, "cluster": cluster})
    valued = frame.filter(pl.col("word").is_not_null())
    absent = {outcome: int((status == outcome).sum()) for outcome in OUTCOMES}
    for word in classes:
        rows = valued.select("cluster", value=(pl.col("word") == word).cast(pl.Float64))
        mean = mean_of_clusters(by_cluster(rows).moments, rate=True, low=0, high=1)
        low, high = (getattr(mean.interval, end, None) for end in ("low", "high"))
        value, low_end, high_end = (
            None if share is None else f"{100 * share:.1f}" for share in (mean.value, low, high)
        )
        counts = {"n": valued.height, "low": low_end, "high": high_end, **absent}
        yield int((valued["word"] == word).sum()), value, counts


def row_files(layout: Layout, data: ReportData) -> Sequence[ReportFile]:
    """The rows, and the means by system."""
    rows, means = _rows(layout, data), _by_system(layout, data)
    return ReportFile("rows.csv", (rows,)), ReportFile("by_system.csv", (means,))


def _rows(layout: Layout, data: ReportData) -> pl.DataFrame:
    cells = {}
    for item in (*layout.columns, *layout.reasons, *layout.behind):
        if item.shows == "reason":
            cells[item.name] = data.reasons(item.metric)
        else:
            cells[item.name] = values(data.scores(item.metric), percent=False)
    composites = [
        name for name in layout.metrics
        if isinstance(metric := read_metric(name), Composite) and metric.missing == "renormalise"
    ]  # fmt: skip
    listed = [*layout.columns, *layout.behind]
    advice = pl.Series("advice", list(_advice(layout, data)), pl.String)
    return pl.DataFrame(cells).with_columns(
        *([advice] if layout.limits else []),
        *data.table.select(
            "example_id", "question_id", "question", pl.col("method").alias("system")
        ),
        *(not_there(listed, data, outcome) for outcome in OUTCOMES),
        *map(data.coverage, composites[:1]),
    )


def _by_system(layout: Layout, data: ReportData) -> pl.DataFrame:
    listed = [*layout.columns, *layout.behind]
    rows = []
    for system in data.scored.systems:
        means = {item.name: data.estimate(item.metric, system) for item in listed}
        row: dict[str, Any] = {"system": system}
        row |= {name: value_of(mean, percent=False) for name, mean in means.items()}
        for name, mean in means.items():
            row |= behind(name, mean, percent=False)
        rows.append(row)
    return pl.DataFrame(rows, infer_schema_length=None)


def _advice(layout: Layout, data: ReportData) -> Iterator[str | None]:
    limits = [(limit, data.scores(limit.metric)["value"]) for limit in layout.limits]
    for at in range(data.table.height):
        reached = (
            limit
            for limit, scores in limits
            if scores[at] is not None and limit.exceeded(scores[at])
        )
        yield ". ".join(f"{limit.name}: {limit.advice}" for limit in reached) or None
