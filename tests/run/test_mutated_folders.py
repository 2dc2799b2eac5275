"""No damage to a run's folder is a bug of ours, a hang or more memory than there is."""

import subprocess
import sys

from tests.project import ROOT

SCRIPT = ROOT / "benchmarks" / "mutated_folders.py"
FEW = (0, 1, 5, 6, 9, 12, 13, 14, 17, 37, 43, 48)
"""Of these each run is damaged, and in each way; they are read in a moment."""


def test_whatever_is_changed_in_a_folder_commands_end_as_they_promise() -> None:
    words = [sys.executable, str(SCRIPT), "7", *map(str, FEW)]
    ended = subprocess.run(words, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert f"{len(FEW)} folders, 0 fell" in ended.stdout
