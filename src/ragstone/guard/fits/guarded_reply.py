"""Guarded reply: the messages of an app's reply, held until its answer is judged."""

from ragstone.core.messages import reason

from .event_reply import EventReplies, EventReply
from .exchange import Told
from .heard_request import HeardRequest, Message, Send
from .json_reply import JsonReplies, JudgedReply
from .reply_header import header_value, stream_header

OF_THE_BODY = {
    b"accept-ranges", b"content-digest", b"content-encoding", b"content-length", b"content-md5",
    b"digest", b"etag", b"last-modified", b"repr-digest",
}  # fmt: skip
"""Headers that no longer hold where another body is given."""


class GuardedReply:
    """Takes an app's messages in place of the server, and sends on what may be given."""

    def __init__(
        self,
        replies: JsonReplies,
        streams: EventReplies,
        request: HeardRequest,
        told: Told,
        header: bytes,
        send: Send,
    ) -> None:
        self._replies = replies
        self._streams = streams
        self._events: EventReply | None = None
        self._request = request
        self._told = told
        self._header = header
        self._send = send
        self._start: Message | None = None
        self._held = bytearray()
        self._sent = False
        self._refused = False

    async def send(self, message: Message) -> None:
        """A message of the app's."""
        if self._refused:
            return
        if self._events is not None and message["type"] == "http.response.body":
            await self._more_events(self._events, message)
        elif self._sent or message["type"] == "http.response.debug":
            await self._send(message)
        elif self._start is None:
            await self._begin(message)
        elif message["type"] == "http.response.body":
            await self._more(message)
        else:
            # Such as a file that the server reads itself.
            await self._unseen(reason("body_elsewhere"), more=True)
            await self.send(message)

    async def close(self) -> None:
        """The app is done; it may have left its reply unfinished."""
        if self._start is not None and not self._sent:
            await self._unseen(reason("reply_not_complete"), more=True)

    def leave(self) -> None:
        """The app failed, or nobody waits for its reply any more."""
        if self._events is not None:
            self._events.leave()

    async def _begin(self, message: Message) -> None:
        if message["type"] != "http.response.start":
            await self._send(message)
        elif not _has_answer(message["status"]):
            self._sent = True
            await self._send(message)
        else:
            self._start = message
            kind = _value(message, b"content-type").partition(";")[0].strip().lower()
            encoding = _value(message, b"content-encoding").strip().lower()
            if kind == "text/event-stream" and encoding in ("", "identity"):
                await self._begin_events(message)
            elif kind == "text/event-stream":
                await self._unseen(reason("body_encoded", encoding=encoding[:40]), more=True)
            elif kind != "application/json" and not kind.endswith("+json"):
                await self._unseen(reason("not_json", kind=kind[:100]), more=True)

    async def _begin_events(self, start: Message) -> None:
        value = stream_header(self._streams.release.policy, self._request.run_id)
        headers = [one for one in start["headers"] if one[0].lower() != b"content-length"]
        self._sent = True
        self._events = EventReply(self._streams, self._request, self._told, self._give_events)
        await self._send({**start, "headers": [*headers, (self._header, value)]})

    async def _more_events(self, events: EventReply, message: Message) -> None:
        await events.feed(message.get("body", b""))
        if not message.get("more_body", False):
            await events.close()
            await self._send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _give_events(self, body: bytes) -> None:
        await self._send({"type": "http.response.body", "body": body, "more_body": True})

    async def _more(self, message: Message) -> None:
        self._held += message.get("body", b"")
        more = message.get("more_body", False)
        if len(self._held) > self._replies.most_bytes:
            why = reason("body_too_large", most=self._replies.most_bytes)
            await self._unseen(why, more=more)
        elif not more:
            assert self._start is not None
            encoding = _value(self._start, b"content-encoding")
            exchange = self._told.exchange
            await self._give(
                await self._replies.judged(bytes(self._held), encoding, self._request, exchange)
            )

    async def _unseen(self, why: str, *, more: bool) -> None:
        """The reply holds no answer that can be judged; ``more`` of it is still to come."""
        await self._give(self._replies.unseen(why, self._request, self._told.exchange), more=more)

    async def _give(self, reply: JudgedReply, *, more: bool = False) -> None:
        assert self._start is not None
        start, body = dict(self._start), bytes(self._held)
        headers = list(start["headers"])
        if reply.body is not None:
            body, more = reply.body, False
            headers = [one for one in headers if one[0].lower() not in OF_THE_BODY]
            headers.append((b"content-length", b"%d" % len(body)))
        if reply.status is not None:
            headers = [one for one in headers if one[0].lower() != b"content-type"]
            headers.append((b"content-type", b"application/json"))
            start |= {"status": reply.status, "trailers": False}
        headers.append((self._header, header_value(reply.rulings, reply.action)))
        self._sent, self._refused = True, reply.action == "refused"
        await self._send({**start, "headers": headers})
        if body or not more:
            await self._send({"type": "http.response.body", "body": body, "more_body": more})


def _has_answer(status: int) -> bool:
    return 200 <= status < 300 and status not in (204, 205)


def _value(message: Message, name: bytes) -> str:
    found = [value for key, value in message.get("headers", ()) if key.lower() == name]
    return bytes(found[-1]).decode("latin-1") if found else ""
