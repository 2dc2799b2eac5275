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
from contextlib import suppress
from dataclasses import asdict, dataclass
from hashlib import blake2b
from pathlib import Path
from threading import Event, Thread
from typing import BinaryIO

from ragstone.core.errors import StoreAway
from ragstone.data.traces.spans import Malformed, TracePart, UnreadableBody
from ragstone.monitor.store.rows import remembered
from ragstone.monitor.store.store import MonitorStore

from .group_commit import AcceptedBody, GroupCommit, IntakeSettings
from .otlp_http import Signal, accept_body, unread

# Bytes that are read at a time, which have fewer examples than a body may have.
CHUNK = 500_000

LONGEST_LINE = 16_000_000
# Seconds until it is looked whether there is more.
POLL = 0.5

# Seconds without a new line after which a file that was renamed is taken to be complete.
SETTLED = 5.0

_BEFORE = 256
_MARKS: Mapping[bytes, Signal] = {
    b'"resourceSpans"': "spans",
    b'"resource_spans"': "spans",
    b'"resourceLogs"': "logs",
    b'"resource_logs"': "logs",
}


@dataclass(frozen=True, slots=True)
class TailPosition:
    """How far a file was read.

    Attributes:
        inode: The inode of the file, whatever it is called by now.
        offset: Bytes that were read.
        before: A hash that tells the bytes before that offset from others.
    """

    inode: int
    offset: int
    before: str


