"""No script: an intake in a process of its own, which can be killed and started again."""

import os
import resource
import socket
import time
from http.client import HTTPException
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from urllib.request import urlopen

from forks import FORKS

LONGEST = 60.0
"""Seconds to wait for a server that starts."""


class IntakeProcess:
    """An intake over a store, on a port that it keeps when it is started again.

    Args:
        store: A folder, or ``postgresql://…``.
        cpu: The core that it may use; None for all.
    """

    _process: ForkServerProcess

    def __init__(self, store: str, cpu: int | None = None) -> None:
        self._store, self._cpu = store, cpu
        with socket.create_server(("127.0.0.1", 0)) as taken:
            self.port: int = taken.getsockname()[1]

    def start(self) -> None:
        """Start it, and wait until it answers."""
        self._process = FORKS.Process(target=serve, args=(self._store, self.port, self._cpu))
        self._process.start()
        until = time.monotonic() + LONGEST
        while not self._answers():
            if not self._process.is_alive() or time.monotonic() > until:
                raise RuntimeError("the intake did not start")
            time.sleep(0.02)

    @property
    def pid(self) -> int:
        """The number of its process, once it is started."""
        return self._process.pid or 0

    def kill(self) -> None:
        """As if its machine had lost its power, but for what the machine itself still writes."""
        self._process.kill()
        self._process.join()

    def stop(self) -> None:
        """Ask it to end, and wait until it did."""
        self._process.terminate()
        self._process.join()

    def limit_files(self, size: int | None) -> None:
        """Let none of its files grow beyond so many bytes, as on a full disk; None for any size."""
        limit = resource.RLIM_INFINITY if size is None else size
        resource.prlimit(self.pid, resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))

    @property
    def cpu_seconds(self) -> float:
        """What it has used of a processor."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def _answers(self) -> bool:
        try:
            with urlopen(f"http://127.0.0.1:{self.port}/health", timeout=5) as answer:
                return bool(answer.status == 200)
        except (OSError, HTTPException):
            return False


def serve(store: str, port: int, cpu: int | None) -> None:
    """Run an intake until it is stopped."""
    if cpu is not None:
        os.sched_setaffinity(0, {cpu})
    from ragstone.monitor.intake.intake_app import IntakeApp
    from ragstone.monitor.store.store import open_store
    from ragstone.web.server import serve as serve_app

    folder = Path(store) if "://" not in store else Path.cwd()
    opened = open_store(store, folder=folder)
    app = IntakeApp(opened)
    with socket.create_server(("127.0.0.1", port)) as taken:
        serve_app(app, taken)
    app.close()
    opened.close()
