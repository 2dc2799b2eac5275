"""Heartbeat: how far a run is, in a small file in its folder while it goes on.

Who looks at the folder, such as the local app, reads it. It is written about once a second, and
gone when the run is finished.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from ragstone.core.files import RunEntry

from .lock import is_held
from .progress import Progress
from .written import write_json

FILE = RunEntry.HEARTBEAT
PAUSE = 1.0
"""Seconds between two beats."""
FRESH = timedelta(seconds=10)
"""A beat of so little ago is that of a run that goes on, whatever machine writes it."""
STILL = timedelta(minutes=2)
"""Without a sign of life for so long, a run is taken for stopped, where locks tell nothing."""


class Beat(BaseModel):
    """How far a run is.

    Attributes:
        at: When this was written.
        stage: ``judging`` or ``estimating``.
        examples: How many are judged.
        fraction: Of the data; None if their size is not known.
        seconds: Since the run was started, or went on.
        judges: Who judges.
        calls: Calls to models since then.
        usd: Their cost; None if it is not known.
        workers: Those of a cluster that are at work; None if there is no cluster.
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
    """Writes how far a run is.

    Args:
        folder: Of the run.
        judges: Who judges.
    """

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
        one = Beat(
            at=datetime.now(UTC),
            stage=progress.stage,
            examples=progress.examples,
            fraction=progress.fraction,
            seconds=round(now - self._started, 1),
            judges=list(self.judges),
            calls=calls.calls if calls else 0,
            usd=calls.usd if calls else None,
            workers=progress.workers,
        )
        try:
            write_json(self.folder / FILE, one.model_dump(mode="json"))
        except OSError:
            return

    def stop(self) -> None:
        """Remove the file: the run is finished."""
        (self.folder / FILE).unlink(missing_ok=True)


def goes_on(folder: Path, beat: Beat | None) -> bool:
    """Whether the run in this folder, which is not finished, goes on.

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
    """How far the run in this folder was when it last said so; None if it did not."""
    try:
        return Beat.model_validate_json((folder / FILE).read_bytes())
    except (OSError, ValidationError):
        return None
