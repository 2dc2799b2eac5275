"""Recorder: tells a monitor what an app without tracing answered, without making the app wait.

    from ragstone import monitor

    monitor.record(question=question, contexts=contexts, answer=answer, session=session)

``record`` puts the example in a queue and returns; a thread sends what is in it. Nothing of it is
ever raised into the app: what cannot be sent is counted, and logged once a minute. At the end of
the process there are five seconds to send the rest; only a kill loses what is queued.
"""

import atexit
import json
import logging
import os
import time
from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, is_dataclass
from os import PathLike
from threading import Condition, RLock, Thread
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4
from weakref import WeakSet

from ragstone.core.database import POSTGRES
from ragstone.core.errors import InputError, MissingDependency

from .record_sender import HttpSender, NoUse, Recorded, RecordSender, TryLater

LOG = logging.getLogger(__name__)

DEFAULT = "http://127.0.0.1:8431"
URL, TOKEN = "RAGSTONE_MONITOR_URL", "RAGSTONE_MONITOR_TOKEN"

MOST_QUEUED = 10_000
MOST_BYTES = 200_000_000
BATCH, BATCH_BYTES = 200, 2_000_000
LINGER = 0.2
"""Seconds in which others may join what is sent."""

MINUTE = 60.0
AT_EXIT = 5.0
_FIRST_WAIT, _LONGEST_WAIT = 0.5, 30.0


