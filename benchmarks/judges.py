"""Judging by LLM beside Ragas and DeepEval: calls, tokens and speed.

    python benchmarks/judges.py [--only calls,cpu,rate] [--without-peers]

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
            150); start-up is what is left at no calls. Median of three.
rate        100 ms, 256 in flight, 2,000 examples; ours on one core, the mock on another. Calls
            over the mock's span from first request to last reply (peers: 150 examples, 0 ms, 16 in
            flight, not held to one core). Median.

A quiet machine with two cores is needed for `cpu` and `rate`. Prints each figure with our limit.
"""

import json
import os
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from measure import RAGSTONE, SHARED, defined_in, run, used_by
from peers import mock, peer_python

METRICS = (
    "faithfulness", "answer_relevance", "context_precision", "context_recall",
    "answer_correctness", "semantic_similarity", 'critique(aspect="conciseness")',
)  # fmt: skip
PEERS_LLM = SHARED.resolve() / "bench" / "peers_llm.py"
OURS, PEERS = "ragstone", ("ragas", "deepeval")
CONTEXTS, REPEATS = 10, 3
UNLIKE_USERS = ("PYTHONDONTWRITEBYTECODE", "PYTHONPYCACHEPREFIX")
"""Not passed on: whoever installs a package has its byte code."""

Counts = Mapping[str, Any]
"""The mock's counts of one run, and ``cpu``: processor seconds of the child."""


def main(only: str = "calls,cpu,rate", without_peers: bool = False) -> None:
    peers = () if without_peers else PEERS
    for name in only.split(","):
        PARTS[name](peers)


def ours(
    n: int, latency_ms: float, *more: str, systems: int = 1, schema: str = "",
    concurrency: int = 16, cores: Sequence[int] = (),
) -> Counts:  # fmt: skip
    """One run of ours against a fresh mock; ``cores`` are its own and the mock's."""
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "examples.jsonl"
        write_examples(data, systems, defined_in(PEERS_LLM, "workload")(n, CONTEXTS))

        def command(url: str) -> list[str]:
            return [
                *(["taskset", "-c", str(cores[0])] if cores else []),
                *RAGSTONE, "evaluate", str(data), *(f"--metric={metric}" for metric in METRICS),
                "--judge", f"{url}#mock{schema}", "--embedder", f"{url}#mock-embed",
                "--out", f"{folder}/run", "--no-cache", "--concurrency", str(concurrency),
                "--json", *more,
            ]  # fmt: skip

        return counted(command, latency_ms, (0, 4), cores[1:])


def theirs(who: str, n: int, latency_ms: float) -> Counts:
    """One run of a peer against a fresh mock."""
    python = peer_python(who)

    def command(url: str) -> list[str]:
        return [
            python, str(PEERS_LLM), "child",
            "--peer", who, "--base-url", url, "--n", str(n), "--k", str(CONTEXTS),
            "--conc", "16", *(["--ignore-errors"] if who == "deepeval" else []),
        ]  # fmt: skip

    return counted(command, latency_ms, (0,))


def counted(
    command: Callable[[str], list[str]], latency_ms: float, statuses: Sequence[int],
    cores: Sequence[int] = (),
) -> Counts:  # fmt: skip
    inherited = {name: value for name, value in os.environ.items() if name not in UNLIKE_USERS}
    with tempfile.TemporaryDirectory() as cache, mock(latency_ms=latency_ms) as server:
        if cores:
            os.sched_setaffinity(server.proc.pid, cores)
        own = {"RAGSTONE_CACHE": cache, "NO_PROXY": "127.0.0.1"}
        used = used_by(command(server.base_url), statuses, inherited | own)
        counts = server.stats()
        chats, embeddings = counts.get("chat_requests", 0), counts.get("emb_requests", 0)
        return {**counts, "chats": chats, "calls": chats + embeddings, "cpu": used.cpu}


def write_examples(file: Path, systems: int, rows: Sequence[Mapping[str, Any]]) -> None:
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


def tokens(counts: Counts, n: int) -> str:
    prompt = counts["prompt_tokens"]
    return f"{prompt / n:,.0f} ({(prompt - counts.get('cached_tokens', 0)) / n:,.0f})"


def calls(peers: Sequence[str]) -> None:
    n, last = 50, "?schema=prompt"
    plain, lean = ours(n, 50), ours(n, 50, "--plan", "lean")
    two = ours(n, 50, systems=2)
    say("chats an example", OURS, f"{plain['chats'] / n:.2f}", "7")
    say("… lean plan", OURS, f"{lean['chats'] / n:.2f}", "5")
    say("… for a further system", OURS, f"{(two['chats'] - plain['chats']) / n:.2f}", "5")
    say("prompt tokens an example (uncached)", OURS, tokens(plain, n), "12,000")
    say("… schema last in the prompt", OURS, tokens(ours(n, 50, schema=last), n), "12,000 (9,500)")
    say("… lean plan, schema before", OURS, tokens(lean, n), "7,500")
    lean_last = ours(n, 50, "--plan", "lean", schema=last)
    say("… lean plan, schema last", OURS, tokens(lean_last, n), "7,500")
    for who in peers:
        counts = theirs(who, n, 50)
        say("chats an example", who, f"{counts['chats'] / n:.2f}")
        say("prompt tokens an example (uncached)", who, tokens(counts, n))


def cpu(peers: Sequence[str]) -> None:
    pairs = {OURS: [(ours(50, 0), ours(500, 0)) for _ in range(REPEATS)]}
    pairs |= {who: [(theirs(who, 50, 0), theirs(who, 150, 0))] for who in peers}
    for who, runs in pairs.items():
        slopes = [(many["cpu"] - few["cpu"]) / (many["calls"] - few["calls"]) for few, many in runs]
        starts = [few["cpu"] - slope * few["calls"]
                  for slope, (few, _) in zip(slopes, runs, strict=True)]  # fmt: skip
        say("CPU ms a call", who, f"{1000 * median(slopes):.2f}", "1.0" if who == OURS else "")
        say("start-up, CPU s", who, f"{median(starts):.2f}", "0.8" if who == OURS else "")


def rate(peers: Sequence[str]) -> None:
    cores = sorted(os.sched_getaffinity(0))[:2]
    if len(cores) < 2:
        sys.exit("`rate` needs two cores: one for ours, one for the mock.")
    runs = [ours(2000, 100, concurrency=256, cores=cores) for _ in range(REPEATS)]
    rates = [counts["calls"] / counts["span_s"] for counts in runs]
    say("calls a second from one core", OURS, f"{median(rates):,.0f}   at least 900")
    for who in peers:
        counts = theirs(who, 150, 0)
        say("calls a second, 0 ms", who, f"{counts['calls'] / counts['span_s']:,.0f}")


PARTS: Mapping[str, Callable[[Sequence[str]], None]] = {"calls": calls, "cpu": cpu, "rate": rate}


if __name__ == "__main__":
    run(main)
