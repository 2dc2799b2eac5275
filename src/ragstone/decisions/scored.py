"""Scored: the scores of a finished run, metric by metric, with what groups and clusters them."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import polars as pl

from ragstone.core.errors import InputError, RagstoneError, UnknownName
from ragstone.core.messages import Reason
from ragstone.metrics import Metric, read_metric
from ragstone.run import Run
from ragstone.run.looked_up import looked_up
from ragstone.run.remarks import NOT_INDEPENDENT
from ragstone.run.repeated_questions import (
    QUESTION,
    RepeatedQuestions,
    question_hash,
    repeated_questions,
)
from ragstone.stats import MeanEstimate
from ragstone.stats.cluster_means import Clusters, mean_of_clusters
from ragstone.stats.cluster_moments import ClusterMoments

NO_VALUE = "(none)"
IDS = ("id", "question_id", "system")
OWN_COLUMNS = ("id", "question_id", "system", "question", "answer", "policy")
STATUS = pl.Enum(["value", "undefined", "missing"])
KEY = pl.col("example_id").hash()
"""What stands for an example where its id would take most of the memory."""


@dataclass(frozen=True, slots=True)
class ValueRange:
    """Where the values of a metric lie; None for an end that is not known."""

    low: float | None
    high: float | None
    better: Literal["+", "-", "0"]
    rate: bool


class Scored:
    """The scores of one run.

    Args:
        run: A finished run.
        cluster: Field that groups dependent rows; None: as in the run.
        by: Fields to slice by.

    Raises:
        InputError: A field that no example has.
    """

    def __init__(self, run: Run, *, cluster: str | None = None, by: Sequence[str] = ()) -> None:
        self.run = run
        self.cluster = cluster or run.form.cluster
        self.by = tuple(dict.fromkeys(name for name in by if name != "system"))

    @property
    def remarks(self) -> tuple[str, ...]:
        """That questions are the same under several ids, or a document or session field is coarser.

        The latter as the run remarked.
        """
        asked = () if self._asked is None or self._asked.note is None else (self._asked.note,)
        if self.cluster != self.run.form.cluster:
            return asked
        said = self.run.form.remarks
        return (*asked, *(one for one in said if Reason.read(one).code == NOT_INDEPENDENT))

    @cached_property
    def metrics(self) -> tuple[str, ...]:
        """Their text forms, in the order of the run's report."""
        return tuple(dict.fromkeys(one.metric for one in self.run.estimate_list))

    @cached_property
    def systems(self) -> tuple[str, ...]:
        """In the order of the data."""
        return tuple(self.run.examples([pl.col("system").unique(maintain_order=True)])["system"])

    @cached_property
    def facets(self) -> pl.DataFrame:
        """One row an example, in order.

        ``example_id``, ``question_id``, ``system``, ``cluster``, and each field of ``by``
        in a column ``by FIELD``, ``(none)`` where an example has none.
        """
        fields = [self.cluster, *self.by]
        own_fields = [name for name in fields if name in OWN_COLUMNS]
        there = self.run.examples([*dict.fromkeys([*IDS, *own_fields])])
        values: dict[str, pl.Series] = {name: there[name] for name in own_fields}
        if others := [name for name in dict.fromkeys(fields) if name not in OWN_COLUMNS]:
            values |= looked_up(self.run.examples, others)
        lacking = [name for name in fields if values[name].null_count() == len(there)]
        if lacking and len(there):
            raise InputError(
                f"No example of {self.run.path} has a field {', '.join(lacking)}. "
                f"There are: {', '.join(self._fields())}."
            )
        ids = there.select(example_id="id", question_id="question_id", system="system")
        own = pl.format("\0{}", pl.col("question_id"))
        return ids.with_columns(
            values[self.cluster].alias("cluster"),
            *(values[name].fill_null(NO_VALUE).alias(f"by {name}") for name in self.by),
        ).with_columns(
            pl.col("cluster").fill_null(own)
            if self._asked is None
            else self._asked.clusters(there["question_id"]).alias("cluster")
        )

    @cached_property
    def _asked(self) -> RepeatedQuestions | None:
        """Which questions are the same under several ids, where these are the clusters."""
        if self.cluster != QUESTION:
            return None
        there = self.run.examples(["question_id", question_hash()])
        return repeated_questions(there["question_id"], there["asked"])

    def without_overrules(self) -> "Scored":
        """The same scores as the judges left them, for whatever measures judges or draws labels."""
        return Scored(self.run.without_overrules(), cluster=self.cluster, by=self.by)

    def without(self, examples: pl.Series) -> "Scored":
        """The same run without these examples."""
        found = Scored(self.run, cluster=self.cluster, by=self.by)
        rest = self.facets.filter(~pl.col("example_id").is_in(examples.implode()))
        there = tuple(rest["system"].unique(maintain_order=True))
        found.__dict__ |= {"facets": rest, "systems": there, "_scores": self._scores}
        return found

    def _fields(self) -> list[str]:
        """The fields that the first examples can be grouped by."""
        places = self.run.examples(["slices", "meta", "labels"]).head(100)
        there = {name for row in places.iter_rows() for text in row for name in json.loads(text)}
        return ["system", "question_id", *sorted(there - {"system", "question_id"})]

    def of(self, metric: str) -> pl.DataFrame:
        """The scores of a metric, one row an example, in the order of ``facets``.

        Beside its columns ``value``, ``label``, ``status`` (value, undefined, missing), ``reason``.

        Raises:
            UnknownName: The run has no such metric.
        """
        self._check(metric)
        if metric not in self._scores:
            columns = ("example_id", "value", "label", "status", "reason")
            self._scores[metric] = self.run.scores([metric]).select(columns)
        ids, scores = self.facets.select("example_id"), self._scores[metric]
        if not scores["example_id"].equals(ids["example_id"]):
            scores = ids.join(scores, on="example_id", how="left", maintain_order="left")
        # The facets of all metrics are then held once.
        return self.facets.hstack(scores.drop("example_id"))

    def outcomes(self, metric: str) -> pl.DataFrame:
        """The scores of a metric in a few bytes an example, in the order of ``facets``.

        ``value``, ``status`` as an enum, and ``partly``: whether a composite has its value of a
        part of its components. Null for an example without a score.

        Raises:
            UnknownName: The run has no such metric.
        """
        self._check(metric)
        partial = pl.col("reason").str.contains("components=", literal=True)
        found = self.run.scores(
            [metric],
            [
                KEY,
                "value",
                pl.col("status").cast(STATUS),
                (partial & (pl.col("status") == "value")).alias("partly"),
            ],
        )
        if not found["example_id"].equals(self._keys):
            found = self._keys.to_frame().join(
                found, on="example_id", how="left", maintain_order="left"
            )
        return found.drop("example_id")

    @cached_property
    def _keys(self) -> pl.Series:
        return self.facets.select(KEY).to_series()

    def _check(self, metric: str) -> None:
        if metric not in self.metrics:
            raise UnknownName("metric of this run", metric, self.metrics)

    @cached_property
    def _scores(self) -> dict[str, pl.DataFrame]:
        """Those that were asked for: all together take several times the memory."""
        return {}

    def metric(self, name: str) -> Metric | None:
        """The metric with this name; None for a custom metric that is not loaded."""
        try:
            return read_metric(name)
        except RagstoneError:
            return None

    def scale(self, name: str) -> ValueRange:
        """The range of the metric's values; for a custom metric only its direction."""
        metric = self.metric(name)
        if metric is not None:
            return ValueRange(*metric.range.ends, metric.range.better, metric.range.rate)
        better = next(one.better for one in self.run.estimate_list if one.metric == name)
        return ValueRange(None, None, better, rate=False)


