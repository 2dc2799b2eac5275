"""How often what `ragstone calibrate` says of a judge holds what all labels together say.

    python benchmarks/calibration.py [--data ../shared/data] [--draws 200] [--rows 200] [--seed 1]

17,306 answers that people judged are taken as if they had judged so many of them, drawn as
`ragstone sample` draws: at random, stratified by the judge's verdict with the same number of each,
and near the threshold; and, at random, whole questions of about as many answers. Two judges are
held against these labels by the function behind `ragstone calibrate`: the outcome by the local
judge (1, .5, 0), and token F1. Printed is the share of draws whose 95 % interval holds the value in
all answers, and the mean width; beside it the same without the inclusion probabilities.

The truth of a bias by length is that of all answers as long as those in the third; of a threshold,
what the very threshold is worth on all answers.
"""

import argparse
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import polars as pl
from labelled import Record, records_of
from numpy.typing import NDArray

import ragstone
from ragstone.analysis.calibration.column_checks import JudgeCheck, check_column
from ragstone.analysis.label_sampling.sample_designs import EMPHASIS
from ragstone.stats.judge_quality.confusion import criterion_of
from ragstone.stats.planning.sampling import (
    Drawn,
    allocate,
    draw_random,
    draw_stratified,
    draw_systematic,
    inclusion_probabilities,
)

