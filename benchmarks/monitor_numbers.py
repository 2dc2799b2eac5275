"""How fast a monitor's numbers over time are, and how often their confidence sequences hold.

    OMP_NUM_THREADS=1 python benchmarks/monitor_numbers.py [--scores 1000000] [--pages 400]

First a day of scores of ten metrics in a SQLite store: how long it takes to sum them up once, and
then a metric's 240 windows, of all traffic and of a slice, and while the last ten minutes are not
summed up yet; and how long the whole first screen takes. Then pages of 24 windows of 400 answers
that come: how often all windows hold at all looks, one after each answer, and how wide the sequence
is at the end, beside the interval for one look. Answers of which a guard doubts are worse; they are
judged with another probability. Last, how often a window of answers is called better or worse than
a run that was as good, at any of twenty looks.
"""

import random
import time
import timeit
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from measure import run
from numpy.typing import NDArray

from ragstone.analysis.scored_run import ValueRange
from ragstone.monitor.series.baselines import side_by_side
from ragstone.monitor.series.metric_over_time import Facet, Window, over_time
from ragstone.monitor.series.overview import monitored
from ragstone.monitor.settings import MonitorSettings
from ragstone.monitor.store.scores import sum_up
from ragstone.monitor.store.store import MonitorStore, open_store
from ragstone.stats.distributions import Interval, wilson
from ragstone.stats.monitoring.windows import (
    WeightedSums,
    session_effect,
    window_intervals,
    window_sequences,
)

Floats = NDArray[np.float64]

DAY = 86_400
METRICS = ("faithfulness", *(f"guard_{name}" for name in "abcdefghi"))
WINDOWS, RECEIVED, AT_ONCE = 24, 400, 40
DOUBTED = 0.3


def main(scores: int = 1_000_000, pages: int = 400) -> None:
    with TemporaryDirectory() as folder:
        store = open_store(Path(folder) / "store")
        speed(store, scores)
        store.close()
    coverage(pages)
    beside(pages)


def speed(store: MonitorStore, n: int) -> None:
    """How long a page takes over so many scores of a day."""
    rng = random.Random(1)
    answers = n // len(METRICS)
    with store.database.transaction() as query:
        query.many(
            "INSERT INTO facets VALUES (?, 'version', ?)",
            ((f"e{k:09d}", f"v{4 * k // answers}") for k in range(answers)),
        )
        query.many(
            "INSERT INTO scores (example, metric, at, judged_at, value, status, reason, label, "
            "judge, probability, version, source, again) "
            "VALUES (?, ?, ?, ?, ?, 'value', '', NULL, 'local', ?, NULL, 'sample', 0)",
            (
                (f"e{k:09d}", metric, k * DAY / answers, k * DAY / answers + 10,
                 float(rng.random() < 0.8), rng.choice([0.1, 0.85]))
                for k in range(answers)
                for metric in METRICS
            ),
        )  # fmt: skip
    begun = time.perf_counter()
    with store.database.transaction() as query:
        while sum_up(query):
            pass
    print(f"{n:,} scores summed up once: {time.perf_counter() - begun:.1f} s")
    windows = partial(over_time, store, METRICS[0], since=0, until=DAY)
    _timed("a metric's 240 windows", windows)
    _timed("of a slice", partial(windows, slice=Facet("version", "v1")))
    with store.database.transaction() as query:
        query("UPDATE scores SET value = 1 WHERE at > ?", DAY - 600)
    _timed("with ten minutes not summed up", windows)
    _timed(f"the first screen with {len(METRICS)} metrics",
           partial(monitored, store, MonitorSettings(rules=()), DAY))  # fmt: skip


def _timed(what: str, work: Callable[[], object]) -> None:
    took = [1000 * seconds for seconds in timeit.repeat(work, number=1, repeat=5)]
    print(f"{what}: {min(took):.1f} to {max(took):.1f} ms")


@dataclass(frozen=True)
class Page:
    """Answers of a page: what is expected of each, its score, and whether it was drawn.

    All of shape (windows, answers); ``sessions`` numbers the sessions, None without.
    """

    expected: Floats
    scores: Floats
    probabilities: Floats
    drawn: NDArray[np.bool_]
    sessions: NDArray[np.int64] | None = None


