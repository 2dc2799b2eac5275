"""Short benchmarks against stored figures: is anything a quarter slower?

    make bench
    python benchmarks/short.py [--only show,guard] [--keep]

Each job runs five times, each time after a unit: a loop of plain Python, or for a command a process
that imports Polars. The least processor seconds of both are compared, so the machine and its load
hardly count. The stored ratios are in short.json, and --keep writes them there. Exit status 1 if a
ratio is more than a quarter above the stored one. Jobs that ask a model need the mock judge of
`../shared/bench`, and jobs with the encoder its model; otherwise they are skipped.
"""

import json
import os
import random
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import process_time

os.environ.setdefault("OMP_NUM_THREADS", "1")

from following import receive
from judges import ours
from local_judge_speed import text
from measure import RAGSTONE, SHARED, run, used_by
from ranking import labels
from ranking import ours as ranked
from scale import write_rows

from ragstone import read
from ragstone.data import cornwall
from ragstone.guard import Guard
from ragstone.judges.local.claim_support import support
from ragstone.judges.local.claims_and_evidence import Passages, claims
from ragstone.models import BUILTIN, Encoder, available, pull
from ragstone.models.numpy_bert import load
from ragstone.monitor.duties.fold_traces import Folding
from ragstone.monitor.store.store import open_store

KEPT = Path(__file__).with_name("short.json")
TIMES, SLOWER = 5, 1.25
ROWS, ANSWERS, TRACES, CALLS, LISTS, TOPICS = 10_000, 20, 300, 50, 200_000, 2_000

Work = Callable[[], float]
"""Does it once, and returns its processor seconds."""


def main(only: str = "", keep: bool = False) -> None:
    kept = json.loads(KEPT.read_text()) if KEPT.is_file() else {}
    now: dict[str, float] = {}
    slower = []
    encoder = load(pull(BUILTIN).folder, BUILTIN) if available(BUILTIN) else None
    with tempfile.TemporaryDirectory() as folder:
        os.environ["RAGSTONE_CACHE"] = f"{folder}/cache"
        for name, work in works(Path(folder), encoder).items():
            if only and name not in only.split(","):
                continue
            unit = start if work in COMMANDS else loop
            units, seconds = zip(*((unit(), work()) for _ in range(TIMES)), strict=True)
            now[name] = round(min(seconds) / min(units), 2)
            change = f"{now[name] / kept[name] - 1:+7.0%}" if name in kept else "    new"
            print(f"{name:28} {min(seconds):8.3f} s {now[name]:8.2f} {change}", flush=True)
            if now[name] > SLOWER * kept.get(name, now[name]):
                slower.append(name)
    if keep:
        KEPT.write_text(json.dumps(kept | now, indent=1) + "\n")
    elif slower:
        raise SystemExit(f"More than a quarter slower: {', '.join(slower)}.")


def loop() -> float:
    """Processor seconds of a loop of plain Python, with which all else is compared."""
    begun = process_time()
    words = [f"word{number % 997}" for number in range(200_000)]
    counts: dict[str, int] = {}
    for word in words:
        counts[word] = counts.get(word, 0) + len(word.upper())
    return process_time() - begun


def works(folder: Path, encoder: Encoder | None) -> dict[str, Work]:
    """What is measured, by its name."""
    small, large, rows = folder / "runs/small", folder / "large/run", folder / "rows.jsonl"
    trec, qrels = folder / "run.trec", folder / "qrels.txt"
    write_rows(rows, ROWS)
    write_trec(trec, qrels)
    command("evaluate", cornwall(), "--judge", "human", "--out", small)()
    command("evaluate", rows, "--judge", "human", "--out", large, "-m", "mrr", "-m", "ndcg")()
    works = {
        "--help": command("--help"),
        "metrics": command("metrics", "faithfulness"),
        "runs": command("runs", small.parent),
        "show": command("show", small),
        "show, large": command("show", large),
        "show an example, large": command("show", large, "r777"),
        "export, large": command("export", large, "--as", "csv"),
        "evaluate by strings": evaluated(folder, cornwall(), "--judge", "local"),
        "evaluate a TREC run": evaluated(folder, trec, "--qrels", qrels, "-m", "ndcg_cut_10"),
        "support by strings": supported,
        "guard": guarded,
        "ranking": lambda: ranked(labels(LISTS, 10), LISTS, 10)[0],
        "fold traces": lambda: folded(folder),
    }
    if encoder is not None:
        works["embed"] = lambda: embedded(encoder)
    if SHARED.joinpath("bench").is_dir():
        works["model calls"] = lambda: ours(CALLS, 0)["cpu"]
    return works


COMMANDS: list[Work] = []


def start() -> float:
    """Processor seconds of a process that imports Polars, as most commands do."""
    return used_by([sys.executable, "-c", "import polars"]).cpu


def command(*words: object) -> Work:
    COMMANDS.append(lambda: used_by([*RAGSTONE, *map(str, words)]).cpu)
    return COMMANDS[-1]


def evaluated(folder: Path, *words: object) -> Work:
    def work() -> float:
        with tempfile.TemporaryDirectory(dir=folder) as out:
            return command("evaluate", *words, "--out", f"{out}/run")()

    COMMANDS.append(work)
    return work


def write_trec(run: Path, qrels: Path) -> None:
    """A run of ten documents a topic, of which every third is relevant."""
    ranks = range(1, 11)
    run.write_text("".join(
        f"{topic} Q0 d{topic}-{rank} {rank} {1 / rank:.4f} bm25\n"
        for topic in range(TOPICS) for rank in ranks
    ))  # fmt: skip
    qrels.write_text("".join(
        f"{topic} 0 d{topic}-{rank} {int(rank % 3 == 0)}\n"
        for topic in range(TOPICS) for rank in ranks
    ))  # fmt: skip


def supported() -> float:
    """Claims of an answer by ten contexts of 1 kB, twenty times."""
    draw = random.Random(0)
    made = [(text(draw, 60), tuple(text(draw, 160) for _ in range(10))) for _ in range(ANSWERS)]
    begun = process_time()
    for answer, contexts in made:
        passages = Passages(contexts)
        for claim in claims(answer):
            support(claim.text, passages, None, None)
    return process_time() - begun


def guarded() -> float:
    draw, guard = random.Random(1), Guard()
    made = [(text(draw, 60), [text(draw, 160) for _ in range(10)]) for _ in range(ANSWERS)]
    begun = process_time()
    for answer, contexts in made:
        guard.assess("What is it?", answer, contexts)
    return process_time() - begun


def folded(folder: Path) -> float:
    rows = [row for row in read(cornwall()) if row.answer and row.contexts and row.question]
    with tempfile.TemporaryDirectory(dir=folder) as place:
        store = open_store(place)
        receive(store, (rows * (TRACES // len(rows) + 1))[:TRACES])
        begun = process_time()
        Folding(store).fold_all()
        seconds = process_time() - begun
        store.close()
    return seconds


def embedded(encoder: Encoder) -> float:
    draw = random.Random(2)
    texts = [text(draw, 150) for _ in range(ANSWERS)]
    begun = process_time()
    encoder.embed(texts)
    return process_time() - begun


if __name__ == "__main__":
    run(main)
