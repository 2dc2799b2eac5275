"""No script: the options of scripts, the words of their texts, and what processes take."""

import os
import re
import runpy
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import typer

from ragstone.data import cornwall, read

ROOT = Path(__file__).parents[1]
SHARED = Path(os.environ.get("RAGSTONE_SHARED") or ROOT.parent / "shared")
"""Human-labelled data and the mock judge, which are not part of the repository."""
RAGSTONE = (sys.executable, "-m", "ragstone")


def run(main: Callable[..., None]) -> None:
    """Call a script's function, whose parameters are its options; its help is the module's."""
    app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)
    about = sys.modules["__main__"].__doc__ or ""
    # The mark keeps the lines of a paragraph as they are.
    app.command(help="\b\n" + about.replace("\n\n", "\n\n\b\n"))(main)
    app()


def defined_in(file: Path, name: str) -> Any:
    """What a file of another folder defines by that name."""
    return runpy.run_path(str(file))[name]


@cache
def demo_words() -> list[str]:
    """The words of the demo data's contexts, as often as they are there; drawn, they pack as text
    does."""
    contexts = [context for row in read(cornwall()) for context in row.contexts or ()]
    return " ".join(context.text or "" for context in contexts).split()


class Used(NamedTuple):
    """What a process took: seconds by the clock and of processors, and megabytes at its peak."""

    wall: float
    cpu: float
    peak: float


def used_by(
    command: Sequence[str],
    statuses: Sequence[int] = (0,),
    environment: Mapping[str, str] | None = None,
) -> Used:
    """Run a command, which has to end with one of these statuses."""
    with tempfile.TemporaryFile("w+", errors="replace") as output:
        begun = time.perf_counter()
        child = subprocess.Popen(command, env=environment, stdout=output, stderr=output)
        _, status, used = os.wait4(child.pid, 0)
        wall = time.perf_counter() - begun
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode not in statuses:
            output.seek(0)
            last = output.read()[-2000:]
            raise SystemExit(f"Status {child.returncode}: {' '.join(command)}\n{last}")
    return Used(wall, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)


def memory(field: str = "VmRSS", pid: int | str = "self") -> int:
    """Bytes that a process holds, or with ``VmHWM`` held at most since its peak was forgotten.

    0 where the system does not tell.
    """
    status = Path(f"/proc/{pid}/status")
    size = re.search(rf"{field}:\s+(\d+) kB", status.read_text() if status.exists() else "")
    return int(size[1]) * 1024 if size else 0


def forget_peak(pid: int | str = "self") -> None:
    """Let the peak of a process be what it holds now."""
    with suppress(OSError):
        Path(f"/proc/{pid}/clear_refs").write_text("5")
