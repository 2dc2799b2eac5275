"""Whether ``ragstone plan labels --assurance`` keeps its promise: is a width kept?

    OMP_NUM_THREADS=1 python benchmarks/label_plans.py [--data ../shared/data] [--pilots 100]

Each cell plans from a first sample, a *pilot* of labels drawn at random, or from numbers that are
known, for the half-width named; then so many rows are drawn anew, five times a pilot, and corrected
by the method that ``calibrate`` chooses. *No wider*: share of draws whose interval is at most as
wide as asked. Beside it the same for the plan without assurance.

EVOUNA are answers to NQ questions that people called correct or not, judged by whether a gold
answer is contained in them (``contained``), by Ragstone's local judge of 1, .5 and 0 (``local``),
or by the share of a gold answer's words in them (``words``), a judge of many values; drawn row by
row, or as whole questions of five answers. MTRAG and BEGIN are grades, as in correction.py. Made
worlds have 2,000 judged rows of a known rate, or scores.
"""

import argparse
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
from correction import (
    ANSWERS,
    ICC,
    JUDGED,
    QUESTIONS,
    judged_evouna,
    judged_grades,
    normalised,
    read_lines,
)
from numpy.typing import NDArray

from ragstone.analysis.sample_sizes.label_sizes import Accuracy, accuracy, label_size
from ragstone.core.errors import InputError
from ragstone.stats.correction.corrected import joined_strata
from ragstone.stats.correction.poststratified import poststratify
from ragstone.stats.correction.ppi_and_rogan_gladen import favoured, prediction_powered

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

ASSURANCE = 0.9
AGAIN = 5


@dataclass(frozen=True, slots=True, eq=False)
class World:
    """Judged rows, with what people would say of each."""

    scores: Floats
    people: Floats
    clusters: Ints | None = None
    rate: bool = True
    low: float | None = 0.0
    high: float | None = 1.0

    def drawn(self, labels: int, rng: np.random.Generator) -> Ints:
        """Rows; of clusters as many whole ones as hold so many."""
        if self.clusters is None:
            return rng.choice(len(self.people), min(labels, len(self.people)), replace=False)
        count = int(self.clusters.max()) + 1
        each = len(self.people) / count
        chosen = rng.choice(count, min(count, int(np.ceil(labels / each - 1e-9))), replace=False)
        return np.flatnonzero(np.isin(self.clusters, chosen))

    def known(self, pilot: int, rng: np.random.Generator) -> Accuracy:
        """What labels of a pilot tell."""
        rows = self.drawn(pilot, rng)
        both = pl.DataFrame(
            {"judge": self.scores[rows], "people": self.people[rows], "weight": np.ones(len(rows))}
        )
        clusters = np.arange(len(self.people)) if self.clusters is None else self.clusters
        return accuracy(self.scores, clusters, both, of_a_rate=self.rate)

    def half_width(self, labels: int, rng: np.random.Generator) -> float:
        """As ``calibrate`` has it of a new draw."""
        rows = self.drawn(labels, rng)
        people, clusters = self.people[rows], self.clusters
        if self.rate and favoured(self.scores, rows, clusters=clusters) == "poststratified":
            strata = joined_strata(self.scores, len(rows))
            found = poststratify(strata, rows, people, clusters=clusters).at(0.95)
        else:
            found = prediction_powered(
                self.scores,
                rows,
                people,
                low=self.low,
                high=self.high,
                rate=self.rate,
                clusters=clusters,
            ).at(0.95)
        assert found.interval is not None
        return (found.interval.high - found.interval.low) / 2


@dataclass(frozen=True, slots=True)
class Cell:
    """A world, drawn anew for each pilot, and what is known of it: a pilot's labels or numbers."""

    name: str
    world: Callable[[np.random.Generator], World]
    half_width: float
    pilot: int | Accuracy


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--pilots", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    print(f"{'':38}{'':>8}{'assurance .9:':>22}{'on average:':>20}")
    print(f"{'world, pilot':38}{'asked':>8}{'labels':>12}{'no wider':>10}{'labels':>10}"
          f"{'no wider':>10}{'more':>8}")  # fmt: skip
    for cell in [*made(), *of_people(arguments.data)]:
        assured, average = measured(cell, arguments.pilots, arguments.seed)
        print(
            f"{cell.name:38}{f'±{cell.half_width:g}':>8}{assured[0]:>12.0f}{assured[1]:>10.3f}"
            f"{average[0]:>10.0f}{average[1]:>10.3f}{assured[0] / average[0]:>8.2f}",
            flush=True,
        )


