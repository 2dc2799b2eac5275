"""ReportData: what reports are made of: the examples of a run, their scores and estimates.

All series and tables have a row an example, in the order of the data.
"""

import json
from collections.abc import Collection, Iterator
from functools import cached_property

import polars as pl

from ragstone.analysis.scored_run import Scored
from ragstone.core.messages import in_python
from ragstone.data import Example
from ragstone.judgements import ASKS, KINDS, Kind, Topic
from ragstone.metrics import read_metric
from ragstone.metrics.composite import weight_coverage
from ragstone.report.words import words
from ragstone.run import Run
from ragstone.run.estimates.estimate import Estimate

LINES = pl.Schema({"example_id": pl.String, "reason": pl.String, "line": pl.String})
NOTHING = pl.Schema(
    {"value": pl.Float64, "label": pl.String, "status": pl.String, "reason": pl.String}
)
PLACES = ("slices", "meta", "labels")


class ReportData:
    """The examples of a run, with their scores and estimates."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self._scored = Scored(run)

    @cached_property
    def table(self) -> pl.DataFrame:
        """``example_id``, ``question_id``, ``method``, ``question``, ``answer``, ``reference``.

        And ``question_type``, null if an example has none.
        """
        own = self.run.examples(["id", "question_id", "system", "question", "answer", "reference"])
        return own.select(
            pl.col("id").alias("example_id"),
            "question_id",
            pl.col("system").alias("method"),
            "question",
            "answer",
            pl.col("reference").list.first(),
            pl.Series("question_type", list(self._types()), pl.String),
        )

    @property
    def methods(self) -> tuple[str, ...]:
        """The systems, in the order of the data."""
        return self._scored.systems

    @property
    def cluster(self) -> pl.Series:
        """What the rows are clustered by."""
        return self._scored.facets["cluster"]

    def forms(self, metric: str) -> list[str]:
        """The metrics of the run that are this one, whatever their ``k`` is."""
        name = read_metric(metric).name
        return [
            text
            for text in self._scored.metrics
            if (one := self._scored.metric(text)) is not None
            and one.name == name
            and one.parameters.keys() <= {"k"}
        ]

    def has(self, metric: str) -> bool:
        """Whether the run has scores of the metric."""
        return metric in self._scored.metrics

    def valued(self, metric: str) -> bool:
        """Whether there is a value of it."""
        there = (one for (name, _), one in self._estimates.items() if name == metric)
        return any(one.value is not None for one in there)

    def scores(self, metric: str) -> pl.DataFrame:
        """``value``, ``label``, ``status``, ``reason``; all null if the run lacks the metric."""
        if not self.has(metric):
            return NOTHING.to_frame().clear(self.table.height)
        found = self._scored.of(metric)
        return found.select(pl.col(name).cast(dtype) for name, dtype in NOTHING.items())

    def estimate(self, metric: str, method: str) -> Estimate | None:
        """The estimate for a system; None if the run lacks the metric."""
        return self._estimates.get((metric, method))

    def reasons(self, metric: str) -> pl.Series:
        """What the judges said for a metric, in one text for each example: a line a judgement."""
        made = read_metric(metric)
        kinds = dict.fromkeys(ASKS[ask].kind for ask in ASKS if ask in made.asks)
        lines = [_lines(self.run.judgements(name), KINDS[name], made.topics) for name in kinds
                 if not (KINDS[name].made or KINDS[name].derived)]  # fmt: skip
        given = pl.concat(lines) if lines else LINES.to_frame()
        numbered = pl.format("{}. {}", pl.int_range(1, pl.len() + 1), "line").str.join("\n")
        alone = pl.len() == 1
        texts = given.group_by("example_id", maintain_order=True).agg(
            pl.when(alone).then(pl.col("reason").first()).otherwise(numbered.first()).alias("said")
        )
        own = self.table.select("example_id")
        return own.join(texts, on="example_id", how="left", maintain_order="left")["said"]

    def coverage(self, metric: str) -> pl.Series:
        """The share of a composite's weight that is in each score; null if there is no score."""
        value = pl.when(pl.col("status") == "value").then(weight_coverage())
        return self.scores(metric).select(value.alias("weight_coverage")).to_series()

    @cached_property
    def _estimates(self) -> dict[tuple[str, str], Estimate]:
        return {
            (one.metric, one.group["system"]): one
            for one in self.run.estimate_list
            if one.group.keys() == {"system"}
        }

    def _types(self) -> Iterator[str | None]:
        """The question types, looked for where all fields to group by are."""
        for texts in self.run.examples(["id", *PLACES]).iter_rows(named=True):
            places = {place: json.loads(texts[place]) for place in PLACES}
            yield Example(texts["id"], texts["id"], "", **places).facet("question_type")


def _lines(rows: pl.DataFrame, kind: type[Kind], topics: Collection[Topic]) -> pl.DataFrame:
    """The reasons of judgements in the order of their units, each with and without its verdict."""
    wanted = [topic.name for topic in topics if topic.ask == kind.name]
    for name in kind.having("topic"):
        rows = rows.filter(pl.col(name).is_in(wanted))
    units = kind.having("unit", "vote")
    said = rows.filter(pl.col("reason").is_not_null()).unique(
        ["example_id", *kind.having("topic"), *units], keep="first", maintain_order=True
    )
    verdict = pl.col(kind.decides).cast(pl.String)
    spoken = pl.col("reason").map_elements(_explained, return_dtype=pl.String)
    return (
        said.sort(units, maintain_order=True)
        .select("example_id", reason=spoken, verdict=verdict)
        .select("example_id", "reason", line=pl.concat_str("verdict", "reason", separator=": "))
    )


def _explained(reason: str) -> str:
    return in_python(words(reason))
