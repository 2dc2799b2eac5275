"""App: takes in traces, log records and examples over HTTP. It answers once they are on disk."""

import asyncio
import hmac
import json
import time
from collections import Counter
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from ragstone.monitor.store.store import MonitorStore
from ragstone.monitor.traces.spans import TooManyInBody, UnreadableBody

from .file_tail import TailedFile
from .group_commit import AcceptedBody, GroupCommit, IntakeSettings
from .http_request import (
    FULL,
    NotPacked,
    SentForm,
    SentHeaders,
    TooLarge,
    WaitingPlace,
    WaitingRoom,
    too_large,
    unpacked,
    whole_body,
)
from .otlp_http import (
    EXAMPLES,
    JSON,
    LOGS,
    PROTOBUF,
    TRACES,
    IntakeFigures,
    Reply,
    SentSignal,
    exposition,
    refusal,
    taken_from,
    unread,
    why_rejected,
)
from .record_sender import DROPPED

SIGNALS: Mapping[str, SentSignal] = {
    "/v1/traces": TRACES,
    "/v1/logs": LOGS,
    "/v1/examples": EXAMPLES,
}
METRICS_IGNORED = "/v1/metrics"
HEALTH, READY, FIGURES = "/health", "/ready", "/metrics"

PATHS = frozenset((*SIGNALS, METRICS_IGNORED, HEALTH, READY, FIGURES))
"""All that this app answers. None of them takes a cookie, so that no page can use a visitor's."""

READERS = 2
"""Threads that read bodies: two, so that one can work while another waits for memory or a lock."""

LARGE = 8_000_000
"""Bytes, unpacked, from which a body waits for the one thread that reads such: they need memory."""

AWAY = "The store cannot be used at present. Send it again later."
STOPPING = "The monitor is being stopped. Send it again later."
UNPACKED = "The body is not packed as its Content-Encoding says."


def make_intake(
    store: MonitorStore,
    settings: IntakeSettings | None = None,
    *,
    now: Callable[[], float] = time.time,
) -> "IntakeApp":
    """The app over a store, which stays the caller's.

    Args:
        store: Where all is kept.
        settings: What it allows.
        now: The time in seconds since the epoch.
    """
    return IntakeApp(store, settings or IntakeSettings(), now)


