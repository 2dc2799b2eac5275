"""Synthetic labelled rows through `evaluate`: memory stays flat and time linear.

    python benchmarks/stream.py [--rows 1000000] [--judge human] [--steps 4]

Writes the rows as JSON lines, evaluates ever larger heads of the file in
processes of their own, and prints wall and processor seconds, peak memory, and
microseconds a row. Labels cover every context and answer; without ``--judge``
the local judge fills what they do not cover.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

WORDS = [
    "harbour",
    "cliff",
    "engine",
    "copper",
    "lantern",
    "chapel",
    "moor",
    "granite",
    "tide",
    "ferry",
    "saint",
    "heath",
    "tin",
    "shaft",
    "beacon",
    "gorse",
    "quay",
    "pilchard",
    "bridge",
    "estuary",
    "causeway",
    "hermit",
    "wreck",
    "cove",
    "lighthouse",
]


def write_rows(path: Path, rows: int, contexts: int = 5) -> None:
    """Rows of four systems, labelled at random from a fixed seed."""
    draw = random.Random(0)
    with path.open("w", encoding="utf-8") as handle:
        for number in range(rows):
            labels = []
            for _ in range(contexts):
                relevant = draw.random() < 0.5
                sufficient = relevant and draw.random() < 0.4
                labels.append(
                    {
                        "topically_relevant": int(relevant),
                        "evidence_sufficient": int(sufficient),
                        "misleading": int(draw.random() < 0.1),
                    }
                )
            unsupported = draw.random() < 0.3
            record = {
                "id": f"r{number}",
                "system": f"system{number % 4}",
                "question": f"{_sentence(draw, 8)} {number // 4}?",
                "contexts": [_sentence(draw, 14) for _ in range(contexts)],
                "answer": _sentence(draw, 12),
                "labels": {
                    "contexts": labels,
                    "answer": {
                        "support_present": 1,
                        "unsupported_claim_present": int(unsupported),
                        "contradicted_claim_present": int(unsupported and draw.random() < 0.2),
                        "source_cited": 0,
                        "fabricated_source": 0,
                        "proper_action": int(draw.random() < 0.8),
                        "response_on_topic": 1,
                        "helpful": int(draw.random() < 0.7),
                        "incomplete": int(draw.random() < 0.2),
                        "unsafe_content": 0,
                    },
                },
            }
            handle.write(json.dumps(record) + "\n")


def _sentence(draw: random.Random, words: int) -> str:
    return " ".join(draw.choices(WORDS, k=words)).capitalize() + "."


def evaluate(path: Path, rows: int, judge: list[str], out: Path) -> tuple[float, float, float]:
    """Wall seconds, processor seconds and peak megabytes of one evaluation."""
    command = [sys.executable, "-m", "ragstone", "evaluate", str(path), "--limit", str(rows)]
    command += ["--out", str(out), "--json"]
    for name in judge:
        command += ["--judge", name]
    started = time.perf_counter()
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(child.pid, 0)
    if status:
        raise SystemExit(f"evaluate ended with status {status}")
    return time.perf_counter() - started, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--steps", type=int, default=4)
    parser.add_argument("--judge", action="append", default=[])
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.jsonl"
        write_rows(path, given.rows)
        print(f"{path.stat().st_size / 1e6:,.0f} MB of JSON lines")
        print(f"{'rows':>10} {'wall s':>8} {'CPU s':>8} {'peak MB':>8} {'µs a row':>9}")
        for step in range(1, given.steps + 1):
            rows = given.rows * step // given.steps
            wall, cpu, peak = evaluate(path, rows, given.judge, Path(folder) / f"run{step}")
            print(f"{rows:>10,} {wall:>8.1f} {cpu:>8.1f} {peak:>8.0f} {wall / rows * 1e6:>9.0f}")


if __name__ == "__main__":
    main()
