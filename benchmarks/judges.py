"""Judging by LLM beside Ragas and DeepEval: calls, tokens and speed.

    python benchmarks/judges.py [--bench ../shared/bench] [--only calls,cpu,…] [--out judges.json]

Seven metrics each, on the same synthetic examples (a question, an answer of four sentences, ten
contexts of 150 words, a reference) and the same mock judge on this machine, which gives replies
that fit the schema, and counts. Ours runs as a user calls it, `ragstone
evaluate` in a process of its own with nothing cached; a peer as its documentation calls it, and
only a peer that gives all of its scores has figures. All is measured
from outside: the mock's counts, the wall clock, and what the system says of the child.
The peers' environments are made once, in .venv/peers, from peers-ragas.txt and
peers-deepeval.txt, unless --ragas-python and --deepeval-python name interpreters that have them.

The parts, for --only; "calls" are chats and embeddings, 16 in flight unless it says otherwise:

calls       50 examples, 50 ms a call. Chats an example; ours also with the lean plan, and for a
            further system: 50 examples of 2 systems less 50 of one. Prompt tokens an example
            (characters / 4), and of these the ones that no prefix cache served; ours also with
            the schema printed last in the prompt. In the lean plan the mock answers only the
            items of the last task in a question; the others are asked about alone.
cpu         0 ms. Processor ms a call, as the slope between 50 and 500 examples (peers: 50 and
            150); start-up is what is left at no calls. Median of --repeats.
rate        100 ms, 256 in flight, 2,000 examples; ours on one core, the mock on another. Calls
            over span (peers: 0 ms, 16 in flight, from `cpu`, not held to one core). Median.

A quiet machine with two cores is needed for `cpu` and `rate`. Prints one Markdown table
with the notes to it, and writes all counts as JSON.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from against_mock import (
    Child,
    Seen,
    evaluate_command,
    loaded,
    mock,
    write_examples,
)

import ragstone

OURS, RAGAS, DEEPEVAL = "Ragstone", "Ragas", "DeepEval"
PEERS = {RAGAS: "ragas", DEEPEVAL: "deepeval"}
CONTEXTS = 10
SCORED = (0, 4)
PEER_METRICS = 7
DIFFERS = {
    RAGAS: (
        f"The work differs: {CONTEXTS} of Ragas' chats judge one context each, with the reference "
        f"shown; ours judges the {CONTEXTS} in one question, without it.",
    )
}
"""Where a peer's metrics do other work for what is counted."""
PEER_LIMIT = 900
ENVIRONMENTS = Path(".venv/peers")

ROWS = {
    "chats an example": "7",
    "… lean plan": "5",
    "… for a further system": "5",
    "prompt tokens an example (uncached)": "12,000",
    "… schema last in the prompt": "12,000 (9,500)",
    "… lean plan, schema last": "7,500",
    "… lean plan, schema before": "7,500",
    "CPU ms a call": "1.0",
    "start-up, CPU s": "0.8",
    "calls a second from one core": "at least 900",
}
"""Each row with its limit for ours."""


