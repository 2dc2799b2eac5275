"""Scored run: the scores of a run by metric and system, their clusters, and their means."""

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Literal

import polars as pl

from ragstone.core.errors import InputError, RagstoneError, UnknownName
from ragstone.core.messages import Reason, Renamed, argument, call
from ragstone.metrics import Metric, parse_metric
from ragstone.metrics.metric_names import loaded_metric
from ragstone.run import Run
from ragstone.run.estimates import sums
from ragstone.run.estimates.cautions import NOT_INDEPENDENT
from ragstone.run.estimates.groups import NO_VALUE
from ragstone.run.folder.run_files import looked_up
from ragstone.stats import Interval, MeanEstimate
from ragstone.stats.cluster_means import Clusters, mean_of_clusters
from ragstone.stats.rate_bounds import ExactRate, exact_rate

IDS = ("id", "question_id", "system")
OWN_COLUMNS = ("id", "question_id", "system", "question", "answer", "policy")
STATUS = pl.Enum(["value", "undefined", "missing"])
# What stands for an example where its id would take most of the memory.
KEY = pl.col("example_id").hash()
SCORES = ("example_id", "value", "label", "status", "reason")
# A run of at most so many scores is read whole.
AT_ONCE = 20_000


@dataclass(frozen=True, slots=True)
class ValueRange:
    """The range of a metric's values; None for an end that is not known."""

    low: float | None
    high: float | None
    better: Literal["+", "-", "0"]
    rate: bool


class Scored:
    """The scores of one run.

    Args:
        cluster: Field that groups dependent rows; None: as in the run.
    """

    def __init__(self, run: Run, *, cluster: str | None = None, by: Sequence[str] = ()) -> None:
        self.run = run
        self.cluster = cluster or run.form.cluster
        self.by = tuple(dict.fromkeys(name for name in by if name != "system"))

    @property
    def remarks(self) -> tuple[str, ...]:
        """Remarks on questions with several ids, and on a coarser document or session field.

        The latter as the run remarked.
        """
        repeated = () if self._asked is None or self._asked.note is None else (self._asked.note,)
        remarks = self.run.form.remarks if self.cluster == self.run.form.cluster else ()
        coarser = (each for each in remarks if Reason.read(each).code == NOT_INDEPENDENT)
        return (*repeated, *coarser)

    @cached_property
    def metrics(self) -> tuple[str, ...]:
        """The metrics' text forms, in the order of the run's report."""
        return tuple(dict.fromkeys(estimate.metric for estimate in self.run.estimate_list))

    @cached_property
    def systems(self) -> tuple[str, ...]:
        """In the order of the data."""
        return tuple(self.run.examples([pl.col("system").unique(maintain_order=True)])["system"])

    @cached_property
    def facets(self) -> pl.DataFrame:
        """One row an example, in order.

        ``example_id``, ``question_id``, ``system``, ``cluster``, and each field of ``by`` in a
        column ``by FIELD``, ``(none)`` where an example has none.
        """
        fields = [self.cluster, *self.by]
        own_fields = [name for name in fields if name in OWN_COLUMNS]
        examples = self.run.examples([*dict.fromkeys([*IDS, *own_fields])])
        values: dict[str, pl.Series] = {name: examples[name] for name in own_fields}
        if others := [name for name in dict.fromkeys(fields) if name not in OWN_COLUMNS]:
            values |= looked_up(self.run.examples, others)
        lacking = [name for name in fields if values[name].null_count() == len(examples)]
        if lacking and len(examples):
            raise InputError(
                f"No example of {self.run.path} has a field {', '.join(lacking)}. "
                f"There are: {', '.join(self._fields())}."
            )
        ids = examples.select(example_id="id", question_id="question_id", system="system")
        by_question = pl.format("\0{}", pl.col("question_id"))
        return ids.with_columns(
            values[self.cluster].alias("cluster"),
            *(values[name].fill_null(NO_VALUE).alias(f"by {name}") for name in self.by),
        ).with_columns(
            pl.col("cluster").fill_null(by_question)
            if self._asked is None
            else self._asked.clusters(examples["question_id"]).alias("cluster")
        )

    @cached_property
    def _asked(self) -> sums.RepeatedQuestions | None:
        if self.cluster != sums.QUESTION:
            return None
        examples = self.run.examples(["question_id", sums.question_hash()])
        return sums.repeated_questions(examples["question_id"], examples["asked"])

    def without_corrections(self) -> "Scored":
        """The same scores as the judges left them, for whatever measures judges or draws labels."""
        return Scored(self.run.without_corrections(), cluster=self.cluster, by=self.by)

    without_overrules = Renamed("without_corrections")

    def without(self, examples: pl.Series) -> "Scored":
        """The same run without these examples."""
        scored = Scored(self.run, cluster=self.cluster, by=self.by)
        rest = self.facets.filter(~pl.col("example_id").is_in(examples.implode()))
        systems = tuple(rest["system"].unique(maintain_order=True))
        scored.__dict__ |= {"facets": rest, "systems": systems, "_scores": self._scores}
        return scored

    def _fields(self) -> list[str]:
        places = self.run.examples(["slices", "meta", "labels"]).head(100)
        names = {name for row in places.iter_rows() for text in row for name in json.loads(text)}
        return ["system", "question_id", *sorted(names - {"system", "question_id"})]

    def of(self, metric: str) -> pl.DataFrame:
        """The scores of a metric, one row an example, in the order of ``facets``.

        Beside its columns ``value``, ``label``, ``status`` (value, undefined, missing), ``reason``.
        """
        if metric not in self.metrics:
            raise UnknownName("metric of this run", metric, self.metrics)
        if metric not in self._scores:
            self._scores[metric] = self.run.scores([metric]).select(SCORES)
        ids, scores = self.facets.select("example_id"), self._scores[metric]
        if not scores["example_id"].equals(ids["example_id"]):
            scores = ids.join(scores, on="example_id", how="left", maintain_order="left")
        # The facets of all metrics are then held once.
        return self.facets.hstack(scores.drop("example_id"))

    def outcomes(self, metric: str) -> pl.DataFrame:
        """The scores of a metric in a few bytes an example, in the order of ``facets``.

        ``value``, ``status`` as an enum, and ``partly``: whether a composite has its value of a
        part of its components. Null for an example without a score.
        """
        if metric not in self.metrics:
            raise UnknownName("metric of this run", metric, self.metrics)
        partial = pl.col("reason").str.contains("components=", literal=True)
        partly = (partial & (pl.col("status") == "value")).alias("partly")
        columns: list[str | pl.Expr] = [KEY, "value", pl.col("status").cast(STATUS), partly]
        read = self._scores.get(metric)
        scores = self.run.scores([metric], columns) if read is None else read.select(columns)
        if not scores["example_id"].equals(self._keys["example_id"]):
            scores = self._keys.join(scores, on="example_id", how="left", maintain_order="left")
        return pl.DataFrame(scores.get_columns()[1:])

    @cached_property
    def _keys(self) -> pl.DataFrame:
        return self.facets.select(KEY)

    @cached_property
    def _scores(self) -> dict[str, pl.DataFrame]:
        """The scores that were looked at: all together take several times the memory.

        A small run is read whole, which takes no longer than reading one metric.
        """
        if self.facets.height * len(self.metrics) > AT_ONCE:
            return {}
        metrics = self.run.scores().select("metric", *SCORES).partition_by("metric", as_dict=True)
        return {metric: scores.drop("metric") for (metric,), scores in metrics.items()}

    def metric(self, name: str) -> Metric | None:
        """The metric with this name; None for a custom metric that is not loaded."""
        return loaded_metric(name)

    def scale(self, name: str) -> ValueRange:
        """The range of the metric's values; for a custom metric only its direction."""
        metric = self.metric(name)
        if metric is not None:
            return ValueRange(*metric.range.ends, metric.range.better, metric.range.rate)
        estimates = (each for each in self.run.estimate_list if each.metric == name)
        return ValueRange(None, None, next(estimates).better, rate=False)


