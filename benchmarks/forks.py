"""No script: processes that begin with their imports done, so that to start one takes no second.

Each is forked from one without threads that has imported what most of them need.
"""

import atexit
import os
import sys
from collections.abc import Mapping, Sequence
from multiprocessing import get_context
from pathlib import Path

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
