"""Programs that tests run in processes of their own, which begin with Ragstone imported."""

import os
import shutil
import signal
from pathlib import Path
from tempfile import mkdtemp

from tests.scripts import script

COMMAND = "import sys; sys.argv[0] = 'ragstone'; from ragstone.cli.app import main; main()"
"""The program of the command line."""
PATIENCE = 300
"""Seconds; a busy machine is far below it."""


class Forked:
    """A process with signals and an end of its own; what it prints is kept in files."""

    def __init__(self, program: str, *arguments: object, cwd: Path, **environment: str) -> None:
        self._output = Path(mkdtemp())
        forks = script("forks")
        order = (program, [*map(str, arguments)], cwd, os.environ | environment, self._output)
        self._process = forks.FORKS.Process(target=forks.run_program, args=order)
        self._process.start()

    @property
    def pid(self) -> int:
        number: int = self._process.pid
        return number

    @property
    def returncode(self) -> int | None:
        """Its status, or minus the signal that ended it; None while it goes on."""
        status: int | None = self._process.exitcode
        return status

    def poll(self) -> int | None:
        return self.returncode

    def send_signal(self, number: int) -> None:
        if self.returncode is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def communicate(self) -> tuple[str, str]:
        """Wait for its end; what it printed, and what it printed of errors."""
        self._process.join(PATIENCE)
        assert self.returncode is not None, "it does not end"
        files = [self._output / name for name in ("out", "err")]
        out, err = (file.read_text("utf-8") if file.exists() else "" for file in files)
        shutil.rmtree(self._output)
        return out, err


def end_of(file: Path, *arguments: object) -> int:
    """Run a script to its end; its exit status, or minus the signal that ended it."""
    program = f"import runpy; runpy.run_path({str(file)!r}, run_name='__main__')"
    process = Forked(program, *arguments, cwd=file.parent)
    process.communicate()
    assert process.returncode is not None
    return process.returncode
