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

import argparse
import random
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from numpy.typing import NDArray

from ragstone.analysis.scored_run import ValueRange
from ragstone.monitor.series.baselines import SettledMean, side_by_side
from ragstone.monitor.series.metric_over_time import Window, over_time
from ragstone.monitor.series.overview import monitored
from ragstone.monitor.settings import MonitorSettings
from ragstone.monitor.store.rows import Facet
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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scores", type=int, default=1_000_000)
    parser.add_argument("--pages", type=int, default=400)
    asked = parser.parse_args()
    with TemporaryDirectory() as folder:
        store = open_store(Path(folder) / "store")
        speed(store, asked.scores)
        store.close()
    coverage(asked.pages)
    beside(asked.pages)


def speed(store: MonitorStore, n: int) -> None:
    """How long a page takes over so many scores of a day."""
    rng = random.Random(1)
    answers = n // len(METRICS)
    with store.database.transaction() as run:
        run.many(
            "INSERT INTO facets VALUES (?, 'version', ?)",
            ((f"e{k:09d}", f"v{4 * k // answers}") for k in range(answers)),
        )
        run.many(
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
    with store.database.transaction() as run:
        while sum_up(run):
            pass
    print(f"{n:,} scores summed up once: {time.perf_counter() - begun:.1f} s")
    _timed("a metric's 240 windows", store, None)
    _timed("of a slice", store, ("version", "v1"))
    with store.database.transaction() as run:
        run("UPDATE scores SET value = 1 WHERE at > ?", DAY - 600)
    _timed("with ten minutes not summed up", store, None)
    settings = MonitorSettings(rules=())
    took = []
    for _ in range(5):
        begun = time.perf_counter()
        monitored(store, settings, DAY)
        took.append(1000 * (time.perf_counter() - begun))
    print(f"the first screen with {len(METRICS)} metrics: {min(took):.0f} to {max(took):.0f} ms")


def _timed(what: str, store: MonitorStore, slice: Facet | None) -> None:
    took = []
    for _ in range(5):
        begun = time.perf_counter()
        over_time(store, METRICS[0], since=0, until=DAY, slice=slice)
        took.append(1000 * (time.perf_counter() - begun))
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
    for looks, sums in _sums_at_looks(one, weights):
        low, high = window_sequences(sums, windows=WINDOWS, design_effect=effect)
        at = true[:, looks].ravel()
        ok &= bool(((low <= at) & (at <= high)).all())
    last = _sums(one, weights, [RECEIVED - 1])
    low, high = window_sequences(last, windows=WINDOWS, design_effect=effect)
    once = window_intervals(last, low=0, high=1, design_effect=effect)
    return ok, (float(np.mean(high - low)), float(np.nanmean(once[1] - once[0])))


def _sums_at_looks(one: Page, weights: Floats) -> Iterator[tuple[list[int], WeightedSums]]:
    for begin in range(0, RECEIVED, AT_ONCE):
        looks = list(range(begin, begin + AT_ONCE))
        yield looks, _sums(one, weights, looks)


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
                side_by_side(Window(scale, WeightedSums.of(x[:k]), 1.0), before, margin=None)
                for k in range(100, 2001, 100)
            ]
            missed += any(verdict != "cannot_tell" for verdict in looks)
        print(f"{rate:4} {n:7}{missed / draws:27.3f}", flush=True)


if __name__ == "__main__":
    main()
