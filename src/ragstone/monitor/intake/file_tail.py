"""Tail: follows a file of JSON lines that another program writes, over rotations and restarts.

A line is an example, or a request of OTLP as the file exporter of the OpenTelemetry Collector
writes it. How far the file was read is remembered in the same transaction as what was read, so no
line is taken twice and none is left out. A file that is renamed is read to its end, also by the
next process, as long as it stays in its folder; one that is cut is read anew from its beginning.
"""

import os
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from threading import Event, Thread
from typing import BinaryIO

from ragstone.core.errors import StoreAway
from ragstone.monitor.store.rows import remembered
from ragstone.monitor.store.store import MonitorStore
from ragstone.monitor.traces.spans import Malformed, TracePart, UnreadableBody

from .group_commit import AcceptedBody, GroupCommit, IntakeSettings
from .otlp_http import EXAMPLES, LOGS, TRACES, SentSignal, taken_from, unread

CHUNK = 500_000
"""Bytes that are read at a time, which have fewer examples than a body may have."""

LONGEST_LINE = 16_000_000
POLL = 0.5
"""Seconds until it is looked whether there is more."""

SETTLED = 5.0
"""Seconds without a new line after which a file that was renamed is taken to be complete."""

_BEFORE = 256
_MARKS: Mapping[bytes, SentSignal] = {
    b'"resourceSpans"': TRACES,
    b'"resource_spans"': TRACES,
    b'"resourceLogs"': LOGS,
    b'"resource_logs"': LOGS,
}


@dataclass(frozen=True, slots=True)
class TailPosition:
    """How far a file was read.

    Attributes:
        inode: Of the file, whatever it is called by now.
        offset: Bytes that were read.
        before: What tells the bytes before that place from others.
    """

    inode: int
    offset: int
    before: str

    def to_dict(self) -> dict[str, object]:
        """As what JSON can hold."""
        return {"inode": self.inode, "offset": self.offset, "before": self.before}

    @classmethod
    def from_dict(cls, given: Mapping[str, object]) -> "TailPosition":
        """From ``to_dict``."""
        return cls(int(str(given["inode"])), int(str(given["offset"])), str(given["before"]))


