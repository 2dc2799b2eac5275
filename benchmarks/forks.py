"""No script: runs programs in new processes that already have Ragstone imported.

Each is forked from one without threads that has imported what most of them need, so that none takes
a second to start.
"""

import atexit
import os
import re
import shutil
import signal
import sys
import time
from collections.abc import Mapping, Sequence
from multiprocessing import get_context
from pathlib import Path
from tempfile import mkdtemp

FORKS = get_context("forkserver")
FORKS.set_forkserver_preload(
    [
        "ragstone.cli.app",
        "ragstone.monitor.worker",
        "ragstone.report",
        "ragstone.run.batches",
        "ragstone.run.calls.model_client",
        "ragstone.web.monitor_server",
        "aiohttp",
    ]
)
COMMAND = "import sys; sys.argv[0] = 'ragstone'; from ragstone.cli.app import main; main()"
"""The program of the command line."""
PATIENCE = 300
"""Seconds; a busy machine is far below it."""


class Forked:
    """A process with signals and an end of its own; what it prints is kept in files."""

    def __init__(self, program: str, *arguments: object, cwd: Path, **environment: str) -> None:
        self._output = Path(mkdtemp())
        order = (program, [*map(str, arguments)], cwd, os.environ | environment, self._output)
        self._process = FORKS.Process(target=run_program, args=order)
        self._process.start()
        assert self._process.pid is not None
        self.pid = self._process.pid

    @property
    def returncode(self) -> int | None:
        """Its status, or minus the signal that ended it; None while it goes on."""
        return self._process.exitcode

    def send_signal(self, number: int) -> None:
        if self.returncode is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def address(self) -> str:
        """The address that it prints first, once it serves there."""
        until = time.monotonic() + PATIENCE
        while self.returncode is None and time.monotonic() < until:
            if printed := re.search(r"https?://\S+(?=\s)", self.printed("out")):
                return printed[0]
            time.sleep(0.02)
        raise AssertionError(self.printed("out") + self.printed("err"))

    def communicate(self) -> tuple[str, str]:
        """Wait for its end; what it printed, and what it printed of errors."""
        self._process.join(PATIENCE)
        assert self.returncode is not None, "it does not end"
        out, err = self.printed("out"), self.printed("err")
        shutil.rmtree(self._output, ignore_errors=True)  # It is gone if somebody waited before.
        return out, err

    def printed(self, name: str = "out") -> str:
        """What it printed so far; with ``err``, its errors."""
        file = self._output / name
        return file.read_text("utf-8") if file.exists() else ""


def end_of(file: Path, *arguments: object) -> int:
    """Run a script to its end; its exit status, or minus the signal that ended it."""
    program = f"import runpy; runpy.run_path({str(file)!r}, run_name='__main__')"
    process = Forked(program, *arguments, cwd=file.parent)
    process.communicate()
    assert process.returncode is not None
    return process.returncode


def run_program(
    program: str,
    arguments: Sequence[str],
    folder: Path,
    environment: Mapping[str, str],
    output: Path,
) -> None:
    """Run the source of a program as ``python -c`` would, in a process that was just forked.

    What it prints goes into the files ``out`` and ``err`` of the folder ``output``.
    """
    for number, name in ((1, "out"), (2, "err")):
        with (output / name).open("wb") as stream:
            os.dup2(stream.fileno(), number)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = [sys.argv[0], *arguments]
    try:
        exec(program, {"__name__": "__main__"})
    finally:
        # Processes of multiprocessing end without it.
        atexit._run_exitfuncs()
