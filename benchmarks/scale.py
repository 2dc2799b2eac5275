"""Runs beyond one machine: time, memory, nodes, deaths, and going on, beside their limits.

    python benchmarks/scale.py local  [--rows 1000000] [--against CHECKOUT] [--pairs 1]
    python benchmarks/scale.py nodes  [--rows 1000000] [--pairs 5]
    python benchmarks/scale.py deaths [--rows 100000] [--seeds 20] [--bench ../shared/bench]
    python benchmarks/scale.py resume [--rows 1000000]
    python benchmarks/scale.py first
    python benchmarks/scale.py costs  [--rows 2000] [--bench ../shared/bench]

``local``: rows with 10 contexts and labels in one process, in a quarter, a half and all of the
data; with --against, another checkout beside it. ``nodes``: the same on one node and on two, and
what share of the processor time is not spent by workers. ``deaths``: a judge by a mock server and
three nodes, of which one, a worker, the relay, the run or the heartbeat of a node is ended at
random. ``resume``: a run killed with 1 % left. ``first``: seconds from the command to the first
shard. ``costs``: milliseconds of a processor for an answer with 10 contexts by each judge, and
calls a second to a server of this machine. Nodes are raylets of this machine, with one logical
processor each.
"""

import argparse
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from against_mock import mock, sent
from ray_nodes import RayNodes, kill, processes, ray_nodes

from ragstone.run.judging.sharding import OF_A_SHARD

CONTEXTS = 10
TICKS = os.sysconf("SC_CLK_TCK")
KEPT_OUT = ("run.json", ".lock", "journal.sqlite")
"""What may differ between runs of the same data."""


SENTENCE = (
    "harbour cliff engine copper lantern chapel moor granite tide ferry saint heath tin shaft "
    "beacon gorse quay pilchard bridge estuary causeway hermit wreck cove lighthouse"
)


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
    return " ".join(draw.choices(SENTENCE.split(), k=words)).capitalize() + "."


@dataclass(frozen=True, slots=True)
class Used:
    """What a command used: seconds by the clock and of processors, megabytes at most."""

    wall: float
    cpu: float
    peak: float


class Command:
    """An evaluation in a process of its own."""

    def __init__(
        self,
        data: Path,
        out: Path,
        more: Sequence[str],
        source: Path | None = None,
        program: Sequence[str] = ("-m", "ragstone"),
    ) -> None:
        self.out = out
        self._said = out.with_suffix(".txt")
        own = {} if source is None else {"PYTHONPATH": str(source / "src")}
        self._began = time.perf_counter()
        with self._said.open("w") as said:
            self.process = subprocess.Popen(
                [sys.executable, *program, "evaluate", str(data), "--out", str(out),
                 "--json", *more],
                stdout=subprocess.DEVNULL, stderr=said, env={**os.environ, **own},
            )  # fmt: skip

    @property
    def kept(self) -> int:
        """How many shards are done."""
        ledger = self.out / "parts" / "shards.jsonl"
        return ledger.read_bytes().count(b"\n") if ledger.is_file() else 0

    def reaches(self, shards: int) -> float:
        """Wait until so many are done; the seconds since the beginning."""
        while self.process.poll() is None and self.kept < shards:
            time.sleep(0.02)
        return time.perf_counter() - self._began

    def end(self, status: int = 0) -> Used:
        """Wait for the end."""
        _, ended, used = os.wait4(self.process.pid, 0)
        self.process.returncode = os.waitstatus_to_exitcode(ended)
        if self.process.returncode != status:
            raise SystemExit(f"status {self.process.returncode}: {self._said.read_text()[-2000:]}")
        wall = time.perf_counter() - self._began
        return Used(wall, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)


class Watch:
    """Sums the processor seconds of a cluster's processes of a title, dead ones included."""

    def __init__(self, title: str, address: str) -> None:
        self._title, self._address = title, address
        self._seen, self._on = dict[int, float](), True
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._thread.start()

    def _look(self) -> None:
        while self._on:
            for pid in processes(self._title, self._address):
                try:
                    stat = Path(f"/proc/{pid}/stat").read_text(encoding="ascii")
                except OSError:
                    continue
                user, system = stat.rpartition(") ")[2].split()[11:13]
                self._seen[pid] = (int(user) + int(system)) / TICKS
            time.sleep(0.1)

    def end(self) -> float:
        """Stop looking; the seconds."""
        self._on = False
        self._thread.join()
        return sum(self._seen.values())


def content(run: Path) -> dict[str, bytes]:
    """The files of a run that have to be the same."""
    files = (one for one in run.rglob("*") if one.is_file() and one.name not in KEPT_OUT)
    return {str(one.relative_to(run)): one.read_bytes() for one in files}


