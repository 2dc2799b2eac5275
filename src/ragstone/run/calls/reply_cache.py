"""Reply cache: models' replies shared across runs, so that no question is paid for twice.

A cache at a URL, such as ``s3://bucket/cache``, serves many machines::

    URL/replies/NAME.sqlite    what a run added
    CACHE/replies/HASH/        the copy on this machine; HASH is that of the URL
        replies.sqlite         all replies, which the processes of this machine share
        have/NAME.sqlite       an empty file for each at the URL whose replies are in it
        given                  the last of its rows that is at the URL

Runs only add files, so no writer loses another's replies. A run that sees many files merges all
replies into a new file, then deletes the files that it has read. A reply that is added twice
does no harm.
"""

import re
import sqlite3
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, suppress
from hashlib import blake2b
from pathlib import Path
from tempfile import TemporaryDirectory
from uuid import uuid4

from ragstone.core.errors import InputError, NothingThere
from ragstone.core.files import cache_folder, private_folder
from ragstone.core.messages import reason
from ragstone.core.remote_files import Remote, is_url
from ragstone.core.sqlite import (
    UNREADABLE,
    SqliteLayout,
    as_text,
    damaged,
    explained,
    insert,
    maybe,
    open_file,
    open_to_read,
)
from ragstone.models.chat import ChatReply, Usage

from .journal import Commits

FILE = "replies.sqlite"

LAYOUT = SqliteLayout(
    owner=0x5261_6752,
    version=2,
    tables=(
        """CREATE TABLE replies (
            key TEXT PRIMARY KEY, reply TEXT NOT NULL, model TEXT, prompt_tokens INTEGER,
            completion_tokens INTEGER, cached_tokens INTEGER, reasoning_tokens INTEGER,
            checksum TEXT NOT NULL)
        """,
    ),
    synchronous="NORMAL",
    is_cache=True,
)

Row = tuple[object, ...]


class ReplyCache:
    """An SQLite file of valid replies, by the key of their question.

    Several processes may use it at once. If it fails, the run continues without it, with one note.
    """

    def __init__(self, folder: Path, note: Callable[[str], None]) -> None:
        self._file = folder / FILE
        self._note = note
        self._mutex = threading.Lock()
        self._reader: sqlite3.Connection | None = None
        self._commits: Commits[Row] | None = None
        self._noted = False
        try:
            private_folder(folder)
            self._reader = open_file(self._file, LAYOUT, self._emptied)
            self._commits = Commits(open_file(self._file, LAYOUT), write_replies, self._failed)
        except UNREADABLE as error:
            self._failed(error)
        except OSError as error:
            self._tell(f"{self._file}: {error}.")

    def get(self, key: str) -> ChatReply | None:
        if self._reader is None:
            return None
        try:
            with self._mutex:
                row = self._reader.execute(
                    "SELECT reply, model, prompt_tokens, completion_tokens, cached_tokens, "
                    "reasoning_tokens, checksum FROM replies WHERE key = ?",
                    (key,),
                ).fetchone()
            return None if row is None else _reply(key, row)
        except UNREADABLE as error:
            self._failed(error)
            self._reader.close()
            self._reader = None
            return None

    def put(self, key: str, reply: ChatReply) -> None:
        if self._commits is not None and self._commits.fault is None:
            usage = reply.usage
            tokens = usage.prompt, usage.completion, usage.cached, usage.reasoning
            checksum = _checksum(key, reply.text)
            self._commits.put((key, reply.text, reply.model, *tokens, checksum))

    def close(self, seconds: float | None = None) -> bool:
        """Write the queued replies and close; False if that takes longer than ``seconds``."""
        if self._reader is not None:
            self._reader.close()
            self._reader = None
        return self._commits is None or self._commits.close(seconds)

    def _emptied(self, why: str) -> None:
        self._note(reason("replies_emptied", said=why))

    def _failed(self, error: Exception) -> Exception:
        explanation = explained(error, self._file)
        self._tell(str(explanation))
        return explanation

    def _tell(self, why: str) -> None:
        if not self._noted:
            self._noted = True
            self._note(reason("replies_not_kept", said=why))


def is_reply(row: Row) -> bool:
    """Return whether the row has the checksum of its reply."""
    key, *rest = row
    try:
        _reply(as_text(key), tuple(rest))
    except (*UNREADABLE, TypeError, ValueError):
        return False
    return True


def write_replies(connection: sqlite3.Connection, rows: Sequence[Row]) -> None:
    """Write rows of the table; of a question that has a reply, that stays."""
    insert(connection, "INSERT OR IGNORE INTO replies VALUES (?, ?, ?, ?, ?, ?, ?, ?)", rows)


def _reply(key: str, row: Row) -> ChatReply:
    text, model, *tokens, checksum = row
    if checksum != _checksum(key, as_text(text)):
        raise damaged(f"the checksum of reply {key} is wrong")
    usage = Usage(*tokens)  # type: ignore[arg-type]  # which looks at each
    return ChatReply(as_text(text), "stop", usage, maybe(as_text, model))