@dataclass
class Bench:
    """What the parts share, and what they found."""

    folder: Path
    scratch: Path
    pythons: Mapping[str, str]
    repeats: int
    cells: dict[tuple[str, str], str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    runs: list[dict[str, Any]] = field(default_factory=list)
    kept: dict[tuple[str, int], Seen] = field(default_factory=dict)
    incomplete: dict[str, str] = field(default_factory=dict)

    def set(self, row: str, who: str, cell: str) -> None:
        """Enter a figure; of a peer that did not do all of the work there is none."""
        if who in self.incomplete:
            cell = f"none: {self.incomplete[who]}"
        self.cells[row, who] = cell
        print(f"  {row}: {who} {cell}", file=sys.stderr)

    def data(self, examples: int, systems: int = 1) -> Path:
        file = self.scratch / f"examples-{examples}-{systems}.jsonl"
        if not file.is_file():
            peers = loaded(self.folder / "peers_llm.py")
            write_examples(file, peers.workload(examples, CONTEXTS), systems)
        return file

    def fresh(self) -> Path:
        return Path(tempfile.mkdtemp(dir=self.scratch))

    def keep(self, part: str, who: str, settings: Mapping[str, Any], seen: Seen) -> Seen:
        told = {"part": part, "who": who, **settings, **asdict(seen)}
        told["told"] = seen.told[-2000:] if who != OURS else ""
        self.runs.append(told)
        return seen

    def ours(
        self,
        part: str,
        examples: int,
        *,
        latency_ms: float,
        systems: int = 1,
        concurrency: int = 16,
        cores: tuple[int, int] | None = None,
        plan: str = "isolated",
        schema: str = "strict",
    ) -> Seen:
        """One run of ours against a fresh mock; ``cores`` are its own and the mock's."""
        folder = self.fresh()
        with mock(self.folder, latency_ms=latency_ms) as server:
            if cores is not None:
                server.pin(cores[1])
            command = evaluate_command(
                self.data(examples, systems), folder / "run", server.url,
                concurrency=concurrency, plan=plan, schema=schema,
            )  # fmt: skip
            core = None if cores is None else cores[0]
            seen = Child(command, folder, server, core).end_well(SCORED)
        how = {"examples": examples, "systems": systems, "concurrency": concurrency,
               "plan": plan, "schema": schema, "latency_ms": latency_ms}  # fmt: skip
        return self.keep(part, OURS, how, seen)

    def peer(
        self,
        part: str,
        who: str,
        examples: int,
        *,
        latency_ms: float,
    ) -> Seen:
        """One run of a peer against a fresh mock."""
        folder = self.fresh()
        with mock(self.folder, latency_ms=latency_ms) as server:
            command = self.peer_command(who, examples, server.url)
            seen = Child(command, folder, server).end_well((0,), PEER_LIMIT)
        how = {"examples": examples, "latency_ms": latency_ms}
        return self.keep(part, who, how, seen)

    def peer_command(self, who: str, examples: int, url: str) -> list[str]:
        command = [
            self.pythons[who], str(self.folder.resolve() / "peers_llm.py"), "child",
            "--peer", PEERS[who], "--base-url", url, "--n", str(examples), "--k", str(CONTEXTS),
            "--conc", "16",
        ]  # fmt: skip
        if who == DEEPEVAL:
            command += ["--ignore-errors"]
        return command

    def peer_once(self, who: str, examples: int, latency_ms: float) -> Seen:
        """A run of a peer that several rows rest on, done once."""
        of = (f"{who} {latency_ms:g} ms", examples)
        if of not in self.kept:
            seen = self.kept[of] = self.peer("shared", who, examples, latency_ms=latency_ms)
            why = left_undone(peer_result(seen), examples)
            if why is not None:
                self.incomplete.setdefault(who, why)
        return self.kept[of]


def calls(bench: Bench) -> None:
    n = 50
    plain = bench.ours("calls", n, latency_ms=50)
    lean = bench.ours("calls", n, latency_ms=50, plan="lean")
    last = bench.ours("calls", n, latency_ms=50, schema="prompt")
    lean_last = bench.ours("calls", n, latency_ms=50, plan="lean", schema="prompt")
    two = bench.ours("calls", n, latency_ms=50, systems=2)
    bench.set("chats an example", OURS, f"{plain.chats / n:.2f}")
    bench.set("… lean plan", OURS, f"{lean.chats / n:.2f}")
    bench.set("… for a further system", OURS, f"{(two.chats - plain.chats) / n:.2f}")
    bench.set("prompt tokens an example (uncached)", OURS, tokens(plain, n))
    bench.set("… schema last in the prompt", OURS, tokens(last, n))
    bench.set("… lean plan, schema before", OURS, tokens(lean, n))
    bench.set("… lean plan, schema last", OURS, tokens(lean_last, n))
    bench.notes.append(
        f"Embeddings, {n} examples: {plain.embeds} requests of ours for "
        f"{plain.counts.get('embed_texts', 0)} texts. Largest number in flight at the mock: "
        f"{plain.counts['max_concurrency']}."
    )
    for who in bench.pythons:
        seen = bench.peer_once(who, n, 50)
        bench.set("chats an example", who, f"{seen.chats / n:.2f}")
        bench.set("prompt tokens an example (uncached)", who, tokens(seen, n))
        kinds = seen.counts.get("by_schema", {})
        asked = ", ".join(f"{count / n:g} {kind}" for kind, count in kinds.items())
        bench.notes.append(f"{who}'s chats an example, by the name of their schema: {asked}.")
        bench.notes += DIFFERS.get(who, ())


def left_undone(told: Mapping[str, Any], examples: int) -> str | None:
    """What a peer left out; None where it did everything."""
    if "raised" in told:
        return f"it raised {told['raised']}"
    wanted = PEER_METRICS * examples
    there = told.get("scores", 0) - told.get("missing", 0)
    if there == wanted:
        return None
    return f"{there} of {wanted} scores, lacking {told.get('missing_by_metric') or 'whole metrics'}"


def tokens(seen: Seen, examples: int) -> str:
    prompt = seen.counts["prompt_tokens"]
    uncached = prompt - seen.counts.get("cached_tokens", 0)
    return f"{prompt / examples:,.0f} ({uncached / examples:,.0f})"


def cpu(bench: Bench) -> None:
    def ours(examples: int) -> Seen:
        return bench.ours("cpu", examples, latency_ms=0)

    slopes(bench, OURS, [(ours(50), ours(500)) for _ in range(bench.repeats)])
    for who in bench.pythons:
        slopes(bench, who, [(bench.peer_once(who, 50, 0), bench.peer_once(who, 150, 0))])


def slopes(bench: Bench, who: str, pairs: Sequence[tuple[Seen, Seen]]) -> None:
    found = []
    for few, many in pairs:
        slope = (many.cpu - few.cpu) / (many.calls - few.calls)
        found.append((slope, few.cpu - slope * few.calls))
    bench.set("CPU ms a call", who, f"{1000 * median(slope for slope, _ in found):.2f}")
    bench.set("start-up, CPU s", who, f"{median(start for _, start in found):.2f}")


def rate(bench: Bench) -> None:
    row = "calls a second from one core"
    cores = sorted(os.sched_getaffinity(0))
    if len(cores) < 2:
        raise SystemExit("`rate` needs two cores: one for ours, one for the mock.")
    runs = [
        bench.ours("rate", 2000, latency_ms=100, concurrency=256, cores=(cores[0], cores[1]))
        for _ in range(bench.repeats)
    ]
    bench.set(row, OURS, f"{median(run.calls / run.span for run in runs):,.0f}")
    busy = median(run.server / run.wall for run in runs)
    bench.notes.append(f"The mock kept its core {busy:.0%} busy while the rate was measured.")
    for who in bench.pythons:
        seen = bench.peer_once(who, 150, 0)
        bench.set(row, who, f"{seen.calls / seen.span:,.0f} at 0 ms")


def peer_result(seen: Seen) -> dict[str, Any]:
    for line in seen.told.splitlines():
        if line.startswith("RESULT "):
            found: dict[str, Any] = json.loads(line.removeprefix("RESULT "))
            return found
    return {"raised": "no result"}


PARTS: Mapping[str, Callable[[Bench], None]] = {"calls": calls, "cpu": cpu, "rate": rate}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--bench", type=Path, default=Path("../shared/bench"))
    parser.add_argument("--only", default=",".join(PARTS), help="parts, between commas")
    parser.add_argument("--ragas-python", help="an interpreter that has Ragas")
    parser.add_argument("--deepeval-python", help="an interpreter that has DeepEval")
    parser.add_argument("--without-peers", action="store_true")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--out", type=Path, default=Path("runs/judges.json"))
    given = parser.parse_args()
    parts = [PARTS[name] for name in given.only.split(",")]
    named = {RAGAS: given.ragas_python, DEEPEVAL: given.deepeval_python}
    pythons = {} if given.without_peers else {who: python_of(who, named[who]) for who in PEERS}
    with tempfile.TemporaryDirectory() as scratch:
        bench = Bench(given.bench, Path(scratch), pythons, given.repeats)
        for part in parts:
            print(part.__name__, file=sys.stderr)
            part(bench)
    versions = {OURS: ragstone.__version__} | {who: version(who, py) for who, py in pythons.items()}
    print(table(bench, versions))
    given.out.parent.mkdir(parents=True, exist_ok=True)
    kept = {"machine": machine(), "versions": versions, "notes": bench.notes,
            "runs": bench.runs}  # fmt: skip
    given.out.write_text(json.dumps(kept, indent=1), encoding="utf-8")


def python_of(who: str, named: str | None) -> str:
    """The interpreter named, or the one of an environment made for it."""
    if named is not None:
        return str(Path(named).absolute())
    folder = ENVIRONMENTS / PEERS[who]
    python = folder.absolute() / "bin" / "python"
    done = folder / ".installed"
    if not done.is_file():
        print(f"Making {folder} for {who} …", file=sys.stderr)
        wanted = Path(__file__).with_name(f"peers-{PEERS[who]}.txt")
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
        subprocess.run([python, "-m", "pip", "install", "-qq", "-r", wanted], check=True)
        done.touch()
    return str(python)


def version(who: str, python: str) -> str:
    asked = f"from importlib.metadata import version; print(version({PEERS[who]!r}))"
    told = subprocess.run([python, "-c", asked], check=True, capture_output=True, text=True)
    return told.stdout.strip()


def machine() -> str:
    names = [
        line.partition(":")[2].strip()
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        if line.startswith("model name")
    ]
    processor = names[0] if names else platform.machine()
    cores = len(os.sched_getaffinity(0))
    return f"{processor}, {cores} cores, Python {platform.python_version()}, {platform.system()}"


def table(bench: Bench, versions: Mapping[str, str]) -> str:
    who = [*bench.pythons, OURS]
    body = [
        [row, *(bench.cells.get((row, one), "") for one in who), limit]
        for row, limit in ROWS.items()
        if any((row, one) in bench.cells for one in who)
    ]
    head = ["", *(f"{one} {versions[one]}" for one in who), "at most"]
    lines = [f"| {' | '.join(cells)} |" for cells in [head, ["---"] * len(head), *body]]
    return "\n".join([*lines, "", f"{machine()}.", *(f"- {note}" for note in bench.notes)])


if __name__ == "__main__":
    main()
