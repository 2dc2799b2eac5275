"""App: takes in traces, log records and examples over HTTP. It answers once they are on disk."""

import asyncio
import hmac
import json
import time
from collections import Counter
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from ragstone.core.errors import raised_in
from ragstone.data.traces.spans import TOO_MANY, UnreadableBody
from ragstone.monitor.store.store import MonitorStore

from . import http_request
from .file_tail import TailedFile
from .group_commit import AcceptedBody, GroupCommit, IntakeSettings
from .http_request import FULL, Refused, SentHeaders, TooLarge, WaitingRoom, too_large
from .otlp_http import JSON, PROTOBUF, Signal, accept_body, exposition, refusal, reply_to, unread
from .record_sender import DROPPED

SIGNALS: Mapping[str, Signal] = {
    "/v1/traces": "spans",
    "/v1/logs": "logs",
    "/v1/examples": "examples",
}
METRICS_IGNORED = "/v1/metrics"
HEALTH, READY, FIGURES = "/health", "/ready", "/metrics"

# All that this app answers. None of them takes a cookie, so that no page can use a visitor's.
PATHS = frozenset((*SIGNALS, METRICS_IGNORED, HEALTH, READY, FIGURES))

# Threads that read bodies: two, so that one can work while another waits for memory or a lock.
READERS = 2

# Bytes, unpacked, from which a body waits for the one thread that reads such: they need memory.
LARGE = 8_000_000

AWAY = "The store cannot be used at present. Send it again later."
STOPPING = "The monitor is being stopped. Send it again later."


