"""Whole commands, and pages of the app on a large run, beside their limits.

    python benchmarks/commands.py [--runs 3] [--examples 50000] [--folder FOLDER]

First `ragstone --help`, the demo data, and the 17,306 rows of answer_correctness_evouna with the
local judge, the lexical metrics and the outcomes: wall and processor seconds and peak memory,
medians over the runs. Then a run of 50,000 answers with 10 contexts and 10 metrics, made here (some
minutes) or lying in FOLDER: the same of the commands that read it, then ``ragstone view``, whose
pages are opened cold, warm and by four clients at once, first with nothing kept and then with what
was kept; milliseconds and peak memory.
"""

import random
import subprocess
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from shutil import rmtree
from statistics import median
from urllib.parse import urlencode
from urllib.request import urlopen

from labelled import file_of
from measure import RAGSTONE, memory, run, used_by
from scale import write_rows

from ragstone import evaluate
from ragstone.data import cornwall
from ragstone.web.page_request import run_path

METRICS = (
    "precision", "mrr", "ndcg", "grounding_presence", "unsupported_claim", "contradiction",
    "citation_presence", "proper_action", "on_topic", "helpfulness",
)  # fmt: skip
EXAMPLE, WORDS = "r777", 80
START, PAGE = 2.0, 0.5
"""Seconds."""
MEGABYTES, CLIENTS = 400, 4
AGAIN, SETTLED = 2, 30
"""Seconds after which a page that waits asks again, and after which all has been made."""


def main(runs: int = 3, examples: int = 50_000, folder: Path | None = None) -> None:
    print(f"{'':50} {'wall s':>7} {'CPU s':>7} {'peak MB':>8}")
    measured("--help (limit .3 s CPU)", runs, "--help")
    measured("metrics", runs, "metrics")
    measured("evaluate demo data", runs, "evaluate", str(cornwall()), "--out", "{out}")
    evouna = file_of("EVOUNA")
    if evouna.is_file():
        name = "evaluate evouna, 17,306 rows (limit 20 s wall)"
        measured(name, runs, "evaluate", str(evouna), "--out", "{out}")
    with tempfile.TemporaryDirectory() as temporary:
        large = (folder or Path(temporary) / "runs" / "run").resolve()
        if not large.is_dir():
            rows = Path(temporary) / "rows.jsonl"
            write_rows(rows, examples, WORDS)
            evaluate(rows, metrics=METRICS, judge="human", out=large)
        measured("runs, of a large one", runs, "runs", str(large.parent))
        measured("show", runs, "show", str(large))
        measured("show an example", runs, "show", str(large), EXAMPLE)
        measured("export", runs, "export", str(large), "--as", "jsonl")
        for state in ("nothing kept", "what was kept"):
            if state == "nothing kept":
                rmtree(large.parent / ".ragstone-cache", ignore_errors=True)
            print(f"pages, with {state}")
            look(large)


def measured(name: str, runs: int, *words: str) -> None:
    """Print what a command takes; ``{out}`` is a fresh folder."""
    used = []
    for _ in range(runs):
        with tempfile.TemporaryDirectory() as folder:
            out = f"{folder}/run"
            used.append(used_by([*RAGSTONE, *(word.replace("{out}", out) for word in words)]))
    wall, cpu, peak = map(median, zip(*used, strict=True))
    print(f"{name:50} {wall:>7.2f} {cpu:>7.2f} {peak:>8.0f}", flush=True)


def pages(name: str) -> dict[str, str]:
    """What people open of the run with this name."""
    of = run_path(name)
    return {
        "runs": "/",
        "example": run_path(name, "examples", EXAMPLE),
        "run": of,
        "filter": f"{of}?where=precision:0..0.5&sort=-ndcg",
        "search": f"{of}?q=tide+ferry",
        "last page": f"{of}?page=900",
        "compare": f"/compare?{urlencode({'runs': name})}",
        "judge": run_path(name, "judge"),
        "people": run_path(name, "people"),
    }


def look(folder: Path) -> None:
    """Start the app, open each page cold and warm, then with four clients at once."""
    words = ("view", str(folder.parent), "--no-browser", "--no-token", "--port", "0")
    begun = time.perf_counter()
    with subprocess.Popen([*RAGSTONE, *words], stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        address = server.stdout.readline().split()[-1].rstrip("/")

        def opened(path: str) -> tuple[float, bytes]:
            begun = time.perf_counter()
            with urlopen(address + path) as answer:
                body: bytes = answer.read()
            return time.perf_counter() - begun, body

        try:
            opened("/static/style.css")
            line("start", time.perf_counter() - begun, START)
            paths = pages(folder.name)
            for name, path in paths.items():
                seconds, body = opened(path)
                line(f"{name}, cold", seconds, PAGE, f"{len(body) / 1000:.0f} kB")
            # Ask again, as a browser does, for each page that says that something is computed.
            waiting, until = list(paths.values()), time.monotonic() + SETTLED
            while waiting and time.monotonic() < until:
                time.sleep(AGAIN)
                waiting = [path for path in waiting if b"being computed" in opened(path)[1]]
            for name, path in paths.items():
                line(f"{name}, warm", opened(path)[0], PAGE)
            at_once = list(paths.values()) * 12
            random.Random(0).shuffle(at_once)
            with ThreadPoolExecutor(CLIENTS) as clients:
                took = sorted(seconds for seconds, _ in clients.map(opened, at_once))
            line("four clients, 95 of 100", took[int(len(took) * 0.95)], PAGE)
            peak = memory("VmHWM", server.pid) / 2**20
            print(f"{'peak memory':>28} {peak:>7.0f} MB   limit {MEGABYTES:>5}")
        finally:
            server.kill()


def line(name: str, seconds: float, limit: float, more: str = "") -> None:
    over = "  OVER" if seconds > limit else ""
    print(f"{name:>28} {seconds * 1000:>7.0f} ms   limit {limit * 1000:>5.0f}{over}  {more}",
          flush=True)  # fmt: skip


if __name__ == "__main__":
    run(main)
