"""How often alarms are false, and after how many judged answers a fall is noticed.

    OMP_NUM_THREADS=1 python benchmarks/alarms.py [--draws 2000]

Scores are healthy for 2,000 judged answers and then fall, from .85 to .75 where nothing else is
said; false alarms are counted over 10,000 healthy ones, in draws of their own. The promise is α =
.05 within 10,000 looks, for all detectors of a row together. Worlds in which answers depend on
each other, or the mean swings, are not healthy as the promise means it; the false alarms there are
what it does not cover. Random numbers are seeded.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from measure import run
from numpy.random import Generator
from numpy.typing import NDArray

from ragstone.monitor.series.baselines import BAR_LEVEL
from ragstone.stats.distributions import wilson
from ragstone.stats.monitoring.detection_delay import Traffic
from ragstone.stats.monitoring.detector import Detector, promised_limit

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]
Scores = tuple[Floats, Floats]
"""Scores, with the probability with which each was drawn."""
Draw = Callable[[Generator, int, int], Scores]
"""Makes them for so many draws and looks."""

ALPHA, LOOKS, BEFORE, MOST = 0.05, 10_000, 2_000, 10_000
RULES, SLICES = 20, 5
AT_ONCE = 500
TURNS, ICC = 5, 0.3
"""How many turns a session has, and how its answers correlate."""


def independent(traffic: Traffic, rng: Generator, draws: int, looks: int) -> Scores:
    """Independent answers."""
    ends = np.cumsum(traffic.shares)[:-1]
    which = np.searchsorted(ends, rng.random((draws, looks)), "right")
    return traffic.scores[which], traffic.probabilities[which]


def sessions(mean: float, rng: Generator, draws: int, looks: int) -> Scores:
    """Answers 0 and 1 in sessions, one after the other, that share a rate of their own."""
    weight = 1 / ICC - 1
    rates = rng.beta(mean * weight, (1 - mean) * weight, (draws, looks // TURNS + 1))
    return answers(rng, np.repeat(rates, TURNS, axis=1)[:, :looks])


def session_means(mean: float, rng: Generator, draws: int, looks: int) -> Scores:
    """The same sessions, each a single answer with the mean of its scores."""
    scores, _ = sessions(mean, rng, draws, looks * TURNS)
    means = scores.reshape(draws, looks, TURNS).mean(axis=2)
    return means, np.ones(means.shape)


def swings(mean: float, rng: Generator, draws: int, looks: int) -> Scores:
    """Answers 0 and 1 whose mean goes up and down."""
    phase = rng.random((draws, 1))
    return answers(rng, mean + 0.05 * np.sin(2 * np.pi * (np.arange(looks) / 1000 + phase)))


def answers(rng: Generator, rate: Floats) -> Scores:
    """Answers 0 and 1 by their rates, all judged."""
    return (rng.random(rate.shape) < rate).astype(np.float64), np.ones(rate.shape)


def flagged(mean: float, failures: float, share: float, drawn: tuple[float, float]) -> Traffic:
    """Answers 0 and 1 of which the guard flags a share, with this share of the failures."""
    right = (share - failures * (1 - mean)) / mean
    bad = 1 - mean
    come = np.array([bad * failures, bad * (1 - failures), mean * right, mean * (1 - right)])
    p = np.array([drawn[1], drawn[0]] * 2)
    return Traffic(np.array([0.0, 0, 1, 1]), p, come * p / (come * p).sum())


@dataclass(frozen=True)
class World:
    """A row: healthy and fallen answers, and the detectors that share the promise."""

    name: str
    healthy: Draw
    fallen: Draw
    bar: float
    detectors: int = 1
    least: float = 1.0
    coming: bool = False
    """Whether the detectors are of slices that come one after the other, each when those before it
    have looked at all their answers."""

    def detector(self, number: int) -> Detector:
        shares = number * (number + 1) if self.coming else self.detectors
        limit = promised_limit(ALPHA, LOOKS, detectors=shares)
        return Detector(self.bar, limit, self.least)


def world(
    name: str, healthy: Traffic, to: float = 0.75, bar: float = 0.85, detectors: int = 1
) -> World:
    least = float(healthy.probabilities.min())
    fallen = partial(independent, healthy.with_mean(to))
    return World(name, partial(independent, healthy), fallen, bar, detectors, least)


def worlds() -> Iterator[World]:
    right, shared = Traffic.of(0.85), RULES * SLICES
    flags = flagged(0.85, 0.6, 0.2, (0.10, 0.85))
    # Of four answers one is judged: .8 · .10 + .2 · .85 = .25.
    blind = Traffic.of(0.85, probabilities=[0.10, 0.85], received=[0.8, 0.2])
    alike = Traffic.of(0.85, probabilities=0.25)
    yield world("one rule", right)
    yield world("20 rules x 5 slices", right, detectors=shared)
    ten = world("10 slices that keep coming, delay of the first", right, detectors=10)
    yield replace(ten, coming=True)
    yield world("25 % judged, by a guard that flags 60 % of failures", flags, detectors=shared)
    yield world("25 % judged, unequal, whatever the answer", blind, detectors=shared)
    yield world("25 % judged, all alike", alike, detectors=shared)
    yield world("bar .80, healthy .85", right, bar=0.80)
    yield world(".85 to .80", right, 0.80)
    yield world(".85 to .65", right, 0.65)
    yield world(".85 to .40", right, 0.40)
    yield world("graded, deviation .20", Traffic.of(0.85, deviation=0.20))
    yield world("graded, deviation .10", Traffic.of(0.85, deviation=0.10))
    yield world("rare failures, .99 to .97", Traffic.of(0.99), 0.97, bar=0.99)
    yield world("rare successes, .05 to .02", Traffic.of(0.05), 0.02, bar=0.05)
    for name, draw, bar in (
        ("sessions of 5, ICC .3", sessions, 0.85),
        ("the same, bar .80", sessions, 0.80),
        ("the same, a session's mean is one score", session_means, 0.85),
        ("mean .85 ± .05, period 1,000", swings, 0.85),
        ("the same, bar .80", swings, 0.80),
    ):
        yield World(name, partial(draw, 0.85), partial(draw, 0.75), bar)


def first_alarms(detector: Detector, parts: Iterator[Scores], draws: int, anew_until: int) -> Whole:
    """The look of the first alarm after ``anew_until``, 0 for none; those before start it anew."""
    evidence = np.zeros((draws, len(detector.bets[0])))
    first, look = np.zeros(draws, dtype=np.int64), 0
    for scores, probabilities in parts:
        for x, p in zip(scores.T, probabilities.T, strict=True):
            look += 1
            evidence = (evidence + detector.bets[1]) * detector.factors(x, p)
            over = evidence.sum(axis=1) >= detector.limit
            if over.any():
                evidence[over] = 0.0
                if look > anew_until:
                    first[over & (first == 0)] = look
        if look > anew_until and (first > 0).all():
            break
    return first


def stream(rng: Generator, draws: int, *parts: tuple[Draw, int]) -> Iterator[Scores]:
    for draw, looks in parts:
        for _ in range(looks // AT_ONCE):
            yield draw(rng, draws, AT_ONCE)


def row(name: str, false: float, delays: Whole, seconds: float) -> None:
    """``delays``: 0 where nothing was noticed."""
    ranked = np.sort(np.where(delays > 0, delays, MOST + 1))
    ends = ranked[[(len(ranked) - 1) // 2, int(np.ceil(0.9 * len(ranked))) - 1]]
    median, p90 = (f"{end:,}" if end <= MOST else f"> {MOST:,}" for end in ends)
    noticed = (delays > 0).mean()
    print(
        f"{name:52} {false:6.3f} {median:>8} {p90:>8} {noticed:7.3f} {seconds:6.0f} s", flush=True
    )


def measured(scene: World, draws: int) -> None:
    began = time.perf_counter()
    alarms = np.zeros(draws, dtype=bool)
    for number in range(scene.detectors):
        rng = np.random.default_rng([1, number])
        alarms |= is_false(scene.detector(number + 1), rng, draws, scene.healthy)
    rng = np.random.default_rng(2)
    delays = noticed_after(scene.detector(1), rng, draws, scene.healthy, scene.fallen)
    row(scene.name, alarms.mean(), delays, time.perf_counter() - began)


def is_false(detector: Detector, rng: Generator, draws: int, healthy: Draw) -> Any:
    """Of each draw, whether healthy answers raise an alarm."""
    return first_alarms(detector, stream(rng, draws, (healthy, LOOKS)), draws, 0) > 0


def noticed_after(
    detector: Detector, rng: Generator, draws: int, healthy: Draw, fallen: Draw
) -> Whole:
    """Of each draw, the answers after a fall until it is noticed; 0 where it is not."""
    parts = stream(rng, draws, (healthy, BEFORE), (fallen, MOST))
    return np.maximum(first_alarms(detector, parts, draws, BEFORE) - BEFORE, 0)


def by_baseline(draws: int, size: int) -> None:
    """The bar is the end of Wilson's interval of a baseline's healthy answers that rules take."""
    began = time.perf_counter()
    right = np.random.default_rng(3).binomial(size, 0.85, draws)
    alarms, delays = np.zeros(draws, dtype=bool), np.zeros(draws, dtype=np.int64)
    healthy, fallen = (partial(independent, Traffic.of(mean)) for mean in (0.85, 0.75))
    for count in np.unique(right):
        mine = np.flatnonzero(right == count)
        interval = wilson(int(count), size, level=BAR_LEVEL)
        assert interval is not None
        detector = Detector(interval.low, promised_limit(ALPHA, LOOKS))
        rng = np.random.default_rng([4, int(count)])
        alarms[mine] = is_false(detector, rng, len(mine), healthy)
        delays[mine] = noticed_after(detector, rng, len(mine), healthy, fallen)
    name = f"lower limit of a baseline of {size} answers"
    row(name, alarms.mean(), delays, time.perf_counter() - began)


def main(draws: int = 2000) -> None:
    print(f"{'':52} {'false':>6} {'median':>8} {'p90':>8} {'noticed':>7}")
    for scene in worlds():
        measured(scene, draws)
    for size in (200, 500, 2000):
        by_baseline(draws, size)


if __name__ == "__main__":
    run(main)
