"""Journal: every question to a model and every reply, on disk before it counts; call counts."""

import asyncio
import json
import sqlite3
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any, Generic, NamedTuple, TypeVar

from ragstone.core.sqlite import (
    UNREADABLE,
    as_text,
    as_whole,
    explained,
    explaining,
    insert,
    maybe,
    open_file,
)
from ragstone.models.chat import ChatRequest, Usage

from .journal_reader import ATTEMPT, LAYOUT, Attempt, attempt_of, count

Entry = TypeVar("Entry")

AT_ONCE = 64
# Seconds that the first entry of a batch waits for others.
GATHERING = 0.001


class Commits(Generic[Entry]):
    """The only writer of a file. After a fault it writes nothing more."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        write: Callable[[sqlite3.Connection, Sequence[Entry]], None],
        explain: Callable[[Exception], Exception],
    ) -> None:
        self._connection, self._write, self._explain = connection, write, explain
        self._queue: SimpleQueue[tuple[Entry, asyncio.Future[None] | None] | None] = SimpleQueue()
        self.fault: Exception | None = None
        self._thread = threading.Thread(target=self._run, name="commits", daemon=True)
        self._thread.start()

    def put(self, entry: Entry) -> None:
        """Queue an entry without waiting for it to be written."""
        self._queue.put((entry, None))

    async def commit(self, entry: Entry) -> None:
        """Queue an entry and wait until it is on disk."""
        done = asyncio.get_running_loop().create_future()
        self._queue.put((entry, done))
        await done

    def close(self, seconds: float | None = None) -> bool:
        """Write the queued entries and end; False if that takes longer than ``seconds``."""
        self._queue.put(None)
        self._thread.join(seconds)
        return not self._thread.is_alive()

    def _run(self) -> None:
        queue, more = self._queue, True
        # Every transaction waits for an fsync; entries that arrive together share one.
        while more and (first := queue.get()) is not None:
            if queue.qsize() < AT_ONCE:
                time.sleep(GATHERING)
            batch = [first]
            while len(batch) < AT_ONCE:
                try:
                    following = queue.get_nowait()
                except Empty:
                    break
                if following is None:
                    more = False
                    break
                batch.append(following)
            self._commit([entry for entry, _ in batch])
            _settle([done for _, done in batch if done is not None], self.fault)
        self._connection.close()

    def _commit(self, entries: Sequence[Entry]) -> None:
        if self.fault is not None:
            return
        connection = self._connection
        try:
            connection.execute("BEGIN IMMEDIATE")
            self._write(connection, entries)
            connection.execute("COMMIT")
        except Exception as error:  # any error must reach the callers that wait
            self.fault = self._explain(error)
            with suppress(sqlite3.Error):
                connection.rollback()


def _settle(waiting: list["asyncio.Future[None]"], fault: Exception | None) -> None:
    """Complete the waiting futures in their own event loop, unless that has ended."""
    if not waiting:
        return

    def tell() -> None:
        for done in waiting:
            if done.done():
                continue
            if fault is None:
                done.set_result(None)
            else:
                done.set_exception(fault)

    # Futures are not thread-safe: they may only be completed inside their loop.
    with suppress(RuntimeError):
        waiting[0].get_loop().call_soon_threadsafe(tell)


@dataclass(slots=True)
class Counts:
    """The counts of a run since it was started or resumed.

    Args:
        answered: Settled questions, successful or not, including those from journal and cache.
        failed: Of these, the ones without a valid reply.
        calls: Requests sent, each attempt one.
        in_flight: Of these, the ones without a reply yet.
        waiting: Requests that wait to be sent.
        from_journal: Questions that this run had asked before.
        from_cache: Questions that earlier runs had asked.
        rate_limits: Times that a server said 429.
        retries: Requests that were not the first of their question.
        in_part: Questions of several tasks of which a part had to be asked again.
        prompt: Tokens sent, as far as servers say so.
        cached: Of these, the ones from the server's cache.
        completion: Tokens that came back.
        usd: What it cost; None while no cost is known.
        troubles: What went wrong, and how often.
    """

    answered: int = 0
    failed: int = 0
    calls: int = 0
    in_flight: int = 0
    waiting: int = 0
    from_journal: int = 0
    from_cache: int = 0
    rate_limits: int = 0
    retries: int = 0
    in_part: int = 0
    prompt: int = 0
    cached: int = 0
    completion: int = 0
    usd: float | None = None
    troubles: dict[str, int] = field(default_factory=dict)

    @property
    def any_reply(self) -> bool:
        """True if any reply came, even an invalid one, because it may have to be paid for."""
        return self.answered > self.failed or self.completion > 0 or self.prompt > 0

    def came_back(self, trouble: str | None, usage: Usage | None, usd: float | None) -> None:
        """Count what came of a request: what went wrong, and the tokens and cost of a reply."""
        if trouble is not None:
            self.troubles[trouble] = self.troubles.get(trouble, 0) + 1
            self.rate_limits += trouble == "rate_limit"
        if usage is None:
            return
        self.prompt += usage.prompt or 0
        self.cached += usage.cached or 0
        self.completion += usage.completion or 0
        if usd is not None:
            self.usd = (self.usd or 0.0) + usd


PARTS_KNOWN = 65_536
SCHEMAS_KNOWN = 512
INSERT = f"INSERT OR IGNORE INTO attempts ({ATTEMPT}) VALUES ({', '.join('?' * 16)})"


class JournaledQuestion(NamedTuple):
    """A question as it is stored once, with its first attempt."""

    judge: str
    task: str
    example: str
    vote: int
    request: ChatRequest


class Journal:
    """An SQLite file with all attempts of a run: WAL mode, fully synchronous, one writer thread.

    Written from one event loop, read from any thread. It holds no API keys.
    """

    def __init__(
        self, file: Path, connection: sqlite3.Connection, reader: sqlite3.Connection
    ) -> None:
        self.file = file
        self._reader = reader
        self._mutex = threading.Lock()
        self._parts = _Parts()
        self._answered: dict[str, int] = {}
        self._tried: set[str] = set()
        for key, number, trouble in reader.execute("SELECT key, attempt, trouble FROM attempts"):
            self._note(as_text(key), as_whole(number), maybe(as_text, trouble))
        self.before = count(reader)
        self._commits = Commits(connection, self._write, lambda error: explained(error, file))

    @classmethod
    def open(cls, file: Path) -> "Journal":
        """Open a journal, or create it if the file does not exist."""
        opened: list[sqlite3.Connection] = []
        try:
            opened.extend(open_file(file, LAYOUT) for _ in range(2))
            return cls(file, *opened)
        except UNREADABLE as error:
            for connection in opened:
                connection.close()
            raise explained(error, file) from error

    async def record(self, attempt: Attempt, question: JournaledQuestion) -> None:
        """Store an attempt; when this returns, it is on disk."""
        await self._commits.commit((attempt, question))
        self._note(attempt.key, attempt.number, attempt.trouble)

    def reply(self, key: str) -> Attempt | None:
        """The attempt that answered a question; None if none did."""
        number = self._answered.get(key)
        if number is None:
            return None
        query = f"SELECT {ATTEMPT} FROM attempts WHERE key = ? AND attempt = ?"
        with explaining(self.file):
            (row,) = self._read(query, (key, number))
            return attempt_of(row)

    def troubles(self, key: str) -> list[str | None]:
        """The trouble of each attempt at a question so far; None for an answer."""
        if key not in self._tried and key not in self._answered:
            return []
        query = "SELECT trouble FROM attempts WHERE key = ? ORDER BY attempt"
        with explaining(self.file):
            return [maybe(as_text, trouble) for (trouble,) in self._read(query, (key,))]

    def in_batch(self, key: str, at: float) -> list[str | None]:
        """The trouble of each attempt at a question in the batch that was sent then."""
        query = "SELECT trouble FROM attempts WHERE key = ? AND source = 'batch' AND at = ?"
        return [trouble for (trouble,) in self._read(query, (key, at))]

    def close(self, seconds: float | None = None) -> bool:
        """Write the queued entries and close; False if that takes longer than ``seconds``."""
        with self._mutex:
            self._reader.close()
        return self._commits.close(seconds)

    def _note(self, key: str, number: int, trouble: str | None) -> None:
        if trouble is None:
            self._answered[key] = number
            self._tried.discard(key)
        elif key not in self._answered:
            self._tried.add(key)

    def _read(self, query: str, values: tuple[object, ...]) -> list[Any]:
        with explaining(self.file), self._mutex:
            return self._reader.execute(query, values).fetchall()

    def _write(
        self, connection: sqlite3.Connection, batch: Sequence[tuple[Attempt, JournaledQuestion]]
    ) -> None:
        new = [(attempt.key, question) for attempt, question in batch if attempt.number == 1]
        requests = [self._parts.row(key, question) for key, question in new]
        insert(connection, "INSERT OR IGNORE INTO parts VALUES (?, ?)", self._parts.taken())
        insert(
            connection, "INSERT OR IGNORE INTO requests VALUES (?, ?, ?, ?, ?, ?, ?, ?)", requests
        )
        insert(connection, INSERT, [_row(attempt) for attempt, _ in batch])


class _Parts:
    """The texts of questions, each written once although many questions share it."""

    def __init__(self) -> None:
        self._known: set[str] = set()
        self._new: dict[str, str] = {}
        self._schemas: dict[int, tuple[object, str]] = {}

    def row(self, key: str, question: JournaledQuestion) -> tuple[object, ...]:
        *about, request = question
        digests = [self._digest(text) for text in (request.system, *request.parts)]
        return (
            key, *about, request.name, json.dumps(digests), self._schema(request.schema),
        )  # fmt: skip

    def taken(self) -> list[tuple[object, ...]]:
        """Return the texts not written yet, which count as written from now on."""
        rows: list[tuple[object, ...]] = list(self._new.items())
        # Forgetting is safe: a text that is written again is ignored by INSERT OR IGNORE.
        if len(self._known) > PARTS_KNOWN:
            self._known.clear()
        self._known.update(self._new)
        self._new = {}
        return rows

    def _digest(self, text: str) -> str:
        digest = _digest(text)
        if digest not in self._known:
            self._new[digest] = text
        return digest

    def _schema(self, schema: object) -> str:
        # By identity, to spare serialising the schema for every question. The entry keeps the
        # object alive, so its id is not reused.
        known = self._schemas.get(id(schema))
        if known is None:
            if len(self._schemas) >= SCHEMAS_KNOWN:
                self._schemas.clear()
            known = schema, json.dumps(schema, separators=(",", ":"), ensure_ascii=False)
            self._schemas[id(schema)] = known
        return self._digest(known[1])


@lru_cache(maxsize=256)
def _digest(text: str) -> str:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def _row(attempt: Attempt) -> tuple[object, ...]:
    usage = attempt.usage
    return (
        attempt.key, attempt.number, attempt.source, attempt.at, attempt.seconds, attempt.trouble,
        attempt.words, attempt.http, attempt.reply, attempt.finish, attempt.model, usage.prompt,
        usage.completion, usage.cached, usage.reasoning, attempt.usd,
    )  # fmt: skip