class TailedFile:
    """A file that is followed: the store knows how far it was read, the writer writes its lines."""

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
        self._at = TailPosition(0, 0, _hash(b""))
        self._skips = False
        self._grew = now()
        self._fault = ""
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
        """Take in the next lines, if there are any; returns how many bytes were read.

        Raises:
            StoreAway: They cannot be written at present; the next step reads them again.
            OSError: The file cannot be read.
        """
        file = self._file or self._open()
        if file is None:
            return 0
        if _was_cut(file, self._at):
            self._at = TailPosition(self._at.inode, 0, _hash(b""))
        chunk = self._read(file)
        end = chunk.rfind(b"\n") + 1
        if end:
            self._grew = self._now()
            self._take(chunk[:end])
            return end
        if chunk and (self._skips or len(chunk) > LONGEST_LINE):
            self._take_start(chunk)
            return len(chunk)
        if self._is_replaced() and self._now() >= self._grew + SETTLED:
            if chunk:
                self._take(chunk)
            file.close()
            self._begin()
            self._skips = False
            self._writer.write(AcceptedBody(kept={self._name: asdict(self._at)}))
            return len(chunk) or 1
        return 0

    def _follow(self) -> None:
        while not self._stopped.is_set():
            read = 0
            try:
                read = self.step()
                self._fault = "" if read else self._fault
            except StoreAway:
                # The writer has told, and tells when it is over.
                self._stopped.wait(1.0)
            except OSError as error:
                fault = f"{self._path} cannot be read: {error.strerror or type(error).__name__}."
                if fault != self._fault:
                    self._fault = fault
                    self._writer.note({}, line=fault)
            if not read:
                self._stopped.wait(POLL)

    def _open(self) -> BinaryIO | None:
        """Open the file where it was left, under whichever name; None if there is none."""
        with self._store.database.reading() as run:
            stored = remembered(run, self._name)
        self._grew = self._now()
        with suppress(FileNotFoundError):
            at = TailPosition(**stored) if stored else self._at
            for path in self._renamed(at.inode) if stored else ():
                with suppress(OSError):
                    file = path.open("rb")
                    if not _was_cut(file, at):
                        self._file, self._at = file, at
                        return file
                    file.close()
            return self._begin()
        return None

    def _begin(self) -> BinaryIO:
        self._file = self._path.open("rb")
        self._at = TailPosition(os.fstat(self._file.fileno()).st_ino, 0, _hash(b""))
        return self._file

    def _renamed(self, inode: int) -> list[Path]:
        """Return files in the folder that may be the one that was read, whatever it is called."""
        with os.scandir(self._path.parent) as entries:
            return [Path(entry.path) for entry in entries if entry.inode() == inode]

    def _read(self, file: BinaryIO) -> bytes:
        """Read what follows, at least to the end of a line where that is there."""
        file.seek(self._at.offset)
        chunk = file.read(CHUNK)
        while chunk and b"\n" not in chunk and len(chunk) <= LONGEST_LINE:
            more = file.read(CHUNK)
            if not more:
                break
            chunk += more
        return chunk

    def _is_replaced(self) -> bool:
        try:
            return self._path.stat().st_ino != self._at.inode
        except FileNotFoundError:
            return False

    def _take(self, lines: bytes) -> None:
        """Write what stands in whole lines."""
        if self._skips:
            # The end of a line of which the beginning was put aside.
            end, newline, lines = lines.partition(b"\n")
            self._write(AcceptedBody(), len(end) + len(newline))
            self._skips = False
        try:
            self._write(self._accepted(lines), len(lines))
        except StoreAway:
            raise
        except Exception:
            # One of them may be what cannot be read or written.
            for line in lines.splitlines(keepends=True):
                try:
                    self._write(self._accepted(line), len(line))
                except StoreAway:
                    raise
                except Exception:
                    self._write(_all_malformed([("unreadable_line", b"")]), len(line))

    def _take_start(self, start: bytes) -> None:
        """Put aside the start of a line that is too long, and leave out the rest."""
        body = AcceptedBody()
        if not self._skips:
            error = UnreadableBody("", "span_too_long")
            body = _all_malformed([unread(error, start, self._settings.redaction)])
        self._write(body, len(start))
        self._skips = True

    def _accepted(self, lines: bytes) -> AcceptedBody:
        parts: list[TracePart] = []
        malformed: list[Malformed] = []
        counts: Counter[str] = Counter()
        use, now = self._settings, self._now()
        for signal, text in _sorted(lines):
            try:
                body = accept_body(signal, text, json=True, use=use, now=now)
            except UnreadableBody as error:
                unreadable = [line for line in text.split(b"\n") if line.strip()]
                body = _all_malformed([unread(error, line, use.redaction) for line in unreadable])
            parts += body.parts
            malformed += body.malformed
            counts.update(body.counts)
        return AcceptedBody(parts, malformed, counts)

    def _write(self, body: AcceptedBody, size: int) -> None:
        """Write it, and how far the file is read with it."""
        assert self._file is not None
        offset = self._at.offset + size
        at = TailPosition(self._at.inode, offset, _hash_before(self._file, offset))
        position = {self._name: asdict(at)}
        self._writer.write(AcceptedBody(body.parts, body.malformed, body.counts, position))
        self._at = at


def _all_malformed(malformed: list[Malformed]) -> AcceptedBody:
    return AcceptedBody((), malformed, {"received": len(malformed), "malformed": len(malformed)})


def _was_cut(file: BinaryIO, at: TailPosition) -> bool:
    """Tell whether what was read is no longer in front of what comes."""
    size = os.fstat(file.fileno()).st_size
    return size < at.offset or _hash_before(file, at.offset) != at.before


def _hash_before(file: BinaryIO, offset: int) -> str:
    file.seek(max(0, offset - _BEFORE))
    return _hash(file.read(min(offset, _BEFORE)))


def _hash(before: bytes) -> str:
    return blake2b(before, digest_size=8).hexdigest()


def _sorted(lines: bytes) -> Iterator[tuple[Signal, bytes]]:
    """Give lines by what they are: examples together, and each request of OTLP alone."""
    examples = []
    for line in lines.split(b"\n"):
        signal = next((signal for mark, signal in _MARKS.items() if mark in line[:200]), None)
        if signal is not None:
            yield signal, line
        elif line.strip():
            # A line that is no UTF-8 must not spoil those beside it.
            examples.append(line.decode("utf-8", "replace").encode())
    if examples:
        yield "examples", b"\n".join(examples)
