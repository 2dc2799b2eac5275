"""Estimates: from scores to means with intervals, by system and slice."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ragstone.judgements import ASKS, KINDS
from ragstone.metrics import Composite, Metric, parse_metric
from ragstone.stats import Interval, cluster_bootstrap, worst_best
from ragstone.stats.bootstrap import ClusterTotals
from ragstone.stats.cluster_means import mean_of_clusters

from .encoder_names import NO_MODELS, ModelNames
from .estimate import Estimate
from .groups import EstimateGroups, groups_of
from .score_counts import GroupCounts
from .settings import ChatSettings
from .summing import SCORE, ScorePiece, Summed, summed

SEED = 20_240_601
"""Of every bootstrap, so that the same scores give the same interval."""

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Provenance:
    """The parts of every signature: versions, and which judge filled which kind."""

    ragstone: str
    data: str
    judges: Mapping[str, str]
    """For each ask, who filled it, such as ``local 60%+human 40%``."""
    cluster: str
    opened: ModelNames = NO_MODELS
    """The models behind the similarities."""
    chat: ChatSettings | None = None
    """What chat models were named; None where no judge is one."""
    by_chat: Collection[str] = ()
    """The asks on which the word of one of them counts."""

    def of(self, metric: Metric, estimate: str) -> str:
        """The signature in one line."""
        who = sorted({self.judges[ask] for ask in metric.asks if ask in self.judges})
        judge = [f"judge:{'; '.join(who)}"] if who else []
        how = [metric.how] if metric.how else []
        by = [*judge, *self._prompts(metric), *self.opened.signature(metric.asks), estimate]
        made = [str(metric), *how, *by]
        return "|".join([*made, f"data:{self.data[:12]}", f"ragstone:{self.ragstone}"])

    def _prompts(self, metric: Metric) -> list[str]:
        """The prompts that the metric depends on, with versions, and the plan."""
        if self.chat is None:
            return []
        kinds = {ASKS[ask].kind for ask in self.by_chat if ask in metric.asks}
        tasks = sorted({KINDS[kind].asked_with or kind for kind in kinds})
        versions = self.chat.prompts
        named = [f"{task}@{versions[task]}" for task in tasks if task in versions]
        return [f"prompts:{'+'.join(named)}", f"plan:{self.chat.plan}"] if named else []


def estimate_metric(
    metric: Metric,
    scores: pl.DataFrame,
    facets: pl.DataFrame,
    by: Sequence[str],
    provenance: Provenance,
    *,
    level: float = 0.95,
    components: Mapping[str, pl.DataFrame],
) -> list[Estimate]:
    """The estimates of one metric, for each group, of all its scores.

    Args:
        metric: What was scored.
        scores: One row per example: value, label, status, reason.
        facets: One row per example, in the same order: system, cluster (a hash), and a
            ``by_column`` for each field of ``by``.
        by: Further fields to group by.
        provenance: For the signatures.
        level: Of the intervals.
        components: For a composite over data-set means, its components' scores.
    """
    columns = Columns((str(metric),), tuple(components))
    long = long_scores([scores, *components.values()])
    groups = groups_of(facets, by)
    sums = summed(
        [ScorePiece(facets, long)], groups, columns.number, columns.combined([metric]),
        examples=facets.height, folder=None,
    )  # fmt: skip
    return estimates_of(metric, sums, groups, columns, provenance, level=level)


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns of scores that are summed, by their metrics' text forms.

    Args:
        metrics: Those of the run.
        components: Those that only composites of means combine.
    """

    metrics: Sequence[str]
    components: Sequence[str]

    @property
    def number(self) -> int:
        """How many there are."""
        return len(self.metrics) + len(self.components)

    def parts(self, composite: Composite) -> list[int]:
        """The columns that a composite of means combines."""
        return [
            len(self.metrics) + self.components.index(str(one))
            for one in composite.components().values()
        ]

    def combined(self, metrics: Sequence[Metric]) -> dict[str, list[int]]:
        """The same of each of these metrics that is one."""
        return {
            str(one): self.parts(one)
            for one in metrics
            if isinstance(one, Composite) and one.over_means
        }


def long_scores(columns: Sequence[pl.DataFrame], first: int = 0) -> pl.DataFrame:
    """The scores of several columns below each other, as in ``ScorePiece``.

    Args:
        columns: Of each ``value`` and ``status``, and ``label`` and ``reason`` if it has them.
        first: The number of the first of them.
    """
    empty = pl.DataFrame(schema=SCORE)
    numbered = [
        one.select(
            pl.lit(number, pl.UInt32).alias("column"),
            *(name for name in SCORE if name in one.columns),
        )
        for number, one in enumerate(columns, first)
    ]
    return pl.concat([empty, *numbered], how="diagonal")


