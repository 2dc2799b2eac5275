"""Estimates: from scores to means with intervals, by system and slice."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ragstone.judgements import ASKS, KINDS, MISSING, UNDEFINED, VALUE
from ragstone.metrics import Composite, Metric, parse_metric
from ragstone.stats import Interval, cluster_bootstrap, mean_interval, worst_best
from ragstone.stats.clusters import Clusters

from .encoder_names import NO_MODELS, ModelNames
from .estimate import Estimate
from .settings import ChatSettings

SEED = 20_240_601
"""Of every bootstrap, so that the same scores give the same interval."""

NOTES = ("best_reference=", "components=", "weight_coverage=")
"""Flags that say something of one score, and are not counted."""

Group = tuple[Mapping[str, str], pl.Expr]
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


@dataclass(frozen=True, slots=True)
class ScoreCounts:
    """What can be counted of the scores of a group; see ``Estimate``."""

    n: int
    n_undefined: int
    n_missing: int
    worst: float | None
    best: float | None
    labels: Mapping[str, int]
    flags: Mapping[str, int]
    reasons: Mapping[str, int]


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
    """The estimates of one metric, for each group.

    Args:
        metric: What was scored.
        scores: One row per example: value, label, status, reason.
        facets: One row per example, in the same order: system, cluster, and a
            ``by_column`` for each field of ``by``.
        by: Further fields to group by.
        provenance: For the signatures.
        level: Of the intervals.
        components: For a composite over data-set means, its components' scores.
    """
    frame = pl.concat([facets, scores], how="horizontal")
    found = []
    for group, chosen in groups(facets, by):
        part = frame.filter(chosen)
        if components and isinstance(metric, Composite):
            rows = facets.select(chosen).to_series()
            parts = {name: score.filter(rows) for name, score in components.items()}
            found.append(_over_means(metric, part, parts, group, provenance, level))
        else:
            found.append(_estimate(metric, part, group, provenance, level))
    return found


def by_column(field: str) -> str:
    """The name of the facets' column for a field, which cannot clash with other columns."""
    return f"by {field}"


def groups(facets: pl.DataFrame, by: Sequence[str]) -> Iterator[Group]:
    """All examples, each system, each value of a field, and each system within it."""
    systems = facets["system"].unique(maintain_order=True).to_list()
    yield {}, pl.repeat(value=True, n=pl.len(), dtype=pl.Boolean)
    for system in systems:
        yield {"system": system}, pl.col("system") == system
    for name in by:
        column = pl.col(by_column(name))
        values = facets.select(column.unique().sort()).to_series().to_list()
        for value in values:
            yield {name: value}, column == value
        if len(systems) > 1:
            for system in systems:
                for value in values:
                    chosen = (column == value) & (pl.col("system") == system)
                    yield {"system": system, name: value}, chosen


def _estimate(
    metric: Metric, part: pl.DataFrame, group: Mapping[str, str], provenance: Provenance,
    level: float,
) -> Estimate:  # fmt: skip
    valued = part.filter(pl.col("status") == VALUE)
    low, high = metric.range.ends
    by = by_cluster(valued)
    mean = mean_interval(
        by.sums, by.counts, by.squares, rate=metric.range.rate, low=low, high=high, level=level
    )
    counted = _counts(metric, part, mean.value)
    return _reported(
        metric, group, mean.value, mean.interval, mean.clusters, counted, provenance, level
    )


def _over_means(
    metric: Composite,
    part: pl.DataFrame,
    components: Mapping[str, pl.DataFrame],
    group: Mapping[str, str],
    provenance: Provenance,
    level: float,
) -> Estimate:
    """A composite of dataset means, with all components resampled together by cluster."""
    names = [name for name, _ in metric.terms]
    sums, counts = component_sums(
        part["cluster"], [(components[name]["value"], components[name]["status"] == VALUE)
                          for name in names]
    )  # fmt: skip
    missing = 0
    reasons: dict[str, int] = {}
    for name in names:
        absent = int((components[name]["status"] == MISSING).sum())
        missing = max(missing, absent)
        if absent:
            reasons[f"{name}: {_why_missing(name, provenance)}"] = absent
    value = of_means(metric, sums, counts)
    interval = None if value is None else cluster_bootstrap(
        sums, counts, partial(combined, metric), seed=SEED, level=level
    )  # fmt: skip
    n = int(counts.sum(axis=0).min()) if value is not None else 0
    counted = replace(
        _counts(metric, part, value),
        n=n,
        n_missing=missing,
        n_undefined=part.height - n - missing,
        reasons=reasons,
    )
    return _reported(metric, group, value, interval, len(sums), counted, provenance, level)