class IntakeApp:
    """An ASGI app for the addresses in ``PATHS``.

    Attributes:
        writer: Writes what was taken in.
        figures: What came since the app was made.
    """

    def __init__(
        self, store: MonitorStore, settings: IntakeSettings, now: Callable[[], float]
    ) -> None:
        self._store, self._settings, self._now = store, settings, now
        self._room = WaitingRoom(settings.waiting, settings.waiting_bytes)
        self._readers = ThreadPoolExecutor(READERS, "ragstone-reader")
        self._large = ThreadPoolExecutor(1, "ragstone-large")
        self._replies: Counter[int] = Counter()
        self._closed = False
        self.writer = GroupCommit(store, now)
        self._tails = [
            TailedFile(path, store, self.writer, settings, now) for path in settings.tails
        ]
        for tail in self._tails:
            tail.start()

    @property
    def figures(self) -> IntakeFigures:
        """What came since the app was made, and what waits."""
        return IntakeFigures(
            dict(self.writer.totals),
            dict(self._replies),
            self._room.requests,
            self._room.bytes,
            not self.writer.is_away,
        )

    def close(self) -> None:
        """Write what was taken in, and take no more."""
        self._closed = True
        for tail in self._tails:
            tail.close()
        self._readers.shutdown()
        self._large.shutdown()
        self.writer.close()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            return
        request = Request(scope, receive)
        headers = SentHeaders(scope=scope)
        try:
            reply = await self._reply(request, scope["path"], headers)
        except ClientDisconnect:
            return
        except Exception as error:
            # It must not happen; what was sent is not acknowledged, and is sent again.
            self.writer.note({"failed": 1}, line=_place(error))
            reply = refusal(503, AWAY, json=headers.is_json)
        self._replies[reply.status] += 1
        if reply.status == 401:
            await self._settings.slow((scope.get("client") or ("",))[0])
        kept = {"cache-control": "no-store", **reply.headers}
        await Response(reply.body, reply.status, kept, reply.kind)(scope, receive, send)

    async def _reply(self, request: Request, path: str, headers: SentHeaders) -> Reply:
        reads = path in (HEALTH, READY, FIGURES)
        if path not in PATHS:
            return refusal(404, "There is no such address.", json=headers.is_json)
        if request.method not in (("GET", "HEAD") if reads else ("POST",)):
            return refusal(405, "It cannot be asked for so.", json=headers.is_json)
        if path == HEALTH:
            return _said(200, {"status": "ok"})
        if path == READY:
            return self._ready()
        if not self._admits(path, headers.token):
            return self._refused(
                refusal(401, "The token is missing or wrong.", json=headers.is_json)
            )
        if path == FIGURES:
            return await self._figures()
        if path == METRICS_IGNORED:
            # They are of no use here, but who sends all three signals need not be told so.
            async for _ in request.stream():
                pass
            return Reply(200, b"{}", JSON) if headers.is_json else Reply(200, b"", PROTOBUF)
        return await self._taken(SIGNALS[path], headers, request)

    def _ready(self) -> Reply:
        if self._closed or self.writer.is_away or self._room.is_full:
            why = "stopping" if self._closed else "store" if self.writer.is_away else "full"
            return _said(503, {"status": why}, {"retry-after": "2"})
        return _said(200, {"status": "ready"})

    def _admits(self, path: str, token: bytes) -> bool:
        """Figures are the owner's; what writes has tokens of its own."""
        if path == FIGURES:
            owner = self._settings.owner.encode("utf-8", "surrogatepass")
            return not owner or hmac.compare_digest(owner, token)
        return self._settings.senders.admit(token)

    async def _figures(self) -> Reply:
        loop = asyncio.get_running_loop()
        text = await loop.run_in_executor(
            None, exposition, self.figures, self._store.database, self._now()
        )
        return Reply(200, text.encode(), "text/plain; version=0.0.4; charset=utf-8")

    async def _taken(self, signal: SentSignal, headers: SentHeaders, request: Request) -> Reply:
        form = headers.form(protobuf=signal.protobuf, most=self._settings.body)
        if isinstance(form, Reply):
            return self._refused(form)
        dropped = headers.get(DROPPED, "")
        if dropped.isdecimal() and len(dropped) < 10:
            self.writer.note({"dropped": int(dropped)})
        if self._closed:
            return self._refused(refusal(503, STOPPING, json=form.json))
        place = self._room.enter()
        if place is None:
            return self._refused(refusal(429, FULL, json=form.json))
        try:
            body = await whole_body(request.stream(), place, self._settings.body, json=form.json)
            if isinstance(body, Reply):
                return self._refused(body)
            return await self._written(signal, form, body, place)
        finally:
            place.leave()

    async def _written(
        self, signal: SentSignal, form: SentForm, body: bytes, place: WaitingPlace
    ) -> Reply:
        """Read a body in another thread and write it in a third; one wake-up when that is done."""
        loop = asyncio.get_running_loop()
        replied: asyncio.Future[Reply] = loop.create_future()

        def answer(reply: Reply) -> None:
            # Who was stopped while waiting has no loop, and nobody to reply to.
            if not loop.is_closed():
                loop.call_soon_threadsafe(_settle, replied, reply)

        self._readers.submit(self._read, signal, form, body, place, answer, LARGE)
        return await replied

    def _read(
        self,
        signal: SentSignal,
        form: SentForm,
        body: bytes,
        place: WaitingPlace,
        answer: Callable[[Reply], None],
        most: int,
    ) -> None:
        try:
            whole = unpacked(body, form.encoding, min(most, self._settings.unpacked))
        except TooLarge:
            if most < self._settings.unpacked:
                again = (signal, form, body, place, answer, self._settings.unpacked)
                self._large.submit(self._read, *again)
            else:
                answer(self._refused(too_large(self._settings.unpacked, json=form.json)))
            return
        except NotPacked:
            answer(self._refused(refusal(400, UNPACKED, json=form.json)))
            return
        try:
            taken = taken_from(
                signal, whole, json=form.json, settings=self._settings, now=self._now()
            )
        except UnreadableBody as error:
            aside = unread(error, whole, self._settings.redaction)
            self.writer.note({"unreadable": 1}, [aside])
            status = 413 if isinstance(error, TooManyInBody) else 400
            answer(self._refused(refusal(status, str(error), json=form.json)))
            return
        except Exception as error:
            # A body that nobody foresaw: it would fail again.
            self.writer.note({"failed": 1}, line=_place(error))
            answer(self._refused(refusal(400, "The body could not be read.", json=form.json)))
            return
        self._put(signal, form, taken, place, answer)

    def _put(
        self,
        signal: SentSignal,
        form: SentForm,
        taken: AcceptedBody,
        place: WaitingPlace,
        answer: Callable[[Reply], None],
    ) -> None:
        rejected = len(taken.malformed)
        why = why_rejected(taken.malformed)
        reply = signal.reply(taken.counts["kept"], rejected, why, form.json)
        if not (taken.parts or rejected):
            self.writer.note(taken.counts)
            answer(reply)
            return
        if not place.grow(taken.size):
            answer(self._refused(refusal(429, FULL, json=form.json)))
            return

        def done(error: Exception | None) -> None:
            if error is None:
                answer(reply)
            else:
                answer(self._refused(refusal(503, AWAY, json=form.json)))

        self.writer.put(taken, done)

    def _refused(self, reply: Reply) -> Reply:
        self.writer.note({"refused": 1})
        return reply


def _settle(replied: "asyncio.Future[Reply]", reply: Reply) -> None:
    if not replied.done():
        replied.set_result(reply)


def _said(status: int, said: Mapping[str, str], headers: Mapping[str, str] | None = None) -> Reply:
    return Reply(status, json.dumps(said).encode(), JSON, headers or {})


def _place(error: Exception) -> str:
    """Where an error arose. Not its words, in which the text of a trace may stand."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    where = f" in {trace.tb_frame.f_code.co_qualname}:{trace.tb_lineno}" if trace else ""
    return f"A request failed: {type(error).__name__}{where}."
