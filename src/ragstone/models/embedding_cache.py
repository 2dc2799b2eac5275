"""Embedding cache: an SQLite file of vectors, shared by all encoders, runs and processes."""

import os
import sqlite3
import threading
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ragstone.core.errors import ModelError, ModelFailure
from ragstone.core.files import cache_folder, private_folder
from ragstone.core.sqlite import (
    UNREADABLE,
    SqliteLayout,
    is_damaged,
    is_empty,
    open_file,
    open_to_read,
)

from .encoder import Encoder, TokenMemory, TokenVectors, Vectors
from .model_store import Note, locked

FILE = "embeddings.sqlite"
LAYOUT = SqliteLayout(
    owner=0x5261_6773,
    version=2,
    tables=("CREATE TABLE embeddings (key BLOB PRIMARY KEY, vector BLOB NOT NULL)",),
    synchronous="NORMAL",
    page=16_384,
    is_cache=True,
)
# Length in bytes of the checksum stored after each vector.
CHECKSUM = 8
# Keys per query; some builds of SQLite allow only 999 parameters.
ASKED_AT_ONCE = 900

Action = Callable[[sqlite3.Connection], None]


@dataclass(frozen=True, slots=True)
class CachedTexts:
    """The number of vectors in the cache file, and its size in bytes."""

    file: Path
    vectors: int
    size: int


def embeddings_file() -> Path:
    """Return the cache file of all encoders."""
    return cache_folder() / FILE


def kept() -> CachedTexts:
    """Return the size of the embedding cache; one of an earlier version has no vectors for this
    one.

    Raises:
        ModelError: The file is damaged, or not an embedding cache.
    """
    file = embeddings_file()
    if not file.is_file():
        return CachedTexts(file, 0, 0)
    vectors = 0
    try:
        with closing(open_to_read(file, LAYOUT)) as connection:
            ((vectors,),) = connection.execute("SELECT count(*) FROM embeddings")
    except UNREADABLE as error:
        if not is_empty(error):
            raise ModelError(f"{file} cannot be read: {error}. It can be deleted") from error
    files = (file, file.with_name(f"{file.name}-wal"))
    return CachedTexts(file, vectors, sum(path.stat().st_size for path in files if path.is_file()))


def clear() -> CachedTexts:
    """Empty the embedding cache, even while other processes use it; returns its previous size.

    Raises:
        ModelError: The file cannot be read or written.
    """
    before = kept()
    if not before.size:
        return before
    try:
        with closing(open_file(before.file, LAYOUT)) as connection:
            connection.execute("DELETE FROM embeddings")
            connection.execute("VACUUM")
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    except UNREADABLE as error:
        raise ModelError(f"{before.file} cannot be emptied: {error}") from error
    return before


