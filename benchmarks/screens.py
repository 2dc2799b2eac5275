"""What a page of the app waits for, on a run of 50,000 answers with 10 contexts and 10 metrics.

    python benchmarks/screens.py [--examples 50000] [--run FOLDER]

Makes the run (some minutes), or takes the one in FOLDER; starts ``ragstone view`` and opens each
page, cold, warm and by four clients at once, first with nothing kept and then with what was kept.
Prints milliseconds and peak memory beside the limits.
"""

import argparse
import random
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from shutil import rmtree
from typing import Any
from urllib.parse import urlencode
from urllib.request import urlopen

from ragstone.web.page_request import run_path

METRICS = (
    "precision", "mrr", "ndcg", "faithfulness", "contradiction", "answer_coverage",
    "context_utilization", "answer_outcome", "token_f1", "helpfulness",
)  # fmt: skip
SYSTEMS = ("dense", "hybrid", "sparse", "oracle")
START, PAGE = 2.0, 0.5
"""Seconds."""
MEGABYTES, CLIENTS = 400, 4
AGAIN, SETTLED = 2, 30
"""Seconds after which a page that waits asks again, and after which all has been made."""


def examples(count: int, contexts: int = 10) -> Iterator[dict[str, Any]]:
    """Answers to random words, labelled at random from a fixed seed."""
    draw = random.Random(0)
    letters = "abcdefghijklmnoprstuvwy"
    words = ["".join(draw.choices(letters, k=draw.randint(2, 10))) for _ in range(5_000)]
    pool = " ".join(draw.choices(words, k=2_000_000))

    def text(length: int) -> str:
        start = draw.randrange(len(pool) - length)
        return pool[start : start + length].strip()

    def one_of(*values: str) -> str:
        return draw.choice(values)

    for number in range(count):
        question, system = divmod(number, len(SYSTEMS))
        claims = [
            {"text": text(60), "support": one_of("supported", "absent", "contradicted"),
             "agreement": one_of("matches", "extra", "contradicts")}
            for _ in range(4)
        ]  # fmt: skip
        statements = [
            {"text": text(60), "agreement": one_of("full", "partial", "missing"),
             "support": one_of("supported", "absent")}
            for _ in range(3)
        ]  # fmt: skip
        yield {
            "id": f"q{question:05d}<::>{SYSTEMS[system]}",
            "question_id": f"q{question:05d}",
            "system": SYSTEMS[system],
            "topic": f"topic {question % 7}",
            "question": text(80),
            "answer": text(400),
            "reference": text(200),
            "contexts": [
                {"id": f"d{number}-{rank}", "text": text(500)} for rank in range(contexts)
            ],
            "labels": {
                "contexts": [
                    {"topically_relevant": int(draw.random() < 0.4)} for _ in range(contexts)
                ],
                "claims": claims,
                "statements": statements,
                "response_type": "answer",
                "answer": {"helpful": int(draw.random() < 0.6)},
            },
        }


def make(count: int, out: Path) -> None:
    """The run, judged by its labels."""
    from ragstone import evaluate

    evaluate(examples(count), metrics=METRICS, judge="human", by="topic", out=out)


class Server:
    """``ragstone view`` in a process of its own."""

    def __init__(self, runs: Path) -> None:
        started = time.perf_counter()
        command = [
            sys.executable,
            "-m",
            "ragstone",
            "view",
            str(runs),
            "--no-browser",
            "--no-token",
            "--port",
            "0",
        ]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        line = self.process.stdout.readline() if self.process.stdout else ""
        self.address = line.split()[-1].rstrip("/")
        self.get("/static/style.css")
        self.started = time.perf_counter() - started

    def get(self, path: str) -> tuple[float, int]:
        """Seconds and bytes of a page."""
        started = time.perf_counter()
        with urlopen(self.address + path) as answer:
            size = len(answer.read())
        return time.perf_counter() - started, size

    def settle(self, paths: Iterable[str]) -> None:
        """Ask again, as a browser does, for each page that says that something is computed."""
        until = time.monotonic() + SETTLED
        waiting = list(paths)
        while time.monotonic() < until:
            time.sleep(AGAIN)
            waiting = [path for path in waiting if self._waits(path)]

    def _waits(self, path: str) -> bool:
        with urlopen(self.address + path) as answer:
            return b"being computed" in answer.read()

    @property
    def peak(self) -> float:
        """The largest memory so far, in MB."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.findall(r"VmHWM:\s+(\d+)", status)[0]) / 1024

    def stop(self) -> None:
        self.process.kill()
        self.process.wait()


def pages(run: str) -> dict[str, str]:
    """What people open, by name."""
    of = run_path(run)
    example = run_path(run, "examples", f"q00777<::>{SYSTEMS[1]}")
    return {
        "runs": "/",
        "example": example,
        "run": of,
        "filter": f"{of}?where=faithfulness:0..0.5&sort=-token_f1",
        "search": f"{of}?q=ab+cd",
        "last page": f"{of}?page=900",
        "compare": f"/compare?{urlencode({'runs': run})}",
        "judge": run_path(run, "judge"),
        "people": run_path(run, "people"),
    }


def told(what: str, seconds: float, limit: float, more: str = "") -> None:
    over = "  OVER" if seconds > limit else ""
    print(
        f"{what:>28} {seconds * 1000:>7.0f} ms   limit {limit * 1000:>5.0f}{over}  {more}",
        flush=True,
    )


def look(folder: Path) -> None:
    """Start the app, open each page cold and warm, then with four clients at once."""
    rmtree(folder.parent / ".ragstone-cache", ignore_errors=True)
    for kept in (False, True):
        server = Server(folder.parent)
        try:
            print("with what was kept" if kept else "with nothing kept")
            told("start", server.started, START)
            found = pages(folder.name)
            for name, path in found.items():
                seconds, size = server.get(path)
                told(f"{name}, cold", seconds, PAGE, f"{size / 1000:.0f} kB")
            server.settle(found.values())
            for name, path in found.items():
                seconds, size = server.get(path)
                told(f"{name}, warm", seconds, PAGE, f"{size / 1000:.0f} kB")
            with ThreadPoolExecutor(CLIENTS) as clients:
                at_once = [path for path in found.values() for _ in range(12)]
                random.Random(0).shuffle(at_once)
                taken = sorted(seconds for seconds, _ in clients.map(server.get, at_once))
            told("four clients, 95 of 100", taken[int(len(taken) * 0.95)], PAGE)
            print(f"{'peak memory':>28} {server.peak:>7.0f} MB   limit {MEGABYTES:>5}")
        finally:
            server.stop()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--examples", type=int, default=50_000)
    parser.add_argument("--run", type=Path)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = given.run or Path(temporary) / "runs" / "run"
        if not folder.is_dir():
            make(given.examples, folder)
        look(folder.resolve())


if __name__ == "__main__":
    main()
