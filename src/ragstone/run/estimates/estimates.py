"""Estimates: a run's means with intervals, computed from its scores by system and slice."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ragstone.core.errors import InputError
from ragstone.core.messages import argument
from ragstone.core.parquet import scan_parquet
from ragstone.judgements import ASKS, KINDS, VALUE, Relevance
from ragstone.metrics import QUICK, Composite, Metric, parse_metric
from ragstone.metrics.composite import weight_coverage
from ragstone.run.folder.checksums import collect
from ragstone.run.folder.run_tally import VERSION, RunTally
from ragstone.run.folder.schemas import STATUS_CODES, Estimate
from ragstone.run.folder.shards import Shards
from ragstone.run.run_spec import RunSpec
from ragstone.run.settings import (
    CITED,
    NO_MODELS,
    ChatSettings,
    DataFacts,
    ModelNames,
    candidates,
    choose,
)
from ragstone.stats import Interval, cluster_bootstrap, worst_best
from ragstone.stats.bootstrap import ClusterTotals
from ragstone.stats.cluster_means import mean_of_clusters

from .cautions import grouping, of_clusters, of_coverage
from .groups import ALL, EstimateGroups, GroupCounts, groups_of
from .sums import SCORE, RepeatedQuestions, ScorePiece, Summed, parts_of, summed

# Seed of every bootstrap, so that the same scores give the same interval.
SEED = 20_240_601

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Provenance:
    """The parts of every signature: versions, and which judge filled which kind."""

    ragstone: str
    data: str
    # For each ask, who filled it, such as ``local 60%+human 40%``.
    judges: Mapping[str, str]
    cluster: str
    opened: ModelNames = NO_MODELS
    chat: ChatSettings | None = None
    # Asks on which the word of a chat model counts.
    by_chat: Collection[str] = ()

    def of(self, metric: Metric, estimate: str) -> str:
        parts = [str(metric), metric.how] if metric.how else [str(metric)]
        if who := sorted({self.judges[ask] for ask in metric.asks if ask in self.judges}):
            parts.append(f"judge:{'; '.join(who)}")
        if self.chat is not None:
            kinds = {ASKS[ask].kind for ask in self.by_chat if ask in metric.asks}
            tasks = sorted({KINDS[kind].asked_with or kind for kind in kinds})
            versions = self.chat.prompts
            if versioned := [f"{task}@{versions[task]}" for task in tasks if task in versions]:
                parts += [f"prompts:{'+'.join(versioned)}", f"plan:{self.chat.plan}"]
        parts += [*self.opened.signature(metric.asks), estimate]
        return "|".join([*parts, f"data:{self.data[:12]}", f"ragstone:{self.ragstone}"])


def estimate_metric(
    metric: Metric, scores: pl.DataFrame, facets: pl.DataFrame, by: Sequence[str],
    provenance: Provenance, *, level: float = 0.95, components: Mapping[str, pl.DataFrame],
) -> list[Estimate]:  # fmt: skip
    """The estimates of one metric, for each group, of all its scores.

    Args:
        facets: One row per example, in the same order: system, cluster (a hash), and a
            ``by_column`` for each field of ``by``.
    """
    columns = {name: number for number, name in enumerate((str(metric), *components))}
    frames = [
        part.select(pl.lit(number, pl.UInt32).alias("column"), *part.columns)
        for number, part in enumerate((scores, *components.values()))
    ]
    nothing = pl.DataFrame(schema=SCORE)
    long = pl.concat([nothing, *frames], how="diagonal")
    groups = groups_of(facets, by)
    sums = summed(
        [(facets, long, nothing)], groups, columns, [metric], examples=facets.height, folder=None
    )
    return estimates_of(metric, sums, groups, columns, provenance, level=level)


def estimates_of(
    metric: Metric, sums: Summed, groups: EstimateGroups, columns: Mapping[str, int],
    provenance: Provenance, *, level: float,
) -> list[Estimate]:  # fmt: skip
    estimates, column = [], columns[str(metric)]
    for group, fields in enumerate(groups):
        if isinstance(metric, Composite) and metric.over_means:
            mean = _over_means(metric, sums, group, columns, provenance, level)
        else:
            mean = _over_scores(metric, sums, column, group, level)
        value, interval, clusters, counts, (worst, best) = mean
        low, high, method = None, None, None
        made_by = "none"
        if interval is not None:
            low, high, method = interval.low, interval.high, interval.method
            drawn = f",seed {SEED}" if method == "cluster_bootstrap" else ""
            made_by = f"{method}({provenance.cluster},{level:.0%}{drawn})"
        how = (
            f"interval:{made_by}|n:{counts.n}|undefined:{counts.n_undefined}"
            f"|missing:{counts.n_missing}"
        )
        estimates.append(
            Estimate(
                metric=str(metric), family=metric.family, group=dict(fields), value=value,
                low=low, high=high, level=level, method=method, better=metric.range.better,
                clusters=clusters, worst=worst, best=best, **counts.to_dict(),
                signature=provenance.of(metric, how),
            )
        )  # fmt: skip
    return estimates


# Value, interval, number of clusters, counts, and bounds.
Mean = tuple[
    float | None, Interval | None, int, GroupCounts, tuple[float, float] | tuple[None, None]
]


def _over_scores(metric: Metric, sums: Summed, column: int, group: int, level: float) -> Mean:
    clusters, counts = sums.moments_of(column, group), sums.counts_of(column, group)
    low, high = metric.range.ends
    mean = mean_of_clusters(clusters, rate=metric.range.rate, low=low, high=high, level=level)
    bounds = None if mean.value is None else (mean.value, mean.value)
    if counts.n_missing:
        bounds = worst_best(
            clusters.total, counts.n, counts.n_missing, low, high, metric.range.better
        )
    return mean.value, mean.interval, mean.clusters, counts, bounds or (None, None)


def _over_means(
    metric: Composite, sums: Summed, group: int, columns: Mapping[str, int],
    provenance: Provenance, level: float,
) -> Mean:  # fmt: skip
    counted = sums.counts_of(columns[str(metric)], group)
    totals = sums.totals.get((str(metric), group))
    value = None if totals is None else of_means(metric, totals)
    interval = None if totals is None or value is None else cluster_bootstrap(
        totals.sums, totals.counts, partial(combined, metric), seed=SEED, level=level
    )  # fmt: skip
    missing = 0
    reasons: dict[str, int] = {}
    parts = parts_of(metric, columns)
    for (name, _), column in zip(metric.terms, parts, strict=True):
        absent = sums.counts_of(column, group).n_missing
        missing = max(missing, absent)
        if absent:
            needed = parse_metric(name).asks - set(provenance.judges)
            open_asks = (ASKS[ask].not_judged for ask in ASKS if ask in needed)
            reasons[f"{name}: {next(open_asks, 'missing')}"] = absent
    n = 0 if value is None else min(sums.counts_of(column, group).n for column in parts)
    counts = replace(
        counted, n=n, n_missing=missing, n_undefined=counted.total - n - missing, reasons=reasons
    )
    clusters = 0 if totals is None else totals.clusters
    return value, interval, clusters, counts, (None, None) if value is None else (value, value)


def of_means(composite: Composite, totals: ClusterTotals) -> float | None:
    """The composite of the components' means; None if one of them has no value."""
    counts = totals.counts.sum(axis=0)
    if not counts.all():
        return None
    return float(combined(composite, (totals.sums.sum(axis=0) / counts)[None, :])[0])


