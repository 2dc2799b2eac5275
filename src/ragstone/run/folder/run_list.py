"""Run list: the runs in a directory, the newest first, and the progress of those that go on.

A run writes its progress about once a second to a small file in its folder, which the web app
and others read, and deletes it at its end.
"""

import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, ValidationError

from ragstone.core.errors import DamagedRun, InputError
from ragstone.core.files import RunEntry
from ragstone.core.messages import argument, call

from .checksums import write_json
from .folder import is_held
from .run_files import RunFiles
from .schemas import Manifest

if TYPE_CHECKING:
    from ragstone.run.calls.journal import Counts


@dataclass(frozen=True, slots=True)
class Progress:
    """``fraction`` is from 0 to 1, None if the total is not known.

    ``calls`` counts model calls, None if there are none. ``note`` is what a user should know
    before it is done, such as what a batch is expected to cost. ``workers`` counts those of a
    cluster that are at work, None if there is no cluster.
    """

    stage: str
    examples: int
    fraction: float | None
    calls: "Counts | None" = None
    note: str | None = None
    workers: int | None = None


Report = Callable[[Progress], None]


# Seconds between two beats.
PAUSE = 1.0
# A beat of so little ago is that of a run that goes on, whatever machine writes it.
FRESH = timedelta(seconds=10)
# Without a sign of life for so long, a run is taken for stopped, where locks tell nothing.
STILL = timedelta(minutes=2)


class Beat(BaseModel):
    """The progress that a run last wrote to its folder, as ``Progress`` has it.

    Attributes:
        seconds: Since the run was started, or went on.
        calls: Calls to models since then.
        usd: Their cost; None if it is not known.
    """

    model_config = ConfigDict(frozen=True)

    at: datetime
    stage: str
    examples: int
    fraction: float | None
    seconds: float
    judges: list[str]
    calls: int = 0
    usd: float | None = None
    workers: int | None = None

    @property
    def left(self) -> float | None:
        """Seconds that are left at the pace so far; None if that cannot be told."""
        if not self.fraction or self.stage != "judging":
            return None
        return self.seconds / self.fraction * (1 - self.fraction)


@dataclass(slots=True)
class Heartbeat:
    """Writes how far a run is."""

    folder: Path
    judges: Sequence[str]
    _started: float = field(default_factory=time.monotonic)
    _last: float = 0.0

    def beat(self, progress: Progress) -> None:
        """Write it, unless that was done just now; a disk that is full has other messengers."""
        now = time.monotonic()
        if now - self._last < PAUSE:
            return
        self._last = now
        calls = progress.calls
        beat = Beat(
            at=datetime.now(UTC), stage=progress.stage, examples=progress.examples,
            fraction=progress.fraction, seconds=round(now - self._started, 1),
            judges=list(self.judges), calls=calls.calls if calls else 0,
            usd=calls.usd if calls else None, workers=progress.workers,
        )  # fmt: skip
        with suppress(OSError):
            write_json(self.folder / RunEntry.HEARTBEAT, beat.model_dump(mode="json"))

    def stop(self) -> None:
        """Remove the file: the run is finished."""
        (self.folder / RunEntry.HEARTBEAT).unlink(missing_ok=True)


def goes_on(folder: Path, beat: Beat | None) -> bool:
    """Return whether the unfinished run in this folder goes on.

    Who writes to a folder holds its lock, which ends with the process, however that dies. A run of
    another machine may hold one that cannot be seen from here.
    """
    if beat is None:
        return False
    age = datetime.now(UTC) - beat.at
    if age < FRESH:
        return True
    held = is_held(folder)
    return age < STILL if held is None else held


def last_beat(folder: Path) -> Beat | None:
    """Read the last progress of the run in this folder; None if there is none."""
    try:
        return Beat.model_validate_json((folder / RunEntry.HEARTBEAT).read_bytes())
    except (OSError, ValidationError):
        return None


# Directory of runs for which no folder is named.
RUNS = Path("runs")

MAKES_ONE = call("evaluate", argument("data", "DATA"))


@dataclass(frozen=True, slots=True)
class FoundRun:
    """A run folder."""

    path: Path
    # When its ``run.json`` was last written, in UTC.
    changed: datetime
    # What ``run.json`` says; None if it is damaged.
    form: Manifest | None
    # How far it said it is, if it is not finished.
    beat: Beat | None = None

    @property
    def goes_on(self) -> bool:
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
        raise InputError(f"There is no folder {folder}: `{MAKES_ONE}` makes a run.")
    return newest_first(map(found_run, folder.glob(f"*/{RunEntry.MANIFEST}")))


def latest_run(folder: Path = RUNS) -> Path:
    """The folder of the newest finished run in a directory.

    Raises:
        InputError: There is none.
    """
    runs = runs_in(folder)
    newest = next((run for run in runs if run.form and run.form.finished), None)
    if newest is None:
        raise InputError(f"There is no finished run in {folder}: `{MAKES_ONE}` makes one.")
    return newest.path


def newest_first(runs: Iterable[FoundRun]) -> list[FoundRun]:
    return sorted(runs, key=lambda run: (run.changed, run.path.name), reverse=True)


def found_run(file: Path) -> FoundRun:
    changed = datetime.fromtimestamp(file.stat().st_mtime, UTC)
    try:
        form = RunFiles(file.parent).form
    except DamagedRun:
        form = None
    unfinished = form is not None and not form.finished
    return FoundRun(file.parent, changed, form, last_beat(file.parent) if unfinished else None)
