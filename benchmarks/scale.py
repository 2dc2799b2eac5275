"""A run of a million rows in one process, and what an answer costs by each judge.

    python benchmarks/scale.py local [--rows 1000000]
    python benchmarks/scale.py costs [--rows 2000]

``local``: rows with 10 contexts and labels, in a quarter, a half and all of the data. ``costs``:
milliseconds of a processor for an answer with 10 contexts by each judge, and calls a second to a
server of this machine.
"""

import json
import random
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

from measure import RAGSTONE, Used, run, used_by
from peers import mock

CONTEXTS = 10

SENTENCE = (
    "harbour cliff engine copper lantern chapel moor granite tide ferry saint heath tin shaft "
    "beacon gorse quay pilchard bridge estuary causeway hermit wreck cove lighthouse"
)
ALIKE = {"support_present": 1, "response_on_topic": 1, "source_cited": 0, "fabricated_source": 0,
         "unsafe_content": 0}  # fmt: skip
"""The labels that all answers have."""


def main(part: Literal["local", "costs"], rows: int = 0) -> None:
    with tempfile.TemporaryDirectory() as folder:
        if part == "local":
            local(Path(folder), rows or 1_000_000)
        else:
            costs(Path(folder), rows or 2_000)


def write_rows(path: Path, rows: int, words: int = 14) -> None:
    """Rows of four systems with contexts of so many words, labelled at random from a fixed seed."""
    draw = random.Random(0)
    with path.open("w", encoding="utf-8") as handle:
        for number in range(rows):
            labels = []
            for _ in range(CONTEXTS):
                relevant = draw.random() < 0.5
                sufficient = relevant and draw.random() < 0.4
                misleading = int(draw.random() < 0.1)
                labels.append({"topically_relevant": int(relevant), "misleading": misleading,
                               "evidence_sufficient": int(sufficient)})  # fmt: skip
            unsupported = draw.random() < 0.3
            record = {
                "id": f"r{number}",
                "system": f"system{number % 4}",
                "question": f"{_sentence(draw, 8)} {number // 4}?",
                "contexts": [_sentence(draw, words) for _ in range(CONTEXTS)],
                "answer": _sentence(draw, 12),
                "labels": {
                    "contexts": labels,
                    "answer": {
                        **ALIKE,
                        "unsupported_claim_present": int(unsupported),
                        "contradicted_claim_present": int(unsupported and draw.random() < 0.2),
                        "proper_action": int(draw.random() < 0.8),
                        "helpful": int(draw.random() < 0.7),
                        "incomplete": int(draw.random() < 0.2),
                    },
                },
            }
            handle.write(json.dumps(record) + "\n")


def _sentence(draw: random.Random, words: int) -> str:
    return " ".join(draw.choices(SENTENCE.split(), k=words)).capitalize() + "."


def local(folder: Path, rows: int) -> None:
    print(f"{'rows':>10} {'wall s':>8} {'CPU s':>8} {'peak MB':>8}   limit 600 MB, flat")
    for part in (rows // 4, rows // 2, rows):
        wall, cpu, peak = evaluation(folder, part, "--judge", "human")
        print(f"{part:>10,} {wall:>8.1f} {cpu:>8.1f} {peak:>8.0f}", flush=True)


JUDGES: Mapping[str, tuple[int, Sequence[str]]] = {
    "labels": (20, ["--judge", "human"]),
    "local, by strings": (5, ["--judge", "local:strings"]),
    "local, with the encoder": (1, ["--judge", "local"]),
}
"""What is measured, and on how many times as many answers, for some take little."""


def costs(folder: Path, rows: int) -> None:
    def an_answer(times: int, *more: str) -> tuple[float, float]:
        """Seconds by the clock and of processors, without those for beginning and end."""
        few, many = times * rows // 4, times * rows
        part, whole = evaluation(folder, few, *more), evaluation(folder, many, *more)
        return (whole.wall - part.wall) / (many - few), (whole.cpu - part.cpu) / (many - few)

    print(f"{'judge':<28} {'ms of a processor an answer':>28}")
    for name, (times, more) in JUDGES.items():
        _, cpu = an_answer(times, *more)
        print(f"{name:<28} {1_000 * cpu:>28.2f}", flush=True)
    with mock() as server:
        judge = ["--judge", f"{server.base_url}#mock", "-m", "abstention", "--no-cache"]
        wall, cpu = an_answer(1, *judge, "--concurrency", "256")
    calls = f"{1 / wall:,.0f} calls a second"
    print(f"{'a model, one call an answer':<28} {1_000 * cpu:>28.2f}   {calls}")


def evaluation(folder: Path, rows: int, *more: str) -> Used:
    """What an evaluation of so many rows takes."""
    data = folder / f"rows{rows}.jsonl"
    if not data.is_file():
        write_rows(data, rows)
    with tempfile.TemporaryDirectory() as out:
        words = ("evaluate", str(data), "--json", *more, "--out", f"{out}/run")
        return used_by([*RAGSTONE, *words])


if __name__ == "__main__":
    run(main)