def mean_of(scores: pl.DataFrame, scale: ValueRange, *, level: float = 0.95) -> MeanEstimate:
    """Mean of the scores that have a value, with the interval that suits it."""
    return mean_of_clusters(
        by_cluster(scores).moments, rate=scale.rate, low=scale.low, high=scale.high, level=level
    )


def by_cluster(scores: pl.DataFrame) -> Clusters:
    """Put the scores of ``Scored.of`` that have a value into the clusters of ``cluster``."""
    value = pl.col("value")
    valued = scores.filter(pl.col("status") == "value") if "status" in scores.columns else scores
    clusters = valued.group_by("cluster", maintain_order=True).agg(
        sums=value.sum(), counts=pl.len().cast(pl.Float64), squares=value.pow(2).sum()
    )
    return Clusters(*(clusters[name].to_numpy() for name in ("sums", "counts", "squares")))


SHOWN = 12


def known_metric(scored: Scored, name: str) -> str:
    """The text form of a metric of the run, from any form or name of it."""
    return metric_among(name, scored.metrics, "metric of this run", run=scored.run.path)


def metric_among(name: str, known: Sequence[str], noun: str, *, run: Path | None = None) -> str:
    """The text form of a metric among these, from that form, an alias or another spelling."""
    written = " ".join(name.split())
    try:
        form = str(parse_metric(written))
    except RagstoneError:
        form = None
    for text in (written, form):
        if text is not None and text in known:
            return text
    hint = f"There are {some(known)}."
    if run is not None and form is not None:
        hint += f" To add it: {call('rescore', argument('run', run), argument('metrics', form))}"
    raise UnknownName(noun, written, known, hint=hint)


def known_system(scored: Scored, name: str) -> str:
    """The name, if the run has such a system."""
    if name not in scored.systems:
        hint = f"There are {some(scored.systems)}."
        raise UnknownName("system of this run", name, scored.systems, hint=hint)
    return name


