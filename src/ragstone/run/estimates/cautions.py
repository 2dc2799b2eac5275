"""Cautions: caveats on a run's numbers, as reason codes, and the groups and clusters in it."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import polars as pl

from ragstone.core.errors import RagstoneError
from ragstone.core.messages import reason
from ragstone.core.parquet import scan_parquet
from ragstone.data.example import SESSION
from ragstone.judgements import BERTSCORES, Relevance, Response
from ragstone.judges.judge import LOCAL
from ragstone.metrics import (
    Composite,
    EmbeddingContextSufficiency,
    EmbeddingHallucination,
    Metric,
    read_metric,
)
from ragstone.metrics.embedding import THRESHOLDS_OF
from ragstone.models import BUILTIN
from ragstone.run.folder.checksums import collect
from ragstone.run.folder.run_tally import RunTally
from ragstone.run.folder.schemas import Estimate
from ragstone.run.folder.shards import Shards
from ragstone.run.run_spec import RunSpec
from ragstone.run.settings import ModelNames

from .groups import NO_VALUE, EstimateGroups, Gathered, by_column
from .sums import QUESTION, RepeatedQuestions, first_of_each, repeated_questions

if TYPE_CHECKING:
    from ragstone.run.calls.journal import Counts


class RunGrouping(NamedTuple):
    """How a run's examples are grouped; ``retrieved``: some of them have contexts."""

    groups: EstimateGroups
    repeated: RepeatedQuestions
    clusters: int
    questions: int
    retrieved: bool


def grouping(shards: Shards, spec: RunSpec) -> RunGrouping:
    """Look over the facets of a run, a few shards at a time; a few bytes a question are held."""
    seen = {
        name: Gathered(partial(first_of_each, keys=(name,)))
        for name in ("system", "cluster", "question", *map(by_column, spec.fields))
    }
    texts_of_each = Gathered(partial(first_of_each, keys=("cluster",)))
    contexts = 0
    by_question = spec.settings.cluster == QUESTION
    for some in shards.scans("facets"):
        facets = collect(some.select(*seen, "asked", "contexts"), shards.path)
        for name, values in seen.items():
            values.add(facets.select(name))
        if by_question:
            texts_of_each.add(facets.select("cluster", "asked").drop_nulls("asked"))
        contexts += int(facets["contexts"].sum())
    texts = pl.DataFrame({"cluster": [], "asked": []})
    if by_question:
        texts = texts_of_each.rows()
    values_of: dict[str, list[str]] = {}
    for name in spec.fields:
        column = by_column(name)
        distinct = seen[column].rows()[column].sort()
        if name in spec.by or (distinct != NO_VALUE).any():
            values_of[name] = distinct.to_list()
    return RunGrouping(
        EstimateGroups(seen["system"].rows()["system"].to_list(), values_of),
        repeated_questions(texts["cluster"], texts["asked"]),
        seen["cluster"].rows().height, seen["question"].rows().height, contexts > 0,
    )  # fmt: skip


# The code of the remark on clusters that are too narrow.
NOT_INDEPENDENT = "not_independent"

# The language the local judge was measured on; the share of all others from which a run is told
# so, and the share from which one of them is named.
ENGLISH, FOREIGN, RARE = "English", 0.1, 0.005

# Clusters below which an interval is rough; benchmarks/interval_coverage.py goes down to ten.
FEW = 10

# The same for a mean of scores in a range: 12 % of samples of 20 clusters hold none of a kind that
# is far off and makes up one in ten.
FEW_SCORES = 30

PAIRS = (
    "question_context", "reference_context", "sentence_context", "answer_reference",
    "question_answer", "question_probe",
)  # fmt: skip
CROSS = "answer_reference_cross_encoder"