def measured(cell: Cell, pilots: int, seed: int) -> Floats:
    """Median labels and the share of draws no wider, shape (2, 2): assured, on average."""
    labels: tuple[list[int], list[int]] = ([], [])
    kept: tuple[list[bool], list[bool]] = ([], [])
    for at in range(pilots):
        rng = np.random.default_rng([seed, at])
        world = cell.world(rng)
        try:
            known = world.known(cell.pilot, rng) if isinstance(cell.pilot, int) else cell.pilot
        except InputError:  # all labels alike: nobody can plan
            continue
        plan = label_size(known, cell.half_width, assurance=ASSURANCE)
        for way, count in enumerate((plan.labels, plan.on_average)):
            needed = known.judged if count is None else count
            labels[way].append(needed)
            for _ in range(AGAIN):
                fresh = cell.world(rng)
                kept[way].append(fresh.half_width(needed, rng) <= cell.half_width)
    return np.array([[np.median(labels[way]), np.mean(kept[way])] for way in (0, 1)])


def made() -> Iterator[Cell]:
    for rate, right, half in (
        (0.3, 0.9, 0.05),
        (0.5, 0.8, 0.06),
        (0.1, 0.9, 0.04),
        (0.03, 0.95, 0.03),
    ):
        known = Accuracy(JUDGED, rate, right, right)
        name = f"rate {rate:g}, right {right:g}"
        yield Cell(f"{name}, numbers", yes_or_no(rate, right), half, known)
        if rate > 0.03:
            yield Cell(f"{name}, pilot 100", yes_or_no(rate, right), half, 100)
    yield Cell("rate 0.3, right 0.9, questions, pilot 150", in_questions(0.3, 0.9), 0.07, 150)
    yield Cell("scores Beta(4, 1), r .7, pilot 50", scored, 0.03, 50)
    known = Accuracy(JUDGED, deviation=1.0, correlation=0.6)
    yield Cell("normal scores, r .6, numbers", normal, 0.1, known)
    yield Cell("normal scores, r .6, pilot 50", normal, 0.1, 50)


def yes_or_no(rate: float, right: float) -> Callable[[np.random.Generator], World]:
    def draw(rng: np.random.Generator) -> World:
        true = rng.random(JUDGED) < rate
        said = true == (rng.random(JUDGED) < right)
        return World(said.astype(np.float64), true.astype(np.float64))

    return draw


def in_questions(rate: float, right: float) -> Callable[[np.random.Generator], World]:
    def draw(rng: np.random.Generator) -> World:
        spread = (1 - ICC) / ICC
        own = np.repeat(rng.beta(rate * spread, (1 - rate) * spread, QUESTIONS), ANSWERS)
        true = rng.random(len(own)) < own
        said = true == (rng.random(len(own)) < right)
        questions = np.repeat(np.arange(QUESTIONS), ANSWERS)
        return World(said.astype(np.float64), true.astype(np.float64), questions)

    return draw


def scored(rng: np.random.Generator) -> World:
    people = rng.beta(4, 1, JUDGED)
    noise = rng.beta(4, 1, JUDGED)
    return World(0.5 * people + 0.5 * noise, people, rate=False)


def normal(rng: np.random.Generator) -> World:
    people = rng.standard_normal(JUDGED)
    scores = 0.6 * people + 0.8 * rng.standard_normal(JUDGED)
    return World(scores, people, rate=False, low=None, high=None)


def of_people(data: Path) -> Iterator[Cell]:
    judged = next(judged_evouna(data))
    people = judged.people.astype(np.float64)
    scores = {
        "contained": judged.contained.astype(np.float64),
        "local": judged.outcome,
        "words": words(data),
    }
    for name, own in scores.items():
        for pilot in (100, 200):
            yield Cell(f"EVOUNA {name}, pilot {pilot}", always(World(own, people)), 0.04, pilot)
    for name in ("contained", "local"):
        world = World(scores[name], people, judged.questions)
        yield Cell(f"EVOUNA {name}, questions, pilot 200", always(world), 0.05, 200)
    for name, (low, high), grades, own in judged_grades(data):
        half = 0.04 * (high - low)
        yield Cell(f"{name}, pilot 100", redrawn(own, grades, low, high), half, 100)


def always(world: World) -> Callable[[np.random.Generator], World]:
    return lambda _: world


def redrawn(
    scores: Floats, grades: Floats, low: float, high: float
) -> Callable[[np.random.Generator], World]:
    """2,000 rows from those that people graded, for there are few."""

    def draw(rng: np.random.Generator) -> World:
        rows = rng.integers(len(grades), size=JUDGED)
        return World(scores[rows], grades[rows], rate=False, low=low, high=high)

    return draw


def words(data: Path) -> Floats:
    """Of each answer of NQ the greatest share of a gold answer's words that it has."""
    records = read_lines(data / "answer_correctness_evouna" / "verdicts.jsonl.gz")
    own = [one for one in records if one["meta"]["source"] == "NQ"]
    found = []
    for one in own:
        said = set(normalised(one["answer"]).split())
        golds = [set(normalised(gold).split()) for gold in one["reference"]]
        found.append(max((len(gold & said) / len(gold) for gold in golds if gold), default=0.0))
    return np.array(found)


if __name__ == "__main__":
    main()
