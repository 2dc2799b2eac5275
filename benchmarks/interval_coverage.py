"""How often intervals hold the truth, and how wide they are.

    python benchmarks/interval_coverage.py [--draws 600]

Draws many samples of a known population, each of questions with several rows,
and counts how many 95 % intervals hold the population's mean. Rates: each
question has its own rate, beta-distributed so that its rows correlate by ICC.
Scores: each row is beta-distributed around its question's mean, about .7 or
near .05; independent and skewed ones, of 5 to 20 rows. Mostly 1: 19 of 20
questions score 1 in every row, the rest something uniform below it, or .8
("rare falls"). Ratios: claims that are supported over
all claims, 1 to 9 an answer; and a skewed cost over successes, per question.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product

import numpy as np
from measure import run
from numpy.random import Generator
from numpy.typing import NDArray

from ragstone.stats import Interval, cluster_bootstrap, cluster_wilson, mean_interval, wilson
from ragstone.stats.bootstrap import ratio_of_sums
from ragstone.stats.cluster_means import read_clusters, t_interval

Floats = NDArray[np.float64]
Sample = tuple[Floats, Floats]
"""Of each question the sum of its scores and of their squares; of a ratio both of its sums."""

Draw = Callable[[Generator], Sample]

RESAMPLES, ICC = 400, 0.33
OF_RATES = "the same in [0, 1]"
FOR_RATES = ("wilson", "cluster_wilson", OF_RATES)
METHODS = ("wilson", "cluster_wilson", "cluster_t", "bootstrap", "mean_interval")
RATIO_METHODS = ("ratio_of_sums", OF_RATES)


@dataclass(frozen=True)
class Setting:
    """A population: ``draw`` gives one sample."""

    name: str
    truth: float
    rate: bool
    counts: Floats
    draw: Draw


def main(draws: int = 600) -> None:
    tabulate("coverage / mean width", METHODS, [*few_rows(), *settings()], interval, draws)
    print()
    tabulate("ratio: coverage / mean width", RATIO_METHODS, [*ratios()], ratio, draws)


def tabulate(
    name: str,
    methods: Sequence[str],
    populations: Iterable[Setting],
    interval_by: Callable[[Setting, Sample, str], Interval | None],
    draws: int,
) -> None:
    """Print a line for each population, with a cell for each method that goes with it."""
    print(f"{name:<38}" + "".join(f"{method:>19}" for method in methods))
    for setting in populations:
        rng = np.random.default_rng(1)
        samples = [setting.draw(rng) for _ in range(draws)]
        cells = [
            held([interval_by(setting, sample, method) for sample in samples], setting.truth)
            if setting.rate or method not in FOR_RATES
            else "–"
            for method in methods
        ]
        print(f"{setting.name:<38}" + "".join(f"{cell:>19}" for cell in cells), flush=True)


def settings() -> Iterator[Setting]:
    sizes = {
        "40 × 5": np.full(40, 5.0),
        "80 × 3": np.full(80, 3.0),
        "10 × 3": np.full(10, 3.0),
        "200 × 1": np.ones(200),
        "30 × 1": np.ones(30),
        "15×1 10×2 10×5 5×20": np.repeat([1.0, 2.0, 5.0, 20.0], [15, 10, 10, 5]),
    }
    for name, counts in sizes.items():
        for rate in (0.02, 0.1, 0.5, 0.9, 0.98):
            draw = partial(rates, counts, rate)
            yield Setting(f"{name}  rate {rate:g}", rate, True, counts, draw)
        for mean, spread in ((0.7, 10), (0.05, 12)):
            draw = partial(scores, counts, mean, spread)
            yield Setting(f"{name}  scores about {mean:g}", mean, False, counts, draw)
        draw = partial(skewed, counts, None)
        yield Setting(f"{name}  scores mostly 1", 0.975, False, counts, draw)
        yield Setting(f"{name}  rare falls", 0.99, False, counts, partial(skewed, counts, 0.8))


SKEWED: dict[str, tuple[float, Callable[[Generator, int], Floats]]] = {
    "Beta(8, 1)": (8 / 9, lambda rng, n: rng.beta(8, 1, n)),
    "Beta(4, .5)": (8 / 9, lambda rng, n: rng.beta(4, 0.5, n)),
    "Beta(2, .3)": (2 / 2.3, lambda rng, n: rng.beta(2, 0.3, n)),
    "Beta(.5, 5)": (1 / 11, lambda rng, n: rng.beta(0.5, 5, n)),
    "Beta(5, 5)": (0.5, lambda rng, n: rng.beta(5, 5, n)),
    "1 of 10 bad": (
        0.9 * 30 / 32 + 0.1 * 0.25,
        lambda rng, n: np.where(rng.random(n) < 0.9, rng.beta(30, 2, n), rng.beta(2, 6, n)),
    ),
}


def few_rows() -> Iterator[Setting]:
    for (name, (truth, draw)), n in product(SKEWED.items(), (5, 8, 12, 20)):
        yield Setting(f"{n} × 1  {name}", truth, False, np.ones(n), partial(of_rows, draw, n))


def of_rows(draw: Callable[[Generator, int], Floats], n: int, rng: Generator) -> Sample:
    rows = draw(rng, n)
    return rows, rows * rows


def ratios() -> Iterator[Setting]:
    for questions in (10, 40, 200):
        ones = np.ones(questions)
        for rate in (0.05, 0.7, 0.95):
            name = f"{questions}  supported claims {rate:g}"
            yield Setting(name, rate, True, ones, partial(claims, questions, rate))
        draw = partial(costs, questions)
        yield Setting(f"{questions}  cost of a success", 2.5, False, ones, draw)


def own_rates(rate: float, questions: int, rng: Generator) -> Floats:
    spread = (1 - ICC) / ICC
    return rng.beta(rate * spread, (1 - rate) * spread, size=questions)


def rates(counts: Floats, rate: float, rng: Generator) -> Sample:
    own = own_rates(rate, len(counts), rng)
    sums = rng.binomial(counts.astype(int), own).astype(float)
    return sums, sums


def scores(counts: Floats, mean: float, spread: float, rng: Generator) -> Sample:
    each = rng.beta(mean * spread, (1 - mean) * spread, size=len(counts))
    own = np.clip(np.repeat(each, counts.astype(int)), 1e-6, 1 - 1e-6)
    return summed(rng.beta(6 * own, 6 * (1 - own)), counts)


def skewed(counts: Floats, fallen: float | None, rng: Generator) -> Sample:
    perfect = np.repeat(rng.random(len(counts)) < 0.95, counts.astype(int))
    below = rng.random(len(perfect)) if fallen is None else fallen
    return summed(np.where(perfect, 1.0, below), counts)


def claims(questions: int, rate: float, rng: Generator) -> Sample:
    own = own_rates(rate, questions, rng)
    all_claims = rng.integers(1, 10, size=questions)
    return rng.binomial(all_claims, own).astype(float), all_claims.astype(float)


def costs(questions: int, rng: Generator) -> Sample:
    """Cost 1 on the mean, log-normal, and 5 answers of which 8 % succeed: 2.5 a success."""
    cost = rng.lognormal(-0.32, 0.8, size=questions)
    return cost, rng.binomial(5, 0.08, size=questions).astype(float)


def summed(rows: Floats, counts: Floats) -> Sample:
    starts = np.concatenate([[0], np.cumsum(counts)[:-1]]).astype(np.int64)
    return np.add.reduceat(rows, starts), np.add.reduceat(rows * rows, starts)


def held(intervals: list[Interval | None], truth: float) -> str:
    """Share of the intervals that hold the truth, and their mean width; none holds nothing."""
    widths = [interval.high - interval.low for interval in intervals if interval is not None]
    share = sum(interval is not None and interval.low <= truth <= interval.high
                for interval in intervals) / len(intervals)  # fmt: skip
    width = float(np.mean(widths or [0.0]))
    return f"{share:.3f} / {width:.3f}"


def interval(setting: Setting, sample: Sample, method: str) -> Interval | None:
    counts, (sums, squares) = setting.counts, sample
    match method:
        case "wilson":
            return wilson(float(sums.sum()), float(counts.sum()))
        case "cluster_wilson":
            return cluster_wilson(sums, counts)
        case "cluster_t":
            return t_interval(read_clusters(sums, counts).moments, 0.95, low=0, high=1)
        case "bootstrap":
            columns = sums[:, None], counts[:, None]
            return cluster_bootstrap(*columns, np.ravel, seed=1, resamples=RESAMPLES)
        case _:
            return mean_interval(sums, counts, squares, rate=setting.rate, low=0, high=1).interval


def ratio(_: Setting, sample: Sample, method: str) -> Interval | None:
    low, high = (0, 1) if method == OF_RATES else (None, None)
    return ratio_of_sums(*sample, low=low, high=high).interval


if __name__ == "__main__":
    run(main)
