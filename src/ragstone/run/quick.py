"""Quick: the default suite, which takes every metric that the data and the judges allow.

Settled when all examples are scored. A metric is left out if no example has a
value; if over a tenth of those that could have one lack a judgement that nobody
there can give; or if its condition below does not hold. What a judge tried and
failed at stays in: a failure is reported, not hidden.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

import polars as pl

from ragstone.judgements import ASKS, MISSING, VALUE
from ragstone.metrics import QUICK_METRICS, Metric, needed_asks, parse_metric

MOST_UNJUDGED = 0.1

CITED = "citation_presence"
"""The metric that tells whether any answer names a source."""


@dataclass(frozen=True, slots=True)
class DataFacts:
    """Facts about the data after judging."""

    retrieved: bool
    """Some example has a context."""
    labelled: bool
    """People labelled contexts."""
    by_ids: bool
    """Ids say what is relevant."""
    cited: bool
    """Some answer names a source."""


CONDITIONS: dict[str, Callable[[DataFacts], bool]] = {
    "ndcg": lambda facts: not facts.by_ids,
    "graded_relevance": lambda facts: not facts.by_ids,
    "sufficiency_hit": lambda facts: facts.labelled,
    "sufficiency_rate": lambda facts: facts.labelled,
    "misleading_rate": lambda facts: facts.labelled,
    CITED: lambda facts: facts.cited,
    "citation_precision": lambda facts: facts.cited,
    "citation_recall": lambda facts: facts.cited,
}
"""When a metric is worth its line, where a value alone does not say so."""


@cache
def candidates() -> tuple[Metric, ...]:
    """The metrics that the suite chooses from."""
    return tuple(map(parse_metric, QUICK_METRICS))


def choose(offered: Sequence[Metric], counts: pl.DataFrame, facts: DataFacts) -> list[Metric]:
    """The metrics that the data and the judges allow.

    Args:
        offered: The metrics to choose from.
        counts: How often each ``metric``, ``status`` and ``reason`` came out,
            with the number in ``len``.
        facts: For the conditions.
    """
    return [
        metric
        for metric in offered
        if worth_it(metric, facts)
        and _allows(metric, counts.filter(pl.col("metric") == str(metric)))
    ]


def worth_it(metric: Metric, facts: DataFacts) -> bool:
    """Whether a metric with values is worth its line."""
    return (facts.retrieved or not _needs_contexts(metric)) and _holds(str(metric), facts)


def _holds(metric: str, facts: DataFacts) -> bool:
    return metric not in CONDITIONS or CONDITIONS[metric](facts)


def _allows(metric: Metric, counts: pl.DataFrame) -> bool:
    unjudged = (pl.col("status") == MISSING) & (
        (pl.col("reason") == metric.gap) | pl.col("reason").str.contains("^(not_judged|local: no_)")
    )
    valued = int(counts.filter(pl.col("status") == VALUE)["len"].sum())
    nobody = int(counts.filter(unjudged)["len"].sum())
    return valued > 0 and nobody <= MOST_UNJUDGED * (valued + nobody)


@lru_cache(maxsize=256)
def _needs_contexts(metric: Metric) -> bool:
    required = {name for ask in needed_asks([metric]) for name in ASKS[ask].requires}
    return "contexts" in required | set(metric.requires)