class Recorder:
    """Sends what is recorded, from a thread of its own.

    Args:
        sender: Where to.
        most: Examples that may be queued; more are dropped, counted and logged.

    Attributes:
        recorded: Examples that were queued.
        sent: Those that were taken.
        dropped: Those that were never sent, such as for a full queue.
        rejected: Those that were sent and not taken.
    """

    def __init__(self, sender: RecordSender, most: int = MOST_QUEUED) -> None:
        self._sender, self._most = sender, most
        self._begin()
        self.recorded = self.sent = self.dropped = self.rejected = 0
        self._said_at, self._said = 0.0, 0
        self._why = self._last_fault = ""
        _ALL.add(self)

    def record(self, fields: Mapping[str, Any]) -> None:
        """Queue an example. Never raises, never waits."""
        try:
            body = _written(fields)
            fault = self._queued(body)
        except Exception as error:
            fault = f"it cannot be sent ({type(error).__name__})"
        if fault:
            self._drop(fault)

    def _queued(self, body: bytes) -> str:
        """Queue a line, or say why not."""
        with self._turn:
            if self._closed:
                return "the recorder was closed"
            if len(self._queue) >= self._most or self._bytes + len(body) > MOST_BYTES:
                return self._why or f"the queue of {self._most:,} is full"
            self._queue.append(body)
            self._bytes += len(body)
            self.recorded += 1
            self._ensure_thread()
            if len(self._queue) in (1, BATCH):
                self._turn.notify_all()
        return ""

    def flush(self, seconds: float = AT_EXIT) -> bool:
        """Send what is queued now, and wait for it; False if it takes longer than that."""
        until = time.monotonic() + seconds
        with self._turn:
            self._hurry += 1
            self._turn.notify_all()
            try:
                while self._queue or self._sending:
                    left = until - time.monotonic()
                    if left <= 0 or self._thread is None or not self._thread.is_alive():
                        return False
                    self._turn.wait(min(left, 0.1))
            finally:
                self._hurry -= 1
        return True

    def close(self, seconds: float = AT_EXIT) -> None:
        """Send what is queued, as far as the time allows, and end; the rest is dropped."""
        self.flush(seconds)
        with self._turn:
            self._closed = True
            rest = len(self._queue) + self._sending
            self._turn.notify_all()
            thread = self._thread
        if thread is not None and not rest:
            thread.join(1.0)
        if rest:
            self._drop(self._why or "there was no time to send them", rest)
        self._say(at_once=True)
        _ALL.discard(self)

    def forget(self) -> None:
        """Begin anew in a process that was forked: what is queued is its parent's to send."""
        self._sender = self._sender.anew()
        self._begin()

    def _begin(self) -> None:
        self._turn = Condition(RLock())
        self._queue: deque[bytes] = deque()
        self._bytes = self._sending = self._hurry = 0
        self._closed = False
        self._thread: Thread | None = None

    def _ensure_thread(self) -> None:
        if self._thread is None or not self._thread.is_alive():
            self._thread = Thread(target=self._work, name="ragstone-recorder", daemon=True)
            self._thread.start()

    def _work(self) -> None:
        wait = _FIRST_WAIT
        while True:
            batch = self._next()
            if not batch:
                with suppress(Exception):
                    self._sender.close()
                return
            why, pause = self._attempt(batch)
            if why == "later":
                self._wait(min(max(wait, pause), _LONGEST_WAIT))
                wait = min(wait * 2, _LONGEST_WAIT)
            else:
                wait = _FIRST_WAIT
            self._say()

    def _attempt(self, batch: list[bytes]) -> tuple[str, float]:
        """Send a batch; what can be sent later is put back."""
        try:
            self._sender.send(Recorded(batch, self.dropped))
        except TryLater as error:
            self._why = str(error)
            self._put_back(batch)
            return "later", error.seconds
        except NoUse as error:
            self._done(batch, error.lost, str(error))
        except Exception as error:
            self._done(batch, len(batch), f"{type(error).__name__}")
        else:
            self._why = ""
            self._done(batch, 0, "")
        return "", 0.0

    def _next(self) -> list[bytes]:
        """What is sent together; nothing at the end."""
        with self._turn:
            while not self._queue:
                if self._closed:
                    return []
                self._turn.wait()
            self._turn.wait_for(
                lambda: len(self._queue) >= BATCH or self._hurry or self._closed, LINGER
            )
            if self._closed:
                return []
            batch: list[bytes] = []
            size = 0
            while self._queue and len(batch) < BATCH:
                size += len(self._queue[0])
                if batch and size > BATCH_BYTES:
                    break
                batch.append(self._queue.popleft())
            self._bytes -= sum(map(len, batch))
            self._sending = len(batch)
            return batch

    def _put_back(self, batch: list[bytes]) -> None:
        with self._turn:
            self._queue.extendleft(reversed(batch))
            self._bytes += sum(map(len, batch))
            self._sending = 0

    def _done(self, batch: list[bytes], lost: int, why: str) -> None:
        with self._turn:
            self.sent += len(batch) - lost
            self.rejected += lost
            self._last_fault = why or self._last_fault
            self._sending = 0
            self._turn.notify_all()

    def _wait(self, seconds: float) -> None:
        """Before it is tried again; in a hurry not for long."""
        with self._turn:
            until = time.monotonic() + seconds
            while not self._closed and (left := until - time.monotonic()) > 0:
                if self._hurry:
                    self._turn.wait(min(left, _FIRST_WAIT))
                    return
                self._turn.wait(left)

    def _drop(self, why: str, n: int = 1) -> None:
        with suppress(Exception):
            with self._turn:
                self.dropped += n
                self._last_fault = why
            self._say()

    def _say(self, *, at_once: bool = False) -> None:
        """Log what was not taken, at most once a minute."""
        with suppress(Exception):
            now = time.monotonic()
            with self._turn:
                n = self.dropped + self.rejected - self._said
                if not n or (self._said and not at_once and now < self._said_at + MINUTE):
                    return
                self._said, self._said_at = self._said + n, now
            LOG.warning("Not recorded: %d examples (%s).", n, self._last_fault)


_ALL: "WeakSet[Recorder]" = WeakSet()
_LOCK = RLock()
_recorder: Recorder | None = None


def start_recorder(to: str | PathLike[str] | None = None, *, token: str | None = None) -> Recorder:
    """Say where ``record`` sends to; otherwise it is what the environment says.

    Args:
        to: The address of a monitor, ``http://…``, or a store: a folder or ``postgresql://…``. By
            default that in ``RAGSTONE_MONITOR_URL``, or else ``http://127.0.0.1:8431``.
        token: What the monitor asks for; by default that in ``RAGSTONE_MONITOR_TOKEN``.

    Raises:
        InputError: It is no such address, or the store cannot be opened.
    """
    global _recorder
    place = os.fspath(to) if to is not None else os.environ.get(URL) or DEFAULT
    sender = sender_to(place, token if token is not None else os.environ.get(TOKEN, ""))
    with _LOCK:
        before, _recorder = _recorder, Recorder(sender)
        started = _recorder
    if before is not None:
        before.close(1.0)
    return started