class IntakeApp:
    """An ASGI app for the addresses in ``PATHS``.

    The store stays the caller's.

    Attributes:
        writer: Writes what was taken in.
        room: The requests that wait to be written.
    """

    def __init__(
        self,
        store: MonitorStore,
        settings: IntakeSettings = IntakeSettings(),  # noqa: B008
        *,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._store, self._settings, self._now = store, settings, now
        self.room = WaitingRoom(settings.waiting, settings.waiting_bytes)
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
        request, sent = Request(scope, receive), SentHeaders(scope=scope)
        try:
            reply = await self._reply(request, scope["path"], sent)
        except ClientDisconnect:
            return
        except Refused as error:
            reply = self._refused(error, sent)
        except Exception as error:
            # It must not happen; what was sent is not acknowledged, and is sent again.
            self.writer.note({"failed": 1}, line=_failure(error))
            reply = refusal(503, AWAY, json=sent.is_json)
        self._replies[reply.status_code] += 1
        if reply.status_code == 401:
            await self._settings.slow((scope.get("client") or ("",))[0])
        reply.headers["cache-control"] = "no-store"
        await reply(scope, receive, send)

    async def _reply(self, request: Request, path: str, sent: SentHeaders) -> Response:
        if path not in PATHS:
            return refusal(404, "There is no such address.", json=sent.is_json)
        reads = path in (HEALTH, READY, FIGURES)
        if request.method not in (("GET", "HEAD") if reads else ("POST",)):
            return refusal(405, "It cannot be asked for so.", json=sent.is_json)
        if path == HEALTH:
            return Response(b'{"status": "ok"}', media_type=JSON)
        if path == READY:
            return self._ready()
        if not self._admits(path, sent.token):
            raise Refused(401, "The token is missing or wrong.")
        if path == FIGURES:
            text = await asyncio.to_thread(
                exposition, self._store.database, self._now(), taken=dict(self.writer.totals),
                replies=dict(self._replies), waiting=self.room.requests,
                waiting_bytes=self.room.bytes, is_writable=not self.writer.is_away,
            )  # fmt: skip
            return Response(text, media_type="text/plain; version=0.0.4; charset=utf-8")
        if path == METRICS_IGNORED:
            # They are of no use here, but who sends all three signals need not be told so.
            async for _ in request.stream():
                pass
            return Response(
                b"{}" if sent.is_json else b"", media_type=JSON if sent.is_json else PROTOBUF
            )
        return await self._accepted(SIGNALS[path], sent, request)

    def _ready(self) -> Response:
        why = "stopping" if self._closed else "store" if self.writer.is_away else "full"
        if not (self._closed or self.writer.is_away or self.room.is_full):
            return Response(b'{"status": "ready"}', media_type=JSON)
        return Response(json.dumps({"status": why}), 503, {"retry-after": "2"}, JSON)

    def _admits(self, path: str, token: bytes) -> bool:
        """Tell whether a token opens a path: figures are the owner's, what writes has others."""
        if path == FIGURES:
            owner = self._settings.owner.encode("utf-8", "surrogatepass")
            return not owner or hmac.compare_digest(owner, token)
        return self._settings.senders.admit(token)

    async def _accepted(self, signal: Signal, sent: SentHeaders, request: Request) -> Response:
        sent.check_form(protobuf=signal != "examples", most=self._settings.body)
        dropped = sent.get(DROPPED, "")
        if dropped.isdecimal() and len(dropped) < 10:
            self.writer.note({"dropped": int(dropped)})
        if self._closed:
            raise Refused(503, STOPPING)
        waiting = self.room.enter()
        if waiting is None:
            raise Refused(429, FULL)
        try:
            grow = partial(self.room.grow, waiting)
            body = await http_request.whole_body(request.stream(), grow, self._settings.body)
            return await self._written(signal, sent, body, grow)
        finally:
            self.room.leave(waiting)

    async def _written(
        self, signal: Signal, sent: SentHeaders, body: bytes, grow: Callable[[int], bool]
    ) -> Response:
        """Read a body in another thread and write it in a third; one wake-up when that is done."""
        loop = asyncio.get_running_loop()
        replied: asyncio.Future[Response] = loop.create_future()

        def settle(reply: Response) -> None:
            if not replied.done():
                replied.set_result(reply)

        def answer(reply: Response | Refused) -> None:
            reply = self._refused(reply, sent) if isinstance(reply, Refused) else reply
            # Who was stopped while waiting has no loop, and nobody to reply to.
            if not loop.is_closed():
                loop.call_soon_threadsafe(settle, reply)

        def read(most: int) -> None:
            try:
                accepted = self._read(signal, sent, body, most)
            except TooLarge:
                self._large.submit(read, self._settings.unpacked)
            except Refused as error:
                answer(error)
            else:
                write(accepted)

        def write(accepted: AcceptedBody) -> None:
            reply = reply_to(signal, accepted, json=sent.is_json)
            if not (accepted.parts or accepted.malformed):
                self.writer.note(accepted.counts)
                answer(reply)
            elif grow(accepted.size):
                self.writer.put(
                    accepted, lambda error: answer(Refused(503, AWAY) if error else reply)
                )
            else:
                answer(Refused(429, FULL))

        self._readers.submit(read, LARGE)
        return await replied

    def _read(self, signal: Signal, sent: SentHeaders, body: bytes, most: int) -> AcceptedBody:
        """Read a body; ``TooLarge`` where it is for the thread that reads large ones."""
        use = self._settings
        try:
            whole = http_request.unpacked(body, sent.encoding, min(most, use.unpacked))
        except TooLarge:
            raise (TooLarge if most < use.unpacked else too_large(use.unpacked)) from None
        try:
            return accept_body(signal, whole, json=sent.is_json, use=use, now=self._now())
        except UnreadableBody as error:
            self.writer.note({"unreadable": 1}, [unread(error, whole, use.redaction)])
            status = 413 if error.why == TOO_MANY else 400
            raise Refused(status, str(error)) from None
        except Exception as error:
            # A body that nobody foresaw: it would fail again.
            self.writer.note({"failed": 1}, line=_failure(error))
            raise Refused(400, "The body could not be read.") from None

    def _refused(self, error: Refused, sent: SentHeaders) -> Response:
        self.writer.note({"refused": 1})
        return refusal(error.status, error.message, json=sent.is_json)


def _failure(error: Exception) -> str:
    """Return where an error arose; not its words, in which the text of a trace may stand."""
    return f"A request failed: {type(error).__name__}{raised_in(error.__traceback__)}."
