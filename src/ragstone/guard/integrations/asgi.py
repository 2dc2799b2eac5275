"""ASGI middleware: judges the answers of a web app before they leave, whole or streamed."""

from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import partial

from ragstone.core.errors import InputError
from ragstone.core.messages import reason
from ragstone.data.json_path import JsonPath
from ragstone.guard.assessment import WayOut
from ragstone.guard.claim_judges import Circuit
from ragstone.guard.guard import Guard
from ragstone.guard.stream.release import Policy

from .chat_events import ChatEvents, EventPlaces
from .event_places import EventText, Written
from .event_replies import EventReply
from .guarded_replies import JsonReplies, JudgedReply, header_value, release_of, stream_header
from .request_guard import (
    HELD,
    HOLD,
    Assessing,
    IfNotJudged,
    OnFail,
    RequestGuard,
    Ruling,
    Told,
    listening,
)
from .request_reading import (
    AnswerPath,
    BufferedRequest,
    ChatCompletions,
    Extract,
    Extraction,
    Message,
    Receive,
    Scope,
    Send,
)

# Headers that no longer hold where another body is given.
OF_THE_BODY = {
    b"accept-ranges", b"content-digest", b"content-encoding", b"content-length", b"content-md5",
    b"digest", b"etag", b"last-modified", b"repr-digest",
}  # fmt: skip


# Kinds of replies that are lines of JSON.
LINES = tuple(f"application/{name}" for name in ("x-ndjson", "ndjson", "jsonl", "x-jsonlines"))

Header = tuple[bytes, bytes]


@dataclass(eq=False, slots=True)
class GuardedReply:
    """Takes an app's messages in place of the server, and sends on what may leave."""

    replies: JsonReplies
    begin_events: Callable[..., EventReply]
    policy: Policy
    reads_lines: bool
    request: BufferedRequest
    facts: Told
    header: bytes
    out: Send
    _events: EventReply | None = None
    _start: Message | None = None
    _held: bytearray = field(default_factory=bytearray)
    _sent: bool = False
    _refused: bool = False

    async def send(self, message: Message) -> None:
        """Take a message of the app's."""
        if self._refused:
            return
        if self._events is not None and message["type"] == "http.response.body":
            await self._events.feed(message.get("body", b""))
            if not message.get("more_body", False):
                await self._events.close()
                await self.out({"type": "http.response.body", "body": b"", "more_body": False})
        elif self._sent or message["type"] == "http.response.debug":
            await self.out(message)
        elif self._start is None:
            await self._begin(message)
        elif message["type"] == "http.response.body":
            await self._more(message)
        else:
            # Such as a file that the server reads itself.
            await self._unseen(reason("body_elsewhere"), more=True)
            await self.send(message)

    async def close(self) -> None:
        """Take the end of the app, which may have left its reply unfinished."""
        if self._start is not None and not self._sent:
            await self._unseen(reason("reply_not_complete"), more=True)

    def leave(self) -> None:
        """Conclude where the app failed or nobody waits for its reply any more."""
        if self._events is not None:
            self._events.leave()

    async def _begin(self, message: Message) -> None:
        if message["type"] != "http.response.start":
            await self.out(message)
        elif not 200 <= message["status"] < 300 or message["status"] in (204, 205):
            self._sent = True
            await self.out(message)
        else:
            self._start = message
            kind = _value(message, b"content-type").partition(";")[0].strip().lower()
            encoding = _value(message, b"content-encoding").strip().lower()
            lines = kind in LINES and self.reads_lines
            if (lines or kind == "text/event-stream") and encoding in ("", "identity"):
                await self._begin_events(message, lines=lines)
            elif lines or kind == "text/event-stream":
                await self._unseen(reason("body_encoded", encoding=encoding[:40]), more=True)
            elif kind != "application/json" and not (kind.endswith("+json") and "," not in kind):
                await self._unseen(reason("not_json", kind=kind[:100]), more=True)

    async def _begin_events(self, start: Message, *, lines: bool) -> None:
        value = stream_header(self.policy, self.request.run_id)
        headers = _without(start["headers"], {b"content-length"})
        self._sent = True
        self._events = self.begin_events(
            self.request, self.facts, self._send_events, is_of_lines=lines
        )
        await self.out({**start, "headers": [*headers, (self.header, value)]})

    async def _send_events(self, body: bytes) -> None:
        await self.out({"type": "http.response.body", "body": body, "more_body": True})

    async def _more(self, message: Message) -> None:
        self._held += message.get("body", b"")
        more = message.get("more_body", False)
        if len(self._held) > self.replies.most_bytes:
            why = reason("body_too_large", most=self.replies.most_bytes)
            await self._unseen(why, more=more)
        elif not more:
            assert self._start is not None
            encoding, body = _value(self._start, b"content-encoding"), bytes(self._held)
            known = self.request, self.facts
            await self._give(await self.replies.judged(body, encoding, *known))

    async def _unseen(self, why: str, *, more: bool) -> None:
        await self._give(self.replies.unseen(why, self.request, self.facts), more=more)

    async def _give(self, reply: JudgedReply, *, more: bool = False) -> None:
        assert self._start is not None
        rulings, action, changed, status = reply
        start, body = dict(self._start), bytes(self._held)
        headers = list(start["headers"])
        if changed is not None:
            body, more = changed, False
            headers = _without(headers, OF_THE_BODY)
            headers.append((b"content-length", b"%d" % len(body)))
        if status is not None:
            headers = _without(headers, {b"content-type"})
            headers.append((b"content-type", b"application/json"))
            start |= {"status": status, "trailers": False}
        headers.append((self.header, header_value(rulings, action)))
        self._sent, self._refused = True, action == "refused"
        await self.out({**start, "headers": headers})
        if body or not more:
            await self.out({"type": "http.response.body", "body": body, "more_body": more})


