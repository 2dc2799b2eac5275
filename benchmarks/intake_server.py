"""No script: an intake in a process of its own, which can be killed and started again."""

import http.client
import os
import resource
import signal
import socket
import time
from multiprocessing.context import ForkServerProcess
from pathlib import Path

from forks import FORKS

LONGEST = 60.0
"""Seconds to wait for a server that starts."""


class IntakeProcess:
    """An intake over a store, on a port that it keeps when it is started again.

    Args:
        store: A folder, or ``postgresql://…``.
        cpu: The core that it may use; None for all.
    """

    def __init__(self, store: str, cpu: int | None = None) -> None:
        self._store, self._cpu = store, cpu
        with socket.create_server(("127.0.0.1", 0)) as taken:
            self.port: int = taken.getsockname()[1]
        self._process: ForkServerProcess | None = None

    def start(self) -> None:
        """Start it, and wait until it answers."""
        self._process = FORKS.Process(target=serve, args=(self._store, self.port, self._cpu))
        self._process.start()
        until = time.monotonic() + LONGEST
        while not self._answers():
            if not self._process.is_alive() or time.monotonic() > until:
                raise RuntimeError("the intake did not start")
            time.sleep(0.02)

    def kill(self) -> None:
        """As if its machine had lost its power, but for what the machine itself still writes."""
        self._end(signal.SIGKILL)

    def stop(self) -> None:
        """Ask it to end, and wait until it did."""
        self._end(signal.SIGTERM)

    def limit_files(self, size: int | None) -> None:
        """Let none of its files grow beyond so many bytes, as on a full disk; None for any size."""
        assert self._process is not None
        assert self._process.pid is not None
        limit = resource.RLIM_INFINITY if size is None else size
        resource.prlimit(self._process.pid, resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))

    @property
    def cpu_seconds(self) -> float:
        """What it has used of a processor."""
        fields = self._proc("stat").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    @property
    def memory(self) -> int:
        """Bytes that it holds now."""
        return self._bytes("VmRSS")

    @property
    def peak(self) -> int:
        """The most bytes that it held since that was forgotten."""
        return self._bytes("VmHWM")

    def forget_peak(self) -> None:
        """Let the peak be what it holds now."""
        assert self._process is not None
        Path(f"/proc/{self._process.pid}/clear_refs").write_text("5", encoding="ascii")

    def _bytes(self, name: str) -> int:
        lines = self._proc("status").splitlines()
        return int(next(one.split()[1] for one in lines if one.startswith(name))) * 1024

    def _proc(self, name: str) -> str:
        assert self._process is not None
        return Path(f"/proc/{self._process.pid}/{name}").read_text(encoding="utf-8")

    def _end(self, how: signal.Signals) -> None:
        assert self._process is not None
        assert self._process.pid is not None
        os.kill(self._process.pid, how)
        self._process.join()

    def _answers(self) -> bool:
        line = http.client.HTTPConnection("127.0.0.1", self.port, timeout=5)
        try:
            line.request("GET", "/health")
            answer = line.getresponse()
            answer.read()
            return answer.status == 200
        except (OSError, http.client.HTTPException):
            return False
        finally:
            line.close()


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