def some(names: Sequence[str]) -> str:
    """The first of many names, and how many more there are."""
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + more


End = Literal["low", "high"]


@dataclass(frozen=True, slots=True, eq=False)
class Quantity:
    """A mean, a difference or a corrected estimate, on which the gate decides.

    Attributes:
        value: None if no row has a value.
        at: Its interval at a level in (0, 1); None where there is none. The ends never move inwards
            as the level rises.
        n: Rows it rests on, of the sort that ``counted`` names.
        clusters: Number of independent units among the ``n`` rows.
        low: The least value it can have; None for no end.
        filled: The quantity with every missing row at the end that makes it lowest or highest; None
            where the range has no such end. Not asked for where nothing is missing.
        least_p: A p below it cannot be told from it, as in a bootstrap of so many draws.
        exact: The binomial tails of a plain rate, which ``at`` is read off too; None for all else.
        n_scored: Rows that have a score, where ``n`` counts something else.
        not_random: What speaks against a random draw of labelled rows; there is no value then,
            unless they were to be taken as one.
    """

    value: float | None
    at: Callable[[float], Interval | None]
    n: int
    n_undefined: int = 0
    n_missing: int = 0
    clusters: int = 0
    low: float | None = None
    high: float | None = None
    filled: "Callable[[End], Quantity | None] | None" = None
    least_p: float = 0.0
    exact: ExactRate | None = None
    counted: Literal["examples", "pairs", "labels"] = "examples"
    n_scored: int | None = None
    reasons: Mapping[str, int] = field(default_factory=dict)
    not_random: str | None = None

    @property
    def n_possible(self) -> int:
        """The number of rows with a score or a missing one."""
        return (self.n if self.n_scored is None else self.n_scored) + self.n_missing

    @property
    def missing_share(self) -> float:
        """The share of missing scores among the possible ones; 0 if none is possible."""
        return self.n_missing / self.n_possible if self.n_possible else 0.0


def mean_quantity(scores: pl.DataFrame, scale: ValueRange) -> Quantity:
    """The mean of the scores that have a value; of a rate with exact tails."""
    tally = dict(scores["status"].value_counts().iter_rows())
    clusters = by_cluster(scores)
    mean = partial(
        mean_of_clusters, clusters.moments, rate=scale.rate, low=scale.low, high=scale.high
    )
    usual = mean()
    exact = exact_rate(clusters.sums, clusters.counts) if scale.rate else None

    def filled(end: End) -> Quantity | None:
        to = scale.low if end == "low" else scale.high
        return None if to is None else mean_quantity(with_missing_at(scores, to), scale)

    return Quantity(
        value=usual.value,
        at=(lambda level: mean(level=level).interval) if exact is None else exact.interval,
        n=int(tally.get("value", 0)),
        n_undefined=int(tally.get("undefined", 0)),
        n_missing=int(tally.get("missing", 0)),
        clusters=usual.clusters,
        low=scale.low,
        high=scale.high,
        filled=filled,
        exact=exact,
        reasons=reasons_of(scores),
    )


def owing(corrected: Quantity, plain: Quantity) -> Quantity:
    """A corrected estimate of the scored rows, combined with the rows whose score is missing.

    Were these all at one end of the range, value and interval would be

        (scored · what they are + missing · end) / (scored + missing)
    """

    def filled(end: End) -> Quantity | None:
        to = plain.low if end == "low" else plain.high
        return None if to is None or not plain.n else _moved(corrected, plain, to)

    return replace(
        corrected, n_undefined=plain.n_undefined, n_missing=plain.n_missing, n_scored=plain.n,
        low=plain.low, high=plain.high, filled=filled,
        reasons=corrected.reasons or plain.reasons,
    )  # fmt: skip


def _moved(corrected: Quantity, plain: Quantity, to: float) -> Quantity:
    scored, rows = plain.n, plain.n + plain.n_missing

    def moved(value: float) -> float:
        return (scored * value + plain.n_missing * to) / rows

    def at(level: float) -> Interval | None:
        ends = corrected.at(level)
        return ends and Interval(moved(ends.low), moved(ends.high), level, ends.method)

    value = None if corrected.value is None else moved(corrected.value)
    return replace(corrected, value=value, at=at, n_missing=0, filled=None)


def with_missing_at(scores: pl.DataFrame, to: float) -> pl.DataFrame:
    """The scores with every missing one set to a value."""
    missing = pl.col("status") == "missing"
    return scores.with_columns(
        pl.when(missing).then(pl.lit(to)).otherwise("value").alias("value"),
        pl.when(missing).then(pl.lit("value")).otherwise(pl.col("status").cast(pl.String))
        .alias("status"),
    )  # fmt: skip


def reasons_of(scores: pl.DataFrame) -> dict[str, int]:
    """The reasons why scores are undefined or missing, the most frequent first."""
    return dict(Counter(scores.filter(pl.col("status") != "value")["reason"].drop_nulls())
                .most_common())  # fmt: skip
