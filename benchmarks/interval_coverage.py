"""How often intervals hold the truth, and how wide they are.

    python benchmarks/interval_coverage.py [--draws 600] [--seed 1]

Draws many samples of a known population, each of questions with several rows,
and counts how many 95 % intervals hold the population's mean. Rates: each
question has its own rate, beta-distributed so that its rows correlate by ICC.
Scores: each row is beta-distributed around its question's mean. Skewed scores:
19 of 20 questions score 1 in every row, the rest something uniform below it.
"""

import argparse
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ragstone.stats import (
    Interval,
    cluster_bootstrap,
    cluster_t_mean,
    cluster_wilson,
    mean_interval,
    wilson,
)

Floats = NDArray[np.float64]
Draw = Callable[[np.random.Generator], Floats]

RESAMPLES = 400
METHODS = ("wilson", "cluster_wilson", "cluster_t", "bootstrap", "mean_interval")


@dataclass(frozen=True)
class Setting:
    """A population: ``draw`` gives the sums of one sample's questions."""

    name: str
    truth: float
    rate: bool
    counts: Floats
    draw: Draw


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=600)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()

    print(f"{'coverage / mean width':<34}" + "".join(f"{name:>17}" for name in METHODS))
    for setting in settings():
        rng = np.random.default_rng(arguments.seed)
        cells = [""] * len(METHODS)
        samples = [setting.draw(rng) for _ in range(arguments.draws)]
        for column, method in enumerate(METHODS):
            if method in ("wilson", "cluster_wilson") and not setting.rate:
                cells[column] = "–"
                continue
            held, width = coverage(setting, samples, method)
            cells[column] = f"{held:.3f} / {width:.3f}"
        print(f"{setting.name:<34}" + "".join(f"{cell:>17}" for cell in cells), flush=True)


def settings() -> Iterator[Setting]:
    sizes = {
        "40 × 5": np.full(40, 5.0),
        "80 × 3": np.full(80, 3.0),
        "10 × 3": np.full(10, 3.0),
        "200 × 1": np.ones(200),
        "15×1 10×2 10×5 5×20": np.repeat([1.0, 2.0, 5.0, 20.0], [15, 10, 10, 5]),
    }
    for name, counts in sizes.items():
        for rate in (0.02, 0.1, 0.5, 0.9, 0.98):
            yield Setting(f"{name}  rate {rate:g}", rate, True, counts, rates(counts, rate, 0.33))
        yield Setting(f"{name}  scores about .7", 0.7, False, counts, scores(counts))
        yield Setting(f"{name}  scores mostly 1", 0.975, False, counts, skewed(counts))


def rates(counts: Floats, rate: float, icc: float) -> Draw:
    spread = (1 - icc) / icc

    def draw(rng: np.random.Generator) -> Floats:
        own = rng.beta(rate * spread, (1 - rate) * spread, size=len(counts))
        return rng.binomial(counts.astype(int), own).astype(float)

    return draw


def scores(counts: Floats) -> Draw:
    def draw(rng: np.random.Generator) -> Floats:
        own = np.repeat(rng.beta(7, 3, size=len(counts)), counts.astype(int))
        rows = rng.beta(6 * own, 6 * (1 - own))
        return np.asarray(np.add.reduceat(rows, starts(counts)))

    return draw


def skewed(counts: Floats) -> Draw:
    def draw(rng: np.random.Generator) -> Floats:
        perfect = np.repeat(rng.random(len(counts)) < 0.95, counts.astype(int))
        rows = np.where(perfect, 1.0, rng.random(len(perfect)))
        return np.asarray(np.add.reduceat(rows, starts(counts)))

    return draw


def starts(counts: Floats) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(counts)[:-1]]).astype(np.int64)


def coverage(setting: Setting, samples: list[Floats], method: str) -> tuple[float, float]:
    """Share of samples whose interval holds the truth, and the mean width.

    No interval counts as one that fails and has no width: the method gave
    nothing that could be reported.
    """
    intervals = [interval(setting, sums, method) for sums in samples]
    given = [one for one in intervals if one is not None]
    held = sum(one.low <= setting.truth <= one.high for one in given)
    widths = [one.high - one.low for one in given]
    return held / len(samples), float(np.mean(widths)) if widths else 0.0


def interval(setting: Setting, sums: Floats, method: str) -> Interval | None:
    counts = setting.counts
    match method:
        case "wilson":
            return wilson(float(sums.sum()), float(counts.sum()))
        case "cluster_wilson":
            return cluster_wilson(sums, counts)
        case "cluster_t":
            return cluster_t_mean(sums, counts, low=0, high=1)
        case "bootstrap":
            return cluster_bootstrap(
                sums[:, None],
                counts[:, None],
                lambda means: means[:, 0],
                seed=1,
                resamples=RESAMPLES,
            )
        case _:
            return mean_interval(sums, counts, rate=setting.rate, low=0, high=1).interval


if __name__ == "__main__":
    main()