def remarks(metrics: Sequence[Metric], opened: ModelNames, tally: RunTally) -> Iterator[str]:
    """Another language, a missing encoder, texts that were cut, thresholds of another model."""
    yield from _of_languages(tally)
    if opened.lacking is not None:
        yield reason("no_encoder", said=opened.lacking)
    if tally.unanswered:
        yield reason("similarities_failed", n=tally.unanswered)
    if opened.strings is not None:
        yield reason("strings_alone", said=opened.strings)
    name = (opened.encoder or "").rpartition("@")[0]
    yield from _of_cut_texts(tally, opened, name)
    if name and not name.rstrip("/\\").endswith((BUILTIN, THRESHOLDS_OF)):
        of_others = [
            str(metric)
            for metric in metrics
            if isinstance(metric, EmbeddingContextSufficiency | EmbeddingHallucination)
            and metric.threshold == type(metric).threshold
        ]
        if of_others:
            yield reason(
                "threshold_of_another_model", metrics=", ".join(of_others), set_for=THRESHOLDS_OF,
                model=name,
            )  # fmt: skip


def _of_cut_texts(tally: RunTally, opened: ModelNames, encoder: str) -> Iterator[str]:
    if cut := list(filter(tally.cut.get, PAIRS)):
        counts = ",".join(
            f"{measure}:{tally.cut[measure]}:{tally.pairs[measure]}" for measure in cut
        )
        yield reason("texts_cut", model=encoder, reads=opened.reads, cut=counts)
    if matched := next(filter(tally.cut.get, BERTSCORES), None):
        first = (opened.bertscore or "").partition(",")[0]
        own_model = first.removeprefix("model ").rpartition("@")[0]
        matching = own_model if "model " in first else encoder
        yield reason(
            "bertscore_cut", model=matching, cut=tally.cut[matched], pairs=tally.pairs[matched]
        )
    if tally.cut[CROSS]:
        second = (opened.cross_encoder or "").rpartition("@")[0]
        yield reason("pairs_cut", model=second, cut=tally.cut[CROSS], pairs=tally.pairs[CROSS])


def of_models(tally: RunTally, counts: "Counts | None") -> Iterator[str]:
    """Remark on several models of a judge, open questions, lacking evidence and reused replies."""
    by_judge: dict[str, list[str]] = {}
    for (judge, model), count in tally.served.items():
        by_judge.setdefault(judge, []).append(f"{model}={count}")
    for judge, models in by_judge.items():
        if len(models) > 1:
            yield reason("several_models", of=judge, models="\n".join(models))
    if tally.failed_calls:
        (_, status, why), _ = tally.failed_calls.most_common(1)[0]
        n, others = sum(tally.failed_calls.values()), len(tally.failed_calls) - 1
        yield reason("left_open", n=n, again=tally.retryable, why=why or status, others=others)
    if unknown := tally.quotes["unknown"]:
        yield reason("evidence_unknown", n=unknown)
    if unfound := tally.quotes["unfound"]:
        yield reason("quotes_unfound", n=unfound, quotes=tally.quotes["quotes"])
    if counts is not None and counts.in_part:
        yield reason("answered_in_part", n=counts.in_part)
    if counts is not None and counts.from_journal + counts.from_cache:
        yield reason(
            "answered_before", answered=counts.answered, here=counts.from_journal,
            elsewhere=counts.from_cache,
        )  # fmt: skip


# Least share of the clusters that have the field; a rarer one says little of the data.
LEAST_SHARE = 0.5


def of_clusters(cluster: str, clusters: int, origins: Sequence[Path]) -> Iterator[str]:
    """Remark that turns of a session are dependent, and that clusters share documents.

    A field qualifies if each of its values holds whole clusters, and some value several; of such
    fields, the one with the fewest values is named.

    Args:
        origins: The files that say which cluster has which values; see ``sums.origins``.
    """
    if cluster == SESSION:
        yield reason("clustered_by_session")
    names = set[str]()
    for file in origins:
        names.update(collect(scan_parquet(file).select(pl.col("field").unique()), file)["field"])
    fewest, remark = clusters, ""
    for name in sorted(names):
        pairs = Gathered(partial(first_of_each, keys=("cluster", "value")))
        for file in origins:
            of_field = scan_parquet(file).filter(pl.col("field") == name)
            pairs.add(collect(of_field.select("cluster", "value"), file))
        distinct = pairs.rows()
        nested, values = distinct["cluster"].n_unique(), distinct["value"].n_unique()
        holds = nested == distinct.height and nested >= LEAST_SHARE * clusters
        if holds and 1 < values < min(nested, fewest):
            fewest = values
            remark = reason(
                NOT_INDEPENDENT, cluster=cluster, clusters=nested, there=clusters, values=values,
                field=name,
            )  # fmt: skip
    if remark:
        yield remark


