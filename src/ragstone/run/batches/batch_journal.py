"""Batch journal: a run's batches and results, on disk before they count; batches can be given up.

A batch is written down before its file is uploaded, again before it is created, and its id
before it is followed, so nothing is sent twice, whatever interrupts it. The journal holds no
keys.
"""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import astuple, dataclass, fields, replace
from pathlib import Path
from typing import Literal, cast, get_args

from ragstone.core.errors import InputError
from ragstone.core.files import RunEntry
from ragstone.core.sqlite import (
    SqliteLayout,
    as_number,
    as_text,
    as_whole,
    damaged,
    explaining,
    maybe,
    open_file,
    open_to_read,
    storable,
)
from ragstone.run.calls.attempt import QueuedQuestion
from ragstone.run.folder.folder import locked

LAYOUT = SqliteLayout(
    owner=0x5261_6742,
    version=1,
    tables=(
        """CREATE TABLE batches (
            tag TEXT PRIMARY KEY, model TEXT NOT NULL, host TEXT NOT NULL, at REAL NOT NULL,
            digest TEXT NOT NULL, requests INTEGER NOT NULL, bytes INTEGER NOT NULL, expected REAL,
            state TEXT NOT NULL, id TEXT, said TEXT NOT NULL, answered INTEGER NOT NULL,
            unanswered INTEGER NOT NULL, ended REAL, present INTEGER NOT NULL)
        """,
        "CREATE TABLE asked (key TEXT, tag TEXT, PRIMARY KEY (key, tag)) WITHOUT ROWID",
        """CREATE TABLE results (
            key TEXT, tag TEXT, status INTEGER NOT NULL, body BLOB NOT NULL, read INTEGER NOT NULL,
            PRIMARY KEY (key, tag)) WITHOUT ROWID
        """,
        "CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL)",
    ),
    synchronous="FULL",
)

# ``noted``: its file is written, and nothing was sent that is paid for. ``creating``: it is being
# created, and whether it was is not known. ``sent``: its id is known. ``taken``: its results are
# here. ``refused``: the provider refused it as a whole. ``forgotten``: its user gave it up.
BatchState = Literal["noted", "creating", "sent", "taken", "refused", "forgotten"]

COMMAND = "command"


@dataclass(frozen=True, slots=True)
class KeptBatch:
    """A batch as the journal has it.

    Attributes:
        at: When it was noted, then when it was sent, in seconds since 1970.
        expected: Its expected cost in US dollars; None if no price is known.
        present: Whether it belongs to the present attempt at the run, not to a finished one.
    """

    tag: str
    model: str
    host: str
    at: float
    digest: str
    requests: int
    bytes: int
    expected: float | None
    state: BatchState = "noted"
    id: str | None = None
    said: str = ""
    answered: int = 0
    unanswered: int = 0
    ended: float | None = None
    present: bool = True

    @property
    def waits(self) -> bool:
        """True if the batch may still bring something."""
        return self.state in ("creating", "sent")