class TailedFile:
    """A file that is followed.

    Args:
        path: What it is called.
        store: Knows how far it was read.
        writer: Writes what is read.
        settings: What is taken out, and what is allowed.
        now: The time in seconds since the epoch.
    """

    def __init__(
        self,
        path: Path,
        store: MonitorStore,
        writer: GroupCommit,
        settings: IntakeSettings,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._path, self._store, self._writer = path.absolute(), store, writer
        self._settings, self._now = settings, now
        self._name = f"tail:{self._path}"
        self._file: BinaryIO | None = None
        self._at = TailPosition(0, 0, _mark(b""))
        self._skips = False
        self._grew = now()
        self._said = ""
        self._stopped = Event()
        self._thread: Thread | None = None

    def start(self) -> None:
        """Follow it, in a thread of its own."""
        self._thread = Thread(target=self._follow, name="ragstone-tail", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop following it; what was read is written."""
        self._stopped.set()
        if self._thread is not None:
            self._thread.join()
        if self._file is not None:
            self._file.close()
            self._file = None

    def step(self) -> int:
        """Take in the next lines, if there are any.

        Returns:
            Bytes that were read.

        Raises:
            StoreAway: They cannot be written at present; the next step reads them again.
            OSError: The file cannot be read.
        """
        if self._file is None and not self._open():
            return 0
        assert self._file is not None
        if self._was_cut():
            self._at = TailPosition(self._at.inode, 0, _mark(b""))
        chunk = self._read()
        end = chunk.rfind(b"\n") + 1
        if end:
            self._grew = self._now()
            self._take(chunk[:end])
            return end
        if chunk and (self._skips or len(chunk) > LONGEST_LINE):
            self._take_start(chunk)
            return len(chunk)
        if self._is_replaced():
            return self._finish(chunk)
        return 0

    def _follow(self) -> None:
        while not self._stopped.is_set():
            read = 0
            try:
                read = self._step_over_faults()
            except StoreAway:
                # The writer has told, and tells when it is over.
                self._stopped.wait(1.0)
            if not read:
                self._stopped.wait(POLL)

    def _step_over_faults(self) -> int:
        try:
            read = self.step()
        except OSError as error:
            self._say(f"{self._path} cannot be read: {error.strerror or type(error).__name__}.")
            return 0
        self._said = "" if read else self._said
        return read

    def _say(self, line: str) -> None:
        if line != self._said:
            self._said = line
            self._writer.note({}, line=line)

    def _open(self) -> bool:
        """Open the file where it was left, under whichever name; False if there is none."""
        with self._store.database.reading() as run:
            kept = remembered(run, self._name)
        at = TailPosition.from_dict(kept) if kept else None
        if at is not None:
            for path in self._named(at.inode):
                if self._opened(path, at):
                    return True
        try:
            file = self._path.open("rb")
        except FileNotFoundError:
            return False
        self._file = file
        self._at = TailPosition(os.fstat(file.fileno()).st_ino, 0, _mark(b""))
        self._grew = self._now()
        return True

    def _named(self, inode: int) -> Iterator[Path]:
        """Files in the folder that may be the one that was read, whatever its name is now."""
        try:
            with os.scandir(self._path.parent) as entries:
                yield from [Path(one.path) for one in entries if one.inode() == inode]
        except FileNotFoundError:
            return

    def _opened(self, path: Path, at: TailPosition) -> bool:
        """Open a file if it is the one that was read so far."""
        try:
            file = path.open("rb")
        except OSError:
            return False
        self._file, self._at, self._grew = file, at, self._now()
        if self._was_cut():
            file.close()
            self._file = None
            return False
        return True

    def _was_cut(self) -> bool:
        """Whether what was read is no longer in front of what comes."""
        assert self._file is not None
        offset = self._at.offset
        if os.fstat(self._file.fileno()).st_size < offset:
            return True
        return self._before(offset) != self._at.before

    def _before(self, offset: int) -> str:
        assert self._file is not None
        self._file.seek(max(0, offset - _BEFORE))
        return _mark(self._file.read(min(offset, _BEFORE)))

    def _read(self) -> bytes:
        """What follows, at least to the end of a line where that is there."""
        assert self._file is not None
        self._file.seek(self._at.offset)
        chunk = self._file.read(CHUNK)
        while chunk and b"\n" not in chunk and len(chunk) <= LONGEST_LINE:
            more = self._file.read(CHUNK)
            if not more:
                break
            chunk += more
        return chunk

    def _is_replaced(self) -> bool:
        """Whether the name stands for another file by now."""
        try:
            return self._path.stat().st_ino != self._at.inode
        except FileNotFoundError:
            return False

    def _finish(self, rest: bytes) -> int:
        """Go on with the new file, when nothing comes in the old one any more."""
        assert self._file is not None
        if self._now() < self._grew + SETTLED:
            return 0
        if rest:
            self._take(rest)
        self._file.close()
        self._file = self._path.open("rb")
        self._at = TailPosition(os.fstat(self._file.fileno()).st_ino, 0, _mark(b""))
        self._skips = False
        self._writer.write(AcceptedBody(kept={self._name: self._at.to_dict()}))
        return len(rest) or 1

    def _take(self, lines: bytes) -> None:
        """Write what stands in whole lines."""
        if self._skips:
            # The end of a line of which the beginning was put aside.
            end, newline, lines = lines.partition(b"\n")
            self._write(AcceptedBody(), len(end) + len(newline))
            self._skips = False
        try:
            self._write(self._taken(lines), len(lines))
        except StoreAway:
            raise
        except Exception:
            # One of them may be what cannot be read or written.
            for line in lines.splitlines(keepends=True):
                self._take_alone(line)

    def _take_alone(self, line: bytes) -> None:
        try:
            self._write(self._taken(line), len(line))
        except StoreAway:
            raise
        except Exception:
            aside = Malformed("unreadable_line", b"")
            self._write(AcceptedBody((), [aside], {"received": 1, "malformed": 1}), len(line))

    def _take_start(self, start: bytes) -> None:
        """Put aside the start of a line that is too long, and leave out the rest."""
        if self._skips:
            self._write(AcceptedBody(), len(start))
            return
        aside = unread(UnreadableBody("", "span_too_long"), start, self._settings.redaction)
        self._write(AcceptedBody((), [aside], {"received": 1, "malformed": 1}), len(start))
        self._skips = True

    def _taken(self, lines: bytes) -> AcceptedBody:
        """What is written of lines, each of its kind."""
        parts: list[TracePart] = []
        malformed: list[Malformed] = []
        counts: Counter[str] = Counter()
        for signal, body in _sorted(lines):
            try:
                taken = taken_from(
                    signal, body, json=True, settings=self._settings, now=self._now()
                )
            except UnreadableBody as error:
                aside = [self._aside(error, one) for one in body.split(b"\n") if one.strip()]
                taken = AcceptedBody((), aside, {"received": len(aside), "malformed": len(aside)})
            parts += taken.parts
            malformed += taken.malformed
            counts.update(taken.counts)
        return AcceptedBody(parts, malformed, counts)

    def _aside(self, error: UnreadableBody, line: bytes) -> Malformed:
        return unread(error, line, self._settings.redaction)

    def _write(self, taken: AcceptedBody, size: int) -> None:
        """Write it, and how far the file is read with it."""
        offset = self._at.offset + size
        at = TailPosition(self._at.inode, offset, self._before(offset))
        kept = {self._name: at.to_dict()}
        self._writer.write(AcceptedBody(taken.parts, taken.malformed, taken.counts, kept))
        self._at = at


def _sorted(lines: bytes) -> Iterator[tuple[SentSignal, bytes]]:
    """Lines by what they are: examples together, and each request of OTLP alone."""
    examples = []
    for line in lines.split(b"\n"):
        signal = _signal(line)
        if signal is not None:
            yield signal, line
        elif line.strip():
            # A line that is no UTF-8 must not spoil those beside it.
            examples.append(line if _is_text(line) else line.decode("utf-8", "replace").encode())
    if examples:
        yield EXAMPLES, b"\n".join(examples)


def _signal(line: bytes) -> SentSignal | None:
    start = line[:200]
    return next((signal for mark, signal in _MARKS.items() if mark in start), None)


def _is_text(line: bytes) -> bool:
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return True


def _mark(before: bytes) -> str:
    return blake2b(before, digest_size=8).hexdigest()
