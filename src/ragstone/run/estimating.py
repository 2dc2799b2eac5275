"""Estimating: from the scores of all shards to the reported numbers of a run."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import polars as pl

from ragstone.argument import argument
from ragstone.errors import InputError
from ragstone.judgements import Relevance
from ragstone.metrics import QUICK, Composite, Metric
from ragstone.metrics.compose import weight_coverage
from ragstone.parquet import read_parquet

from .encoder_names import ModelNames
from .estimate import Estimate
from .estimates import Provenance, by_column, estimate_metric
from .fitting import check_scores
from .forms import STATUS_CODES
from .manifest import VERSION, RunTally
from .quick import CITED, DataFacts, candidates, choose
from .remarks import of_clusters, of_coverage
from .repeated_questions import QUESTION, RepeatedQuestions, repeated_questions
from .scoring import NO_VALUE, component_metrics
from .settings import ChatSettings
from .shards import Shards
from .spec import RunSpec
from .wider_clusters import widest_clusters
from .written import collect, reading

LEVEL = 0.95


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

    Raises:
        InputError: No metric of a quick run can be measured on this data.
    """
    for name in ("facets", "scores", "origins"):
        shards.verify(name)
    for form in shards.found("scores"):
        file = shards.file("scores", form.shard)
        with shards.judged_again(file):
            check_scores(file, form.examples, [str(metric) for metric in spec.metrics])
    facets = collect(shards.scan("facets"), shards.path)
    fields = [
        name
        for name in spec.fields
        if name in spec.by or (facets[by_column(name)] != NO_VALUE).any()
    ]
    metrics = _chosen(shards, spec, tally, facets)
    of_ids = facets["cluster"].n_unique()
    repeated = RepeatedQuestions(facets["cluster"], None)
    if spec.cluster == QUESTION:
        repeated = repeated_questions(facets["cluster"], facets["asked"])
    facets = facets.with_columns(repeated.clusters.alias("cluster"))
    wider = widest_clusters(shards.files_of("origins"), of_ids)
    return Estimated(
        metrics,
        fields,
        list(_estimates(shards, spec, tally, metrics, fields, facets)),
        {
            "examples": tally.examples,
            "questions": facets["question"].n_unique(),
            "systems": facets["system"].n_unique(),
        },
        [
            *([repeated.note] if repeated.note else []),
            *of_clusters(spec.cluster, wider),
            *_coverage(shards, metrics, facets["system"]),
        ],
    )


def _estimates(
    shards: Shards,
    spec: RunSpec,
    tally: RunTally,
    metrics: Sequence[Metric],
    fields: Sequence[str],
    facets: pl.DataFrame,
) -> Iterator[Estimate]:
    """The estimates, computed one metric at a time, so that only its scores are in memory."""
    settings = spec.settings
    made = provenance(settings.data, tally, spec.cluster, spec.models, settings.llm)
    status = pl.col("status").replace_strict(STATUS_CODES, return_dtype=pl.UInt8)
    for metric in metrics:
        of_metric = shards.scan("scores").filter(pl.col("metric") == str(metric))
        scores = collect(of_metric.select("value", "label", status, "reason"), shards.path)
        components = {
            str(one): facets.select(value=f"value {one}", status=f"status {one}")
            for one in component_metrics([metric])
        }
        yield from estimate_metric(
            metric, scores, facets, fields, made, level=LEVEL, components=components
        )


def provenance(
    data: str, tally: RunTally, cluster: str, models: ModelNames, chat: ChatSettings | None
) -> Provenance:
    """What the signatures of a run say, from its settings and from who judged what."""
    by_chat = tally.filled_by(() if chat is None else chat.judges)
    return Provenance(VERSION, data, tally.judges_by_ask(), cluster, models, chat, by_chat)


def _coverage(shards: Shards, metrics: Sequence[Metric], systems: pl.Series) -> Iterator[str]:
    """Remarks on composites that leave out components without a value."""
    for metric in metrics:
        if isinstance(metric, Composite) and metric.missing == "renormalise":
            of_metric = shards.scan("scores").filter(pl.col("metric") == str(metric))
            value = pl.when(pl.col("status") == "value").then(weight_coverage())
            found = collect(of_metric.select(value.alias("coverage")), shards.path)
            yield from of_coverage(str(metric), found.with_columns(system=systems))


def _chosen(shards: Shards, spec: RunSpec, tally: RunTally, facets: pl.DataFrame) -> list[Metric]:
    """The requested metrics, and those of the quick suite that the data allow."""
    if QUICK not in spec.requested.suites:
        return list(spec.metrics)
    counts = _counts_of_scores(shards)
    facts = DataFacts(
        retrieved=bool(facets["contexts"].sum()),
        labelled=(Relevance.name, "human", "ok") in tally.outcomes,
        by_ids=(Relevance.name, "ids", "ok") in tally.outcomes,
        cited=counts.filter(pl.col("metric") == CITED)["value"].sum() > 0,
    )
    asked = {str(metric) for metric in (*spec.requested.metrics, *spec.added)}
    allowed = {str(metric) for metric in choose(candidates(), counts, facts)}
    chosen = [metric for metric in spec.metrics if str(metric) in asked | allowed]
    if not chosen:
        raise InputError(_nothing_to_measure(shards, tally.examples))
    return chosen


def _counts_of_scores(shards: Shards) -> pl.DataFrame:
    """The count of each metric, status and reason, shard by shard to bound memory."""
    keys = ["metric", "status", "reason"]
    columns = [*keys, "value"]
    with reading(shards.path):
        counted = [
            read_parquet(file, columns=columns).group_by(keys).agg(pl.len(), pl.col("value").sum())
            for file in shards.files_of("scores")
        ]
    return (
        pl.concat(counted)
        .group_by(keys)
        .agg(pl.col("len").sum(), pl.col("value").sum())
        .with_columns(pl.col("status").replace_strict(STATUS_CODES, return_dtype=pl.UInt8))
    )


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
