"""BERTScore beside bert-score, in one process and in turns.

    OMP_NUM_THREADS=2 python benchmarks/bertscore.py [--model FOLDER] [--rounds 5]

128 pairs of an answer and a chunk of 150 words, and a grid of 50 answers with 10 chunks each,
with the NumPy back end and, where the folder holds onnx/model.onnx, the ONNX one. bert-score runs
as it comes, with its own batches of 64; its numbers are compared too, which differ by what padding
does to them.
Each round times everybody once, in another order; the medians and their ratios are printed.
Wants torch and bert-score, which are not in the lock file.
"""

import argparse
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragstone.data import cornwall, read
from ragstone.judges.similarity import bertscore, bertscore_grid
from ragstone.models import Encoder
from ragstone.models import numpy_bert as bert
from ragstone.models.download import fetch_builtin, to_stderr

PAIRS, ROWS, COLUMNS = 128, 50, 10
CHUNK_WORDS = 150
SEED = 7
THREADS = 2

Scored = Callable[[], NDArray[np.float64]]


@dataclass(frozen=True, slots=True)
class Task:
    """Texts to score, and the least ratio that is wanted of each back end."""

    name: str
    candidates: list[str]
    references: list[str]
    grid: bool
    wanted: dict[str, float]


def tasks() -> list[Task]:
    """Texts of the demo data's words: answers of 10 to 100 words, chunks of 150."""
    chance = np.random.default_rng(SEED)
    words = " ".join(
        context.text or "" for example in read(cornwall()) for context in example.contexts or ()
    ).split()

    def text(length: int) -> str:
        start = int(chance.integers(len(words)))
        return " ".join(words[(start + place) % len(words)] for place in range(length))

    def answers(count: int) -> list[str]:
        return [text(int(length)) for length in chance.integers(10, 101, count)]

    def chunks(count: int) -> list[str]:
        return [text(CHUNK_WORDS) for _ in range(count)]

    return [
        Task(f"{PAIRS} pairs", answers(PAIRS), chunks(PAIRS), False, {"numpy": 1.3, "onnx": 2.5}),
        Task(f"{ROWS} x {COLUMNS} grid", answers(ROWS), chunks(COLUMNS), True,
             {"numpy": 2.5, "onnx": 2.5}),
    ]  # fmt: skip


def encoders(folder: Path) -> dict[str, Encoder]:
    """Back ends without a cache."""
    found: dict[str, Encoder] = {"numpy": bert.load(folder, "numpy")}
    if (folder / "onnx" / "model.onnx").is_file():
        found["onnx"] = import_module("ragstone.models.onnx_encoder").load(folder, "onnx")
    return found


def ours(encoder: Encoder, task: Task) -> Scored:
    score = bertscore_grid if task.grid else bertscore
    return lambda: score(encoder, task.candidates, task.references).f1.ravel()


def theirs(scorer: Any, task: Task) -> Scored:
    candidates, references = task.candidates, task.references
    if task.grid:
        candidates = [one for one in task.candidates for _ in task.references]
        references = task.references * len(task.candidates)

    def score() -> NDArray[np.float64]:
        f1: NDArray[np.float64] = scorer.score(candidates, references)[2].numpy()
        return f1

    return score


def peer(folder: Path, layers: int) -> Any:
    """bert-score's scorer of the same model, in 32 bits."""
    import_module("torch").set_num_threads(THREADS)
    scorer = import_module("bert_score").BERTScorer(
        model_type=str(folder), num_layers=layers, device="cpu", nthreads=0
    )
    scorer._model.float()
    return scorer


def timed(runs: dict[str, Scored], rounds: int) -> dict[str, float]:
    """Median seconds of each, everybody once a round and each round beginning with another."""
    names = list(runs)
    seconds: dict[str, list[float]] = {name: [] for name in names}
    for name in names:
        runs[name]()
    for turn in range(rounds):
        for name in names[turn % len(names) :] + names[: turn % len(names)]:
            start = time.perf_counter()
            runs[name]()
            seconds[name].append(time.perf_counter() - start)
    return {name: statistics.median(taken) for name, taken in seconds.items()}


def measured(task: Task, backs: dict[str, Encoder], scorer: Any, rounds: int) -> dict[str, Any]:
    """Seconds and ratios of one task."""
    runs = {"bert-score": theirs(scorer, task)}
    runs |= {name: ours(encoder, task) for name, encoder in backs.items()}
    expected = runs["bert-score"]()
    away = {name: float(np.abs(runs[name]() - expected).max()) for name in backs}
    seconds = timed(runs, rounds)
    ratios = {name: seconds["bert-score"] / seconds[name] for name in backs}
    return {"task": task.name, "seconds": seconds, "ratios": ratios, "wanted": task.wanted,
            "largest_difference": away}  # fmt: skip


def table(found: Sequence[dict[str, Any]]) -> str:
    """For people."""
    lines = [f"{'task':16} {'who':12} {'seconds':>8} {'ratio':>6} {'wanted':>7} {'apart':>8}"]
    for one in found:
        lines.append(f"{one['task']:16} {'bert-score':12} {one['seconds']['bert-score']:8.3f}")
        for name, ratio in one["ratios"].items():
            lines.append(
                f"{'':16} {name:12} {one['seconds'][name]:8.3f} {ratio:6.2f} "
                f"{one['wanted'][name]:7.1f} {one['largest_difference'][name]:8.0e}"
            )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", type=Path, help="a folder; default: builtin:minilm")
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    folder = given.model or fetch_builtin(note=to_stderr).folder
    backs = encoders(folder)
    scorer = peer(folder, backs["numpy"].layers)
    found = [measured(task, backs, scorer, given.rounds) for task in tasks()]
    print(table(found))


if __name__ == "__main__":
    main()
