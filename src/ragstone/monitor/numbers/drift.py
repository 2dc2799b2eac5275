"""Drift: whether what is asked, retrieved and answered is still what it was."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ragstone.core.database import Sql
from ragstone.data import Example
from ragstone.data.write import from_frame
from ragstone.monitor.following.kept_example import kept_example
from ragstone.monitor.store.sampled_examples import first_example_at, sampled_examples
from ragstone.monitor.store.store import MonitorStore
from ragstone.run import Run
from ragstone.stats.comparison.differences import holm
from ragstone.stats.risk_control import two_samples

from .features import CONFIDENCE, FEATURES

DAY = 86_400.0
BEFORE = 7
"""So many stretches are what one is compared with, where there is no run."""

MOST = 1_000
"""Answers that are looked at on each side."""

ALPHA = 0.05

Values = Mapping[str, Sequence[float]]


@dataclass(frozen=True, slots=True)
class FeatureDrift:
    """One feature then and now.

    Attributes:
        feature: Its name.
        before: The mean then.
        now: The mean now.
        distance: The largest difference of the two cumulative shares, from 0 to 1.
        p: Of Kolmogorov and Smirnov's test.
        p_adjusted: For all features and all looks since the monitor began.
        n_before: Answers compared.
        n_now: The same.
        moved: Whether that is at most .05.
    """

    feature: str
    before: float
    now: float
    distance: float
    p: float
    p_adjusted: float
    n_before: int
    n_now: int
    moved: bool


@dataclass(frozen=True, slots=True)
class Drift:
    """What moved in the last whole stretch of time.

    Attributes:
        since: Where it begins, in seconds since the epoch.
        until: Where it ends.
        looks: The how many-th stretch it is since the first answer that is kept.
        of: The name of the run's folder that it is compared with; None: the seven stretches before.
        features: Those that both sides have.
    """

    since: float
    until: float
    looks: int
    of: str | None
    features: tuple[FeatureDrift, ...]


def drift(
    store: MonitorStore, now: float, *, span: float = DAY, baseline: Run | None = None
) -> Drift:
    """How inputs and outputs of the last whole stretch differ from a run or from those before.

    Stretches begin at whole multiples of their length since the epoch, so that however often one
    looks within one, the result is the same. Of the promise that nothing is said to have moved
    although nothing did, 5 % for ever, the k-th stretch has 1 / (k (k + 1)); p-values are adjusted
    for the features by Holm, and for the stretches by that.

    Args:
        store: What is monitored.
        now: In seconds since the epoch.
        span: Length of a stretch, in seconds.
        baseline: A finished run; None: the seven stretches before.

    Source: as ``two_samples``; Holm (1979).
    """
    until = now // span * span
    since = until - span
    with store.database.reading() as run:
        first = first_example_at(run)
        looks = max(1, int((until - (until if first is None else first)) // span))
        new = _of_store(run, since, until)
        old = _of_store(run, since - BEFORE * span, since) if baseline is None else None
    if old is None:
        assert baseline is not None
        old = _of_run(baseline)
    found = compared(old, new, looks)
    return Drift(since, until, looks, None if baseline is None else baseline.path.name, found)


def compared(old: Values, new: Values, looks: int) -> tuple[FeatureDrift, ...]:
    """Feature by feature, with p-values adjusted for them and for the ``looks``-th look."""
    tests = [
        (name, found)
        for name in old
        if name in new and (found := two_samples(old[name], new[name])) is not None
    ]
    adjusted = holm([found.p for _, found in tests])
    drifts = []
    for (name, found), p in zip(tests, adjusted, strict=True):
        ever = min(1.0, (p or 0.0) * looks * (looks + 1))
        drifts.append(
            FeatureDrift(
                name,
                float(np.mean(old[name])),
                float(np.mean(new[name])),
                found.distance,
                found.p,
                ever,
                len(old[name]),
                len(new[name]),
                ever <= ALPHA,
            )
        )
    return tuple(drifts)


def _of_store(run: Sql, since: float, until: float) -> Values:
    rows = sampled_examples(run, since, until, MOST)
    values = _values(kept_example(row.record) for row in rows)
    confidences = [row.confidence for row in rows if row.confidence is not None]
    return {**values, CONFIDENCE: confidences} if confidences else values


def _of_run(run: Run) -> Values:
    """One answer of each question."""
    frame = run.examples().unique("question_id", keep="first", maintain_order=True)
    return _values(from_frame(frame.sample(min(MOST, frame.height), shuffle=True, seed=0)))


def _values(examples: Iterable[Example]) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {name: [] for name in FEATURES}
    for one in examples:
        for name, feature in FEATURES.items():
            value = feature(one)
            if value is not None:
                found[name].append(value)
    return {name: values for name, values in found.items() if values}
