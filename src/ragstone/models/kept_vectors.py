"""Kept vectors: the SQLite file of embeddings, shared by all encoders, runs and processes."""

import os
import sqlite3
import threading
import weakref
from collections.abc import Callable, Iterable, Mapping
from contextlib import closing
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

import numpy as np

from ragstone.errors import ModelError
from ragstone.private import private_folder
from ragstone.sqlite import UNREADABLE, SqliteLayout, is_damaged, open_file

from . import store
from .encoder import Vectors
from .lock import locked
from .store import Note

FILE = "embeddings.sqlite"
LAYOUT = SqliteLayout(
    owner=0x5261_6773,
    version=2,
    tables=("CREATE TABLE embeddings (key BLOB PRIMARY KEY, vector BLOB NOT NULL)",),
    synchronous="NORMAL",
    page=16_384,
)
CHECKSUM = 8
"""Bytes of it, behind each vector."""
ASKED_AT_ONCE = 900
"""Keys in one query; SQLite may be built to take no more than 999."""

Action = Callable[[sqlite3.Connection], None]


@dataclass(frozen=True, slots=True)
class Kept:
    """What the file holds."""

    file: Path
    vectors: int
    size: int


def embeddings_file() -> Path:
    """Where the vectors of all encoders are."""
    return store.cache_folder() / FILE


def kept() -> Kept:
    """How much the file holds.

    Raises:
        ModelError: It is damaged, or not ours.
    """
    file = embeddings_file()
    if not file.is_file():
        return Kept(file, 0, 0)
    try:
        with closing(open_file(file, LAYOUT)) as connection:
            ((vectors,),) = connection.execute("SELECT count(*) FROM embeddings")
    except UNREADABLE as error:
        raise ModelError(f"{file} cannot be read: {error}. It can be deleted") from error
    files = (file, file.with_name(f"{file.name}-wal"))
    return Kept(file, vectors, sum(one.stat().st_size for one in files if one.is_file()))


def clear() -> Kept:
    """Empty the file, also while others use it; what it held is returned.

    Raises:
        ModelError: It cannot be read or written.
    """
    before = kept()
    if not before.vectors:
        return before
    try:
        with closing(open_file(before.file, LAYOUT)) as connection:
            connection.execute("DELETE FROM embeddings")
            connection.execute("VACUUM")
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    except UNREADABLE as error:
        raise ModelError(f"{before.file} cannot be emptied: {error}") from error
    return before


class KeptVectors:
    """Vectors by key. A fault of the file never stops a run.

    A file that is damaged or not ours is renamed and a new one begun. One that cannot be written is
    still read, one that cannot be read is no longer used. Each of these is noted in one line.
    """

    def __init__(self, file: Path, note: Note) -> None:
        self._file, self._note = file, note
        self._mutex = threading.Lock()
        self._connection: sqlite3.Connection | None = None
        self._process = 0
        self._opened = (0, 0)
        self._readable = self._writable = True
        self._noted = False

    def get(self, keys: Iterable[bytes]) -> dict[bytes, Vectors]:
        """The vectors that are there; one that was changed since it was kept is left out."""
        wanted = list(keys)
        found: dict[bytes, Vectors] = {}

        def read(connection: sqlite3.Connection) -> None:
            for start in range(0, len(wanted), ASKED_AT_ONCE):
                part = wanted[start : start + ASKED_AT_ONCE]
                marks = ",".join("?" * len(part))
                query = f"SELECT key, vector FROM embeddings WHERE key IN ({marks})"
                for key, sealed in connection.execute(query, part):
                    if vector := _unsealed(key, sealed):
                        found[key] = np.frombuffer(vector, np.float32)
                    else:
                        self._note_change()

        with self._mutex:
            if self._readable and (error := self._fault_of(read)):
                self._readable = self._writable = False
                self._note(f"Embeddings are not kept in {self._file}: {error}.")
        return found

    def put(self, vectors: Mapping[bytes, Vectors]) -> None:
        """Keep these, in one transaction."""

        def write(connection: sqlite3.Connection) -> None:
            with connection:
                connection.execute("BEGIN IMMEDIATE")
                connection.executemany(
                    "INSERT OR REPLACE INTO embeddings VALUES (?, ?)",
                    [(key, _sealed(key, vector.tobytes())) for key, vector in vectors.items()],
                )

        with self._mutex:
            if vectors and self._writable and (error := self._fault_of(write)):
                self._writable = False
                self._note(f"Embeddings are not kept in {self._file}: {error}.")

    def _fault_of(self, action: Action) -> Exception | None:
        """Why it could not be done; it is tried once more where a damaged file was set aside."""
        try:
            try:
                action(self._connected())
            except UNREADABLE as error:
                if not is_damaged(error) or not self._set_aside(error):
                    raise
                action(self._connected())
        except (*UNREADABLE, OSError) as error:
            return error
        return None

    def _connected(self) -> sqlite3.Connection:
        """The connection of this process; one does not outlive a fork."""
        if self._connection is None or self._process != os.getpid():
            private_folder(self._file.parent)
            try:
                self._connection = open_file(self._file, LAYOUT)
            finally:
                self._opened = _identity(self._file)
            self._process = os.getpid()
            weakref.finalize(self, _close, self._connection, self._process)
        return self._connection

    def _set_aside(self, error: Exception) -> bool:
        """Rename the file, unless another process has; False where that cannot be done."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None
        aside = self._file.with_name(f"{self._file.name}.damaged")
        lock = self._file.with_name(f".{self._file.name}.lock")
        try:
            with locked(lock, note=self._note, doing="looking after the cache"):
                if _identity(self._file) != self._opened:
                    return True
                self._file.replace(aside)
                for end in ("-wal", "-shm"):
                    self._file.with_name(self._file.name + end).unlink(missing_ok=True)
        except OSError:
            return False
        self._note(f"The cache {self._file} cannot be read ({error}); it is now {aside.name}.")
        return True

    def _note_change(self) -> None:
        if not self._noted:
            self._noted = True
            self._note(
                f"The cache {self._file} holds a vector that is not the one that was kept: it is "
                "computed again, and so are others like it."
            )


def _sealed(key: bytes, vector: bytes) -> bytes:
    """A vector with its checksum behind it."""
    return vector + blake2b(key + vector, digest_size=CHECKSUM).digest()


def _unsealed(key: bytes, sealed: object) -> bytes:
    """The vector that ``_sealed`` made this of; empty where it did not."""
    if not isinstance(sealed, bytes):
        return b""
    vector = sealed[:-CHECKSUM]
    return vector if len(vector) % 4 == 0 and sealed == _sealed(key, vector) else b""


def _identity(file: Path) -> tuple[int, int]:
    """Which file it is, whatever it is called; zeros where there is none."""
    try:
        facts = file.stat()
    except OSError:
        return 0, 0
    return facts.st_dev, facts.st_ino


def _close(connection: sqlite3.Connection, process: int) -> None:
    if process == os.getpid():
        connection.close()
