"""How often what people say on average holds the truth, of queues routed by the judge's doubt.

    OMP_NUM_THREADS=1 python benchmarks/human_mean.py [--draws 500] [--seed 0]

A run of 1,000 answers to 500 questions is judged by token F1, which goes with the truth but leans
to one side. In each draw a queue of it is made in a store and worked on by three simulated people:
two of them label each answer, each wrong in one of ten cases; they skip some, and hold items when
they stop. The routing is by chance or by the judge's doubt, and is changed after a third of the
labels; a world ends with all labelled that the queue gives out. An adjudicator decides rightly
what divides them. Then `ragstone calibrate` reads the labels, from the store in every second draw
and from its export as CSV in the others.

Printed is the share of draws whose 95 % interval holds the share of yes that people and the
adjudicator would find in all answers: of the labels alone (the human mean) and of the corrected
mean; beside it the same where the probabilities with which items came to be labelled are left out.
"""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import polars as pl

import ragstone
from ragstone.analysis.calibration.calibrate import calibrate
from ragstone.analysis.label_sampling.make_queue import make_queue
from ragstone.annotation import LabelTable, read_label_table, write_labels
from ragstone.annotation.queue.assignment import Route
from ragstone.annotation.queue.form import AskedLabel, ItemAnswers, ItemPart, QueueForm, QueueItem
from ragstone.annotation.queue.labels_store import LabelDatabase, open_labels
from ragstone.annotation.queue.queue import Queue
from ragstone.annotation.queue.queue_results import divided_items
from ragstone.run import Run

METRIC, WORDS = "token_f1", 10
QUESTIONS, SYSTEMS = 500, ("old", "new")
WRONG, SKIPPED = 0.1, 0.03
PEOPLE = ("ann", "ben", "cem")
Truth = dict[str, bool]


@dataclass(frozen=True)
class World:
    """How a queue is worked on: the routing of each phase, with how many answers are labelled."""

    name: str
    phases: Sequence[tuple[Route, int]]
    limited: bool = False


