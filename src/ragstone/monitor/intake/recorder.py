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
from functools import partial
from os import PathLike
from threading import Condition, RLock, Thread
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4
from weakref import WeakSet

from ragstone.core.database import POSTGRES
from ragstone.core.errors import InputError

from .record_sender import HttpSender, NoUse, RecordSender, TryLater

LOG = logging.getLogger(__name__)

DEFAULT = "http://127.0.0.1:8431"
URL, TOKEN = "RAGSTONE_MONITOR_URL", "RAGSTONE_MONITOR_TOKEN"

MOST_QUEUED = 10_000
MOST_BYTES = 200_000_000
BATCH, BATCH_BYTES = 200, 2_000_000
# Seconds in which others may join what is sent.
LINGER = 0.2

MINUTE = 60.0
AT_EXIT = 5.0
_FIRST_WAIT, _LONGEST_WAIT = 0.5, 30.0


class Recorder:
    """Sends what is recorded, from a thread of its own.

    Args:
        sender: Where to; None: nowhere, and all is dropped.
        most: Examples that may be queued; more are dropped, counted and logged.

    Attributes:
        recorded: Examples that were queued.
        sent: Those that were taken.
        dropped: Those that were never sent, such as for a full queue.
        rejected: Those that were sent and not taken.
    """

    _thread: Thread | None

    def __init__(self, sender: RecordSender | None, most: int = MOST_QUEUED) -> None:
        self._sender, self._most = sender, most
        self._begin()
        self.recorded = self.sent = self.dropped = self.rejected = 0
        self._logged_at, self._logged = 0.0, 0
        self._why = self._last_fault = ""
        _ALL.add(self)

    def record(self, fields: Mapping[str, Any]) -> None:
        """Queue an example. Never raises, never waits."""
        try:
            fault = self._queued(_written(fields))
        except Exception as error:
            fault = f"it cannot be sent ({type(error).__name__})"
        if fault:
            self._drop(fault)

    def _queued(self, line: bytes) -> str:
        """Queue a line, or return why not."""
        with self._turn:
            if self._sender is None:
                return "there is nowhere to send them"
            if self._closed:
                return "the recorder was closed"
            if len(self._queue) >= self._most or self._bytes + len(line) > MOST_BYTES:
                return self._why or f"the queue of {self._most:,} is full"
            self._queue.append(line)
            self._bytes += len(line)
            self.recorded += 1
            if self._thread is None or not self._thread.is_alive():
                work = partial(self._work, self._sender)
                self._thread = Thread(target=work, name="ragstone-recorder", daemon=True)
                self._thread.start()
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
        self._log(at_once=True)
        _ALL.discard(self)

    def forget(self) -> None:
        """Begin anew in a process that was forked: what is queued is its parent's to send."""
        self._sender = self._sender and self._sender.anew()
        self._begin()

    def _begin(self) -> None:
        self._turn = Condition(RLock())
        self._queue: deque[bytes] = deque()
        self._bytes = self._sending = self._hurry = 0
        self._closed = False
        self._thread = None

    def _work(self, sender: RecordSender) -> None:
        wait = _FIRST_WAIT
        while batch := self._next():
            pause = self._send(sender, batch)
            if pause is None:
                wait = _FIRST_WAIT
            else:
                self._wait(min(max(wait, pause), _LONGEST_WAIT))
                wait = min(wait * 2, _LONGEST_WAIT)
            self._log()
        with suppress(Exception):
            sender.close()

    def _send(self, sender: RecordSender, batch: list[bytes]) -> float | None:
        """Send a batch, or put it back and return the seconds to wait, as far as they are known."""
        lost, why = 0, ""
        try:
            sender.send(batch, self.dropped)
            self._why = ""
        except TryLater as error:
            with self._turn:
                self._why = str(error)
                self._queue.extendleft(reversed(batch))
                self._bytes += sum(map(len, batch))
                self._sending = 0
            return error.seconds
        except NoUse as error:
            lost, why = error.lost, str(error)
        except Exception as error:
            lost, why = len(batch), type(error).__name__
        with self._turn:
            self.sent += len(batch) - lost
            self.rejected += lost
            self._last_fault = why or self._last_fault
            self._sending = 0
            self._turn.notify_all()
        return None

    def _next(self) -> list[bytes]:
        """Return what is sent together; nothing at the end."""
        with self._turn:
            self._turn.wait_for(lambda: self._queue or self._closed)
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

    def _wait(self, seconds: float) -> None:
        """Wait until a batch is tried again; in a hurry not for long."""
        until = time.monotonic() + seconds
        with self._turn:
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
            self._log()

    def _log(self, *, at_once: bool = False) -> None:
        """Log what was not taken, at most once a minute."""
        with suppress(Exception):
            now = time.monotonic()
            with self._turn:
                n = self.dropped + self.rejected - self._logged
                if not n or (self._logged and not at_once and now < self._logged_at + MINUTE):
                    return
                self._logged, self._logged_at = self._logged + n, now
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
    address = os.fspath(to) if to is not None else os.environ.get(URL) or DEFAULT
    sender = sender_to(address, token if token is not None else os.environ.get(TOKEN, ""))
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
    fields |= {"question": question, "contexts": contexts, "answer": answer}
    fields |= {"session": session, "user": user, "version": version}
    with suppress(Exception):
        _the_recorder().record(fields)


def sender_to(address: str, token: str) -> RecordSender:
    """Return a sender to an address ``http://…``, or into a store."""
    without_password = address.rpartition("@")[2]
    if address.startswith(("http://", "https://")):
        with suppress(ValueError):
            parts = urlsplit(address)
            if parts.hostname and parts.port != 0:
                return HttpSender(parts, token)
        raise InputError(
            f"{without_password} is no address of a monitor, such as http://127.0.0.1:8431."
        )
    if "://" in address and not address.startswith(POSTGRES):
        raise InputError(
            f"{without_password} is neither a monitor, http://…, nor a store: a folder, or "
            "postgresql://…"
        )
    from .store_sender import StoreSender

    return StoreSender(address)


def _the_recorder() -> Recorder:
    global _recorder
    with _LOCK:
        if _recorder is None:
            try:
                start_recorder()
            except Exception as error:
                LOG.warning("Nothing is recorded: %s", error)
                _recorder = Recorder(None)
        assert _recorder is not None
        return _recorder


def _written(fields: Mapping[str, Any]) -> bytes:
    """Return an example as a line of JSON, with a name of its own: sent twice it is still one."""
    present = {name: value for name, value in fields.items() if value is not None}
    if "trace" not in present and "id" not in present:
        present["trace"] = uuid4().hex
    present.setdefault("at", time.time())
    return json.dumps(present, default=_plain).encode()


def _plain(value: Any) -> Any:
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