Floats = NDArray[np.float64]
Rng = np.random.Generator
THRESHOLD, LEVEL = 0.5, 0.95
JUDGES = ("answer_outcome", "token_f1")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--draws", type=int, default=200)
    parser.add_argument("--rows", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    records = records_of(arguments.data / "answer_correctness_evouna" / "verdicts.jsonl.gz")
    scores = judged(records)
    for judge in JUDGES:
        frame = units(records, scores[judge])
        whole = check_column("metric", judge, frame, "youden", LEVEL, 0)
        print(f"\n{judge}: {len(frame):,} answers, {arguments.draws} draws of {arguments.rows}")
        print(f"{'design':<16}{'figure':<30}{'all':>7}{'holds':>8}{'width':>8}"
              f"{'unweighted holds':>18}{'width':>8}")  # fmt: skip
        for design, draw in designs(frame, arguments.rows).items():
            rng = np.random.default_rng(arguments.seed)
            found = [list(both(frame, whole, draw(rng), judge)) for _ in range(arguments.draws)]
            for line in lines(found):
                print(f"{design:<16}{line}", flush=True)


def judged(records: list[Record]) -> dict[str, Floats]:
    """What each judge makes of every answer."""
    names = ("id", "question", "answer", "reference")
    examples = [{name: one[name] for name in names} for one in records]
    with TemporaryDirectory() as folder:
        run = ragstone.evaluate(
            examples, metrics=list(JUDGES), judge="local", out=Path(folder) / "run"
        )
        table = run.scores()
    return {judge: table.filter(pl.col("metric") == judge)["value"].to_numpy() for judge in JUDGES}


def units(records: list[Record], scores: Floats) -> pl.DataFrame:
    """As `calibrate` holds values of a metric against a judge's."""
    people = np.array([float(one["labels"]["correct"]) for one in records])
    return pl.DataFrame(
        {
            "example_id": [one["id"] for one in records],
            "unit": pl.Series([None] * len(records), dtype=pl.String),
            "people": people.astype(str),
            "people_number": people,
            "value": scores.astype(str),
            "number": scores,
            "probability": pl.Series([None] * len(records), dtype=pl.Float64),
            "cluster": [one["question"] for one in records],
            "system": [one["meta"]["system"] for one in records],
            "length": [len(one["answer"].split()) for one in records],
            "weight": pl.Series([None] * len(records), dtype=pl.Float64),
        }
    )


def designs(frame: pl.DataFrame, rows: int) -> dict[str, Callable[[Rng], Drawn]]:
    """Ways to draw about so many rows."""
    scores = frame["number"].to_numpy()
    verdicts = (scores >= THRESHOLD).astype(np.int64)
    equal = allocate(np.bincount(verdicts), rows, "equal")
    distance = np.abs(scores - THRESHOLD)
    near = inclusion_probabilities(EMPHASIS ** (1 - distance / distance.max()), rows)
    place = frame["cluster"].rank("dense").to_numpy().astype(np.int64) - 1
    questions = int(place.max()) + 1

    def whole_questions(rng: Rng) -> Drawn:
        drawn = draw_random(questions, round(rows * questions / len(place)), rng)
        picked = np.flatnonzero(np.isin(place, drawn.picked))
        return Drawn(picked, drawn.probability[place])

    return {
        "random": lambda rng: draw_random(len(scores), rows, rng),
        "stratified": lambda rng: draw_stratified(verdicts, equal, rng),
        "near-threshold": lambda rng: draw_systematic(near, rng),
        "whole questions": whole_questions,
    }


Figure = tuple[str, float, bool, float]
"""Its name, the truth, whether the interval holds it, and how wide it is."""


def both(
    frame: pl.DataFrame, whole: JudgeCheck, drawn: Drawn, judge: str
) -> Iterator[tuple[Figure, Figure | None]]:
    """Each figure with the inclusion probabilities, and without where these differ."""
    rows = frame[drawn.picked]
    chance = drawn.probability[drawn.picked]
    weighed = rows.with_columns(weight=1 / chance)
    found = figures(frame, whole, check_column("metric", judge, weighed, "youden", LEVEL, 0))
    if chance.min() == chance.max():
        yield from ((one, None) for one in found)
        return
    plain = figures(frame, whole, check_column("metric", judge, rows, "youden", LEVEL, 0))
    without = {one[0]: one for one in plain}
    yield from ((one, without.get(one[0])) for one in found)


def figures(frame: pl.DataFrame, whole: JudgeCheck, check: JudgeCheck) -> Iterator[Figure]:
    there, told = whole.to_dict(), check.to_dict()
    for name in ("sensitivity", "specificity", "precision", "kappa", "auroc", "ece"):
        yield figure(name, there[name], told[f"{name}_low"], told[f"{name}_high"])
    at = told["threshold"]
    if at is not None:
        truth = worth(frame, at["value"])
        yield figure("threshold (youden)", truth, at["low"], at["high"])
    biases = {(one["by"], one["group"]): one["difference"] for one in there["bias"]}
    for one in told["bias"]:
        if one["by"] == "system":
            truth = biases["system", one["group"]]
            yield figure(f"bias {one['group']}", truth, one["low"], one["high"])
    for place, one in enumerate(bias for bias in told["bias"] if bias["by"] == "length"):
        least, most = map(float, one["group"].split(" to "))
        same = frame.filter(pl.col("length").is_between(least, most))
        truth = float((same["number"] - same["people_number"]).mean())  # type: ignore[arg-type]
        yield figure(f"bias length, third {place + 1}", truth, one["low"], one["high"])


def figure(name: str, truth: float, low: float | None, high: float | None) -> Figure:
    if low is None or high is None:
        return name, truth, False, 1.0
    return name, truth, low <= truth <= high, high - low


def worth(frame: pl.DataFrame, threshold: float) -> float:
    """Youden's index of a threshold on all answers."""
    people = frame["people_number"].to_numpy().astype(np.int64)
    said = (frame["number"].to_numpy() >= threshold).astype(np.int64)
    shares = np.bincount(2 * people + said, minlength=4)[None, :] / len(people)
    return float(criterion_of(shares, "youden")[0])


def lines(found: list[list[tuple[Figure, Figure | None]]]) -> Iterator[str]:
    """One line a figure: its share of draws that hold the truth, and its mean width."""
    names = dict.fromkeys(one[0] for draw in found for one, _ in draw)
    for name in names:
        weighed = [one for draw in found for one, _ in draw if one[0] == name]
        plain = [two for draw in found for one, two in draw if one[0] == name and two is not None]
        yield f"{name:<30}{mean(weighed, 1):>7.3f}{told(weighed)}{told(plain, wide=18)}"


def told(figures: list[Figure], *, wide: int = 8) -> str:
    if not figures:
        return ""
    return f"{mean(figures, 2):>{wide}.3f}{mean(figures, 3):>8.3f}"


def mean(figures: list[Any], place: int) -> float:
    return float(np.mean([one[place] for one in figures]))


if __name__ == "__main__":
    main()
