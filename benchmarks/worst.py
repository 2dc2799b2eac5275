"""How bad in the eyes of people are the answers that ``ragstone show RUN`` puts first?

    python benchmarks/worst.py [--data ../shared/data] [--judge local]

The answers of MTRAG, each graded from 1 to 4 by people for faithfulness, appropriateness and
completeness, are judged by the local judge and ranked over all metrics, and by single metrics.
Says for the first 10 and 20 the mean grade and the share that has a mean grade of 2.5 or less on
one of the three, beside those of all answers, and Spearman's correlation of the whole order.
"""

import argparse
import gzip
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from scipy.stats import spearmanr

from ragstone import evaluate
from ragstone.report.worst_examples import ranked, worst

GRADES = ("faithfulness", "appropriateness", "completeness")
ALONE = ("faithfulness", "answer_coverage", "factual_accuracy", "token_f1")
BAD = 2.5


def main() -> None:
    args = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    args.add_argument("--data", type=Path, default=Path("../shared/data"))
    args.add_argument("--judge", default="local")
    given = args.parse_args()
    rows, grades = [], {}
    with gzip.open(given.data / "rag_quality_mtrag" / "answers.jsonl.gz", "rt") as lines:
        for line in lines:
            row = json.loads(line)
            labels = row.pop("labels")
            meta = row.pop("meta")
            grades[row["id"]] = [np.mean(list(labels[name].values())) for name in GRADES]
            rows.append(
                {**row, "system": meta["system"], "question_id": meta["task_id"],
                 "history": meta["history"]}
            )  # fmt: skip
    run = evaluate(rows, judge=given.judge)
    of_all = np.array([grades[row["id"]] for row in rows])
    print(f"all {len(rows)} answers: mean grade {of_all.mean():.2f}, bad {_bad(of_all):.2f}")
    over_all = [one.example_id for one in ranked(run, limit=len(rows)).examples]
    _print("all metrics", over_all, grades)
    for name in ALONE:
        order = worst(run, metrics=[name], limit=len(rows))[name]
        _print(name, [one.example_id for one in order], grades)


def _bad(grades: np.ndarray) -> float:
    return float((grades.min(axis=1) <= BAD).mean())


def _print(name: str, order: Sequence[str], grades: dict[str, list[float]]) -> None:
    found = np.array([grades[one] for one in order])
    rho = spearmanr(np.arange(len(found)), found.mean(axis=1)).statistic
    firsts = "  ".join(
        f"first {n}: mean {found[:n].mean():.2f}, bad {_bad(found[:n]):.2f}" for n in (10, 20)
    )
    print(f"{name:18} {firsts}  rho {rho:.3f} (n {len(found)})")


if __name__ == "__main__":
    main()