class CachedVectors:
    """Vectors by key, in a file whose faults never stop a run.

    A file that is damaged or not an embedding cache is renamed, and a new one is started; one of an
    earlier version is emptied. A file that cannot be written is only read; one that cannot be read,
    or that a later version wrote, is no longer used. Each of these events gives a one-line note.
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
        """Return the vectors found; those whose checksum is wrong are left out."""
        listed = list(keys)
        vectors: dict[bytes, Vectors] = {}

        def read(connection: sqlite3.Connection) -> None:
            for start in range(0, len(listed), ASKED_AT_ONCE):
                part = listed[start : start + ASKED_AT_ONCE]
                marks = ",".join("?" * len(part))
                query = f"SELECT key, vector FROM embeddings WHERE key IN ({marks})"
                for key, sealed in connection.execute(query, part):
                    if vector := _unsealed(key, sealed):
                        vectors[key] = np.frombuffer(vector, np.float32)
                    elif not self._noted:
                        self._noted = True
                        self._note(
                            f"The cache {self._file} holds a vector with a wrong checksum. Such "
                            "vectors are computed again."
                        )

        with self._mutex:
            if self._readable and (error := self._fault_of(read)):
                self._readable = self._writable = False
                self._note(f"Embeddings are not kept in {self._file}: {error}.")
        return vectors

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
                self._connection = open_file(self._file, LAYOUT, self._note)
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


def _sealed(key: bytes, vector: bytes) -> bytes:
    """A vector followed by its checksum."""
    return vector + blake2b(key + vector, digest_size=CHECKSUM).digest()


def _unsealed(key: bytes, sealed: object) -> bytes:
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


AT_ONCE = 4096
REMEMBERED = 256 * 1024 * 1024


class CachedEncoder:
    """An encoder with a cache: no vector is computed twice.

    The cache key is made of the text and the encoder's fingerprint, so another model, token limit
    or precision never gets this one's vectors. Texts are embedded in parts, and each part is
    written as soon as it is computed: if a server fails, the earlier parts are not lost.

    Token vectors are too large for the disk; the most recent 256 MB are cached in memory.

    A faulty cache file never stops a run; see ``CachedVectors``.

    Args:
        file: The SQLite file; created if it does not exist.
    """

    def __init__(
        self, encoder: Encoder, file: Path, *, note: Note, remembered: int = REMEMBERED
    ) -> None:
        self.uncached = encoder
        self.name, self.fingerprint = encoder.name, encoder.fingerprint
        self.max_tokens, self.longest = encoder.max_tokens, encoder.longest
        self.layers = encoder.layers
        self._kept = CachedVectors(file, note)
        self._memory = TokenMemory(remembered)
        self._salt = bytes.fromhex(encoder.fingerprint)
        self._width = 0

    @property
    def about(self) -> str:
        return self.uncached.about

    @property
    def dimensions(self) -> int:
        return self.uncached.dimensions

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return shape (n, d); vectors that are not finite or of another length are a failure."""
        if not texts:
            return self.uncached.embed(texts)
        keys = [self._key(text) for text in texts]
        distinct = dict(zip(keys, texts, strict=True))
        rows = self._kept.get(distinct)
        missing = [key for key in distinct if key not in rows]
        for start in range(0, len(missing), AT_ONCE):
            part = missing[start : start + AT_ONCE]
            rows |= self._computed({key: distinct[key] for key in part})
        if len({len(row) for row in rows.values()}) > 1:
            # A server may now run another model under the same name; the cached vectors are stale.
            rows = self._computed(distinct)
        vectors = np.stack([rows[key] for key in keys])
        self._check_width(vectors)
        self._width = vectors.shape[1]
        return vectors

    def tokens(
        self, texts: Sequence[str], *, layer: int | None = None, limit: int | None = None
    ) -> list[TokenVectors]:
        """Return the vectors of every token; equal texts share the same read-only arrays."""
        keys = [self._key(text) for text in texts]
        distinct = dict(zip(keys, texts, strict=True))
        remembered = {key: self._memory.get((key, layer, limit)) for key in distinct}
        known = {key: read for key, read in remembered.items() if read is not None}
        missing = {key: text for key, text in distinct.items() if key not in known}
        if missing:
            computed = self.uncached.tokens(list(missing.values()), layer=layer, limit=limit)
            known |= dict(zip(missing, computed, strict=True))
            embeddings: dict[bytes, Vectors] = {}
            for key in missing:
                self._check_finite(known[key].vectors)
                if (embedding := known[key].embedding) is not None:
                    self._check_finite(embedding)
                    embeddings[key] = embedding
            for key in missing:
                self._memory.put((key, layer, limit), known[key])
            self._kept.put(embeddings)
        return [known[key] for key in keys]

    def lengths(self, texts: Sequence[str]) -> NDArray[np.int32]:
        return self.uncached.lengths(texts)

    def recall(self, keys: Sequence[bytes]) -> dict[bytes, Vectors]:
        """Return what ``remember`` stored under these keys; missing keys are left out."""
        return self._kept.get(keys)

    def remember(self, facts: Mapping[bytes, Vectors]) -> None:
        """Store numbers computed from token vectors, which themselves are not stored.

        Args:
            facts: By the caller's keys, which must differ between encoders and versions.
        """
        self._kept.put(facts)

    def _key(self, text: str) -> bytes:
        written = text.encode("utf-8", "surrogatepass")
        return blake2b(written, digest_size=16, salt=self._salt).digest()

    def _computed(self, texts: Mapping[bytes, str]) -> dict[bytes, Vectors]:
        vectors = np.ascontiguousarray(self.uncached.embed(list(texts.values())), np.float32)
        self._check_finite(vectors)
        self._check_width(vectors)
        rows = dict(zip(texts, vectors, strict=True))
        self._kept.put(rows)
        return rows

    def _check_finite(self, vectors: Vectors) -> None:
        if not np.isfinite(vectors).all():
            raise ModelFailure(f"{self.name} returned a vector with NaN or infinity")

    def _check_width(self, vectors: Vectors) -> None:
        width = vectors.shape[1]
        if self._width not in (0, width):
            raise ModelFailure(
                f"{self.name} returned vectors of {width:,} dimensions; earlier ones had "
                f"{self._width:,}. If its model has changed, run: ragstone models clear"
            )
