"""Judging by LLM beside Ragas and DeepEval: calls, tokens and speed.

    python benchmarks/judges.py [--bench ../shared/bench] [--only calls,cpu,rate] [--without-peers]

Seven metrics each, on the same synthetic examples (a question, an answer of four sentences, ten
contexts of 150 words, a reference) and the same mock judge on this machine, which gives replies
that fit the schema, and counts. Ours runs as a user calls it, `ragstone evaluate` in a process of
its own with nothing cached; a peer as its documentation calls it. All is measured from outside: the
mock's counts, and what the system says of the child. Linux only. The peers' environments are made
once, from peers-ragas.txt and peers-deepeval.txt.

The parts, for --only; "calls" are chats and embeddings, 16 in flight unless it says otherwise:

calls       50 examples, 50 ms a call. Chats an example; ours also with the lean plan, and for a
            further system: 50 examples of 2 systems less 50 of one. Prompt tokens an example
            (characters / 4), and of these the ones that no prefix cache served; ours also with
            the schema printed last in the prompt. In the lean plan the mock answers only the
            items of the last task in a question; the others are asked about alone.
cpu         0 ms. Processor ms a call, as the slope between 50 and 500 examples (peers: 50 and
            150); start-up is what is left at no calls. Median of --repeats.
rate        100 ms, 256 in flight, 2,000 examples; ours on one core, the mock on another. Calls
            over the mock's span from first request to last reply (peers: 150 examples, 0 ms, 16 in
            flight, not held to one core). Median.

A quiet machine with two cores is needed for `cpu` and `rate`. Prints each figure with our limit.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from against_mock import loaded, mock
from peers import peer_python

METRICS = (
    "faithfulness", "answer_relevance", "context_precision", "context_recall",
    "answer_correctness", "semantic_similarity", 'critique(aspect="conciseness")',
)  # fmt: skip
OURS, PEERS = "ragstone", ("ragas", "deepeval")
CONTEXTS = 10
UNLIKE_USERS = ("PYTHONDONTWRITEBYTECODE", "PYTHONPYCACHEPREFIX")
"""Not passed on: whoever installs a package has its byte code."""


@dataclass(frozen=True, slots=True)
class Seen:
    """The mock's counts of one run, and processor seconds of the child."""

    counts: Mapping[str, Any]
    cpu: float

    @property
    def chats(self) -> int:
        return int(self.counts.get("chat_requests", 0))

    @property
    def calls(self) -> int:
        """Chats and embeddings."""
        return self.chats + int(self.counts.get("emb_requests", 0))


@dataclass(frozen=True, slots=True)
class Bench:
    """What the parts share; ``pythons`` has the interpreter of each peer."""

    folder: Path
    scratch: Path
    pythons: Mapping[str, str]
    repeats: int

    def ours(
        self, n: int, latency_ms: float, *more: str, systems: int = 1, schema: str = "strict",
        concurrency: int = 16, cores: Sequence[int] = (),
    ) -> Seen:  # fmt: skip
        """One run of ours against a fresh mock; ``cores`` are its own and the mock's."""
        data = self.scratch / f"examples-{n}-{systems}.jsonl"
        rows = loaded(self.folder / "peers_llm.py").workload(n, CONTEXTS)
        write_examples(data, rows, systems)

        def command(url: str) -> list[str]:
            metrics = [word for metric in METRICS for word in ("-m", metric)]
            judge = f"{url}#mock" + ("" if schema == "strict" else f"?schema={schema}")
            out = tempfile.mkdtemp(dir=self.scratch) + "/run"
            return [
                sys.executable, "-m", "ragstone", "evaluate", str(data), *metrics,
                "--judge", judge, "--embedder", f"{url}#mock-embed", "--out", out, "--no-cache",
                "--concurrency", str(concurrency), "--json", *more,
            ]  # fmt: skip

        return self._seen(command, latency_ms, (0, 4), cores)

    def peer(self, who: str, n: int, latency_ms: float) -> Seen:
        """One run of a peer against a fresh mock."""

        def command(url: str) -> list[str]:
            return [
                self.pythons[who], str(self.folder.resolve() / "peers_llm.py"), "child",
                "--peer", who, "--base-url", url, "--n", str(n), "--k", str(CONTEXTS),
                "--conc", "16", *(["--ignore-errors"] if who == "deepeval" else []),
            ]  # fmt: skip

        return self._seen(command, latency_ms, (0,))

    def _seen(
        self, command: Callable[[str], list[str]], latency_ms: float, statuses: Sequence[int],
        cores: Sequence[int] = (),
    ) -> Seen:  # fmt: skip
        own = {"RAGSTONE_CACHE": tempfile.mkdtemp(dir=self.scratch), "NO_PROXY": "127.0.0.1"}
        inherited = {name: value for name, value in os.environ.items() if name not in UNLIKE_USERS}
        with mock(self.folder, latency_ms=latency_ms) as server:
            words = command(server.url)
            with (self.scratch / "said.txt").open("w") as said:
                child = subprocess.Popen(words, env=inherited | own, stdout=said, stderr=said)
            if cores:
                os.sched_setaffinity(child.pid, {cores[0]})
                server.pin(cores[1])
            _, status, used = os.wait4(child.pid, 0)
            child.returncode = os.waitstatus_to_exitcode(status)
            if child.returncode not in statuses:
                last = (self.scratch / "said.txt").read_text(encoding="utf-8")[-2000:]
                raise SystemExit(f"Status {child.returncode}: {' '.join(words)}\n{last}")
            return Seen(server.counts(), used.ru_utime + used.ru_stime)