def combined(composite: Composite, means: Floats) -> Floats:
    """The composite of each row of means, shape (rows, components)."""
    columns = {name: pl.col(str(column)) for column, (name, _) in enumerate(composite.terms)}
    frame = pl.DataFrame({str(column): means[:, column] for column in range(means.shape[1])})
    return frame.select(composite.of(columns)[0]).to_series().to_numpy().astype(np.float64)


LEVEL = 0.95

# The folder in that of the tables in which the scores of a large run are put aside.
BUCKETS = "buckets"


@dataclass(frozen=True, slots=True)
class Estimated:
    """The reported numbers of a run.

    Args:
        metrics: Those that are reported: of ``quick`` what the data and the judges allow.
    """

    metrics: list[Metric]
    fields: list[str]
    estimates: list[Estimate]
    counts: dict[str, int]
    remarks: list[str]


def estimate_run(shards: Shards, spec: RunSpec, tally: RunTally) -> Estimated:
    """Estimate a run whose shards are all scored.

    Its shards are gone over twice, one at a time: first what groups and clusters the examples, then
    their scores, which are put together by cluster; see ``bucketed``.
    """
    for name in ("facets", "scores", "origins"):
        shards.verify(name)
    grouped = grouping(shards, spec)
    groups, repeated = grouped.groups, grouped.repeated
    names = map(str, (*spec.metrics, *spec.components))
    columns = {name: number for number, name in enumerate(dict.fromkeys(names))}
    sums = summed(
        _pieces(shards, list(columns), len(spec.metrics), repeated), groups, columns, spec.metrics,
        examples=tally.examples, folder=shards.path / BUCKETS,
    )  # fmt: skip
    metrics = _chosen(shards, spec, tally, columns, sums, retrieved=grouped.retrieved)
    settings = spec.settings
    signed = provenance(settings.data, tally, settings.cluster, spec.models, settings.llm)
    estimates: list[Estimate] = []
    for metric in metrics:
        estimates += estimates_of(metric, sums, groups, columns, signed, level=LEVEL)
    counts = {"examples": tally.examples, "questions": grouped.questions}
    counts["systems"] = len(groups.systems)
    notes = [repeated.note] if repeated.note else []
    notes += of_clusters(settings.cluster, grouped.clusters, shards.files_of("origins"))
    notes += _coverage(metrics, columns, groups, sums)
    return Estimated(metrics, list(groups.values), estimates, counts, notes)


