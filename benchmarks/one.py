"""How long a single example takes with ``evaluate_one``, warm, by the local judge.

    python benchmarks/one.py [--judge local:strings] [--rounds 3]

Over the demo data: one metric, and the suite ``quick``. Says the median and the slowest tenth in
milliseconds, and those of the processor's own time, which other work on the machine slows less.
"""

import argparse
import json
import time
from pathlib import Path
from typing import Any

import numpy as np

from ragstone import evaluate_one
from ragstone.data import cornwall

KINDS: list[tuple[str, dict[str, Any]]] = [
    ("faithfulness", {"metrics": "faithfulness"}),
    ("quick", {"suite": "quick"}),
]
LIMITS = {"faithfulness": 10, "quick": 100}


def main() -> None:
    args = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    args.add_argument("--judge", default="local:strings")
    args.add_argument("--rounds", type=int, default=3)
    given = args.parse_args()
    lines = Path(cornwall()).read_text(encoding="utf-8").splitlines()
    rows: list[dict[str, Any]] = [json.loads(line) for line in lines]
    asked: dict[str, Any]
    for what, asked in KINDS:
        wall, own = [], []
        for number in range(given.rounds + 1):
            for row in rows:
                began, spent = time.perf_counter(), time.process_time()
                evaluate_one(**row, **asked, judge=given.judge)
                if number:  # The first round opens what is kept, and fills the caches.
                    wall.append(1000 * (time.perf_counter() - began))
                    own.append(1000 * (time.process_time() - spent))
        for name, times in (("wall", wall), ("own", own)):
            median, slow = np.median(times), np.quantile(times, 0.9)
            print(f"{what:13} {name:5} median {median:6.1f} ms  slowest tenth {slow:6.1f} ms"
                  f"  limit {LIMITS[what]} ms")  # fmt: skip


if __name__ == "__main__":
    main()
