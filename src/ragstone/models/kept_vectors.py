"""Kept vectors: the embedding cache, an SQLite file shared by all encoders, runs and processes."""

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

from ragstone.core.errors import ModelError
from ragstone.core.files import cache_folder, private_folder
from ragstone.core.sqlite import UNREADABLE, SqliteLayout, is_damaged, open_file

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
"""Length in bytes of the checksum stored after each vector."""
ASKED_AT_ONCE = 900
"""Keys per query; some builds of SQLite allow only 999 parameters."""

Action = Callable[[sqlite3.Connection], None]


@dataclass(frozen=True, slots=True)
class Kept:
    """The number of vectors in the cache file, and its size in bytes."""

    file: Path
    vectors: int
    size: int


def embeddings_file() -> Path:
    """The cache file of all encoders."""
    return cache_folder() / FILE


def kept() -> Kept:
    """The size of the embedding cache.

    Raises:
        ModelError: The file is damaged, or not an embedding cache.
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
    """Empty the embedding cache, even while other processes use it; returns its previous size.

    Raises:
        ModelError: The file cannot be read or written.
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
    """Vectors by key, in a file whose faults never stop a run.

    A file that is damaged or not an embedding cache is renamed, and a new one is started. A file
    that cannot be written is only read; one that cannot be read is no longer used. Each of these
    events gives a one-line note.
    """

    def __init__(self, file: Path, note: Note) -> None:
        self._file, self._note = file, note
        self._mutex = threading.Lock()
        self._connection: sqlite3.Connection | None = None
        self._process: int
        self._opened: tuple[int, int]
        self._readable = self._writable = True
        self._noted = False

    def get(self, keys: Iterable[bytes]) -> dict[bytes, Vectors]:
        """The vectors found; those whose checksum is wrong are left out."""
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
        """Store these in one transaction."""

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
        """Run the action and return its error, if any; retries once after replacing a bad file."""
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
        """The connection of this process; SQLite connections must not be used across a fork."""
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
        """Rename the file unless another process already did; False if it cannot be renamed."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None
        aside = self._file.with_name(f"{self._file.name}.damaged")
        lock = self._file.with_name(f".{self._file.name}.lock")
        try:
            with locked(lock, note=self._note, doing="replacing a damaged cache file"):
                # Another process replaced the file since this one opened it: use the new one.
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
                f"The cache {self._file} holds a vector with a wrong checksum. Such vectors are "
                "computed again."
            )


def _sealed(key: bytes, vector: bytes) -> bytes:
    """A vector followed by its checksum."""
    return vector + blake2b(key + vector, digest_size=CHECKSUM).digest()


def _unsealed(key: bytes, sealed: object) -> bytes:
    """The vector without its checksum; empty if the checksum is wrong."""
    if not isinstance(sealed, bytes):
        return b""
    vector = sealed[:-CHECKSUM]
    return vector if len(vector) % 4 == 0 and sealed == _sealed(key, vector) else b""


def _identity(file: Path) -> tuple[int, int]:
    """Device and inode of a file, which stay the same when it is renamed; 0, 0 if it is gone."""
    try:
        facts = file.stat()
    except OSError:
        return 0, 0
    return facts.st_dev, facts.st_ino


def _close(connection: sqlite3.Connection, process: int) -> None:
    # SQLite forbids a forked child to close a connection that its parent opened.
    if process == os.getpid():
        connection.close()
