"""Group commit: requests are written in shared transactions; also the settings of the intake.

A request is acknowledged only after its commit. A commit with full sync costs as much for a
thousand rows as for a single row.
"""

import time
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path
from threading import Condition, Thread

from ragstone.core.database import Sql
from ragstone.core.errors import StoreAway, StoreBusy
from ragstone.data.traces.redaction import Redaction
from ragstone.data.traces.spans import Malformed, SpanLimits, TracePart
from ragstone.monitor.store.incoming import insert_malformed, insert_received
from ragstone.monitor.store.rows import Level, count, keep, log
from ragstone.monitor.store.store import MonitorStore

from .send_tokens import SendTokens

MB = 1_000_000


async def _at_once(_: str) -> None:
    pass


@dataclass(frozen=True, slots=True)
class IntakeSettings:
    """Limits of the intake.

    Attributes:
        senders: The tokens of those who may send; by default everybody who can connect.
        owner: The token that opens figures; empty if everybody may see them.
        slow: Waits before a wrong token of this client is answered.
        redaction: The patterns taken out of every text before it is kept; None for nothing.
        body: The most bytes of a body as it comes.
        unpacked: The most bytes of a body when it is unpacked.
        waiting: Requests that may wait to be written.
        waiting_bytes: The most bytes of the bodies of those.
        tails: Files of JSON lines that are followed besides.
    """

    senders: SendTokens = field(default_factory=SendTokens)
    owner: str = field(default="", repr=False)
    slow: Callable[[str], Awaitable[None]] = _at_once
    redaction: Redaction | None = field(default_factory=Redaction)
    limits: SpanLimits = field(default_factory=SpanLimits)
    body: int = 16 * MB
    unpacked: int = 32 * MB
    waiting: int = 500
    waiting_bytes: int = 128 * MB
    tails: tuple[Path, ...] = ()


# Bytes in one transaction, so that nobody waits long for a turn.
LARGEST_GROUP = 32_000_000

MOST_NOTED = 200
# Seconds until what nobody waits for is written.
LATER = 1.0


@dataclass(frozen=True, slots=True)
class AcceptedBody:
    """The rows that one request adds to the store.

    Attributes:
        kept: What is remembered with it by name, such as the position in a file.
    """

    parts: Sequence[TracePart] = ()
    malformed: Sequence[Malformed] = ()
    counts: Mapping[str, int] = field(default_factory=dict)
    kept: Mapping[str, object] = field(default_factory=dict)

    @property
    def size(self) -> int:
        """Bytes to be written."""
        return sum(len(part.body) for part in self.parts)


# Called when it was written, or with why not, in the writer's thread.
Done = Callable[[Exception | None], None]


