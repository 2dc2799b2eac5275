"""Runs: the run folders in a directory, the newest first."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from ragstone.core.errors import DamagedRun, InputError
from ragstone.core.messages import argument, call

from .forms import Manifest
from .heartbeat import Beat, goes_on, last_beat
from .places import MANIFEST
from .run_files import RunFiles

RUNS = Path("runs")
"""Where a run is put that is given no folder."""


@dataclass(frozen=True, slots=True)
class FoundRun:
    """A run folder.

    Args:
        path: The folder.
        changed: When its ``run.json`` was last written, in UTC.
        form: What ``run.json`` says; None if it is damaged.
        beat: How far it said it is, if it is not finished.
    """

    path: Path
    changed: datetime
    form: Manifest | None
    beat: Beat | None = None

    @property
    def goes_on(self) -> bool:
        """Whether it is being judged."""
        return goes_on(self.path, self.beat)


def runs_in(folder: Path = RUNS) -> list[FoundRun]:
    """The runs in a directory, finished or not, the newest first.

    Only ``run.json`` of each is read.

    Raises:
        InputError: There is no such directory.
    """
    if folder.is_file():
        raise InputError(f"{folder} is a file. Name a folder that has runs in it.")
    if not folder.is_dir():
        raise InputError(f"There is no folder {folder}: `{_makes_one()}` makes a run.")
    return newest_first(map(found_run, folder.glob(f"*/{MANIFEST}")))


def latest_run(folder: Path = RUNS) -> Path:
    """The folder of the newest finished run in a directory.

    Raises:
        InputError: There is none.
    """
    runs = runs_in(folder)
    newest = next((one for one in runs if one.form and one.form.finished), None)
    if newest is None:
        raise InputError(f"There is no finished run in {folder}: `{_makes_one()}` makes one.")
    return newest.path


def newest_first(found: Iterable[FoundRun]) -> list[FoundRun]:
    """Runs in the order in which they are listed."""
    return sorted(found, key=lambda one: (one.changed, one.path.name), reverse=True)


def found_run(file: Path) -> FoundRun:
    """The run with this ``run.json``."""
    changed = datetime.fromtimestamp(file.stat().st_mtime, UTC)
    try:
        form = RunFiles(file.parent).form
    except DamagedRun:
        form = None
    unfinished = form is not None and not form.finished
    return FoundRun(file.parent, changed, form, last_beat(file.parent) if unfinished else None)


def _makes_one() -> str:
    return call("evaluate", argument("data", "DATA"))
