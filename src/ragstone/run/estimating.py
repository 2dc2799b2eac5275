"""Estimating: from the scores of all shards to the reported numbers of a run."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import polars as pl

from ragstone.core.errors import InputError
from ragstone.core.messages import argument
from ragstone.core.parquet import scan_parquet
from ragstone.judgements import VALUE, Relevance
from ragstone.metrics import QUICK, Composite, Metric
from ragstone.metrics.composite import weight_coverage

from .encoder_names import ModelNames
from .estimate import Estimate
from .estimates import Columns, Provenance, estimates_of, long_scores
from .fitting import check_scores, looked_at
from .forms import STATUS_CODES, AlikeScores
from .grouping import RunGrouping, grouping
from .groups import ALL, EstimateGroups
from .manifest import VERSION, RunTally
from .quick import CITED, DataFacts, candidates, choose
from .remarks import of_clusters, of_coverage
from .scoring import component_metrics
from .settings import ChatSettings
from .shards import Shards
from .spec import RunSpec
from .summing import SCORE, ScorePiece, Summed, summed
from .wider_clusters import widest_clusters
from .written import collect

LEVEL = 0.95

BUCKETS = "buckets"
"""The folder in that of the tables in which the scores of a large run are put aside."""


@dataclass(frozen=True, slots=True)
class Estimated:
    """The reported numbers of a run.

    Args:
        metrics: Those that are reported: of ``quick`` what the data and the judges allow.
        fields: What is grouped by: of the suites' fields those that the data have.
        estimates: As ``estimates.json`` keeps them.
        counts: How many examples, questions and systems there are.
        remarks: Rows that the intervals treat as independent although they may not be.
    """

    metrics: list[Metric]
    fields: list[str]
    estimates: list[Estimate]
    counts: dict[str, int]
    remarks: list[str]


def estimate_run(shards: Shards, spec: RunSpec, tally: RunTally) -> Estimated:
    """Estimate a run whose shards are all scored.

    Its shards are gone over twice, one at a time: first what groups and clusters the examples, then
    their scores, which are put together by cluster; see ``Buckets``.

    Raises:
        InputError: No metric of a quick run can be measured on this data.
    """
    for name in ("facets", "scores", "origins"):
        shards.verify(name)
    found = grouping(shards, spec)
    columns = Columns(
        [str(metric) for metric in spec.metrics],
        [str(metric) for metric in component_metrics(spec.metrics)],
    )
    sums = summed(
        _pieces(shards, columns, found),
        found.groups,
        columns.number,
        columns.combined(spec.metrics),
        examples=tally.examples,
        folder=shards.path / BUCKETS,
    )
    metrics = _chosen(shards, spec, tally, columns, found, sums)
    settings = spec.settings
    made = provenance(settings.data, tally, spec.cluster, spec.models, settings.llm)
    wider = widest_clusters(shards.files_of("origins"), found.clusters)
    return Estimated(
        metrics,
        list(found.groups.values),
        [
            one
            for metric in metrics
            for one in estimates_of(metric, sums, found.groups, columns, made, level=LEVEL)
        ],
        {
            "examples": tally.examples,
            "questions": found.questions,
            "systems": len(found.groups.systems),
        },
        [
            *([found.repeated.note] if found.repeated.note else []),
            *of_clusters(spec.cluster, wider),
            *_coverage(metrics, columns, found.groups, sums),
        ],
    )


def _pieces(shards: Shards, columns: Columns, found: RunGrouping) -> Iterator[ScorePiece]:
    """The scores of each shard, which are checked if they were there before."""
    there_before = {form.shard for form in shards.found("scores")}
    read = ["metric", "value", "label", "status", "reason"]
    metric = pl.col("metric").cast(pl.Enum(columns.metrics), strict=False).to_physical()
    status = pl.col("status").replace_strict(STATUS_CODES, return_dtype=pl.UInt8)
    for form in shards.ledger:
        file = shards.file("scores", form.shard)
        check = form.shard in there_before
        names = dict.fromkeys([*read, *(looked_at("scores") if check else ())])
        rows = collect(scan_parquet(file).select(*names), file)
        if check:
            alike = {one.metric for one in form.alike}
            there = [name for name in columns.metrics if name not in alike]
            with shards.judged_again(file):
                check_scores(rows, file, form.examples, there)
        rows = rows.with_columns(status, column=metric.cast(pl.UInt32)).drop_nulls("column")
        file = shards.file("facets", form.shard)
        facets = collect(scan_parquet(file), file)
        parts = [
            facets.select(value=f"value {one}", status=f"status {one}")
            for one in columns.components
        ]
        yield ScorePiece(
            facets.with_columns(cluster=found.repeated.clusters(facets["cluster"])),
            pl.concat([rows.select(*SCORE), long_scores(parts, len(columns.metrics))]),
            _alike(form.alike, columns.metrics),
        )


def _alike(alike: Sequence[AlikeScores], metrics: Sequence[str]) -> pl.DataFrame:
    """Scores that are the same for all examples of a shard, one row a column."""
    rows = [
        (metrics.index(one.metric), one.value, STATUS_CODES[one.status], None, one.reason)
        for one in alike
    ]
    return pl.DataFrame(rows, schema=SCORE, orient="row")


def provenance(
    data: str, tally: RunTally, cluster: str, models: ModelNames, chat: ChatSettings | None
) -> Provenance:
    """What the signatures of a run say, from its settings and from who judged what."""
    by_chat = tally.filled_by(() if chat is None else chat.judges)
    return Provenance(VERSION, data, tally.judges_by_ask(), cluster, models, chat, by_chat)


def _coverage(
    metrics: Sequence[Metric], columns: Columns, groups: EstimateGroups, sums: Summed
) -> Iterator[str]:
    """Remarks on composites that leave out components without a value."""
    systems = dict(enumerate(groups.systems, ALL + 1))
    for metric in metrics:
        if isinstance(metric, Composite) and metric.missing == "renormalise":
            column = columns.metrics.index(str(metric))
            mean = (weight_coverage() * pl.col("len")).sum() / pl.col("len").sum()
            rows = sums.table.filter(
                pl.col("column") == column,
                pl.col("status") == VALUE,
                pl.col("group").is_in(list(systems)),
            )
            shares = rows.group_by("group").agg(mean).sort("group")
            yield from of_coverage(
                str(metric), {systems[place]: share for place, share in shares.iter_rows()}
            )


def _chosen(
    shards: Shards,
    spec: RunSpec,
    tally: RunTally,
    columns: Columns,
    found: RunGrouping,
    sums: Summed,
) -> list[Metric]:
    """The requested metrics, and those of the quick suite that the data allow."""
    if QUICK not in spec.requested.suites:
        return list(spec.metrics)
    cited = columns.metrics.index(CITED) if CITED in columns.metrics else None
    facts = DataFacts(
        retrieved=found.retrieved,
        labelled=(Relevance.name, "human", "ok") in tally.outcomes,
        by_ids=(Relevance.name, "ids", "ok") in tally.outcomes,
        cited=cited is not None and sums.of(cited, ALL).total > 0,
    )
    names = dict(enumerate(columns.metrics))
    counts = sums.table.filter(pl.col("group") == ALL, pl.col("column") < len(names)).with_columns(
        metric=pl.col("column").replace_strict(names, return_dtype=pl.String)
    )
    asked = {str(metric) for metric in (*spec.requested.metrics, *spec.added)}
    allowed = {str(metric) for metric in choose(candidates(), counts, facts)}
    chosen = [metric for metric in spec.metrics if str(metric) in asked | allowed]
    if not chosen:
        raise InputError(_nothing_to_measure(shards, tally.examples))
    return chosen


def _nothing_to_measure(shards: Shards, examples: int) -> str:
    """The error if nothing can be measured: what the data have, what they lack, what would help."""
    counts = shards.scan("examples").select(
        answers=pl.col("answer").is_not_null().sum(),
        contexts=(pl.col("contexts").list.len() > 0).sum(),
        references=(pl.col("reference").list.len() > 0).sum(),
        ids=pl.col("reference_contexts").is_not_null().sum(),
    )
    answers, contexts, references, ids = collect(counts, shards.path).row(0)
    counted = (
        f"{answers:,} have an answer, {contexts:,} have contexts, {references:,} have a reference, "
        f"{ids:,} have judged context ids"
    )
    if contexts and not answers:
        qrels = argument("qrels", "FILE")
        hint = f"Are these a TREC run's contexts? {qrels} names the judged ids."
    elif references and not answers:
        hint = "These are questions: add each system's answers."
    elif ids and not contexts:
        hint = "Judged ids are there, but no run: put a TREC run beside them, such as run.txt."
    else:
        hint = "ragstone metrics says what each metric needs."
    return f"Nothing can be measured: of {examples:,} examples {counted}. {hint}"
