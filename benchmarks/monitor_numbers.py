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
from functools import partial
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from measure import run
from numpy.typing import NDArray

from ragstone.analysis.scored_run import ValueRange
from ragstone.monitor.series.baselines import SettledMean, verdict_beside
from ragstone.monitor.series.metric_over_time import Window, over_time
from ragstone.monitor.series.overview import monitored
from ragstone.monitor.settings import MonitorSettings
from ragstone.monitor.store.scores import sum_up
from ragstone.monitor.store.store import MonitorStore, open_store
from ragstone.stats.distributions import wilson
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
    _timed("of a slice", partial(windows, slice=("version", "v1")))
    with store.database.transaction() as query:
        query("UPDATE scores SET value = 1 WHERE at > ?", DAY - 600)
    _timed("with ten minutes not summed up", windows)
    _timed(f"the first screen with {len(METRICS)} metrics",
           partial(monitored, store, MonitorSettings(rules=()), DAY))  # fmt: skip


def _timed(what: str, work: Callable[[], object]) -> None:
    took = [1000 * seconds for seconds in timeit.repeat(work, number=1, repeat=5)]
    print(f"{what}: {min(took):.1f} to {max(took):.1f} ms")


World = tuple[float, float, bool, int]
WORLDS: Mapping[str, World] = {
    "rate .85": (0.85, 0.85, False, 1),
    "rate .99": (0.99, 0.99, False, 1),
    "rate .01": (0.01, 0.01, False, 1),
    "rate .95 to .50": (0.95, 0.5, False, 1),
    "rate .10 to .90": (0.1, 0.9, False, 1),
    "grades, .80": (0.8, 0.8, True, 1),
    "rate .85, sessions of 4": (0.85, 0.85, False, 4),
}
"""The mean at the start and end of each window, whether scores are grades, and the answers in a
session."""


def coverage(pages: int) -> None:
    """How often all windows of a page hold at all looks."""
    print("\nworld                    judged        all held   width at the end   of one look")
    for name, world in WORLDS.items():
        for low, high in ((1.0, 1.0), (0.25, 0.25), (0.1, 0.85), (0.85, 0.1)):
            looks = (looked_at(np.random.default_rng(seed), world, low, high)
                     for seed in range(pages))  # fmt: skip
            held, wide, plain = np.nanmean([*looks], axis=0)
            drawn = f"{low} / {high}"
            print(f"{name:25}{drawn:13}{held:9.3f}{wide:19.3f}{plain:14.3f}", flush=True)


def looked_at(
    rng: np.random.Generator, world: World, chance: float, chance_of_doubted: float
) -> tuple[float, float, float]:
    """Whether all windows of a page hold after each answer; and how wide they are at the end."""
    begin, end, graded, turns = world
    shape = (WINDOWS, RECEIVED)
    mean = np.linspace(begin, end, RECEIVED)
    doubted = rng.random(shape) < DOUBTED
    gap = np.where(doubted, DOUBTED - 1, DOUBTED) * np.minimum(mean, 1 - mean)
    expected = mean + gap
    probabilities = np.where(doubted, chance_of_doubted, chance)
    if graded:
        scores = rng.beta(4 * expected, 4 * (1 - expected))
    elif turns == 1:
        scores = (rng.random(shape) < expected).astype(float)
    else:
        luck = np.repeat(rng.random((WINDOWS, RECEIVED // turns)), turns, axis=1)
        own = rng.random(shape) < 0.4
        scores = (np.where(own, rng.random(shape), luck) < expected).astype(float)
    drawn = rng.random(shape) < probabilities
    weights, effect = drawn / probabilities, 1.0
    if turns > 1:
        sessions = np.arange(RECEIVED * WINDOWS).reshape(shape) // turns
        effect = session_effect(scores[drawn], weights[drawn], sessions[drawn])
    squares = weights * weights
    columns = (drawn.astype(float), weights, weights * scores, squares, squares * scores,
               squares * scores * scores)  # fmt: skip
    so_far = [np.cumsum(column, axis=1) for column in columns]
    so_far.append(np.full(shape, 1 / probabilities.min()))

    def sums_at(looks: list[int]) -> WeightedSums:
        """Of the answers so far, at each of these looks, window by window."""
        return WeightedSums(*(column[:, looks].ravel() for column in so_far))

    true = np.cumsum(expected, axis=1) / np.arange(1, RECEIVED + 1)
    held = True
    for first in range(0, RECEIVED, AT_ONCE):
        looks = list(range(first, first + AT_ONCE))
        low, high = window_sequences(sums_at(looks), windows=WINDOWS, design_effect=effect)
        at = true[:, looks].ravel()
        held &= bool(((low <= at) & (at <= high)).all())
    last = sums_at([RECEIVED - 1])
    low, high = window_sequences(last, windows=WINDOWS, design_effect=effect)
    once = window_intervals(last, low=0, high=1, design_effect=effect)
    return held, float(np.mean(high - low)), float(np.nanmean(once[1] - once[0]))


def run_rate(successes: int, n: int) -> SettledMean:
    """A rate of a run."""
    return SettledMean(successes / n, n, lambda level: wilson(successes, n, level=level))


def beside(draws: int) -> None:
    """How often a difference is found where there is none: its interval then misses it."""
    print("\nrate  run of  interval missed at a look")
    scale = ValueRange(0, 1, "+", rate=True)
    for rate, n in product((0.5, 0.8, 0.97), (50, 250, 1000)):
        missed = 0
        for seed in range(draws):
            rng = np.random.default_rng(seed)
            before = run_rate(int(rng.binomial(n, rate)), n)
            x = (rng.random(2000) < rate).astype(float)
            looks = [
                verdict_beside(Window(scale, WeightedSums.of(x[:k]), 1.0), before, margin=None)
                for k in range(100, 2001, 100)
            ]
            missed += any(verdict != "cannot_tell" for verdict in looks)
        print(f"{rate:4} {n:7}{missed / draws:27.3f}", flush=True)


if __name__ == "__main__":
    run(main)