def component_sums(
    clusters: pl.Series, components: Sequence[tuple[pl.Series, pl.Series]]
) -> tuple[Floats, Floats]:
    """Sum and count of the scores of each cluster, shape (clusters, components).

    Args:
        clusters: The cluster of each row.
        components: The scores of the rows under each component, and whether they are values.
    """
    codes = clusters.rank("dense").to_numpy() - 1
    shape = int(codes.max()) + 1 if len(codes) else 0, len(components)
    sums, counts = np.zeros(shape), np.zeros(shape)
    for place, (scores, valued) in enumerate(components):
        there = valued.fill_null(value=False).to_numpy()
        sums[:, place] = np.bincount(codes[there], scores.to_numpy()[there], minlength=shape[0])
        counts[:, place] = np.bincount(codes[there], minlength=shape[0])
    return sums, counts


def of_means(composite: Composite, sums: Floats, counts: Floats) -> float | None:
    """The composite of the components' means; None if one of them has no value."""
    totals = counts.sum(axis=0)
    if not totals.all():
        return None
    return float(combined(composite, (sums.sum(axis=0) / totals)[None, :])[0])


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
    counted: ScoreCounts,
    provenance: Provenance,
    level: float,
) -> Estimate:
    method = None if interval is None else interval.method
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
        worst=counted.worst,
        best=counted.best,
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


def _counts(metric: Metric, part: pl.DataFrame, value: float | None) -> ScoreCounts:
    tally = dict(part["status"].value_counts().iter_rows())
    n, undefined, missing = (int(tally.get(code, 0)) for code in (VALUE, UNDEFINED, MISSING))
    total = float(part["value"].sum()) if n else 0.0
    bounds: tuple[float, float] | None = (value, value) if value is not None else None
    if missing:
        bounds = worst_best(total, n, missing, *metric.range.ends, metric.range.better)
    flags: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    for reason, status, count in _counted(part, "reason", "status"):
        if status == VALUE:
            for flag in reason.split(","):
                if not flag.startswith(NOTES):
                    flags[flag] += count
        else:
            reasons[reason] += count
    labels = dict(sorted(_counted(part, "label")))
    worst, best = (None, None) if bounds is None else bounds
    return ScoreCounts(n, undefined, missing, worst, best, labels, dict(flags), dict(reasons))


def _counted(part: pl.DataFrame, *columns: str) -> list[tuple[Any, ...]]:
    """These columns' rows and their counts, the most frequent first; none whose first is null."""
    if part[columns[0]].null_count() == part.height:
        # Most metrics give neither reasons nor labels, and a query takes 0.16 ms, twice as long as
        # the interval of 200 scores.
        return []
    counted = part.drop_nulls(columns[0]).group_by(columns).len()
    return counted.sort("len", columns[0], descending=True).rows()


def by_cluster(valued: pl.DataFrame) -> Clusters:
    """Scores with a value, put into the clusters that ``cluster`` names."""
    if valued["cluster"].n_unique() == valued.height:
        sums = valued["value"].to_numpy()
        return Clusters(sums, np.ones(len(sums)), sums * sums)
    value = pl.col("value")
    clusters = valued.group_by("cluster", maintain_order=True).agg(
        sums=value.sum(), counts=pl.len().cast(pl.Float64), squares=value.pow(2).sum()
    )
    return Clusters(*(clusters[name].to_numpy() for name in ("sums", "counts", "squares")))


def _how(method: str | None, provenance: Provenance, level: float, counted: ScoreCounts) -> str:
    drawn = f",seed {SEED}" if method == "cluster_bootstrap" else ""
    interval = f"{method}({provenance.cluster},{level:.0%}{drawn})" if method else "none"
    return (
        f"interval:{interval}|n:{counted.n}|undefined:{counted.n_undefined}"
        f"|missing:{counted.n_missing}"
    )