def _without(headers: Iterable[Header], names: Collection[bytes]) -> list[Header]:
    return [header for header in headers if header[0].lower() not in names]


def _value(message: Message, name: bytes) -> str:
    values = [value for key, value in message.get("headers", ()) if key.lower() == name]
    return b", ".join(values).decode("latin-1")


MOST_BYTES = 4 << 20
UNGUARDED = ("HEAD", "OPTIONS")

# Headers by which whoever asks gets a reply that cannot be read: packed, or only a part of it.
NOT_FOR_THE_APP = (b"accept-encoding", b"range")

App = Callable[[Scope, Receive, Send], Awaitable[None]]


class GuardMiddleware:
    """Judges the answers of an ASGI app before they leave, such as of FastAPI or Starlette.

        app.add_middleware(
            GuardMiddleware,
            guard=Guard(),
            paths=["/ask"],
            question="$.question",
            answer="$.answer",
            reply_contexts="$.contexts[*].text",
        )

    JSON replies with a status from 200 to 299 are held until they are judged, and of server-sent
    events and lines of JSON the text; other paths, WebSockets and ``lifespan`` pass as they are. A
    header tells what came of a reply, and a note at its end what came of a stream. Nothing that
    goes wrong in the guard becomes an error of the request: the answer is then not judged, and
    ``if_not_judged`` says whether it passes.

    Contexts are taken from the first of these that has them: ``tell_guard``, ``extract``,
    ``contexts`` in the request, and ``reply_contexts`` in the reply or in an event before its text.
    Where they are known, a question that cannot be read switches nothing off: the answer is judged
    by the contexts alone, and the log says why.

    A reply is not judged if it is not JSON, is broken, has a key twice, is compressed in an unknown
    way or in several parts, or is larger than ``most_bytes``; nor is a stream in which no text is
    known, which is held until its first text. The same holds of an event that may be text where
    none is expected: data that is no JSON object, a value at the path that is no text, or text
    under a name of an event. It passes or is left out as what is not judged, and the note has
    ``unread`` among what is ``beside`` the answer. Refusals and speech of a chat model
    (``refusal``, ``audio``) pass as tool calls do, and are named there too. Where an event at the
    end of a stream of a chat API repeats the text, it repeats only what was let through; at
    ``event_text`` events behind the first text, and comments, are not looked at. Of Anthropic's
    messages each block of text is judged by itself, also where citations cut a sentence in two.

    The app does not see ``Accept-Encoding`` and ``Range``, by which whoever asks would get a reply
    that cannot be read. A middleware that compresses belongs outside, so add it after this one.

    JSON paths have ``.key``, ``['any key']``, ``[0]``, ``[-1]`` and ``[*]``.

    Attributes:
        guard: A ``RequestGuard``, which has counts.
    """

    def __init__(
        self,
        app: App,
        guard: Assessing | None = None,
        *,
        paths: Sequence[str],
        extract: Extract | None = None,
        question: str | None = "$.messages[-1].content",
        contexts: str | None = None,
        reply_contexts: str | None = None,
        answer: str | None = None,
        event_text: str | None = None,
        policy: Policy = "hold_sentence",
        stop_early: bool = False,
        on_fail: OnFail = HELD,
        if_not_judged: IfNotJudged = "closed",
        hold: Collection[WayOut] = HOLD,
        timeout: float | None = None,
        circuit: Circuit | None = None,
        on_ruling: Callable[[Ruling], object] | None = None,
        body_key: str | None = None,
        header: str = "ragstone-guard",
        most_bytes: int = MOST_BYTES,
    ) -> None:
        """Guard an app.

        Args:
            app: The app.
            guard: Judges the answers; None: ``Guard()``.
            paths: The paths that answer questions, which are guarded; ``*`` stands for any text.
            extract: From the request and its JSON to (question, contexts), instead of ``question``
                and ``contexts``; may be async, and either may be None.
            question: JSON path of the question in the request.
            contexts: JSON path of the contexts in the request: of a list, or with ``[*]`` of its
                texts or objects with ``text`` and ``id``.
            reply_contexts: The same in the reply. A route can also call ``tell_guard``.
            answer: JSON path of the answer in the reply. None: replies are OpenAI-style chat
                completions, or streams of these, of OpenAI's Responses, of Anthropic's messages or
                of Ollama.
            event_text: Where ``answer`` is given, the JSON path of the text in server-sent events
                and in lines of JSON. None: the data of an event is text.
            policy: What leaves of a stream, and when: ``hold_sentence`` lets each sentence leave
                once it is judged, ``hold_all`` nothing before the answer is, and ``flag_after``
                all at once.
            stop_early: Whether nothing more leaves of a stream behind what is held back.
            on_fail: What is given in place of an answer that is held back: a text, a status such
                as 422, or None: the answer all the same, and only header or note tell. A stream
                has its status already; of it the held part is left out.
            if_not_judged: See ``RequestGuard``, as for ``timeout``, ``circuit`` and ``on_ruling``.
            hold: The decisions by which a JSON answer is held back.
            timeout: Seconds until an answer counts as not judged.
            circuit: When to stop asking a guard that fails.
            on_ruling: Called with every ruling.
            body_key: Key under which the JSON of the reply gets a note of what came of its answer,
                which quotes nothing. In streams of chat completions it is ``ragstone_guard``, if
                none is given; other streams end with an event ``ragstone-guard``.
            header: Name of the header.
            most_bytes: A longer request or reply is not judged.

        Raises:
            InputError: A setting that cannot be used.
        """
        if isinstance(on_fail, int) and not 400 <= on_fail <= 599:
            raise InputError(f"on_fail={on_fail}: a status is from 400 to 599.")
        self.app = app
        self.guard = RequestGuard(
            Guard() if guard is None else guard, if_not_judged=if_not_judged, hold=hold,
            timeout=timeout, circuit=circuit, on_ruling=on_ruling,
        )  # fmt: skip
        self._paths = (paths,) if isinstance(paths, str) else tuple(paths)
        self._header = header.lower().encode("ascii")
        self._most_bytes = most_bytes
        if extract is not None:
            question = contexts = None
        extraction = Extraction(extract, *map(_path, (question, contexts, reply_contexts)))
        places = ChatCompletions() if answer is None else AnswerPath.read(answer)
        replies = JsonReplies(self.guard, extraction, places, on_fail, body_key, most_bytes)
        text = _path(event_text)
        release = release_of(self.guard, on_fail, policy, stop_early=stop_early)
        event_places: Callable[[Written], EventPlaces]
        event_places = ChatEvents if answer is None else partial(EventText, text)
        key = body_key or "ragstone_guard"
        events = partial(EventReply, self.guard, extraction, event_places, release, key)
        reads_lines = answer is None or text is not None
        self._reply = partial(GuardedReply, replies, events, release.policy, reads_lines)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if not self._is_guarded(scope):
            await self.app(scope, receive, send)
            return
        request = BufferedRequest(scope, self._most_bytes)
        headers = _without(scope["headers"], NOT_FOR_THE_APP)
        with listening() as facts:
            reply = self._reply(request, facts, self._header, send)
            try:
                await self.app({**scope, "headers": headers}, request.heard(receive), reply.send)
                await reply.close()
            finally:
                reply.leave()

    def _is_guarded(self, scope: Scope) -> bool:
        if scope["type"] != "http" or scope["method"] in UNGUARDED:
            return False
        path = scope["path"]
        # Behind a proxy, or mounted, an app has its own path below this one.
        below = path.removeprefix(scope.get("root_path", "").rstrip("/"))
        return any(fnmatchcase(p, pattern) for p in (path, below) for pattern in self._paths)


def _path(text: str | None) -> JsonPath | None:
    return None if text is None else JsonPath.read(text)