def estimates_of(
    metric: Metric,
    sums: Summed,
    groups: EstimateGroups,
    columns: Columns,
    provenance: Provenance,
    *,
    level: float,
) -> list[Estimate]:
    """The estimates of one metric, for each group, from sums over all examples."""
    return [
        _over_means(metric, sums, place, group, columns, provenance, level)
        if isinstance(metric, Composite) and metric.over_means
        else _estimate(metric, sums, place, group, columns, provenance, level)
        for place, group in enumerate(groups)
    ]


def _estimate(
    metric: Metric, sums: Summed, place: int, group: Mapping[str, str], columns: Columns,
    provenance: Provenance, level: float,
) -> Estimate:  # fmt: skip
    column = columns.metrics.index(str(metric))
    clusters, counts = sums.of(column, place), sums.counted(column, place)
    low, high = metric.range.ends
    mean = mean_of_clusters(clusters, rate=metric.range.rate, low=low, high=high, level=level)
    bounds = None if mean.value is None else (mean.value, mean.value)
    if counts.n_missing:
        bounds = worst_best(
            clusters.total, counts.n, counts.n_missing, low, high, metric.range.better
        )
    return _reported(
        metric, group, mean.value, mean.interval, mean.clusters, counts, bounds, provenance, level
    )


def _over_means(
    metric: Composite, sums: Summed, place: int, group: Mapping[str, str], columns: Columns,
    provenance: Provenance, level: float,
) -> Estimate:  # fmt: skip
    """A composite of dataset means, with all components resampled together by cluster."""
    own = sums.counted(columns.metrics.index(str(metric)), place)
    totals = sums.totals.get((str(metric), place))
    value = None if totals is None else of_means(metric, totals)
    interval = None if totals is None or value is None else cluster_bootstrap(
        totals.sums, totals.counts, partial(combined, metric), seed=SEED, level=level
    )  # fmt: skip
    missing = 0
    reasons: dict[str, int] = {}
    parts = columns.parts(metric)
    for (name, _), column in zip(metric.terms, parts, strict=True):
        absent = sums.counted(column, place).n_missing
        missing = max(missing, absent)
        if absent:
            reasons[f"{name}: {_why_missing(name, provenance)}"] = absent
    n = 0 if value is None else min(sums.counted(column, place).n for column in parts)
    counts = replace(
        own, n=n, n_missing=missing, n_undefined=own.total - n - missing, reasons=reasons
    )
    bounds = None if value is None else (value, value)
    clusters = 0 if totals is None else totals.clusters
    return _reported(metric, group, value, interval, clusters, counts, bounds, provenance, level)


def of_means(composite: Composite, totals: ClusterTotals) -> float | None:
    """The composite of the components' means; None if one of them has no value."""
    counts = totals.counts.sum(axis=0)
    if not counts.all():
        return None
    return float(combined(composite, (totals.sums.sum(axis=0) / counts)[None, :])[0])


def combined(composite: Composite, means: Floats) -> Floats:
    """The composite of each row of means, shape (rows, components)."""
    columns = {name: pl.col(str(place)) for place, (name, _) in enumerate(composite.terms)}
    frame = pl.DataFrame({str(place): means[:, place] for place in range(means.shape[1])})
    return frame.select(composite.of(columns)[0]).to_series().to_numpy().astype(np.float64)


def _reported(
    metric: Metric,
    group: Mapping[str, str],
    value: float | None,
    interval: Interval | None,
    clusters: int,
    counted: GroupCounts,
    bounds: tuple[float, float] | None,
    provenance: Provenance,
    level: float,
) -> Estimate:
    method = None if interval is None else interval.method
    worst, best = (None, None) if bounds is None else bounds
    return Estimate(
        metric=str(metric),
        family=metric.family,
        group=dict(group),
        value=value,
        low=None if interval is None else interval.low,
        high=None if interval is None else interval.high,
        level=level,
        method=method,
        better=metric.range.better,
        clusters=clusters,
        n=counted.n,
        n_undefined=counted.n_undefined,
        n_missing=counted.n_missing,
        worst=worst,
        best=best,
        labels=counted.labels,
        flags=counted.flags,
        reasons=counted.reasons,
        signature=provenance.of(metric, _how(method, provenance, level, counted)),
    )


def _why_missing(name: str, provenance: Provenance) -> str:
    """The first judgement that a component lacks entirely, and which judge could make it."""
    for ask in ASKS:
        if ask in parse_metric(name).asks and ask not in provenance.judges:
            return ASKS[ask].not_judged
    return "missing"


def _how(method: str | None, provenance: Provenance, level: float, counted: GroupCounts) -> str:
    drawn = f",seed {SEED}" if method == "cluster_bootstrap" else ""
    interval = f"{method}({provenance.cluster},{level:.0%}{drawn})" if method else "none"
    return (
        f"interval:{interval}|n:{counted.n}|undefined:{counted.n_undefined}"
        f"|missing:{counted.n_missing}"
    )