def _checksum(key: str, text: str) -> str:
    content = f"{key}\0{text}".encode("utf-8", "surrogatepass")
    return blake2b(content, digest_size=16).hexdigest()


# Files at the URL from which on they are put together.
MOST_FILES = 50

AT_ONCE = 1_000
NAME = re.compile(r"[0-9a-f]{32}\.sqlite")


def open_replies(cache: str | Path | None, note: Callable[[str], None]) -> ReplyCache:
    """The cache in a folder or at a URL; None: in Ragstone's cache folder.

    Raises:
        InputError: The URL cannot be read.
    """
    if isinstance(cache, str) and is_url(cache):
        return _SharedReplies(cache, note)
    return ReplyCache(Path(cache or cache_folder()), note)


def replies_file(cache: str | Path | None) -> Path:
    """The file of a cache on this machine, brought up to date with its URL; it may not exist.

    Raises:
        InputError: The URL cannot be read.
    """
    if isinstance(cache, str) and is_url(cache):
        return _Copy(cache).fetch()
    return Path(cache or cache_folder()) / FILE


class _SharedReplies(ReplyCache):
    """Replies at a URL: fetched when the cache is opened, put there when it is closed."""

    def __init__(self, url: str, note: Callable[[str], None]) -> None:
        self._note, self._copy = note, _Copy(url)
        super().__init__(self._copy.fetch(self._emptied).parent, note)

    def close(self, seconds: float | None = None) -> bool:
        written = super().close(seconds)
        if written and seconds is None:
            try:
                self._copy.give()
            except (InputError, *UNREADABLE) as error:
                self._tell(str(error))
        return written


class _Copy:
    def __init__(self, url: str) -> None:
        self._remote = Remote(f"{url.rstrip('/')}/replies")
        name = blake2b(self._remote.url.encode(), digest_size=16).hexdigest()
        self._folder = cache_folder() / "replies" / name
        self._have, self._mark = self._folder / "have", self._folder / "given"
        private_folder(self._have)

    def fetch(self, emptied: Callable[[str], None] | None = None) -> Path:
        file = self._folder / FILE

        def forget(why: str) -> None:
            # What was taken has to be taken again.
            self._mark.unlink(missing_ok=True)
            for known in self._have.iterdir():
                known.unlink(missing_ok=True)
            if why and emptied:
                emptied(why)

        if not file.exists():
            forget("")  # It may be deleted like any cache.
        with (
            TemporaryDirectory(dir=self._folder) as scratch,
            closing(open_file(file, LAYOUT, forget)) as mine,
        ):
            new = list(self._fetched(Path(scratch)))
            mine.execute("BEGIN IMMEDIATE")
            before = _last_row(mine)
            merged = [file for file in new if _took(mine, file)]
            after = _last_row(mine)
            mine.execute("COMMIT")
        for added in merged:
            (self._have / added.name).touch()
        if self._given() == before:
            self._mark.write_text(str(after))
        return file

    def give(self) -> None:
        if not (self._folder / FILE).exists():
            return
        with (
            TemporaryDirectory(dir=self._folder) as scratch,
            closing(open_file(self._folder / FILE, LAYOUT)) as mine,
        ):
            read = [entry.name for entry in self._have.iterdir()]
            together = len(read) >= MOST_FILES
            put_before, last = self._given(), _last_row(mine)
            if last <= put_before and not together:
                return
            file = Path(scratch) / f"{uuid4().hex}.sqlite"
            after = 0 if together else put_before
            rows = mine.execute(
                "SELECT * FROM replies WHERE rowid > ? AND rowid <= ?", (after, last)
            )
            with closing(open_file(file, LAYOUT)) as connection:
                connection.execute("BEGIN")
                while some := rows.fetchmany(AT_ONCE):
                    write_replies(connection, some)
                connection.execute("COMMIT")
            self._remote.put(file.name, file)
        (self._have / file.name).touch()
        self._mark.write_text(str(last))
        if together:
            self._remote.remove(read)
            for name in read:
                (self._have / name).unlink(missing_ok=True)

    def _fetched(self, into: Path) -> Iterator[Path]:
        with suppress(NothingThere):
            for file in self._remote.files():
                name = self._remote.below(file)
                if NAME.fullmatch(name) and not (self._have / name).exists():
                    with suppress(NothingThere):  # It was put into another meanwhile.
                        self._remote.fetch(file, into / name)
                        yield into / name

    def _given(self) -> int:
        try:
            return int(self._mark.read_text())
        except (OSError, ValueError):
            return 0


def _took(mine: sqlite3.Connection, file: Path) -> bool:
    """Take the valid replies of a file; False if it is damaged."""
    try:
        with closing(open_to_read(file, LAYOUT)) as connection:
            rows = connection.execute("SELECT * FROM replies")
            while some := rows.fetchmany(AT_ONCE):
                write_replies(mine, [row for row in some if is_reply(row)])
    except UNREADABLE:
        return False
    return True


def _last_row(connection: sqlite3.Connection) -> int:
    ((last,),) = connection.execute("SELECT coalesce(max(rowid), 0) FROM replies")
    return int(last)