def local(folder: Path, given: argparse.Namespace) -> None:
    data = rows_in(folder, given.rows)
    print(f"{'rows':>10} {'of':>8} {'wall s':>8} {'CPU s':>8} {'peak MB':>8}   limit 600 MB, flat")
    parts = [given.rows // 4, given.rows // 2, given.rows]
    sources = {"this": None, **({"other": given.against} if given.against else {})}
    for pair in range(given.pairs):
        for rows in parts if not pair else parts[-1:]:
            some = head(data, folder / f"head{rows}.jsonl", rows)
            for name, source in sources.items():
                out = fresh(folder / "run")
                used = Command(some, out, ["--judge", "human"], source).end()
                print(f"{rows:>10,} {name:>8} {used.wall:>8.1f} {used.cpu:>8.1f} {used.peak:>8.0f}")


def nodes(folder: Path, given: argparse.Namespace) -> None:
    data = rows_in(folder, given.rows)
    print(
        f"{'nodes':>6} {'wall s':>8} {'workers':>8} {'run':>8} {'Ray':>8} {'outside':>8}   ≤ 10 %"
    )
    walls: dict[int, list[float]] = {1: [], 2: []}
    for _ in range(given.pairs):
        for count in walls:
            with ray_nodes(count) as there:
                engine = ["--judge", "human", "--engine", f"ray:{there.address}"]
                workers = Watch("ray::RagstoneWorker", there.address)
                before = there.cpu()
                used = Command(data, fresh(folder / "run"), engine).end()
                judging, rest = workers.end(), there.cpu() - before
            outside = (used.cpu + rest) / (judging + used.cpu + rest)
            walls[count].append(used.wall)
            print(f"{count:>6} {used.wall:>8.1f} {judging:>8.1f} {used.cpu:>8.1f} {rest:>8.1f} "
                  f"{outside:>8.1%}", flush=True)  # fmt: skip
    ratio = [one / two for one, two in zip(*walls.values(), strict=True)]
    print(f"one node / two nodes, median of {len(ratio)} pairs: {statistics.median(ratio):.2f}")


def deaths(folder: Path, given: argparse.Namespace) -> None:
    data = rows_in(folder, given.rows, contexts=2)
    with mock(given.bench) as server:
        judge = ["--judge", f"{server.url}#mock", "-m", "abstention", "--no-cache"]
        alone = fresh(folder / "alone")
        used = Command(data, alone, judge).end()
        asked = int(server.counts()["unique_requests"])
        print(f"one process: {used.wall:.0f} s, {asked:,} questions")
        print(f"{'seed':>5} {'what died':<28} {'wall s':>8} {'calls':>9} {'over':>6}  bytes")
        whole = content(alone)
        for seed in range(given.seeds):
            server.reset()
            draw = random.Random(seed)
            with ray_nodes(3) as there:
                engine = [*judge, "--engine", f"ray:{there.address}"]
                out, died, flying = fresh(folder / "run"), list[str](), 0
                began = time.perf_counter()
                run = Command(data, out, engine)
                for share in sorted([draw.random(), draw.random()]):
                    while run.process.poll() is None and sent(server.counts()) < share * asked:
                        time.sleep(0.02)
                    if run.process.poll() is not None:
                        break
                    what = draw.choice(list(DEATHS))
                    died.append(what)
                    if what == "run":
                        kill(run.process.pid)
                        run.end(-9)
                        flying += 64
                        run = Command(data, out, engine)
                    else:
                        DEATHS[what](there, draw)
                run.end()
                wall = time.perf_counter() - began
            calls = sent(server.counts())
            same = content(out) == whole
            print(f"{seed:>5} {', '.join(died):<28} {wall:>8.0f} {calls:>9,} {calls - asked:>6}  "
                  f"{'the same' if same else 'OTHERS'}", flush=True)  # fmt: skip
            if not same or calls - asked > flying:
                raise SystemExit("The limits are not kept.")


def _worker(there: RayNodes, draw: random.Random) -> None:
    if there_are := processes("ray::RagstoneWorker", there.address):
        kill(draw.choice(there_are))


def _node(there: RayNodes, draw: random.Random) -> None:  # noqa: ARG001
    there.remove()
    there.add()


def _silence(there: RayNodes, draw: random.Random) -> None:  # noqa: ARG001
    there.silence()
    there.add()


def _relay(there: RayNodes, draw: random.Random) -> None:  # noqa: ARG001
    for pid in processes("ray::Relay", there.address):
        kill(pid)


DEATHS: Mapping[str, Callable[[RayNodes, random.Random], None]] = {
    "worker": _worker,
    "node": _node,
    "heartbeat": _silence,
    "relay": _relay,
    "run": _worker,
}


GOES_ON = """
import time
began = time.perf_counter()
from ragstone.run.judging import prefetch
judge = prefetch.judge_block

def first(*given):
    prefetch.judge_block = judge
    held = open("/proc/self/status").read().partition("VmHWM:")[2].split()[0]
    with open("{file}", "w") as file:
        file.write(f"{{time.perf_counter() - began:.1f}} {{int(held) // 1024}}")
    return judge(*given)

prefetch.judge_block = first
from ragstone.cli.app import main
main()
"""
"""The command, which writes down when it begins to judge, and with how much memory."""


def resume(folder: Path, given: argparse.Namespace) -> None:
    data = rows_in(folder, given.rows)
    out = fresh(folder / "run")
    run = Command(data, out, ["--judge", "human"])
    shards = -(-given.rows // OF_A_SHARD)
    run.reaches(shards - max(1, shards // 100))
    kill(run.process.pid)
    begun = run.end(-9)
    left = shards - run.kept
    print(f"until it was killed: {begun.wall:.1f} s ({begun.cpu:.1f} of processors), "
          f"{begun.peak:.0f} MB", flush=True)  # fmt: skip
    noted = folder / "held.txt"
    again = Command(data, out, ["--judge", "human"], program=("-c", GOES_ON.format(file=noted)))
    first = again.reaches(run.kept + 1)
    when, held = noted.read_text(encoding="ascii").split()
    used = again.end()
    print(f"{left} of {shards} shards left: it judges on after {when} s with {held} MB, and the "
          f"first is done after {first:.1f} s; ≤ 5 s, ≤ 200 MB. The run after {used.wall:.1f} s "
          f"({used.cpu:.1f} of processors), {used.peak:.0f} MB")  # fmt: skip


def first(folder: Path, given: argparse.Namespace) -> None:  # noqa: ARG001
    data = rows_in(folder, 20_000)
    with ray_nodes(2) as there:
        for _ in range(3):
            run = Command(
                data, fresh(folder / "run"),
                ["--judge", "human", "--engine", f"ray:{there.address}"],
            )  # fmt: skip
            print(f"first of 8 shards after {run.reaches(1):.1f} s; ≤ 5 s")
            run.end()


def costs(folder: Path, given: argparse.Namespace) -> None:
    def an_answer(*more: str, times: int = 1) -> tuple[float, float]:
        """Seconds of processors and by the clock, without those for beginning and end."""
        sizes = (times * given.rows // 4, times * given.rows)
        few, many = (
            Command(rows_in(folder, rows), fresh(folder / "run"), more).end() for rows in sizes
        )
        rows = sizes[1] - sizes[0]
        return (many.cpu - few.cpu) / rows, (many.wall - few.wall) / rows

    print(f"{'judge':<28} {'ms of a processor an answer':>28}")
    for name, (times, more) in JUDGES.items():
        cpu, _ = an_answer(*more, times=times)
        print(f"{name:<28} {1_000 * cpu:>28.2f}", flush=True)
    with mock(given.bench) as server:
        judge = ["--judge", f"{server.url}#mock", "-m", "abstention", "--no-cache"]
        cpu, wall = an_answer(*judge, "--concurrency", "256")
    calls = f"{1 / wall:,.0f} calls a second"
    print(f"{'a model, one call an answer':<28} {1_000 * cpu:>28.2f}   {calls}")


JUDGES: Mapping[str, tuple[int, Sequence[str]]] = {
    "labels": (20, ["--judge", "human"]),
    "local, by strings": (5, ["--judge", "local:strings"]),
    "local, with the encoder": (1, ["--judge", "local"]),
}
"""What is measured, and on how many times as many answers, for some take little."""


def rows_in(folder: Path, rows: int, contexts: int = CONTEXTS) -> Path:
    """The data, made once in a folder."""
    data = folder / f"rows{rows}x{contexts}.jsonl"
    if not data.is_file():
        write_rows(data.with_suffix(".part"), rows, contexts)
        data.with_suffix(".part").rename(data)
    return data


def head(data: Path, into: Path, rows: int) -> Path:
    """The first rows of the data, in a file of their own."""
    with data.open("rb") as source, into.open("wb") as target:
        for _, line in zip(range(rows), source, strict=False):
            target.write(line)
    return into


def fresh(folder: Path) -> Path:
    """The folder, not there."""
    shutil.rmtree(folder, ignore_errors=True)
    return folder


@contextmanager
def place(given: Path | None) -> Iterator[Path]:
    """The folder that was named, or a temporary one."""
    if given is not None:
        given.mkdir(parents=True, exist_ok=True)
        yield given
        return
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder)


ROWS = {"deaths": 100_000, "costs": 2_000}

PARTS = {"local": local, "nodes": nodes, "deaths": deaths, "resume": resume, "first": first,
         "costs": costs}  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("part", choices=PARTS)
    parser.add_argument("--rows", type=int)
    parser.add_argument("--pairs", type=int)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--against", type=Path)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--bench", type=Path, default=Path("../shared/bench"))
    given = parser.parse_args()
    given.rows = given.rows or ROWS.get(given.part, 1_000_000)
    given.pairs = given.pairs or (5 if given.part == "nodes" else 1)
    with place(given.folder) as folder:
        PARTS[given.part](folder, given)


if __name__ == "__main__":
    main()
