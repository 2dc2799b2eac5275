"""What a page of the app waits for, on a run of 50,000 answers with 10 contexts and 10 metrics.

    python benchmarks/screens.py [--examples 50000] [--run FOLDER]

Makes the run (some minutes), or takes the one in FOLDER; then, in a process of its own, opens it as
the app does, reads examples cold and warm, and makes the rows to filter and sort by. Prints
milliseconds and peak memory beside the limits.
"""

import argparse
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

METRICS = (
    "precision", "mrr", "ndcg", "faithfulness", "contradiction", "answer_coverage",
    "context_utilization", "answer_outcome", "token_f1", "helpfulness",
)  # fmt: skip
SYSTEMS = ("dense", "hybrid", "sparse", "oracle")
LIMITS = {"open": 2_000, "cold example": 500, "warm example": 500, "rows": 1_000, "filter": 500}
MEGABYTES = 400


def examples(count: int, contexts: int = 10) -> Iterator[dict[str, Any]]:
    """Answers to random words, labelled at random from a fixed seed."""
    draw = random.Random(0)
    letters = "abcdefghijklmnoprstuvwy"
    words = ["".join(draw.choices(letters, k=draw.randint(2, 10))) for _ in range(5_000)]
    pool = " ".join(draw.choices(words, k=2_000_000))

    def text(length: int) -> str:
        start = draw.randrange(len(pool) - length)
        return pool[start : start + length].strip()

    def one_of(*values: str) -> str:
        return draw.choice(values)

    for number in range(count):
        question, system = divmod(number, len(SYSTEMS))
        claims = [
            {"text": text(60), "support": one_of("supported", "absent", "contradicted"),
             "agreement": one_of("matches", "extra", "contradicts")}
            for _ in range(4)
        ]  # fmt: skip
        statements = [
            {"text": text(60), "agreement": one_of("full", "partial", "missing"),
             "support": one_of("supported", "absent")}
            for _ in range(3)
        ]  # fmt: skip
        yield {
            "id": f"q{question:05d}<::>{SYSTEMS[system]}",
            "question_id": f"q{question:05d}",
            "system": SYSTEMS[system],
            "topic": f"topic {question % 7}",
            "question": text(80),
            "answer": text(400),
            "reference": text(200),
            "contexts": [
                {"id": f"d{number}-{rank}", "text": text(500)} for rank in range(contexts)
            ],
            "labels": {
                "contexts": [
                    {"topically_relevant": int(draw.random() < 0.4)} for _ in range(contexts)
                ],
                "claims": claims,
                "statements": statements,
                "response_type": "answer",
                "answer": {"helpful": int(draw.random() < 0.6)},
            },
        }


def make(count: int, out: Path) -> None:
    """The run, judged by its labels."""
    from ragstone import evaluate

    evaluate(examples(count), metrics=METRICS, judge="human", by="topic", out=out)


def read(folder: Path) -> None:
    """Open, read and filter, and print what each takes."""
    from ragstone.report.dossier import dossier
    from ragstone.web.example_rows import example_rows
    from ragstone.web.filters import ExampleFilter
    from ragstone.web.opened import OpenRuns

    started = time.perf_counter()

    def took(what: str) -> None:
        nonlocal started
        spent = (time.perf_counter() - started) * 1000
        print(f"{what:>14} {spent:>8.0f} ms   limit {LIMITS[what]:>6,} ms", flush=True)
        started = time.perf_counter()

    opened = OpenRuns().open(folder)
    took("open")
    ids = opened.run.examples(["id"])["id"]
    started = time.perf_counter()
    for number in range(4):
        dossier(opened.run, ids[(number * 7_919 + 13) % len(ids)])
        took("cold example" if number == 0 else "warm example")
    rows = example_rows(opened.run)
    rows.rows  # noqa: B018
    took("rows")
    for query in ("where=faithfulness:0..0.5&sort=-token_f1", "status=missing", "q=ab cd"):
        ExampleFilter.read(query).chosen(rows)
        took("filter")
    opened.checked.wait()
    megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{'peak memory':>14} {megabytes:>8.0f} MB   limit {MEGABYTES:>6,} MB")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--examples", type=int, default=50_000)
    parser.add_argument("--run", type=Path)
    parser.add_argument("--read", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.read:
        read(given.run)
        return
    with tempfile.TemporaryDirectory() as temporary:
        folder = given.run or Path(temporary) / "run"
        if not folder.is_dir():
            make(given.examples, folder)
        subprocess.run([sys.executable, __file__, "--read", "--run", folder], check=True)


if __name__ == "__main__":
    main()
