"""A run against the mock judge, measured from outside: by its counts, and by the child's own use.

Not a script: judges.py stands on it. The mock answers chats and embeddings on the
loopback interface and counts what it is sent. What is measured runs as a child process, so that
its processor seconds and its peak memory are the system's figures (``os.wait4``), start-up and
imports in them. Linux only.
"""

import importlib.util
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

METRICS = (
    "faithfulness",
    "answer_relevance",
    "context_precision",
    "context_recall",
    "answer_correctness",
    "semantic_similarity",
    'critique(aspect="conciseness")',
)
UNLIKE_USERS = ("PYTHONDONTWRITEBYTECODE", "PYTHONPYCACHEPREFIX")
"""Not passed on: whoever installs a package has its byte code."""


@dataclass(frozen=True, slots=True)
class Seen:
    """What the mock and the system saw of one run.

    Attributes:
        counts: The mock's own; of all runs against it so far.
        status: Of the child; negative where a signal ended it.
        told: What the child wrote to its standard output.
        wall: Seconds, start-up in them.
        cpu: Processor seconds of the child.
        peak: Its resident memory at the most, in megabytes.
        server: Processor seconds of the mock.
    """

    counts: Mapping[str, Any]
    status: int
    told: str
    wall: float
    cpu: float
    peak: float
    server: float

    @property
    def chats(self) -> int:
        """Chat requests that came in, whatever became of them."""
        return int(self.counts.get("chat_requests", 0))

    @property
    def embeds(self) -> int:
        """Requests for embeddings."""
        return int(self.counts.get("emb_requests", 0))

    @property
    def calls(self) -> int:
        """Chats and embeddings."""
        return self.chats + self.embeds

    @property
    def span(self) -> float:
        """Seconds from the first request to the last reply."""
        return float(self.counts["span_s"])


class Mock:
    """The mock in a process of its own."""

    def __init__(self, server: Any) -> None:
        self.server = server
        self.url: str = server.base_url

    def counts(self) -> dict[str, Any]:
        counts: dict[str, Any] = self.server.stats()
        return counts

    def cpu(self) -> float:
        """Processor seconds so far."""
        stat = Path(f"/proc/{self.server.proc.pid}/stat").read_text(encoding="ascii")
        user, system = stat.rpartition(") ")[2].split()[11:13]
        return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")

    def pin(self, core: int) -> None:
        os.sched_setaffinity(self.server.proc.pid, {core})


@contextmanager
def mock(bench: Path, **settings: float) -> Iterator[Mock]:
    """A fresh mock, its counts at nothing."""
    with loaded(bench / "mock_llm.py").MockServer(python=sys.executable, **settings) as server:
        yield Mock(server)


def loaded(file: Path) -> ModuleType:
    """The module in a file, wherever that lies."""
    if not file.is_file():
        raise SystemExit(f"No {file}. Name the folder of the mock with --bench.")
    spec = importlib.util.spec_from_file_location(file.stem, file.resolve())
    if spec is None or spec.loader is None:
        raise SystemExit(f"{file} is no Python module.")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def write_examples(file: Path, rows: Iterable[Mapping[str, Any]], systems: int = 1) -> Path:
    """The peers' workload as a data file; each further system says its sentences otherwise."""
    with file.open("w", encoding="utf-8") as out:
        for number, row in enumerate(rows):
            for system in range(systems):
                own = {
                    "id": f"{number}/{system}",
                    "question_id": str(number),
                    "system": f"system-{system}",
                    "answer": rotated(row["answer"].split(". "), system),
                }
                out.write(json.dumps({**row, **own}) + "\n")
    return file


def rotated(sentences: Sequence[str], by: int) -> str:
    """An answer that begins elsewhere; by 0 it is as it was."""
    by %= len(sentences)
    return ". ".join([*sentences[by:], *sentences[:by]])


def evaluate_command(
    data: Path,
    run: Path,
    url: str,
    *,
    concurrency: int,
    plan: str = "isolated",
    schema: str = "strict",
) -> list[str]:
    """Ours as a user calls it."""
    metrics = [word for metric in METRICS for word in ("-m", metric)]
    judge = f"{url}#mock" + ("" if schema == "strict" else f"?schema={schema}")
    lean = [] if plan == "isolated" else ["--plan", plan]
    return [
        sys.executable, "-m", "ragstone", "evaluate", str(data), *metrics,
        "--judge", judge, "--embedder", f"{url}#mock-embed", "--out", str(run), "--no-cache",
        "--concurrency", str(concurrency), "--json", *lean,
    ]  # fmt: skip


class Child:
    """A command as a child process; what it says and what it caches lie in its folder."""

    def __init__(
        self, command: Sequence[str], folder: Path, server: Mock, core: int | None = None
    ) -> None:
        self.server, self.command = server, command
        self.out, self.err = folder / "stdout.txt", folder / "stderr.txt"
        own = {"RAGSTONE_CACHE": str(folder / "cache"), "NO_PROXY": "127.0.0.1"}
        inherited = {name: value for name, value in os.environ.items() if name not in UNLIKE_USERS}
        self.before = server.cpu()
        self.started = time.perf_counter()
        with self.out.open("w") as out, self.err.open("w") as err:
            self.process = subprocess.Popen(
                command, cwd=folder, env=inherited | own, stdout=out, stderr=err
            )
        if core is not None:
            os.sched_setaffinity(self.process.pid, {core})

    def end(self, limit: float = 3600) -> Seen:
        """Wait for it, and look. It is ended after ``limit`` seconds."""
        timer = threading.Timer(limit, os.kill, (self.process.pid, signal.SIGKILL))
        timer.start()
        _, status, used = os.wait4(self.process.pid, 0)
        timer.cancel()
        wall = time.perf_counter() - self.started
        self.process.returncode = os.waitstatus_to_exitcode(status)
        return Seen(
            counts=self.server.counts(),
            status=self.process.returncode,
            told=self.out.read_text(encoding="utf-8"),
            wall=wall,
            cpu=used.ru_utime + used.ru_stime,
            peak=used.ru_maxrss / 1024,
            server=self.server.cpu() - self.before,
        )

    def end_well(self, statuses: Iterable[int] = (0,), limit: float = 3600) -> Seen:
        """What was seen of it.

        Raises:
            SystemExit: It ended with another status.
        """
        seen = self.end(limit)
        if seen.status not in statuses:
            raise SystemExit(self.complaint(f"Ended with status {seen.status}"))
        return seen

    def complaint(self, what: str) -> str:
        said = self.err.read_text(encoding="utf-8")[-2000:]
        return f"{what}: {' '.join(self.command)}\n{said}"
