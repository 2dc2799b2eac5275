"""Labelled run: a run together with people's labels of some of its examples."""

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path

import polars as pl

from ragstone.analysis.scored_run import Scored, known_metric
from ragstone.annotation.label_names import Ends
from ragstone.annotation.label_table import LabelTable
from ragstone.annotation.queue.labels_store import FILE as LABELS_STORE
from ragstone.annotation.read_labels import labels_of, read_label_table
from ragstone.core.errors import InputError
from ragstone.core.messages import argument, call, reason
from ragstone.data import Example, from_frame
from ragstone.metrics import Metric, needed_asks
from ragstone.run import Run
from ragstone.run.run import Excerpt

from .corrected_means import (
    LABELLED,
    LEFT_OPEN,
    PEOPLE,
    LabelledScores,
    Method,
    NotRandom,
    is_rate,
    not_random,
)
from .people_scores import (
    BY_PEOPLE,
    METRIC,
    WEIGHT,
    Units,
    labelled_in_part,
    people_scores,
    units_of,
    weights_of,
)

SHOWN = 5

# What an example without labels has in the table of examples.
NO_LABELS = "{}"


class LabelledRun:
    """The scores of a run with people's beside them; see ``calibrate``."""

    def __init__(
        self,
        run: Run,
        labels: LabelTable,
        *,
        metrics: Sequence[str] = (),
        by: Sequence[str] = (),
        cluster: str | None = None,
        method: Method = "by_design",
        assume_random: bool = False,
        anytime: bool = False,
    ) -> None:
        # Corrections are chosen by looking, so they measure no judge.
        run = run.without_corrections()
        self.run, self.method = run, method
        self.assume_random, self.anytime = assume_random, anytime
        self.scored = Scored(run, cluster=cluster, by=by)
        self.given = labels.known_as(self.scored.facets.select("example_id", "system").iter_rows())
        chosen = dict.fromkeys(known_metric(self.scored, text) for text in metrics)
        self.names = list(chosen or self.scored.metrics)
        if not self.examples:
            some = ", ".join(sorted(set(labels.frame["example_id"]))[:SHOWN])
            raise InputError(
                f"{labels.source}: none of the labels is for an example of {run.path}. They name "
                f"{some}; the run has {', '.join(self.scored.facets['example_id'][:SHOWN])}."
            )

    @cached_property
    def examples(self) -> list[Example]:
        """The examples of the run that people labelled."""
        ids = self.given.frame["example_id"].unique()
        return from_frame(self.run.examples(where=pl.col("id").is_in(ids.to_list())))

    @cached_property
    def judged(self) -> Excerpt:
        """The judgements of these examples by the run's judges."""
        return self.run.excerpt([example.id for example in self.examples])

    @cached_property
    def labels(self) -> LabelTable:
        """The labels, with contexts named by their rank."""
        return self.given.on(self.examples)

    @cached_property
    def metrics(self) -> list[Metric | str]:
        """The run's metrics; only the name if one is not loaded."""
        return [self.scored.metric(name) or name for name in self.names]

    @cached_property
    def units(self) -> Units:
        """The numbers of claims and statements that the run's judges found in each of them."""
        return units_of(self.judged)

    @cached_property
    def scores(self) -> dict[str, pl.DataFrame]:
        """By metric: the run's scores together with people's, if there are any."""
        values = people_scores(self.examples, self.labels, self.metrics, self.units)
        weights = weights_of(self.labels)
        fields, ids = self._slices(), self.scored.facets.select("example_id")
        tables = {}
        for metric in self.metrics:
            of_people = values.filter(pl.col("metric") == str(metric)).select(
                "example_id", people="value"
            )
            if isinstance(metric, Metric):
                of_people = of_people.filter(
                    ~pl.col("example_id").is_in(self._by_people(metric).implode())
                )
            if of_people.height:
                ids_asked = self._asked(metric)
                gone = self.labels.frame.filter(pl.col("discarded").is_not_null())
                left_open = (self.labels.blank["example_id"], gone["example_id"])
                seen = pl.concat([ids_asked, *left_open])
                weighted = of_people.join(weights, on="example_id", how="full", coalesce=True)
                beside = ids.join(weighted, on="example_id", how="left", maintain_order="left")
                tables[str(metric)] = self.scored.of(str(metric)).with_columns(
                    *beside.drop("example_id"),
                    *fields,
                    (beside[PEOPLE].is_not_null() | beside["example_id"].is_in(ids_asked.implode()))
                    .alias(LABELLED),
                    (beside[PEOPLE].is_null() & beside["example_id"].is_in(seen.implode()))
                    .alias(LEFT_OPEN),
                )  # fmt: skip
        return tables

    def _asked(self, metric: Metric | str) -> pl.Series:
        rows = self.labels.counted
        valued = (pl.col("kind") == METRIC) & (pl.col("column") == str(metric))
        asks = needed_asks([metric]) if isinstance(metric, Metric) else ()
        kinds = {ask.partition("/")[0] for ask in asks}
        return rows.filter(valued | pl.col("kind").is_in(kinds))["example_id"].unique()

    def _slices(self) -> list[pl.Series]:
        ids = self.scored.facets.select("example_id")
        examples = self.run.examples(["id", "slices"])
        # Many examples have the same.
        slices = {text: json.loads(text) for text in examples["slices"].unique(maintain_order=True)}
        names = dict.fromkeys(name for fields in slices.values() for name in fields)
        columns = [pl.col("id").alias("example_id")]
        for name in names:
            if name not in self.scored.by:
                values = {
                    text: None if fields.get(name) is None else str(fields[name])
                    for text, fields in slices.items()
                }
                column = pl.col("slices").replace_strict(values, return_dtype=pl.String)
                columns.append(column.alias(f"slice {name}"))
        rows = examples.select(columns)
        return ids.join(rows, on="example_id", how="left", maintain_order="left").get_columns()[1:]

    def labelled(
        self, metric: str, group: Mapping[str, str], scores: pl.DataFrame
    ) -> LabelledScores:
        """One group's part of a metric's scores."""
        for name, value in group.items():
            column = "system" if name == "system" else f"by {name}"
            scores = scores.filter(pl.col(column) == value)
        scale = self.scored.scale(metric)
        rate = is_rate(self.scores[metric], scale)
        unlike = self._not_random(metric, group, scores)
        options = self.method, unlike, self.assume_random, self.anytime
        return LabelledScores(metric, group, scores, scale, rate, *options)

    def _not_random(
        self, metric: str, group: Mapping[str, str], scores: pl.DataFrame
    ) -> NotRandom | None:
        judged = scores.filter(pl.col("status") == "value")
        if judged.filter(LABELLED)[WEIGHT].count() or not judged[LABELLED].any():
            return None
        return not_random(metric, group, judged, groups=len(list(self.groups())))

    def groups(self) -> Iterator[Mapping[str, str]]:
        """All rows, each system if there are several, and each value of each field."""
        yield {}
        if len(self.scored.systems) > 1:
            yield from ({"system": name} for name in self.scored.systems)
        for name in self.scored.by:
            for value in self.scored.facets[f"by {name}"].unique().sort():
                yield {name: value}

    def facts(self) -> pl.DataFrame:
        """Covariates of bias: cluster, system, fields, and the length of the answer."""
        words = pl.col("answer").str.count_matches(r"\S+")
        lengths = self.run.examples([pl.col("id").alias("example_id"), words.alias("length")])
        return self.scored.facets.drop("question_id").join(lengths, on="example_id")

    def notes(self) -> Iterator[str]:
        """Yield remarks on the labels for the reader, as reasons."""
        yield from self.scored.remarks
        yield from self.labels.notes
        if broken := len(self.labels.broken_rules()):
            yield reason("labels_break_rules", n=broken)
        if decided := self.labels.adjudication.n:
            yield reason("labels_adjudicated", n=decided)
        if ties := int(self.labels.adjudicated()["tie"].sum()):
            yield reason("label_ties", n=ties)
        if discarded := self.labels.n_discarded:
            yield reason("labels_discarded", n=discarded)
        joined = map(self.labels.join, self.examples)
        partly = [labelled_in_part(example, self.units) for example in joined]
        if count := sum(map(bool, partly)):
            yield reason("labelled_in_part", n=count, examples=len(partly))
        yield from self._own_words()
        if not self.anytime:
            yield "looked_at_once"
        for metric, scores in self.scores.items():
            lost = scores.filter((pl.col("status") != "value") & pl.col(PEOPLE).is_not_null())
            if lost.height:
                yield reason("labelled_without_score", of=metric, n=lost.height)
            ends = (labelled := self.labelled(metric, {}, scores)).if_open()
            if ends is not None:
                yield reason(
                    "labels_not_given", of=metric, n=labelled.n_open,
                    asked=labelled.n_open + labelled.n_labels,
                    worst=f"{ends[0]:.3f}", best=f"{ends[1]:.3f}",
                )  # fmt: skip

    def _own_words(self) -> Iterator[str]:
        labelled = {example.id for example in self.examples}
        about = {column if kind == METRIC else kind for kind, column in self.labels.columns}
        for metric in (candidate for candidate in self.metrics if isinstance(candidate, Metric)):
            kinds = {ask.partition("/")[0] for ask in needed_asks([metric])}
            if about.isdisjoint({str(metric), *kinds}):
                continue
            if mine := labelled.intersection(self._by_people(metric)):
                yield reason("people_are_the_judge", of=str(metric), n=len(mine))

    @cached_property
    def _people(self) -> pl.DataFrame:
        """``example_id`` and ``ask`` of what people, not a judge, answered in the run."""
        by_people = (pl.col("status") == "ok") & BY_PEOPLE
        return self.judged.ledger().filter(by_people).select("example_id", "ask")

    def _by_people(self, metric: Metric) -> pl.Series:
        asks = needed_asks([metric])
        return self._people.filter(pl.col("ask").is_in(asks))["example_id"].unique()

    def nothing_in_common(self) -> InputError:
        """The error if no label is about anything that the run's judges judged."""
        source, run = self.labels.source, self.run.path
        valued = [column for kind, column in self.labels.columns if kind == METRIC]
        if left_out := [each for each in valued if each in {*self.scored.metrics} - {*self.names}]:
            names = ", ".join(self.names)
            return InputError(
                f"{source} has labels of {', '.join(left_out)}, and only {names} is asked for."
            )
        if remarks := list(self._own_words()):
            text = f"The labels in {source} cannot check a judge of {run}."
            return InputError(text, notes=remarks[:1])
        columns = ", ".join(dict.fromkeys(column for _, column in self.labels.columns))
        return InputError(
            f"{source} has {columns or 'no label that counts'}, which no judgement and no metric "
            f"of {run} answers. Name the metric that a column is the value of: "
            f"{argument('columns', {'METRIC': 'COLUMN'})}.",
            notes=self.labels.notes,
        )


