"""Quick: the default suite, which asks for what the data and the judges allow.

Settled once, on the first block. A metric is left out if no example has a value,
or if over a tenth of them lack a judgement that nobody there can give; metrics of
contexts, if no example has any. What a judge tried and failed at stays in: a
failure is reported, not hidden.
"""

from collections.abc import Mapping, Sequence

import polars as pl

from ragstone.judgements import ASKS, MISSING, VALUE
from ragstone.metrics import Metric

from .judging import Judged

MOST_UNJUDGED = 0.1

FROM_LABELS = ("sufficiency_hit", "sufficiency_rate", "misleading_rate")
"""Asked for only where people labelled the contexts."""

FROM_CITATIONS = ("citation_presence", "citation_precision", "citation_recall")
"""Asked for only where some answer cites."""

FROM_IDS = ("recall(k=10)", "map", 'ndcg(k=10, gain="linear", ideal="pool")', "unjudged_rate")
"""Where ids say what is relevant, these stand in for the metrics of a judged list."""

NOT_WITH_IDS = ("ndcg", "graded_relevance")


def choose(
    candidates: Sequence[Metric], scores: Mapping[str, pl.DataFrame], judged: Judged
) -> list[Metric]:
    """The candidates that the first block allows."""
    allowed = [metric for metric in candidates if _allows(metric, scores[str(metric)])]
    relevance = judged.ledger.filter(pl.col("ask") == "relevance")
    labelled = "human" in relevance["judge"].to_list()
    retrieved = bool(judged.tables.examples["contexts"].list.len().sum())
    by_ids = any(str(metric) in FROM_IDS for metric in allowed)
    cites = scores.get("citation_presence")
    cited = cites is not None and bool((cites["value"] > 0).any())
    return [
        metric
        for metric in allowed
        if (retrieved or not _needs_contexts(metric))
        and (labelled or metric.name not in FROM_LABELS)
        and (cited or metric.name not in FROM_CITATIONS)
        and (not by_ids or str(metric) not in NOT_WITH_IDS)
    ]


def _allows(metric: Metric, scores: pl.DataFrame) -> bool:
    valued = int((scores["status"] == VALUE).sum())
    nobody = scores.filter(
        (pl.col("status") == MISSING)
        & (
            (pl.col("reason") == metric.gap)
            | pl.col("reason").str.starts_with("not_judged")
            | pl.col("reason").str.starts_with("local: no_")
        )
    ).height
    return valued > 0 and nobody <= MOST_UNJUDGED * (valued + nobody)


def _needs_contexts(metric: Metric) -> bool:
    required = {name for ask in metric.asks for name in ASKS[ask].requires}
    follows = any(ask.startswith("grounding/support") for ask in metric.asks)
    return "contexts" in required | set(metric.requires) or follows
