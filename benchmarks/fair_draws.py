"""How often labels are refused as no random sample: fair draws, and draws that are none.

    OMP_NUM_THREADS=1 python benchmarks/fair_draws.py SHARED [--draws N]

SHARED/answer_correctness_evouna holds answers of five systems to the same questions, each judged by
string rules and by people. A fair draw is of rows or of whole questions; the others are of one
system alone, of verdicts of yes with twice the odds, and of answers that the judge called right.
Refused is any estimate of one metric (all, and each system) as ``ragstone calibrate`` would.
"""

import argparse
import gzip
import json
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ragstone.analysis.calibration.corrected_means import LABELLED, not_random

Bools = NDArray[np.bool_]
Draw = Callable[[pl.DataFrame, int, np.random.Generator], Bools]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("shared", type=Path)
    parser.add_argument("--draws", type=int, default=1000)
    given = parser.parse_args()
    for name, rows in populations(given.shared):
        mean = rows["value"].to_numpy().mean()
        print(f"{name}: {rows.height:,} rows, mean of the judge {mean:.3f}")
        if "people" in rows.columns:
            by = rows.group_by("system").agg(pl.col("people").mean()).sort("people")
            means = ", ".join(f"{one} {mean:.3f}" for one, mean in by.iter_rows())
            print(f"  people say yes of {rows['people'].to_numpy().mean():.3f}: {means}")
        for labels in (50, 200):
            for word, draw in FAIR.items():
                report(rows, draw, word, labels, given.draws)
            for word, draw in UNFAIR.items():
                report(rows, draw, word, labels, max(1, given.draws // 20))


def populations(shared: Path) -> Iterator[tuple[str, pl.DataFrame]]:
    """Rows as ``LabelledRun`` has them: of real answers, and of two made worlds."""
    file = shared / "answer_correctness_evouna" / "verdicts.jsonl.gz"
    if file.exists():
        yield "EVOUNA, questions of NQ", evouna(file)
    rng = np.random.default_rng(0)
    for clusters, each in ((400, 5), (40, 25)):
        question = np.repeat(np.arange(clusters), each)
        base = rng.normal(size=clusters)[question]
        systems = np.tile(np.arange(each) % 5, clusters)
        score = base + 0.2 * systems + rng.normal(size=len(question))
        yield (
            f"{clusters} questions of {each} rows",
            pl.DataFrame(
                {
                    "value": (score > 0.5).astype(float),
                    "cluster": question.astype(str),
                    "system": systems.astype(str),
                    "slice kind": (question % 4).astype(str),
                },
                schema_overrides={
                    "cluster": pl.String,
                    "system": pl.String,
                    "slice kind": pl.String,
                },
            ),
        )


def report(rows: pl.DataFrame, draw: Draw, word: str, labels: int, draws: int) -> None:
    refused = withheld = 0
    for seed in range(draws):
        rng = np.random.default_rng(seed)
        chosen = rows.with_columns(pl.Series(LABELLED, draw(rows, labels, rng)))
        found = refusals(chosen)
        refused += bool(found)
        withheld += "all" in found
    print(
        f"  {word:32} {labels:4} labels: any estimate refused in {refused / draws:.4f}, the mean "
        f"of all in {withheld / draws:.4f} of {draws:,}",
        flush=True,
    )


def refusals(rows: pl.DataFrame) -> list[str]:
    """The groups whose mean is refused."""
    systems = rows["system"].unique().sort().to_list()
    groups = {"all": rows} | {one: rows.filter(pl.col("system") == one) for one in systems}
    many = len(groups)
    return [
        name
        for name, part in groups.items()
        if part[LABELLED].any() and not_random("judge", {}, part, groups=many) is not None
    ]


def of_rows(rows: pl.DataFrame, labels: int, rng: np.random.Generator) -> Bools:
    return np.isin(np.arange(rows.height), rng.choice(rows.height, labels, replace=False))


def of_questions(rows: pl.DataFrame, labels: int, rng: np.random.Generator) -> Bools:
    questions = rows["cluster"].unique(maintain_order=True).to_numpy()
    many = max(2, round(labels * len(questions) / rows.height))
    return np.isin(rows["cluster"].to_numpy(), rng.choice(questions, many, replace=False))


def _within(rows: pl.DataFrame, where: Bools, labels: int, rng: np.random.Generator) -> Bools:
    there = np.flatnonzero(where)
    chosen = rng.choice(there, min(labels, len(there)), replace=False)
    return np.isin(np.arange(rows.height), chosen)


def of_one_system(rows: pl.DataFrame, labels: int, rng: np.random.Generator) -> Bools:
    best = rows.group_by("system").agg(pl.col("value").mean()).sort("value")["system"][-1]
    return _within(rows, rows["system"].to_numpy() == best, labels, rng)


def of_yes(rows: pl.DataFrame, labels: int, rng: np.random.Generator) -> Bools:
    return _within(rows, rows["value"].to_numpy() == 1, labels, rng)


def of_yes_more_often(rows: pl.DataFrame, labels: int, rng: np.random.Generator) -> Bools:
    odds = np.where(rows["value"].to_numpy() == 1, 2.0, 1.0)
    chosen = rng.choice(rows.height, labels, replace=False, p=odds / odds.sum())
    return np.isin(np.arange(rows.height), chosen)


FAIR: dict[str, Draw] = {"fair, rows": of_rows, "fair, whole questions": of_questions}
UNFAIR: dict[str, Draw] = {
    "one system alone": of_one_system,
    "verdicts of yes alone": of_yes,
    "yes with twice the odds": of_yes_more_often,
}


def evouna(file: Path) -> pl.DataFrame:
    """Every answer to a question of NQ, with whether it holds a gold answer word for word."""
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        records = [json.loads(line) for line in lines]
    rows = [one for one in records if one["meta"]["source"] == "NQ"]
    return pl.DataFrame(
        {
            "value": [
                float(any(gold.lower() in one["answer"].lower() for gold in one["reference"]))
                for one in rows
            ],
            "people": [float(one["labels"]["correct"]) for one in rows],
            "cluster": [one["question"] for one in rows],
            "system": [one["meta"]["system"] for one in rows],
        }
    )


if __name__ == "__main__":
    main()