def page(
    rng: np.random.Generator,
    means: tuple[float, float],
    probabilities: tuple[float, float],
    *,
    graded: bool = False,
    turns: int = 1,
) -> Page:
    """A page of answers whose mean goes from one to another within each window."""
    shape = (WINDOWS, RECEIVED)
    mean = np.linspace(*means, RECEIVED)
    doubted = rng.random(shape) < DOUBTED
    gap = np.where(doubted, DOUBTED - 1, DOUBTED) * np.minimum(mean, 1 - mean)
    expected = mean + gap
    p = np.where(doubted, probabilities[1], probabilities[0])
    if graded:
        scores = rng.beta(4 * expected, 4 * (1 - expected))
    elif turns == 1:
        scores = (rng.random(shape) < expected).astype(float)
    else:
        luck = np.repeat(rng.random((WINDOWS, RECEIVED // turns)), turns, axis=1)
        own = rng.random(shape) < 0.4
        scores = (np.where(own, rng.random(shape), luck) < expected).astype(float)
    sessions = np.arange(RECEIVED * WINDOWS).reshape(shape) // turns if turns > 1 else None
    return Page(expected, scores, p, rng.random(shape) < p, sessions)


WORLDS: Mapping[str, tuple[tuple[float, float], dict[str, object]]] = {
    "rate .85": ((0.85, 0.85), {}),
    "rate .99": ((0.99, 0.99), {}),
    "rate .01": ((0.01, 0.01), {}),
    "rate .95 to .50": ((0.95, 0.5), {}),
    "rate .10 to .90": ((0.1, 0.9), {}),
    "grades, .80": ((0.8, 0.8), {"graded": True}),
    "rate .85, sessions of 4": ((0.85, 0.85), {"turns": 4}),
}


def coverage(pages: int) -> None:
    """How often all windows of a page hold at all looks."""
    print("\nworld                    judged        all held   width at the end   of one look")
    for name, (means, of) in WORLDS.items():
        for probabilities in ((1.0, 1.0), (0.25, 0.25), (0.1, 0.85), (0.85, 0.1)):
            held, widths = [], []
            for seed in range(pages):
                one = page(np.random.default_rng(seed), means, probabilities, **of)  # type: ignore[arg-type]
                ok, width = looked_at(one)
                held.append(ok)
                widths.append(width)
            wide, plain = np.nanmean(widths, axis=0)
            drawn = f"{probabilities[0]} / {probabilities[1]}"
            print(f"{name:25}{drawn:13}{np.mean(held):9.3f}{wide:19.3f}{plain:14.3f}", flush=True)


def looked_at(one: Page) -> tuple[bool, tuple[float, float]]:
    """Whether all windows hold after each answer; and how wide they are at the end."""
    weights = one.drawn / one.probabilities
    effect = 1.0
    if one.sessions is not None:
        some = one.drawn
        effect = session_effect(one.scores[some], weights[some], one.sessions[some])
    true = np.cumsum(one.expected, axis=1) / np.arange(1, RECEIVED + 1)
    ok = True
    for begin in range(0, RECEIVED, AT_ONCE):
        looks = list(range(begin, begin + AT_ONCE))
        sums = _sums(one, weights, looks)
        low, high = window_sequences(sums, windows=WINDOWS, design_effect=effect)
        at = true[:, looks].ravel()
        ok &= bool(((low <= at) & (at <= high)).all())
    last = _sums(one, weights, [RECEIVED - 1])
    low, high = window_sequences(last, windows=WINDOWS, design_effect=effect)
    once = window_intervals(last, low=0, high=1, design_effect=effect)
    return ok, (float(np.mean(high - low)), float(np.nanmean(once[1] - once[0])))


def _sums(one: Page, weights: Floats, looks: list[int]) -> WeightedSums:
    """Of the answers so far, at each of these looks, window by window."""
    x = one.scores

    def so_far(values: Floats) -> Floats:
        return np.cumsum(values, axis=1)[:, looks].ravel()

    n = so_far(one.drawn.astype(float))
    w = weights
    squares = w * w
    return WeightedSums(
        n,
        so_far(w),
        so_far(w * x),
        so_far(squares),
        so_far(squares * x),
        so_far(squares * x * x),
        np.full(len(n), 1 / one.probabilities.min()),
    )


@dataclass(frozen=True)
class RunRate:
    """A rate of a run."""

    successes: int
    n: int

    @property
    def value(self) -> float:
        return self.successes / self.n

    def once(self, level: float) -> Interval | None:
        return wilson(self.successes, self.n, level=level)


def beside(draws: int) -> None:
    """How often a difference is found where there is none, or missed by its interval."""
    print("\nrate  run of  found at a look  interval missed at a look")
    scale = ValueRange(0, 1, "+", rate=True)
    for rate, n in product((0.5, 0.8, 0.97), (50, 250, 1000)):
        found, missed = 0, 0
        for seed in range(draws):
            rng = np.random.default_rng(seed)
            before = RunRate(int(rng.binomial(n, rate)), n)
            x = (rng.random(2000) < rate).astype(float)
            looks = [
                side_by_side(Window(scale, WeightedSums.of(x[:k]), 1.0), before, of=None,
                             margin=None)
                for k in range(100, 2001, 100)
            ]  # fmt: skip
            found += any(one.verdict != "cannot_tell" for one in looks)
            missed += any(not (one.low or 0) <= 0 <= (one.high or 0) for one in looks)
        print(f"{rate:4} {n:7}{found / draws:17.3f}{missed / draws:27.3f}", flush=True)


if __name__ == "__main__":
    run(main)