def mean_of(scores: pl.DataFrame, scale: ValueRange, *, level: float = 0.95) -> MeanEstimate:
    """Mean of the scores that have a value, with the interval that suits it.

    Args:
        scores: Rows of ``Scored.of``.
        scale: Of the metric.
        level: Of the interval.
    """
    return mean_at(valued_by_cluster(scores).moments, scale)(level)


def valued_by_cluster(scores: pl.DataFrame) -> Clusters:
    """The scores of ``Scored.of`` that have a value, put into clusters."""
    return by_cluster(scores.filter(pl.col("status") == "value"))


def by_cluster(valued: pl.DataFrame) -> Clusters:
    """Scores with a value, put into the clusters that ``cluster`` names."""
    value = pl.col("value")
    clusters = valued.group_by("cluster", maintain_order=True).agg(
        sums=value.sum(), counts=pl.len().cast(pl.Float64), squares=value.pow(2).sum()
    )
    return Clusters(*(clusters[name].to_numpy() for name in ("sums", "counts", "squares")))


def mean_at(clusters: ClusterMoments, scale: ValueRange) -> Callable[[float], MeanEstimate]:
    """As ``mean_of``, for many levels."""

    def mean(level: float) -> MeanEstimate:
        return mean_of_clusters(
            clusters, rate=scale.rate, low=scale.low, high=scale.high, level=level
        )

    return mean