def write_examples(file: Path, rows: Sequence[Mapping[str, Any]], systems: int) -> None:
    """The peers' workload as a data file; each further system says its sentences otherwise."""
    with file.open("w", encoding="utf-8") as out:
        for number, row in enumerate(rows):
            sentences = row["answer"].split(". ")
            for system in range(systems):
                answer = ". ".join([*sentences[system:], *sentences[:system]])
                own = {"id": f"{number}/{system}", "question_id": str(number),
                       "system": f"system-{system}", "answer": answer}  # fmt: skip
                out.write(json.dumps({**row, **own}) + "\n")


def say(figure: str, who: str, value: str, limit: str = "") -> None:
    print(f"{figure:40} {who:10} {value:>18}   {limit and f'at most {limit}'}", flush=True)


def tokens(seen: Seen, n: int) -> str:
    prompt = seen.counts["prompt_tokens"]
    return f"{prompt / n:,.0f} ({(prompt - seen.counts.get('cached_tokens', 0)) / n:,.0f})"


def calls(bench: Bench) -> None:
    n = 50
    plain, lean = bench.ours(n, 50), bench.ours(n, 50, "--plan", "lean")
    two = bench.ours(n, 50, systems=2)
    last = bench.ours(n, 50, schema="prompt")
    lean_last = bench.ours(n, 50, "--plan", "lean", schema="prompt")
    say("chats an example", OURS, f"{plain.chats / n:.2f}", "7")
    say("… lean plan", OURS, f"{lean.chats / n:.2f}", "5")
    say("… for a further system", OURS, f"{(two.chats - plain.chats) / n:.2f}", "5")
    say("prompt tokens an example (uncached)", OURS, tokens(plain, n), "12,000")
    say("… schema last in the prompt", OURS, tokens(last, n), "12,000 (9,500)")
    say("… lean plan, schema before", OURS, tokens(lean, n), "7,500")
    say("… lean plan, schema last", OURS, tokens(lean_last, n), "7,500")
    for who in bench.pythons:
        seen = bench.peer(who, n, 50)
        say("chats an example", who, f"{seen.chats / n:.2f}")
        say("prompt tokens an example (uncached)", who, tokens(seen, n))


def cpu(bench: Bench) -> None:
    pairs = [(bench.ours(50, 0), bench.ours(500, 0)) for _ in range(bench.repeats)]
    by_tool = {OURS: pairs}
    by_tool |= {who: [(bench.peer(who, 50, 0), bench.peer(who, 150, 0))] for who in bench.pythons}
    for who, runs in by_tool.items():
        slopes = [(many.cpu - few.cpu) / (many.calls - few.calls) for few, many in runs]
        starts = [few.cpu - slope * few.calls for slope, (few, _) in zip(slopes, runs, strict=True)]
        say("CPU ms a call", who, f"{1000 * median(slopes):.2f}", "1.0" if who == OURS else "")
        say("start-up, CPU s", who, f"{median(starts):.2f}", "0.8" if who == OURS else "")


def rate(bench: Bench) -> None:
    cores = sorted(os.sched_getaffinity(0))[:2]
    if len(cores) < 2:
        raise SystemExit("`rate` needs two cores: one for ours, one for the mock.")
    runs = [bench.ours(2000, 100, concurrency=256, cores=cores) for _ in range(bench.repeats)]
    rates = [seen.calls / seen.counts["span_s"] for seen in runs]
    say("calls a second from one core", OURS, f"{median(rates):,.0f}   at least 900")
    for who in bench.pythons:
        seen = bench.peer(who, 150, 0)
        say("calls a second, 0 ms", who, f"{seen.calls / seen.counts['span_s']:,.0f}")


PARTS: Mapping[str, Callable[[Bench], None]] = {"calls": calls, "cpu": cpu, "rate": rate}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--bench", type=Path, default=Path("../shared/bench"))
    parser.add_argument("--only", default=",".join(PARTS), help="parts, between commas")
    parser.add_argument("--without-peers", action="store_true")
    parser.add_argument("--repeats", type=int, default=3)
    arguments = parser.parse_args()
    pythons = {} if arguments.without_peers else {who: peer_python(who) for who in PEERS}
    with tempfile.TemporaryDirectory() as scratch:
        bench = Bench(arguments.bench, Path(scratch), pythons, arguments.repeats)
        for name in arguments.only.split(","):
            PARTS[name](bench)


if __name__ == "__main__":
    main()
