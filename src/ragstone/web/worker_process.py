"""Worker process: the child that folds, judges and alarms, started again when it dies."""

import signal
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from tempfile import TemporaryFile
from threading import Event, Lock, Thread
from time import monotonic
from typing import IO

FIRST, LONGEST = 1.0, 60.0
"""Seconds until it is started again: after the first death, and at most."""

STEADY = 120.0
"""Seconds that it has to live for the next death to count as the first."""

PATIENCE = 9.0
"""Seconds that it has to end, once it is asked to."""

LAST_WORDS = 1_500
"""Characters of what it wrote last that are told."""


@dataclass(frozen=True, slots=True)
class Death:
    """That the worker ended by itself.

    Attributes:
        how: In words.
        deaths: How often it did so, one after the other.
        wait: Seconds until it is started again.
        last_words: What it wrote last.
    """

    how: str
    deaths: int
    wait: float
    last_words: str


class WorkerProcess:
    """A child process that is kept running.

    Args:
        command: That starts it.
        died: Told of every death, before it is started again.
        first: Seconds until it is started again the first time; each time twice as long.
    """

    def __init__(
        self, command: Sequence[str], died: Callable[[Death], None], *, first: float = FIRST
    ) -> None:
        self._command, self._died, self._first = command, died, first
        self._ending = Event()
        self._lock = Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._thread = Thread(target=self._keep, daemon=True)

    def start(self) -> None:
        """Start it."""
        self._thread.start()

    @property
    def pid(self) -> int | None:
        """Of the process that runs; None between two."""
        process = self._process
        return process.pid if process is not None and process.poll() is None else None

    def stop(self, patience: float = PATIENCE) -> None:
        """Ask it to end, and end it where it does not; it is not started again."""
        with self._lock:
            self._ending.set()
            process = self._process
        if process is not None and process.poll() is None:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(patience)
            except subprocess.TimeoutExpired:
                process.kill()
        self._thread.join(1)

    def _keep(self) -> None:
        wait, deaths = self._first, 0
        while not self._ending.is_set():
            began = monotonic()
            with TemporaryFile() as words:
                process = self._started(words)
                if process is None:
                    return
                code = process.wait()
                if process.stdin is not None:
                    process.stdin.close()
                last_words = _end_of(words)
            if self._ending.is_set():
                return
            if monotonic() - began > STEADY:
                wait, deaths = self._first, 0
            deaths += 1
            self._died(Death(_how(code), deaths, wait, last_words))
            self._ending.wait(wait)
            wait = min(2 * wait, LONGEST)

    def _started(self, words: IO[bytes]) -> "subprocess.Popen[bytes] | None":
        with self._lock:
            if self._ending.is_set():
                return None
            # In a group of its own: Ctrl+C in a terminal ends the server, which ends it in turn.
            # Its input is a pipe of ours, which closes however we end.
            self._process = subprocess.Popen(
                self._command,
                stdin=subprocess.PIPE,
                stdout=words,
                stderr=words,
                process_group=0,
            )
            return self._process


def _how(code: int) -> str:
    """How a process ended, in words.

    >>> _how(-9), _how(1)
    ('it was ended by SIGKILL', 'it ended with status 1')
    """
    if code < 0:
        try:
            return f"it was ended by {signal.Signals(-code).name}"
        except ValueError:
            return f"it was ended by signal {-code}"
    return f"it ended with status {code}"


def _end_of(words: IO[bytes]) -> str:
    size = words.seek(0, 2)
    words.seek(max(0, size - LAST_WORDS))
    return words.read().decode("utf-8", "replace").strip()