def people_of(run: Run, labels: Sequence[str | Path], metric: str) -> pl.DataFrame:
    """People's scores of a metric: ``example_id``, ``people``, ``weight``; one row per label."""
    of = LabelledRun(run, labels_for(labels, run, None), metrics=[metric])
    if not of.scores:
        raise of.nothing_in_common()
    (scores,) = of.scores.values()
    return scores.select("example_id", PEOPLE, "weight").filter(pl.col(PEOPLE).is_not_null())


def labels_for(
    labels: LabelTable | str | Path | Sequence[str | Path],
    run: Run,
    columns: Mapping[str, str] | None,
    scales: Mapping[str, Ends] | None = None,
) -> LabelTable:
    """The labels in these files, or else in the run's examples, with ratings as values."""
    if isinstance(labels, LabelTable):
        return labels
    paths = [labels] if isinstance(labels, str | Path) else list(labels)
    if paths:
        return read_label_table(paths, columns=columns, scales=scales or {})
    labelled = from_frame(run.examples(where=pl.col("labels") != NO_LABELS))
    if not labelled:
        draw = call("draw_sample", argument("scored", run.in_hints))
        beside = run.path.with_name(LABELS_STORE)
        raise InputError(
            f"The examples of {run.path} carry no labels. Name a file of them: "
            f"{argument('labels', beside if beside.is_file() else 'FILE')}. {draw} draws what to "
            "fill in."
        )
    return labels_of(
        labelled, columns=columns, scales=scales or {}, source=f"the data of {run.path}"
    )
