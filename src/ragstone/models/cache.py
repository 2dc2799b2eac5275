"""The cache of embeddings: a vector once computed is kept on disk, across runs and processes."""

import os
import sqlite3
import threading
import weakref
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ragstone.errors import ModelError, ModelFailure

from . import store
from .encoder import Encoder, TokenVectors, Vectors
from .store import Note

FILE = "embeddings.sqlite"
OURS = 0x5261_6773
VERSION = 2
CHECKSUM = 8
"""Bytes of it, behind each vector."""
BUSY = 30.0
PAGE = 16_384
AT_ONCE = 900
ASKED_AT_ONCE = 4096
REMEMBERED = 256 * 1024 * 1024
UNREADABLE = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_FORMAT}


@dataclass(frozen=True, slots=True)
class Kept:
    """What the cache holds."""

    file: Path
    vectors: int
    size: int


def embeddings_file() -> Path:
    """Where the vectors are, for all encoders together."""
    return store.cache_folder() / FILE


class CachedEncoder:
    """An encoder that computes no vector twice.

    A vector is kept under the text and the encoder's fingerprint, so another model, limit or
    precision has vectors of its own. Of several equal texts one is computed. What is asked for is
    computed and kept in parts: where a server fails, the parts before are not lost.

    Vectors of tokens are many, and are remembered in memory alone: the last 256 MB of them, not to
    be written to.

    The cache may fail, the encoder goes on: a file that is damaged or not ours is set aside, and
    one that cannot be written to is gone on without, each with one line.

    Args:
        encoder: Computes what is not there.
        file: An SQLite file, made where there is none.
        note: Takes those lines.
        remembered: Bytes of token vectors to remember.
    """

    def __init__(
        self, encoder: Encoder, file: Path, *, note: Note, remembered: int = REMEMBERED
    ) -> None:
        self._encoder = encoder
        self._shelf = _Shelf(file, note)
        self._memory = _Memory(remembered)
        self._salt = bytes.fromhex(encoder.fingerprint)
        self._width = 0

    @property
    def name(self) -> str:
        """The encoder's."""
        return self._encoder.name

    @property
    def about(self) -> str:
        """The encoder's."""
        return self._encoder.about

    @property
    def fingerprint(self) -> str:
        """The encoder's: what is kept is what it gave."""
        return self._encoder.fingerprint

    @property
    def dimensions(self) -> int:
        """The encoder's."""
        return self._encoder.dimensions

    @property
    def max_tokens(self) -> int:
        """The encoder's."""
        return self._encoder.max_tokens

    @property
    def longest(self) -> int:
        """The encoder's."""
        return self._encoder.longest

    @property
    def layers(self) -> int:
        """The encoder's."""
        return self._encoder.layers

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Shape (n, d), in the order of the texts.

        Raises:
            ModelFailure: The encoder's, or its vectors are not finite or not as long as those
                that it gave before.
        """
        if not texts:
            return self._encoder.embed(texts)
        keys = [self._key(text) for text in texts]
        distinct = dict(zip(keys, texts, strict=True))
        rows = self._shelf.get(distinct)
        missing = [key for key in distinct if key not in rows]
        for start in range(0, len(missing), ASKED_AT_ONCE):
            part = missing[start : start + ASKED_AT_ONCE]
            fresh = self._computed({key: distinct[key] for key in part})
            self._shelf.put(fresh)
            rows |= fresh
        if len({len(row) for row in rows.values()}) > 1:
            rows = self._anew(distinct)
        vectors = np.stack([rows[key] for key in keys])
        self._as_long_as_before(vectors)
        self._width = vectors.shape[1]
        return vectors

    def tokens(
        self, texts: Sequence[str], *, layer: int | None = None, limit: int | None = None
    ) -> list[TokenVectors]:
        """The vectors of every token, of equal texts the same.

        Raises:
            ModelFailure: The encoder's, or the vectors are not finite.
        """
        keys = [self._key(text) for text in texts]
        distinct = dict(zip(keys, texts, strict=True))
        known: dict[bytes, TokenVectors] = {}
        for key in distinct:
            if (one := self._memory.get((key, layer, limit))) is not None:
                known[key] = one
        missing = [key for key in distinct if key not in known]
        if missing:
            asked = [distinct[key] for key in missing]
            given = self._encoder.tokens(asked, layer=layer, limit=limit)
            for one in given:
                self._finite(one.vectors)
                if one.embedding is not None:
                    self._finite(one.embedding)
            fresh = dict(zip(missing, given, strict=True))
            for key, one in fresh.items():
                self._memory.put((key, layer, limit), one)
            known |= fresh
            self._shelf.put(
                {key: one.embedding for key, one in fresh.items() if one.embedding is not None}
            )
        return [known[key] for key in keys]

    def lengths(self, texts: Sequence[str]) -> NDArray[np.int32]:
        """The encoder's."""
        return self._encoder.lengths(texts)

    def recall(self, keys: Sequence[bytes]) -> dict[bytes, Vectors]:
        """Of what was computed from token vectors and kept under these keys, what is there.

        The keys are the caller's, and must tell encoders and versions apart.
        """
        return self._shelf.get(keys)

    def remember(self, facts: Mapping[bytes, Vectors]) -> None:
        """Keep numbers that were computed from token vectors, which themselves are not kept."""
        self._shelf.put(facts)

    def _key(self, text: str) -> bytes:
        return blake2b(
            text.encode("utf-8", "surrogatepass"), digest_size=16, salt=self._salt
        ).digest()

    def _anew(self, distinct: Mapping[bytes, str]) -> dict[bytes, Vectors]:
        """Where what was kept has not the length of what is computed, all of it is computed."""
        rows = self._computed(distinct)
        self._shelf.put(rows)
        return rows

    def _computed(self, asked: Mapping[bytes, str]) -> dict[bytes, Vectors]:
        vectors = np.ascontiguousarray(self._encoder.embed(list(asked.values())), np.float32)
        self._finite(vectors)
        self._as_long_as_before(vectors)
        return dict(zip(asked, vectors, strict=True))

    def _finite(self, vectors: Vectors) -> None:
        if not np.isfinite(vectors).all():
            raise ModelFailure(
                f"{self.name} gave numbers that are not finite: NaN or infinity, which no vector "
                "may hold"
            )

    def _as_long_as_before(self, vectors: Vectors) -> None:
        width = vectors.shape[1]
        if self._width not in (0, width):
            raise ModelFailure(
                f"{self.name} gave vectors of {width:,} dimensions; before, they had "
                f"{self._width:,}. If its model is another one now: ragstone models clear"
            )


