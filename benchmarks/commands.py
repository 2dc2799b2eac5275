"""Whole commands beside their limits: wall and processor seconds, peak memory.

    python benchmarks/commands.py [--data ../shared/data] [--runs 3]

`ragstone --help` (limit .3 s CPU), the demo data, and the 17,306 rows of
answer_correctness_evouna with the local judge, the lexical metrics and the
outcomes (limit 20 s wall). Medians over the runs.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from ragstone.data import cornwall


def measure(command: list[str], runs: int) -> tuple[float, float, float]:
    """Median wall seconds, processor seconds and peak megabytes; ``{out}`` is a fresh folder."""
    walls, cpus, peaks = [], [], []
    for _ in range(runs):
        with tempfile.TemporaryDirectory() as folder:
            words = [word.replace("{out}", f"{folder}/run") for word in command]
            started = time.perf_counter()
            child = subprocess.Popen(
                [sys.executable, "-m", "ragstone", *words],
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            _, status, used = os.wait4(child.pid, 0)
            if status:
                raise SystemExit(f"ragstone {' '.join(command)} ended with status {status}")
            walls.append(time.perf_counter() - started)
            cpus.append(used.ru_utime + used.ru_stime)
            peaks.append(used.ru_maxrss / 1024)
    return statistics.median(walls), statistics.median(cpus), statistics.median(peaks)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--runs", type=int, default=3)
    given = parser.parse_args()
    evouna = given.data / "answer_correctness_evouna" / "verdicts.jsonl.gz"
    commands = {
        "--help (limit .3 s CPU)": ["--help"],
        "evaluate demo data": ["evaluate", str(cornwall()), "--out", "{out}"],
    }
    if evouna.is_file():
        name = "evaluate evouna, 17,306 rows (limit 20 s wall)"
        commands[name] = ["evaluate", str(evouna), "--out", "{out}"]
    print(f"{'':50} {'wall s':>7} {'CPU s':>7} {'peak MB':>8}")
    for name, command in commands.items():
        wall, cpu, peak = measure(command, given.runs)
        print(f"{name:50} {wall:>7.2f} {cpu:>7.2f} {peak:>8.0f}")


if __name__ == "__main__":
    main()