class GroupCommit:
    """Writes what it is given, from a thread of its own."""

    def __init__(self, store: MonitorStore, now: Callable[[], float] = time.time) -> None:
        self._store, self._now = store, now
        self._turn = Condition()
        self._waits: list[tuple[AcceptedBody, Done]] = []
        self._noted: Counter[str] = Counter()
        self._aside: list[Malformed] = []
        self._lines: list[tuple[float, Level, str]] = []
        self._closed = False
        self.is_away = False
        self.totals: Counter[str] = Counter()
        self._thread = Thread(target=self._work, name="ragstone-intake", daemon=True)
        self._thread.start()

    def put(self, body: AcceptedBody, done: Done) -> None:
        """Write a body, with all else that waits.

        Args:
            done: Called when it is on disk, with None; or with why it is not, ``StoreAway`` where
                the store cannot be used at present.
        """
        with self._turn:
            if not self._closed:
                self._waits.append((body, done))
                self._turn.notify()
                return
        done(StoreAway("The monitor is being stopped."))

    def write(self, body: AcceptedBody) -> None:
        """Write a body and wait.

        Raises:
            StoreAway: The store cannot be used at present.
            Exception: It cannot be written, as others can.
        """
        ended = Future[Exception | None]()
        self.put(body, ended.set_result)
        if error := ended.result():
            raise error

    def note(
        self, counts: Mapping[str, int], aside: Sequence[Malformed] = (), line: str = ""
    ) -> None:
        """Write, at some later time, what nobody waits for."""
        with self._turn:
            self._noted.update(counts)
            self._aside = [*self._aside, *aside][-MOST_NOTED:]
            if line:
                self._say("error", line)
            self._turn.notify()

    def say(self, level: Level, line: str) -> None:
        """Write a line to the log some time. It neither waits nor fails."""
        with self._turn:
            self._say(level, line)
            self._turn.notify()

    def close(self) -> None:
        """Write what waits, take no more, and end."""
        with self._turn:
            self._closed = True
            self._turn.notify()
        self._thread.join()

    def _say(self, level: Level, line: str) -> None:
        self._lines = [*self._lines, (self._now(), level, line)][-MOST_NOTED:]

    def _work(self) -> None:
        while True:
            with self._turn:
                while not self._is_due():
                    if not (self._noted or self._aside or self._lines):
                        self._turn.wait()
                    elif not self._turn.wait_for(self._is_due, LATER):
                        break
                group = self._next()
                last = self._closed and not group
            self._commit(group)
            if last:
                return

    def _is_due(self) -> bool:
        return bool(self._waits) or self._closed

    def _next(self) -> list[tuple[AcceptedBody, Done]]:
        size = n = 0
        for body, _ in self._waits:
            size += body.size
            if n and size > LARGEST_GROUP:
                break
            n += 1
        group, self._waits = self._waits[:n], self._waits[n:]
        return group

    def _commit(self, group: Sequence[tuple[AcceptedBody, Done]]) -> None:
        error = self._attempt([body for body, _ in group])
        if isinstance(error, StoreBusy):
            # Who came meanwhile has waited, too, and is not to wait as long again.
            with self._turn:
                group, self._waits = [*group, *self._waits], []
        elif error is not None and len(group) > 1:
            # One of them may be what cannot be written; where the first fails too, it is the store.
            (first, done), *others = group
            error = self._attempt([first])
            done(error)
            group = others
            if error is None:
                for item in others:
                    self._commit([item])
                return
        for _, done in group:
            done(error)

    def _attempt(self, group: Sequence[AcceptedBody]) -> Exception | None:
        """Write a group and what was noted, or return why that is not possible."""
        with self._turn:
            noted, aside, lines = self._noted, self._aside, self._lines
            self._noted, self._aside, self._lines = Counter(), [], []
        if not (group or noted or aside or lines):
            return None
        counts = Counter(noted)
        for body in group:
            counts.update(body.counts)
        try:
            with self._store.database.transaction() as run:
                write_accepted(run, self._now(), [*group, AcceptedBody(malformed=aside)], counts)
                for at, level, line in lines:
                    log(run, at, level, line)
        except Exception as error:
            with self._turn:
                self._noted.update(noted)
                self._aside = [*aside, *self._aside][-MOST_NOTED:]
                self._lines = [*lines, *self._lines][-MOST_NOTED:]
                # Not by the log of the process, which may be kept in the same store.
                if not isinstance(error, StoreAway):
                    self._say("error", f"What came could not be written: {type(error).__name__}.")
                elif not self.is_away:
                    self.is_away = True
                    self._say("error", f"{error}")
            return error
        with self._turn:
            self.totals.update(counts)
            if self.is_away:
                self.is_away = False
                self._say("info", "The store can be written to again.")
        return None


def write_accepted(
    run: Sql, now: float, group: Sequence[AcceptedBody], counts: Mapping[str, int]
) -> None:
    """Write bodies with the counts of all of them, within a transaction."""
    parts = [part for body in group for part in body.parts]
    insert_received(run, now, [(part.trace, part.kind, part.body) for part in parts])
    insert_malformed(run, now, [item for body in group for item in body.malformed])
    count(run, now, counts)
    for body in group:
        for name, value in body.kept.items():
            keep(run, name, value)