def record(
    *,
    question: str | None = None,
    contexts: Any = None,
    answer: str | None = None,
    session: str | None = None,
    user: str | None = None,
    version: str | None = None,
    **fields: Any,
) -> None:
    """Send one answer to the monitor. It returns at once, and raises nothing.

    Args:
        question: What was asked.
        contexts: The passages, in order: texts, or objects with ``id``, ``text`` and ``score``.
        answer: What was answered.
        session: The conversation it belongs to.
        user: Who asked.
        version: What is deployed.
        **fields: All else that ``ragstone.read`` knows, such as ``history``, and ``latency``
            (seconds), ``model``, ``input_tokens``, ``output_tokens``, ``error``, ``trace``; by any
            other name something to slice by, such as ``plan="pro"``.
    """
    known = {
        "question": question,
        "contexts": contexts,
        "answer": answer,
        "session": session,
        "user": user,
        "version": version,
    }
    with suppress(Exception):
        _the_recorder().record({**fields, **known})


def sender_to(place: str, token: str) -> RecordSender:
    """A sender to an address ``http://…``, or into a store.

    Raises:
        InputError: It is neither.
        MissingDependency: Of the store.
    """
    shown = place.rpartition("@")[2]
    if place.startswith(("http://", "https://")):
        try:
            address = urlsplit(place)
            has_port = address.port is None or address.port > 0
        except ValueError:
            has_port = False
        if not (has_port and address.hostname):
            raise InputError(f"{shown} is no address of a monitor, such as http://127.0.0.1:8431.")
        return HttpSender(address, token)
    if "://" in place and not place.startswith(POSTGRES):
        raise InputError(
            f"{shown} is neither a monitor, http://…, nor a store: a folder, or postgresql://…"
        )
    try:
        # What reads examples and writes them is not in the base install.
        from .store_sender import StoreSender
    except ModuleNotFoundError as error:
        raise MissingDependency("A recorder that writes into a store", "ui") from error
    return StoreSender(place)


def _the_recorder() -> Recorder:
    global _recorder
    with _LOCK:
        if _recorder is None:
            try:
                start_recorder()
            except Exception as error:
                LOG.warning("Nothing is recorded: %s", error)
                _recorder = Recorder(_Nowhere())
        assert _recorder is not None
        return _recorder


class _Nowhere:
    """Where nothing can be sent, as the environment names no place that there is."""

    def send(self, recorded: Recorded) -> None:
        raise NoUse("there is nowhere to send them", len(recorded.lines))

    def anew(self) -> "_Nowhere":
        return self

    def close(self) -> None:
        """There is nothing to let go of."""


def _written(fields: Mapping[str, Any]) -> bytes:
    """An example as a line of JSON, with a name of its own: sent twice it is still one."""
    said = {name: value for name, value in fields.items() if value is not None}
    if "trace" not in said and "id" not in said:
        said["trace"] = uuid4().hex
    said.setdefault("at", time.time())
    return json.dumps(said, default=_plain).encode()


def _plain(value: Any) -> Any:
    """What JSON can hold, of what it does not know."""
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, (set, frozenset)):
        return sorted(map(str, value))
    for name in ("tolist", "model_dump"):
        if callable(getattr(value, name, None)):
            return getattr(value, name)()
    try:
        return list(value)
    except TypeError:
        return str(value)


def _at_exit() -> None:
    until = time.monotonic() + AT_EXIT
    for recorder in list(_ALL):
        recorder.close(max(0.0, until - time.monotonic()))


def _after_fork() -> None:
    global _LOCK
    _LOCK = RLock()
    for recorder in list(_ALL):
        recorder.forget()


atexit.register(_at_exit)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