WORLDS = (
    World("by chance", (("random", 240),)),
    World("by doubt", (("doubt", 240),)),
    World("by doubt, all of --n", (("doubt", 240),), limited=True),
    World("by chance, then by doubt", (("random", 80), ("doubt", 160))),
    World("by doubt, then by chance", (("doubt", 80), ("random", 160))),
    World("changed twice", (("doubt", 80), ("random", 80), ("doubt", 80))),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    with TemporaryDirectory() as folder:
        truth, run = population(Path(folder), np.random.default_rng(arguments.seed))
        # Where both are wrong alike nobody is told.
        yes, both_wrong = sum(truth.values()) / len(truth), WRONG**2
        mean = yes * (1 - both_wrong) + (1 - yes) * both_wrong
        judge = float(run.scores().filter(metric=METRIC)["value"].to_numpy().mean())
        print(f"{len(truth):,} answers, judge {judge:.3f}, people {mean:.3f}, "
              f"{arguments.draws} draws")  # fmt: skip
        print(f"{'world':<28}{'labels':>7}{'human mean':>12}{'width':>7}{'corrected':>11}"
              f"{'width':>7}{'without chances':>17}{'corrected':>11}")  # fmt: skip
        for world in WORLDS:
            found = np.array([
                drawn(world, truth, run, mean, np.random.default_rng((arguments.seed, draw)), draw)
                for draw in range(arguments.draws)
            ], dtype=np.float64)  # fmt: skip
            n, *rest = found.mean(axis=0)
            label, width, corrected, narrow, without, both = rest
            print(f"{world.name:<28}{n:7.0f}{label:12.3f}{width:7.3f}{corrected:11.3f}{narrow:7.3f}"
                  f"{without:17.3f}{both:11.3f}", flush=True)  # fmt: skip


def population(folder: Path, rng: np.random.Generator) -> tuple[Truth, Run]:
    """What is true of each answer, and the run that a judge who leans to one side made of them."""
    truth: Truth = {}
    examples = []
    for question in range(QUESTIONS):
        hard = rng.normal()
        for system in SYSTEMS:
            id = f"q{question}-{system}"
            quality = hard + rng.normal()
            truth[id] = bool(quality > 0.6)
            shared = int(np.clip(round(6 + 2 * quality + rng.normal()), 0, WORDS))
            words = [f"w{at}" if at < shared else f"x{at}" for at in range(WORDS)]
            examples.append({
                "id": id,
                "question_id": f"q{question}",
                "system": system,
                "question": "?",
                "answer": " ".join(words),
                "reference": " ".join(f"w{at}" for at in range(WORDS)),
            })  # fmt: skip
    return truth, ragstone.evaluate(examples, metrics=[METRIC], judge="local", out=folder / "run")


def drawn(
    world: World, truth: Truth, run: Run, mean: float, rng: np.random.Generator, draw: int
) -> list[float]:
    """Labels; of the human and the corrected mean whether it holds and how wide it is."""
    with TemporaryDirectory() as folder:
        database = open_labels(Path(folder))
        worked_on(world, database, truth, run, rng)
        database.close()
        table = read_label_table(Path(folder) / "labels.sqlite")
        if draw % 2:
            write_labels(table, Path(folder) / "labels.csv")
            table = read_label_table(Path(folder) / "labels.csv")
    n, label, corrected = means(run, table)
    _, bare, both = means(run, without_chances(table))
    return [
        n,
        label[0] <= mean <= label[1],
        label[1] - label[0],
        corrected[0] <= mean <= corrected[1],
        corrected[1] - corrected[0],
        bare[0] <= mean <= bare[1],
        both[0] <= mean <= both[1],
    ]


def means(run: Run, table: LabelTable) -> tuple[int, tuple[float, float], tuple[float, float]]:
    found = calibrate(run, table, metrics=[METRIC], assume_random=True)
    whole = next(one for one in found.estimates if not one.group)
    label, corrected = whole.labels.interval, whole.corrected.interval
    assert label is not None
    assert corrected is not None
    ends = (label.low, label.high), (corrected.low, corrected.high)
    return whole.labels.n_labels, *ends


def without_chances(table: LabelTable) -> LabelTable:
    unknown = pl.lit(None, pl.Float64).alias("inclusion_probability")
    return replace(table, frame=table.frame.with_columns(unknown))


def worked_on(
    world: World, database: LabelDatabase, truth: Truth, run: Run, rng: np.random.Generator
) -> None:
    """People label until each phase has as many answers as it is to have; one decides."""
    scores = dict(run.scores().filter(metric=METRIC).select("example_id", "value").iter_rows())
    doubt = {id: 1 - 2 * abs(score - 0.5) for id, score in scores.items()}
    first = world.phases[0][0]
    most = sum(n for _, n in world.phases) if world.limited else None
    asked = (AskedLabel(METRIC, "answer", ("0", "1")),)
    seed = int(rng.integers(2**31))
    form = QueueForm("q", asked, per_item=2, route=first, most=most, seed=seed)
    items = [QueueItem(0, id, {}, (ItemPart("answer"),)) for id in truth]
    queue = make_queue(database, form, items, doubt=doubt)
    for person in PEOPLE:
        queue.invite(person)
    done = 0
    for at, (route, count) in enumerate(world.phases):
        if at:
            queue.route(route)
        done += 2 * count
        label(queue, truth, done, rng)
    queue.invite("dan", "adjudicator")
    for one in divided_items(queue):
        decided = {METRIC: "1" if truth[one.id] else "0"}
        queue.decide("dan", one.item, ItemAnswers({("answer", ""): decided}), str(one.item))


def label(queue: Queue, truth: Truth, until: int, rng: np.random.Generator) -> None:
    """People take turns at random, until so many labels are there or nothing is left."""
    said = len(queue.said())
    waiting = set(PEOPLE)
    while said < until and waiting:
        person = str(rng.choice(sorted(waiting)))
        item = queue.next(person)
        if item is None:
            waiting.remove(person)
        elif rng.random() < SKIPPED:
            queue.skip(person, item.item)
            waiting = set(PEOPLE)
        else:
            yes = truth[item.id] != (rng.random() < WRONG)
            answers = ItemAnswers({("answer", ""): {METRIC: "1" if yes else "0"}})
            queue.save(person, item.item, answers, f"{person} {item.item}")
            said += 1


if __name__ == "__main__":
    main()
