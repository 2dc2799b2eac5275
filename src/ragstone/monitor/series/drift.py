"""Drift: whether questions, contexts, answers or a judge's scores of its anchors have changed."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence, Sized
from dataclasses import dataclass

import numpy as np

from ragstone.core.database import Sql
from ragstone.data import Example
from ragstone.data.records import own_example
from ragstone.data.write_examples import from_frame
from ragstone.monitor.store.batches import anchor_scores
from ragstone.monitor.store.store import MonitorStore
from ragstone.monitor.store.stored_examples import first_example_at, sampled_examples
from ragstone.run import Run
from ragstone.stats.comparison.differences import holm
from ragstone.stats.comparison.paired import paired_difference
from ragstone.stats.distributions import ends_of
from ragstone.stats.risk_control import two_samples

from .metric_over_time import CONFIDENCE, value_range


def _top_score(example: Example) -> float | None:
    scores = [context.score for context in example.contexts or () if context.score is not None]
    return max(scores) if scores else None


def _foreign(example: Example) -> float | None:
    letters = [item for item in example.question or "" if item.isalpha()]
    return sum(not letter.isascii() for letter in letters) / len(letters) if letters else None


def _length(sized: Sized | None) -> float | None:
    return None if sized is None else float(len(sized))


# By name; None where an example has no such thing. Lengths are in characters.
FEATURES: Mapping[str, Callable[[Example], float | None]] = {
    "question_length": lambda item: _length(item.question),
    "question_non_ascii": _foreign,
    "contexts": lambda item: _length(item.contexts),
    "without_contexts": lambda item: float(not item.contexts),
    "top_retrieval_score": _top_score,
    "answer_length": lambda item: _length(item.answer),
}


DAY = 86_400.0
# Without a baseline run, a window is compared with this many windows before it.
BEFORE = 7

# Answers that are looked at on each side.
MOST = 1_000

ALPHA = 0.05

Values = Mapping[str, Sequence[float]]


@dataclass(frozen=True, slots=True)
class FeatureDrift:
    """One feature then and now.

    Attributes:
        distance: The largest difference of the two cumulative shares, from 0 to 1.
        p_adjusted: For all features and all looks since the monitor began.
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


def drift(
    store: MonitorStore, now: float, *, span: float = DAY, baseline: Run | None = None
) -> tuple[float, int, tuple[FeatureDrift, ...]]:
    """Compare inputs and outputs of the last whole window with a run or with those before.

    Returns the window's start, its number counted from the first answer that is kept, and the
    features.

    Windows begin at whole multiples of their length since the epoch, so that however often one
    looks within one, the result is the same. Of the promise that nothing is said to have moved
    although nothing did, 5 % for ever, the k-th window has 1 / (k (k + 1)); p-values are adjusted
    for the features by Holm, and for the windows by that.

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
    return since, looks, compared(old, new, looks)


def compared(old: Values, new: Values, looks: int) -> tuple[FeatureDrift, ...]:
    """Feature by feature, with p-values adjusted for them and for the ``looks``-th look."""
    tests = [
        (name, test)
        for name in old
        if name in new and (test := two_samples(old[name], new[name])) is not None
    ]
    adjusted = holm([test.p for _, test in tests])
    drifts = []
    for (name, test), p in zip(tests, adjusted, strict=True):
        ever = min(1.0, (p or 0.0) * looks * (looks + 1))
        feature = FeatureDrift(
            name, float(np.mean(old[name])), float(np.mean(new[name])), test.distance, test.p, ever,
            len(old[name]), len(new[name]), ever <= ALPHA,
        )  # fmt: skip
        drifts.append(feature)
    return tuple(drifts)


def _of_store(run: Sql, since: float, until: float) -> Values:
    rows = sampled_examples(run, since, until, MOST)
    values = _values(own_example(json.loads(record)) for record, _ in rows)
    confidences = [confidence for _, confidence in rows if confidence is not None]
    return {**values, CONFIDENCE: confidences} if confidences else values


def _of_run(run: Run) -> Values:
    frame = run.examples().unique("question_id", keep="first", maintain_order=True)
    return _values(from_frame(frame.sample(min(MOST, frame.height), shuffle=True, seed=0)))


def _values(examples: Iterable[Example]) -> dict[str, list[float]]:
    by_feature: dict[str, list[float]] = {name: [] for name in FEATURES}
    for example in examples:
        for name, feature in FEATURES.items():
            value = feature(example)
            if value is not None:
                by_feature[name].append(value)
    return {name: values for name, values in by_feature.items() if values}


@dataclass(frozen=True, slots=True)
class JudgeDrift:
    """The judgements of the anchors of one metric, last and first.

    Attributes:
        low: Low end of its interval, at 95 % over all metrics and rounds; None where there is none.
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
    """Return how the judge's scores of the anchors changed, by metric.

    The k-th round after the first has 1 / (k (k + 1)) of the 5 %, divided by the metrics, so that
    all rounds for ever together hold with 95 %.

    Source: as ``paired_difference``.
    """
    with store.database.reading() as run:
        by_metric = anchor_scores(run)
    drifts = []
    for metric, scores in by_metric.items():
        scale = value_range(metric)
        again = max(map(len, scores)) - 1
        first = np.array([of_anchor[0] for of_anchor in scores])
        last = np.array([of_anchor[-1] for of_anchor in scores])
        level = 1 - ALPHA / (len(by_metric) * again * (again + 1))
        interval = paired_difference(
            last, first, np.ones(len(scores)),
            rate=scale.rate, low=scale.low, high=scale.high, level=level,
        ).interval  # fmt: skip
        row = JudgeDrift(
            metric, len(scores), again + 1, float(first.mean()), float(last.mean()),
            float((last - first).mean()), **ends_of(interval),
            moved=interval is not None and not interval.low <= 0 <= interval.high,
        )  # fmt: skip
        drifts.append(row)
    return tuple(drifts)