def _pieces(
    shards: Shards, columns: Sequence[str], metrics: int, repeated: RepeatedQuestions
) -> Iterator[ScorePiece]:
    """The scores shard by shard; of the columns, the first are those of metrics."""
    metric = pl.col("metric").cast(pl.Enum(columns[:metrics]), strict=False).to_physical()
    status = pl.col("status").replace_strict(STATUS_CODES, return_dtype=pl.UInt8)
    for form in shards.ledger:
        file = shards.file("scores", form.shard)
        names = ["metric", "value", "label", "status", "reason"]
        rows = collect(scan_parquet(file).select(names), file)
        rows = rows.with_columns(status, column=metric.cast(pl.UInt32)).drop_nulls("column")
        scores = [rows.select(*SCORE)]
        file = shards.file("facets", form.shard)
        facets = collect(scan_parquet(file), file)
        for number in range(metrics, len(columns)):
            name = columns[number]
            part = facets.select(
                pl.lit(number, pl.UInt32).alias("column"),
                value=f"value {name}",
                status=f"status {name}",
                label=pl.lit(None, pl.String),
                reason=pl.lit(None, pl.String),
            )
            scores.append(part)
        alike = [
            (columns.index(same.metric), same.value, STATUS_CODES[same.status], None, same.reason)
            for same in form.alike
        ]
        facets = facets.with_columns(cluster=repeated.clusters(facets["cluster"]))
        yield facets, pl.concat(scores), pl.DataFrame(alike, schema=SCORE, orient="row")


def provenance(
    data: str, tally: RunTally, cluster: str, models: ModelNames, chat: ChatSettings | None
) -> Provenance:
    """Return the parts of a run's signatures, from its settings and from who judged what."""
    by_chat = () if chat is None else tally.filled_by(chat.judges)
    return Provenance(VERSION, data, tally.judges_by_ask(), cluster, models, chat, by_chat)


def _coverage(
    metrics: Sequence[Metric], columns: Mapping[str, int], groups: EstimateGroups, sums: Summed
) -> Iterator[str]:
    systems = dict(enumerate(groups.systems, ALL + 1))
    for metric in metrics:
        if isinstance(metric, Composite) and metric.missing == "renormalise":
            mine = pl.col("column") == columns[str(metric)]
            mean = (weight_coverage() * pl.col("len")).sum() / pl.col("len").sum()
            of_system = pl.col("group").is_in(list(systems))
            rows = sums.table.filter(mine, pl.col("status") == VALUE, of_system)
            shares = dict(rows.group_by("group").agg(mean).sort("group").iter_rows())
            yield from of_coverage(
                str(metric), {systems[group]: share for group, share in shares.items()}
            )


def _chosen(
    shards: Shards, spec: RunSpec, tally: RunTally, columns: Mapping[str, int], sums: Summed, *,
    retrieved: bool,
) -> list[Metric]:  # fmt: skip
    if QUICK not in spec.requested.suites:
        return list(spec.metrics)
    clusters = sums.moments_of(columns[CITED], ALL)
    labelled, by_ids = ((Relevance.name, by, "ok") in tally.outcomes for by in ("human", "ids"))
    facts = DataFacts(retrieved, labelled, by_ids, cited=clusters.total > 0)
    names = {number: name for name, number in columns.items()}
    counts = sums.table.filter(pl.col("group") == ALL).with_columns(
        metric=pl.col("column").replace_strict(names, return_dtype=pl.String)
    )
    requested = {str(metric) for metric in (*spec.requested.metrics, *spec.added)}
    allowed = {str(metric) for metric in choose(candidates(), counts, facts)}
    chosen = [metric for metric in spec.metrics if str(metric) in requested | allowed]
    if not chosen:
        raise InputError(_nothing_to_measure(shards, tally.examples))
    return chosen


def _nothing_to_measure(shards: Shards, examples: int) -> str:
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
