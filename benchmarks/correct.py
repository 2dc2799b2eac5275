"""One correction in a large run: how long until its scores and estimates are there, beside `score`.

    python benchmarks/correct.py [--rows 50000] [--times 9]

Evaluates answers of four systems, labelled at random, with ten metrics over contexts, claims and
statements, by system and a slice. Then a person corrects a verdict, and the run's scores of the
example and all estimates are read. Prints wall seconds cold (a run that was just opened), warm
(the median of further corrections in the same process) and of `rescore`, which reads all rows.
"""

import argparse
import json
import random
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl

from ragstone import evaluate, rescore
from ragstone.run import Run

METRICS = [
    "faithfulness", "hallucination", "context_recall", "factual_accuracy", "precision",
    "mrr", "ndcg(k=5)", "hit(k=1)", "answer_outcome",
    'composite(weights="faithfulness:2 precision:1")',
]  # fmt: skip
WORDS = ["harbour", "cliff", "engine", "copper", "lantern", "chapel", "moor", "granite", "tide"]


def write_rows(path: Path, rows: int, contexts: int = 10) -> None:
    """Answers with two claims and a statement, labelled at random from a fixed seed."""
    draw = random.Random(0)

    def text(words: int) -> str:
        return " ".join(draw.choice(WORDS) for _ in range(words))

    with path.open("w", encoding="utf-8") as handle:
        for number in range(rows):
            said = ["supported", "contradicted", "absent"]
            record = {
                "id": f"r{number}",
                "question_id": f"q{number // 4}",
                "system": f"system{number % 4}",
                "question": f"{text(8)} {number // 4}?",
                "contexts": [{"id": f"d{one}", "text": text(60)} for one in range(contexts)],
                "answer": text(30),
                "reference": [text(12)],
                "slices": {"place": f"place {number // 4 % 3}"},
                "labels": {
                    "response_type": "answer",
                    "claims": [
                        {"text": text(12), "support": draw.choice(said), "agreement": "matches"}
                        for _ in range(2)
                    ],
                    "statements": [{"text": text(8), "support": draw.choice(said),
                                    "agreement": draw.choice(["full", "partial", "missing"])}],
                    "contexts": [{"topically_relevant": draw.randrange(2), "misleading": 0,
                                  "evidence_sufficient": 0} for _ in range(contexts)],
                },
            }  # fmt: skip
            handle.write(json.dumps(record) + "\n")


def corrected(run: Run, example: str, number: int) -> float:
    """Wall seconds from the correction to the scores of its example and all estimates."""
    rows = run.correctable(example)
    (one,) = [row for row in rows if (row.ask, row.unit) == ("support/claim", "1")]
    other = "absent" if one.values["verdict"] != "absent" else "supported"
    said: dict[str, Any] = {"author": "Ann", "reason": f"Look {number}.", "seen": one.version}
    return seconds(
        lambda: (
            run.correct(example, "support/claim", {"verdict": other}, unit=1, **said),
            run.scores().filter(pl.col("example_id") == example),
            run.estimate_list,
        )
    )


def seconds(deed: Callable[[], object]) -> float:
    start = time.perf_counter()
    deed()
    return time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=50_000)
    parser.add_argument("--times", type=int, default=9)
    parser.add_argument("--run", type=Path, help="A folder to keep the run in, or that holds it.")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        folder = given.run or Path(place) / "run"
        if not folder.exists():
            data = Path(place) / "rows.jsonl"
            write_rows(data, given.rows)
            evaluate(data, metrics=METRICS, judge="human", by="place", out=folder)
        run = Run.open(folder)
        opening = seconds(lambda: run.estimate_list)
        cold = corrected(run, f"r{given.rows // 2}", 0)
        warm = [corrected(run, f"r{7 * number}", number) for number in range(1, given.times + 1)]
        anew = Run.open(folder)
        reading = seconds(lambda: (anew.scores(), anew.estimate_list))
        scoring = seconds(lambda: rescore(folder, metrics="exact_match"))
        median = statistics.median(warm)
        print(f"{given.rows:,} answers, {len(METRICS)} metrics")
        print(f"open and read the estimates              {opening:7.2f} s")
        print(f"correction, in a run that was just opened  {cold:7.2f} s")
        print(f"correction, again                          {median:7.2f} s (median of {len(warm)})")
        print(f"open, with {given.times + 1:,} corrections               {reading:7.2f} s")
        print(f"score                                    {scoring:7.2f} s, ", end="")
        print(f"{scoring / median:,.0f} times as long as a correction")


if __name__ == "__main__":
    main()
