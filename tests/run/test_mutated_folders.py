"""No damage to a run's folder is a bug of ours, a hang or more memory than there is."""

from pathlib import Path

from tests.forked import Forked
from tests.project import ROOT

PROGRAM = f"""
import runpy, sys
sys.path.insert(0, {str(ROOT / "benchmarks")!r})
runpy.run_module("mutated_folders", run_name="__main__")
"""
FEW = (0, 1, 5, 6, 9, 12, 13, 14, 17, 37, 43, 48)
"""Of these each run is damaged, and in each way; they are read in a moment."""


def test_whatever_is_changed_in_a_folder_commands_end_as_they_promise(tmp_path: Path) -> None:
    process = Forked(PROGRAM, 7, *FEW, cwd=tmp_path)
    said = process.communicate()
    assert process.returncode == 0, said
    assert f"{len(FEW)} folders, 0 fell" in said[0]
