"""Remarks: what a reader of the numbers should know beside them."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ragstone.argument import argument
from ragstone.judgements import BERTSCORES
from ragstone.metrics import EmbeddingContextSufficiency, EmbeddingHallucination, Metric
from ragstone.metrics.embedding import THRESHOLDS_OF
from ragstone.models import BUILTIN

from .estimate import Estimate
from .manifest import RunTally
from .models import ModelNames
from .wider_clusters import WiderClusters

if TYPE_CHECKING:
    from .calls.counts import Counts

INDEPENDENT = "Intervals take "
"""How the remark on clusters that are too narrow begins."""

FEW = 10
"""Clusters below which an interval is rough; benchmarks/interval_coverage.py goes down to ten."""

SHOWN = 3
"""Served models that a remark names."""

PAIRS = {
    "question_context": "of question and context",
    "reference_context": "of reference and context",
    "sentence_context": "of sentence and contexts",
    "answer_reference": "of answer and reference",
    "question_answer": "of question and answer",
    "question_probe": "of question and generated question",
}
CROSS = "answer_reference_cross_encoder"


def remarks(
    metrics: Sequence[Metric], opened: ModelNames, tally: RunTally, unanswered: int = 0
) -> Iterator[str]:
    """One line each: a missing encoder, texts that were cut, thresholds of another model."""
    if opened.lacking is not None:
        yield f"No encoder, so what rests on one is missing. {opened.lacking}"
    if unanswered:
        times = "once" if unanswered == 1 else f"{unanswered:,} times"
        yield (
            f"Similarities failed {times}, and what rests on them is missing: "
            "ragstone score RUN asks for these again."
        )
    if opened.strings is not None:
        yield f"local judged by strings alone: {opened.strings}"
    name = (opened.encoder or "").rpartition("@")[0]
    found = [measure for measure in PAIRS if tally.cut[measure]]
    if found:
        told = ", ".join(f"{_counted(one, tally)} {PAIRS[one]}" for one in found)
        windows = any(one.endswith("_context") for one in found)
        hint = " embedding_context_relevance(windows=True) reads long contexts in windows."
        yield f"{name} reads {opened.reads} tokens of a text; a longer one was cut in {told}." + (
            hint if windows else ""
        )
    matched = [measure for measure in BERTSCORES if tally.cut[measure]]
    if matched:
        told = _counted(matched[0], tally)
        yield f"BERTScore: a text longer than {name} can read at all was cut in {told}."
    if tally.cut[CROSS]:
        second = (opened.cross_encoder or "").rpartition("@")[0]
        yield f"{second}: a pair was longer than it reads in {_counted(CROSS, tally)}."
    of_others = [str(metric) for metric in metrics if _has_default_threshold(metric)]
    if of_others and name and not _is_minilm(name):
        yield (
            f"{', '.join(of_others)}: the threshold was set for {THRESHOLDS_OF}, not for {name}; "
            "set your own, such as threshold=0.6."
        )


def of_models(tally: RunTally, judges: Sequence[str], counts: "Counts | None") -> Iterator[str]:
    """One line each: other models, open questions, evidence that is not there, what was saved."""
    if not judges:
        return
    yield from _served_by_several(tally)
    if tally.failed_calls:
        yield _left_open(tally)
    if unknown := tally.quotes["unknown"]:
        yield f"Evidence: {unknown:,} named contexts that were not shown were dropped."
    if unfound := tally.quotes["unfound"]:
        quotes = tally.quotes["quotes"]
        yield f"Evidence: {unfound:,} of {quotes:,} quotes do not stand so in the contexts."
    if counts is not None and (saved := counts.from_journal + counts.from_cache):
        yield (
            f"{saved:,} of {counts.answered:,} questions had been answered before "
            f"({counts.from_journal:,} in this run, {counts.from_cache:,} in others), and were not "
            "paid again."
        )


def of_clusters(cluster: str, wider: WiderClusters | None) -> Iterator[str]:
    """One line where what the intervals take as independent comes from fewer documents."""
    if wider is None:
        return
    what = "questions" if cluster == "question_id" else "examples"
    of = "" if wider.clusters == wider.of else f" of {wider.of:,}"
    yield (
        f"{INDEPENDENT}{what} as independent, but {wider.clusters:,}{of} {what} come from "
        f"{wider.values:,} values of {wider.field}: {argument('cluster', wider.field)}."
    )


def of_sizes(estimates: Sequence[Estimate], cluster: str) -> Iterator[str]:
    """One line each: means without an interval, and intervals of a few clusters."""
    what = "questions" if cluster == "question_id" else f"values of {cluster}"
    shown = [one for one in estimates if one.value is not None and one.group.keys() <= {"system"}]
    alone = [one for one in shown if one.low is None]
    if alone:
        first = " of ".join([alone[0].metric, *alone[0].group.values()])
        more = f" and {len(alone) - 1:,} more" if len(alone) > 1 else ""
        yield f"No interval for {first}{more}: one of the {what} alone tells nothing of others."
    few = [one.clusters for one in shown if one.low is not None and one.clusters < FEW]
    if few:
        if max(few) == 1:
            what = "question" if cluster == "question_id" else f"value of {cluster}"
        yield f"Intervals of {_from_to(few)} {what} are rough; from {FEW} on they hold better."


def _from_to(counts: Sequence[int]) -> str:
    least, most = min(counts), max(counts)
    return str(least) if least == most else f"{least} to {most}"


def _served_by_several(tally: RunTally) -> Iterator[str]:
    """Which judges were several models, and how many replies are of which."""
    by_judge: dict[str, list[str]] = {}
    for (judge, model), count in tally.served.items():
        replies = "1 reply" if count == 1 else f"{count:,} replies"
        by_judge.setdefault(judge, []).append(f"{model} ({replies})")
    for judge, models in by_judge.items():
        if len(models) == 1:
            continue
        more = f" and {len(models) - SHOWN:,} more" if len(models) > SHOWN else ""
        number = "two" if len(models) == 2 else f"{len(models):,}"
        yield (
            f"{judge} was served by {number} models: {', '.join(models[:SHOWN])}{more}. The "
            f"numbers mix {number} judges; name a model that is pinned to a version, and evaluate "
            "into another folder."
        )


def _left_open(tally: RunTally) -> str:
    """How often models left something open, mostly why, and whether asking again may help."""
    count, again = sum(tally.failed_calls.values()), tally.retryable
    (most, _), *others = tally.failed_calls.most_common()
    why = (most[2] or most[1]).partition(";")[0]
    more = f"; {len(others):,} other reason{'s' if len(others) > 1 else ''}" if others else ""
    hint = {0: "Asking again is of no use", count: "The same command asks again"}.get(
        again, f"The same command asks {again:,} of these again"
    )
    times = "Once" if count == 1 else f"{count:,} times"
    return (
        f"{times} a model left something open, and what rests on it is missing ({why}{more}). "
        f"{hint}."
    )


def _counted(measure: str, tally: RunTally) -> str:
    pairs = tally.pairs[measure]
    return f"{tally.cut[measure]:,} of {pairs:,} pair{'' if pairs == 1 else 's'}"


def _has_default_threshold(metric: Metric) -> bool:
    return (
        isinstance(metric, EmbeddingContextSufficiency | EmbeddingHallucination)
        and metric.threshold == type(metric).threshold
    )


def _is_minilm(name: str) -> bool:
    return name.rstrip("/\\").endswith((BUILTIN, THRESHOLDS_OF))
