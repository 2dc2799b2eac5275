"""Judge drift: whether a judge says of the same answers what it said at first."""

from dataclasses import dataclass
from itertools import groupby

import numpy as np

from ragstone.monitor.store.anchor_rounds import anchor_pairs
from ragstone.monitor.store.store import MonitorStore
from ragstone.stats.comparison.paired import paired_difference

from .value_range import value_range

ALPHA = 0.05


@dataclass(frozen=True, slots=True)
class JudgeDrift:
    """What a judge says of the anchors of one metric, last and first.

    Attributes:
        metric: Its text form.
        n: Anchors that were judged at least twice.
        rounds: How often.
        first: Their mean at first.
        last: Their mean in the last round.
        change: ``last`` less ``first``.
        low: Low end of its interval, at 95 % over all metrics and rounds; None where there is none.
        high: Its high end.
        moved: Whether that leaves out 0.
    """

    metric: str
    n: int
    rounds: int
    first: float
    last: float
    change: float
    low: float | None
    high: float | None
    moved: bool


def judge_drift(store: MonitorStore) -> tuple[JudgeDrift, ...]:
    """How the judge's scores of the anchors changed, by metric.

    The k-th round after the first has 1 / (k (k + 1)) of the 5 %, divided by the metrics, so that
    all rounds for ever together hold with 95 %.

    Args:
        store: What is monitored.

    Source: as ``paired_difference``.
    """
    with store.database.reading() as run:
        pairs = anchor_pairs(run)
    by_metric = [(name, list(rows)) for name, rows in groupby(pairs, key=lambda one: one.metric)]
    found = []
    for metric, rows in by_metric:
        scale = value_range(metric)
        again = max(row.rounds for row in rows) - 1
        first = np.array([row.first for row in rows])
        last = np.array([row.last for row in rows])
        interval = paired_difference(
            last,
            first,
            np.ones(len(rows)),
            rate=scale.rate,
            low=scale.low,
            high=scale.high,
            level=1 - ALPHA / (len(by_metric) * again * (again + 1)),
        ).interval
        low, high = (None, None) if interval is None else (interval.low, interval.high)
        found.append(
            JudgeDrift(
                metric,
                len(rows),
                again + 1,
                float(first.mean()),
                float(last.mean()),
                float((last - first).mean()),
                low,
                high,
                interval is not None and not interval.low <= 0 <= interval.high,
            )
        )
    return tuple(found)