class BatchJournal:
    """An SQLite file. Used by one thread at a time."""

    def __init__(self, file: Path, connection: sqlite3.Connection) -> None:
        self.file = file
        self._connection = connection
        self._batches = {batch.tag: batch for batch in self._kept()}

    @classmethod
    def open(cls, file: Path, *, to_read: bool = False) -> "BatchJournal":
        """Open it, or create it unless it is only ``to_read``."""
        with explaining(file):
            return cls(file, open_to_read(file, LAYOUT) if to_read else open_file(file, LAYOUT))

    @property
    def batches(self) -> list[KeptBatch]:
        return list(self._batches.values())

    def batch(self, tag: str) -> KeptBatch | None:
        """A batch; None if it is none, or its file is still being written."""
        return self._batches.get(tag)

    @contextmanager
    def together(self) -> Iterator[None]:
        """Make all changes inside count together, or none of them."""
        self._run("BEGIN IMMEDIATE")
        before = dict(self._batches)
        try:
            yield
        except BaseException:
            self._run("ROLLBACK")
            self._batches = before
            raise
        self._run("COMMIT")

    def keep(self, batch: KeptBatch) -> None:
        marks = ", ".join("?" * len(fields(KeptBatch)))
        self._run(f"INSERT OR REPLACE INTO batches ({_COLUMNS}) VALUES ({marks})", astuple(batch))
        self._batches[batch.tag] = batch

    def drop(self, batch: KeptBatch) -> None:
        """Forget a batch that was not sent, with its questions."""
        with self.together():
            self._run("DELETE FROM batches WHERE tag = ?", (batch.tag,))
            self._run("DELETE FROM asked WHERE tag = ?", (batch.tag,))
            self._batches.pop(batch.tag, None)

    def note(self, key: str, tag: str) -> None:
        self._run("INSERT OR IGNORE INTO asked VALUES (?, ?)", (key, tag))

    def tags_of(self, key: str) -> list[str]:
        return [as_text(tag) for (tag,) in self._run("SELECT tag FROM asked WHERE key = ?", (key,))]

    def holds(self, key: str, tag: str) -> bool:
        rows = self._run("SELECT 1 FROM asked WHERE key = ? AND tag = ?", (key, tag))
        return rows.fetchone() is not None

    def store(self, batch: KeptBatch, results: Sequence[tuple[str, int, bytes]]) -> None:
        """Store results: key, status and body. Of two for a question, a reply stands."""
        with self.together():
            for key, status, body in results:
                if self.holds(key, batch.tag):
                    self._run(
                        "INSERT INTO results VALUES (?, ?, ?, ?, 0) ON CONFLICT (key, tag) "
                        "DO UPDATE SET status = excluded.status, body = excluded.body, read = 0 "
                        "WHERE results.status != 200 AND excluded.status = 200",
                        (key, batch.tag, status, body),
                    )

    def unread(self, key: str) -> list[tuple[KeptBatch, int, bytes]]:
        """The batch, status and body of a question's unread results, the earliest first."""
        rows = self._run("SELECT tag, status, body FROM results WHERE key = ? AND read = 0", (key,))
        results = [
            (self._batches[as_text(tag)], as_whole(status), bytes(body))
            for tag, status, body in rows.fetchall()
        ]
        return sorted(results, key=lambda result: result[0].at)

    def has_read(self, key: str, tag: str) -> None:
        """The result of a question is in the journal of replies, so its text is not needed here."""
        self._run("UPDATE results SET read = 1, body = x'' WHERE key = ? AND tag = ?", (key, tag))

    def close_round(self) -> None:
        """The run is finished: should it be asked again, its batches do not count as attempts."""
        with self.together():
            for batch in self.batches:
                self.keep(replace(batch, present=False))

    def remember(self, command: str) -> None:
        self._run("INSERT OR REPLACE INTO facts VALUES (?, ?)", (COMMAND, command))

    @property
    def command(self) -> str | None:
        """The command that goes on with the run; None if it was not started by one."""
        row = self._run("SELECT value FROM facts WHERE name = ?", (COMMAND,)).fetchone()
        return None if row is None else as_text(row[0])

    def close(self) -> None:
        self._connection.close()

    def _run(self, statement: str, values: tuple[object, ...] = ()) -> sqlite3.Cursor:
        with explaining(self.file):
            return self._connection.execute(statement, storable(values))

    def _kept(self) -> Iterator[KeptBatch]:
        for row in self._connection.execute(f"SELECT {_COLUMNS} FROM batches ORDER BY rowid"):
            tag, model, host, at, digest, requests, size, expected, state, *rest = row
            name, words, answered, unanswered, ended, present = rest
            if state not in get_args(BatchState):
                raise damaged(f"a batch that is {state!r}")
            yield KeptBatch(
                as_text(tag), as_text(model), as_text(host), as_number(at), as_text(digest),
                as_whole(requests), as_whole(size), maybe(as_number, expected),
                cast(BatchState, state), maybe(as_text, name), as_text(words), as_whole(answered),
                as_whole(unanswered), maybe(as_number, ended), bool(present),
            )  # fmt: skip


_COLUMNS = ", ".join(field.name for field in fields(KeptBatch))


def custom_id(queued: QueuedQuestion, tag: str) -> str:
    """Return the name of a request in a batch: its question's key and the batch's tag."""
    return f"{queued.key}-{tag}"


def key_in(custom: str, tag: str) -> str | None:
    """The key of a question from the id of its request; None if it is another batch's."""
    key, dash, of = custom.rpartition("-")
    return key if dash and of == tag else None


def give_up(folder: Path, name: str) -> None:
    """Give up a batch: its questions are asked, and paid for, again.

    Raises:
        InputError: The run waits for no such batch.
        RunConflict: The run goes on at this moment.
    """
    with locked(folder), closing(BatchJournal.open(folder / RunEntry.BATCHES)) as journal:
        for batch in journal.batches:
            if batch.waits and name in (batch.id, batch.tag):
                journal.keep(replace(batch, state="forgotten", present=False))
                return
    raise InputError(f"{folder} waits for no batch {name}.")