def of_set_aside(estimates: Sequence[Estimate]) -> Iterator[str]:
    """Remark on examples that ended their worker, and so have no scores."""
    set_aside = 0
    for estimate in estimates:
        if not estimate.group:
            reasons = estimate.reasons
            n = reasons.get("worker_ended", 0) + reasons.get("worker_out_of_memory", 0)
            set_aside = max(set_aside, n)
    if set_aside:
        yield reason("examples_set_aside", n=set_aside)


def of_coverage(metric: str, shares: Mapping[str, float]) -> Iterator[str]:
    """Remark on a composite that is made of part of its weight, or of unequal parts by system."""
    rounded = [(system, round(share, 4)) for system, share in shares.items()]
    if any(share < 1 for _, share in rounded):
        yield reason(
            "part_of_the_weight",
            metric=metric,
            systems="\n".join(f"{share:.0%}={system}" for system, share in rounded),
            unequal=len({share for _, share in rounded}) > 1,
        )


def relevance_by(estimates: Iterable[Estimate]) -> dict[str, str]:
    """Return the source of relevance for each metric; all empty if there is one source."""
    by = {estimate.metric: _relevance_by(estimate) for estimate in estimates}
    return by if len({*by.values()} - {""}) > 1 else dict.fromkeys(by, "")


def _relevance_by(estimate: Estimate) -> str:
    try:
        metric = read_metric(estimate.metric)
    except RagstoneError:
        return ""
    signature = estimate.signature.split("|")
    judge = next((by[6:] for by in signature if by.startswith("judge:")), "a judge")
    parts = metric.components().values() if isinstance(metric, Composite) else (metric,)
    known = [part for part in parts if "known_contexts" in part.requires]
    judged = [part for part in parts if part.asks == {Relevance.name} and part not in known]
    return " and ".join(["ids"] * bool(known) + [judge] * bool(judged))


def of_sizes(estimates: Sequence[Estimate], cluster: str) -> Iterator[str]:
    """Means without an interval, and intervals of a few clusters."""
    by_system = [
        estimate
        for estimate in estimates
        if estimate.value is not None and estimate.group.keys() <= {"system"}
    ]
    open_ = [estimate for estimate in by_system if estimate.low is None]
    alone = [estimate for estimate in open_ if estimate.clusters == 1]
    alike = [estimate for estimate in open_ if estimate.clusters > 1]
    for code, without in (("no_interval", alone), ("no_interval_alike", alike)):
        if without:
            group, more = ", ".join(without[0].group.values()), len(without) - 1
            metric = without[0].metric
            yield reason(code, metric=metric, group=group, more=more, cluster=cluster)
    with_interval = [estimate for estimate in by_system if estimate.low is not None]
    few = [estimate.clusters for estimate in with_interval if estimate.clusters < FEW]
    scores = [
        estimate.clusters
        for estimate in with_interval
        if estimate.method == "bounded_wilson" and FEW <= estimate.clusters < FEW_SCORES
    ]
    for code, sizes, enough in (("few_clusters", few, FEW), ("rare_scores", scores, FEW_SCORES)):
        if sizes:
            yield reason(code, least=min(sizes), most=max(sizes), enough=enough, cluster=cluster)


def _of_languages(tally: RunTally) -> Iterator[str]:
    total = tally.languages.total()
    others = [
        (n / total, name) for name, n in tally.languages.most_common() if name not in ("", ENGLISH)
    ]
    if sum(share for share, _ in others) >= FOREIGN:
        # A run without other languages needs no table of them, which takes a while to load.
        from ragstone.judges.local.languages import abstentions_known

        asks = {ask for ask, judge, _ in tally.outcomes if judge.startswith(LOCAL)}
        common = [(share, name) for share, name in others if share >= RARE]
        known = {name: abstentions_known(name) for _, name in common}
        yield reason(
            "measured_on_english",
            languages="\n".join(f"{share:.4f}={name}" for share, name in common),
            questions=asks <= {Relevance.name},
            by_phrases=Response.name in asks,
            dont_know="\n".join(name for name, way in known.items() if way == "dont_know"),
            unheard="\n".join(name for name, way in known.items() if way == "none"),
        )
