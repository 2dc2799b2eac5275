"""Replies: a cache across runs, so that a question that was answered once is not paid for again."""

import sqlite3
import threading
from collections.abc import Callable, Sequence
from hashlib import blake2b
from pathlib import Path

from ragstone.core.files import private_folder
from ragstone.core.messages import reason
from ragstone.core.sqlite import (
    UNREADABLE,
    SqliteLayout,
    as_text,
    damaged,
    explained,
    open_file,
    storable,
)
from ragstone.models.chat import ChatReply, Usage

from .commits import Commits

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
)

Row = tuple[object, ...]


class ReplyCache:
    """An SQLite file of valid replies, by the key of their question.

    Several processes may use it at once. If it fails, the run continues without it, with one note.

    Args:
        folder: Created if it does not exist.
        note: Called with the note.
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
            self._reader = open_file(self._file, LAYOUT)
            self._commits = Commits(open_file(self._file, LAYOUT), write_replies, self._failed)
        except UNREADABLE as error:
            self._failed(error)
        except OSError as error:
            self._tell(f"{self._file}: {error}.")

    def get(self, key: str) -> ChatReply | None:
        """The reply to a question; None if it is not cached."""
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
        """Queue a reply to be written."""
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

    def _failed(self, error: Exception) -> Exception:
        explanation = explained(error, self._file)
        self._tell(str(explanation))
        return explanation

    def _tell(self, why: str) -> None:
        if not self._noted:
            self._noted = True
            self._note(reason("replies_not_kept", said=why))


def is_reply(row: Row) -> bool:
    """Whether a row of the table is one that was kept so, not one that was changed."""
    key, *rest = row
    try:
        _reply(as_text(key), tuple(rest))
    except (*UNREADABLE, TypeError, ValueError):
        return False
    return True


def write_replies(connection: sqlite3.Connection, rows: Sequence[Row]) -> None:
    """Write rows of the table; of a question that has a reply, that stays."""
    statement = "INSERT OR IGNORE INTO replies VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
    try:
        connection.executemany(statement, rows)
    except UnicodeEncodeError:
        connection.executemany(statement, [storable(row) for row in rows])


def _reply(key: str, row: Row) -> ChatReply:
    text, model, *tokens, checksum = row
    if checksum != _checksum(key, as_text(text)):
        raise damaged(f"the checksum of reply {key} is wrong")
    usage = Usage(*tokens)  # type: ignore[arg-type]  # which looks at each
    return ChatReply(as_text(text), "stop", usage, None if model is None else as_text(model))


def _checksum(key: str, text: str) -> str:
    content = f"{key}\0{text}".encode("utf-8", "surrogatepass")
    return blake2b(content, digest_size=16).hexdigest()