def kept() -> Kept:
    """How much the cache holds.

    Raises:
        ModelError: The file is damaged, or not ours.
    """
    file = embeddings_file()
    if not file.is_file():
        return Kept(file, 0, 0)
    try:
        connection = _open(file)
        try:
            ((vectors,),) = connection.execute("SELECT count(*) FROM embeddings")
        finally:
            connection.close()
    except (sqlite3.Error, UnicodeDecodeError) as error:
        raise ModelError(f"{file} cannot be read: {error}. It can be deleted") from error
    files = (file, file.with_name(f"{file.name}-wal"))
    return Kept(file, vectors, sum(one.stat().st_size for one in files if one.is_file()))


def clear() -> Kept:
    """Empty the cache, also while others use it; what it held is returned.

    Raises:
        ModelError: The file cannot be read or written.
    """
    before = kept()
    if before.vectors:
        try:
            connection = _open(before.file)
            try:
                connection.execute("DELETE FROM embeddings")
                connection.execute("VACUUM")
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            finally:
                connection.close()
        except sqlite3.Error as error:
            raise ModelError(f"{before.file} cannot be emptied: {error}") from error
    return before


class _Shelf:
    """The SQLite file: vectors by key. It gives up rather than fail."""

    def __init__(self, file: Path, note: Note) -> None:
        self._file, self._note = file, note
        self._mutex = threading.Lock()
        self._connection: sqlite3.Connection | None = None
        self._process = 0
        self._opened = (0, 0)
        self._reads = self._writes = True
        self._told = False

    def get(self, keys: Iterable[bytes]) -> dict[bytes, Vectors]:
        """The vectors that are there."""
        wanted = list(keys)
        found: dict[bytes, Vectors] = {}

        def read(connection: sqlite3.Connection) -> None:
            for start in range(0, len(wanted), AT_ONCE):
                part = wanted[start : start + AT_ONCE]
                marks = ",".join("?" * len(part))
                query = f"SELECT key, vector FROM embeddings WHERE key IN ({marks})"
                for key, kept in connection.execute(query, part):
                    vector = _sound(key, kept)
                    if vector:
                        found[key] = np.frombuffer(vector, np.float32)
                    else:
                        self._tell_once(
                            f"The cache {self._file} holds a vector that is not the one that was "
                            "kept: it is computed again, and so are others like it."
                        )

        with self._mutex:
            if self._reads:
                self._do(read, reading=True)
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
            if vectors and self._writes:
                self._do(write, reading=False)

    def _do(self, action: Callable[[sqlite3.Connection], None], *, reading: bool) -> None:
        """Do it; on a file that cannot be used, once more on a new one, or no more at all."""
        for last in (False, True):
            try:
                action(self._there())
            except (sqlite3.Error, UnicodeDecodeError, OSError) as error:
                if last or _code(error) not in UNREADABLE or not self._set_aside(error):
                    self._give_up(error, reading=reading)
                    return
            else:
                return

    def _there(self) -> sqlite3.Connection:
        """The connection of this process; one does not outlive a fork."""
        if self._connection is None or self._process != os.getpid():
            store.private_folder(self._file.parent)
            try:
                self._connection = _open(self._file)
            finally:
                self._opened = _identity(self._file)
            self._process = os.getpid()
            weakref.finalize(self, _close, self._connection, self._process)
        return self._connection

    def _set_aside(self, error: Exception) -> bool:
        """Give a file that is damaged or not ours another name, unless another process has."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None
        aside = self._file.with_name(f"{self._file.name}.damaged")
        lock = self._file.with_name(f".{self._file.name}.lock")
        try:
            with store.locked(lock, note=self._note, doing="looking after the cache"):
                if _identity(self._file) != self._opened:
                    return True
                self._file.replace(aside)
                for end in ("-wal", "-shm"):
                    self._file.with_name(self._file.name + end).unlink(missing_ok=True)
        except OSError:
            return False
        self._note(f"The cache {self._file} cannot be read ({error}); it is now {aside.name}.")
        return True

    def _tell_once(self, line: str) -> None:
        if not self._told:
            self._told = True
            self._note(line)

    def _give_up(self, error: Exception, *, reading: bool) -> None:
        self._writes = False
        if reading:
            self._reads = False
        self._note(f"Embeddings are not kept in {self._file}: {error}.")


class _Memory:
    """The last used token vectors, up to a number of bytes."""

    def __init__(self, limit: int) -> None:
        self._limit, self._size = limit, 0
        self._mutex = threading.Lock()
        self._kept: OrderedDict[object, TokenVectors] = OrderedDict()

    def get(self, key: object) -> TokenVectors | None:
        with self._mutex:
            if key not in self._kept:
                return None
            self._kept.move_to_end(key)
            return self._kept[key]

    def put(self, key: object, one: TokenVectors) -> None:
        for array in _arrays(one):
            array.flags.writeable = False
        with self._mutex:
            if (before := self._kept.pop(key, None)) is not None:
                self._size -= _bytes(before)
            self._kept[key] = one
            self._size += _bytes(one)
            while self._size > self._limit:
                _, dropped = self._kept.popitem(last=False)
                self._size -= _bytes(dropped)


def _open(file: Path) -> sqlite3.Connection:
    """A connection to a cache of ours, made where there is none.

    Raises:
        sqlite3.DatabaseError: The file is no database, or one of somebody else.
    """
    store.private_file(file)
    connection = sqlite3.connect(file, timeout=BUSY, isolation_level=None, check_same_thread=False)
    try:
        if not _is_ours(connection):
            _make(connection)
        ((version,),) = connection.execute("PRAGMA user_version")
        if version != VERSION:
            raise _not_ours(f"it is of version {version}, expected {VERSION}")
        connection.execute("PRAGMA synchronous = NORMAL")
    except BaseException:
        connection.close()
        raise
    return connection


def _is_ours(connection: sqlite3.Connection) -> bool:
    """Whether it is a cache of ours, and not empty."""
    ((owner,),) = connection.execute("PRAGMA application_id")
    ((tables,),) = connection.execute("SELECT count(*) FROM sqlite_master")
    if owner != OURS and (owner or tables):
        raise _not_ours("it belongs to another program")
    return bool(owner)


def _make(connection: sqlite3.Connection) -> None:
    """Make an empty file ours; several processes may try at once."""
    connection.execute(f"PRAGMA page_size = {PAGE}")
    connection.execute("PRAGMA journal_mode = WAL")
    with connection:
        connection.execute("BEGIN IMMEDIATE")
        if _is_ours(connection):
            return
        connection.execute("CREATE TABLE embeddings (key BLOB PRIMARY KEY, vector BLOB NOT NULL)")
        connection.execute(f"PRAGMA application_id = {OURS}")
        connection.execute(f"PRAGMA user_version = {VERSION}")


def _sealed(key: bytes, vector: bytes) -> bytes:
    """A vector with its checksum behind it."""
    return vector + blake2b(key + vector, digest_size=CHECKSUM).digest()


def _sound(key: bytes, kept: object) -> bytes:
    """The vector that ``_sealed`` made this of; empty where it did not."""
    if not isinstance(kept, bytes):
        return b""
    vector = kept[:-CHECKSUM]
    return vector if len(vector) % 4 == 0 and kept == _sealed(key, vector) else b""


def _not_ours(words: str) -> sqlite3.DatabaseError:
    error = sqlite3.DatabaseError(words)
    error.sqlite_errorcode = sqlite3.SQLITE_NOTADB
    return error


def _code(error: Exception) -> int:
    """SQLite's primary code; 0 where it has none. It may quote a damaged file in its words."""
    if isinstance(error, UnicodeDecodeError):
        return sqlite3.SQLITE_CORRUPT
    return getattr(error, "sqlite_errorcode", 0) & 0xFF


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


def _arrays(one: TokenVectors) -> list[NDArray[np.generic]]:
    arrays: list[NDArray[np.generic]] = [one.ids, one.spans, one.vectors]
    return arrays if one.embedding is None else [*arrays, one.embedding]


def _bytes(one: TokenVectors) -> int:
    return sum(array.nbytes for array in _arrays(one))
