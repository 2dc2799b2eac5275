"""Over means: quantities of composites that combine dataset means, not example scores."""

from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ragstone.decisions.quantity import End, Quantity, reasons_of, with_missing_at
from ragstone.decisions.scored import Scored
from ragstone.metrics import Composite
from ragstone.run.estimates import SEED, combined, of_means
from ragstone.stats import Interval, cluster_bootstrap
from ragstone.stats.bootstrap import totals_of
from ragstone.stats.cluster_means import clusters_by

RESAMPLES = 2000

Floats = NDArray[np.float64]


def over_means(scored: Scored, name: str) -> Composite | None:
    """The composite of this name, if it is one of means; None for every other metric."""
    metric = scored.metric(name)
    return metric if isinstance(metric, Composite) and metric.over_means else None


def lacking(scored: Scored, composite: Composite) -> list[str]:
    """The components for which the run has no scores."""
    return [name for name in _components(composite) if name not in scored.metrics]


def over_means_quantity(scored: Scored, composite: Composite, system: str) -> Quantity:
    """The composite of its components' means, with a bootstrap over clusters.

    All components of a cluster are redrawn together, 2,000 times with a fixed seed; an interval
    of any level is read off the same draws.
    """
    parts = [scored.of(name).filter(pl.col("system") == system) for name in _components(composite)]
    return _quantity(composite, parts)


def _quantity(composite: Composite, parts: Sequence[pl.DataFrame]) -> Quantity:
    clusters = parts[0]["cluster"]
    codes = clusters.rank("dense").to_numpy().astype(np.int64) - 1
    keys = clusters.unique().sort().hash(seed=0).to_numpy()
    columns = [clusters_by(codes, part["value"].to_numpy(), len(keys)) for part in parts]
    totals = totals_of(keys, columns)
    drawn: list[Floats] = []

    def combine(means: Floats) -> Floats:
        drawn.append(combined(composite, means))
        return drawn[-1]

    value = of_means(composite, totals)
    interval = None if value is None else cluster_bootstrap(
        totals.sums, totals.counts, combine, seed=SEED, resamples=RESAMPLES
    )  # fmt: skip

    def at(level: float) -> Interval | None:
        if interval is None:
            return None
        low, high = np.quantile(drawn[-1], [(1 - level) / 2, (1 + level) / 2])
        return Interval(float(low), float(high), level, interval.method)

    def filled(end: End) -> Quantity | None:
        ranges = [metric.range for metric in composite.components().values()]
        ends = [one.low if end == "low" else one.high for one in ranges]
        if not np.isfinite(ends).all():
            return None
        whole = [with_missing_at(part, to) for part, to in zip(parts, ends, strict=True)]
        return _quantity(composite, whole)

    n, missing = max((_counts(part) for part in parts), key=_share_missing)
    return Quantity(
        value=value,
        at=at,
        n=n,
        n_undefined=len(parts[0]) - n - missing,
        n_missing=missing,
        clusters=totals.clusters,
        low=composite.range.low,
        high=composite.range.high,
        filled=filled,
        least_p=1 / (RESAMPLES + 1),
        reasons={reason: count for part in parts for reason, count in reasons_of(part).items()},
    )


def _counts(part: pl.DataFrame) -> tuple[int, int]:
    """Scores that have a value, and that are missing."""
    return int((part["status"] == "value").sum()), int((part["status"] == "missing").sum())


def _share_missing(counts: tuple[int, int]) -> tuple[float, int]:
    """The sort key for the component with most missing scores; of equals, that with fewest rows."""
    n, missing = counts
    return (missing / (n + missing) if n + missing else 0.0), -n


def _components(composite: Composite) -> list[str]:
    return [str(metric) for metric in composite.components().values()]
