"""Estimates: from scores to means with intervals, by system and slice."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isfinite

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ragstone.judgements import ASKS, KINDS, MISSING, UNDEFINED, VALUE
from ragstone.metrics import Composite, Metric, parse_metric
from ragstone.stats import Interval, cluster_bootstrap, mean_interval, worst_best

from .estimate import Estimate
from .models import NO_MODELS, ModelNames
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
        made = [*judge, *self._prompts(metric), *self.opened.signature(metric.asks), estimate]
        return "|".join([str(metric), *made, f"data:{self.data[:12]}", f"ragstone:{self.ragstone}"])

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
    low, high = _bounds(metric)
    mean = mean_interval(
        *_clustered(valued), rate=metric.range.rate, low=low, high=high, level=level
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
    clusters = part["cluster"].rank("dense").to_numpy() - 1
    size = int(clusters.max()) + 1 if len(clusters) else 0
    sums = np.zeros((size, len(names)))
    counts = np.zeros((size, len(names)))
    missing = 0
    reasons: dict[str, int] = {}
    for place, name in enumerate(names):
        score = components[name]
        scored = score["value"].to_numpy()
        there = score["status"].to_numpy() == VALUE
        sums[:, place] = np.bincount(clusters[there], scored[there], minlength=size)
        counts[:, place] = np.bincount(clusters[there], minlength=size)
        absent = int((score["status"] == MISSING).sum())
        missing = max(missing, absent)
        if absent:
            reasons[f"{name}: {_why_missing(name, provenance)}"] = absent

    def combine(means: Floats) -> Floats:
        columns = {name: pl.col(str(place)) for place, name in enumerate(names)}
        frame = pl.DataFrame({str(place): means[:, place] for place in range(len(names))})
        combined = frame.fill_nan(None).select(metric.of(columns)[0]).to_series()
        return combined.to_numpy().astype(np.float64)

    value: float | None = None
    interval: Interval | None = None
    if size and counts.sum(axis=0).all():
        value = float(combine((sums.sum(axis=0) / counts.sum(axis=0))[None, :])[0])
        interval = cluster_bootstrap(sums, counts, combine, seed=SEED, level=level)
    n = int(counts.sum(axis=0).min()) if value is not None else 0
    counted = replace(
        _counts(metric, part, value),
        n=n,
        n_missing=missing,
        n_undefined=part.height - n - missing,
        reasons=reasons,
    )
    return _reported(metric, group, value, interval, size, counted, provenance, level)


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
        bounds = worst_best(total, n, missing, *_bounds(metric), metric.range.better)
    why = part.filter(pl.col("reason").is_not_null())
    flags: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    for reason, status, count in (
        why.group_by("reason", "status").len().sort("len", "reason", descending=True).iter_rows()
    ):
        if status == VALUE:
            for flag in reason.split(","):
                if not flag.startswith(NOTES):
                    flags[flag] += count
        else:
            reasons[reason] += count
    labels = part["label"].drop_nulls().value_counts().sort("label")
    worst, best = (None, None) if bounds is None else bounds
    return ScoreCounts(
        n, undefined, missing, worst, best, dict(labels.iter_rows()), dict(flags), dict(reasons)
    )


def _bounds(metric: Metric) -> tuple[float | None, float | None]:
    """The ends of the metric's range; None for no bound."""
    low, high = metric.range.low, metric.range.high
    return low if isfinite(low) else None, high if isfinite(high) else None


def _clustered(valued: pl.DataFrame) -> tuple[Floats, Floats, Floats]:
    """Sum, count and sum of squares of the scores of each cluster."""
    if valued["cluster"].n_unique() == valued.height:
        sums = valued["value"].to_numpy()
        return sums, np.ones(len(sums)), sums * sums
    value = pl.col("value")
    clusters = valued.group_by("cluster", maintain_order=True).agg(
        sums=value.sum(), counts=pl.len().cast(pl.Float64), squares=value.pow(2).sum()
    )
    sums, counts, squares = (clusters[name].to_numpy() for name in ("sums", "counts", "squares"))
    return sums, counts, squares


def _how(method: str | None, provenance: Provenance, level: float, counted: ScoreCounts) -> str:
    drawn = f",seed {SEED}" if method == "cluster_bootstrap" else ""
    interval = f"{method}({provenance.cluster},{level:.0%}{drawn})" if method else "none"
    return (
        f"interval:{interval}|n:{counted.n}|undefined:{counted.n_undefined}"
        f"|missing:{counted.n_missing}"
    )
