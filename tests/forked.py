"""Scripts that tests run in a process of their own, whose imports are done."""

import runpy
import sys
from pathlib import Path

import pytest

from tests.scripts import script

PATIENCE = 120
"""Seconds; a busy machine is far below it."""


def end_of(file: Path, *arguments: object) -> int:
    """Run a script to its end; its exit status, or minus the signal that ended it."""
    run = (str(file), None, "__main__")
    process = script("forks").FORKS.Process(target=runpy.run_path, args=run)
    with pytest.MonkeyPatch.context() as patch:
        # The new process has the arguments of this one.
        patch.setattr(sys, "argv", [str(file), *map(str, arguments)])
        process.start()
    process.join(PATIENCE)
    assert process.exitcode is not None, "it does not end"
    return int(process.exitcode)
