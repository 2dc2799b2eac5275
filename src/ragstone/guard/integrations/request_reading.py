"""Request reading: extracts question, contexts and answers from requests and replies.

A JSON path looks like ``$.choices[0].message.content``.
"""

import inspect
import json
import zlib
from collections.abc import Awaitable, Callable, Iterable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from ragstone.core.escape import single_line
from ragstone.core.messages import reason
from ragstone.data.conversation import asked_in
from ragstone.data.json_path import JsonPath
from ragstone.guard.assessment import LOGGER, shown

from .request_guard import ContainedInRequest, Exchange, Told

WINDOWS = {"gzip": zlib.MAX_WBITS | 16, "x-gzip": zlib.MAX_WBITS | 16, "deflate": zlib.MAX_WBITS}


class Undecodable(ValueError):
    """A body that cannot be decoded; ``why`` is the reason, as a code with its facts."""

    def __init__(self, why: str) -> None:
        self.why = why
        super().__init__(why)


def decoded(body: bytes, encoding: str | None, most: int) -> bytes:
    """Return a whole body without its compression; refuse one of more than ``most`` bytes."""
    name = (encoding or "identity").strip().lower()
    if name not in ("identity", ""):
        if name not in WINDOWS:
            raise Undecodable(reason("body_encoded", encoding=name[:40]))
        reader = zlib.decompressobj(WINDOWS[name])
        try:
            body = reader.decompress(body, most + 1)
        except zlib.error as error:
            raise Undecodable(reason("body_encoded", encoding=name)) from error
        # Behind a first member, which is whole, may be others, which a client reads as well.
        if len(body) <= most and (not reader.eof or reader.unused_data):
            raise Undecodable(reason("body_encoded", encoding=name))
    if len(body) > most:
        raise Undecodable(reason("body_too_large", most=most))
    return body


def json_value(text: str | bytes) -> Any:
    """Return the value of a JSON text.

    Raises:
        ValueError: It is none, or an object has a key twice: readers differ in which they take.
        RecursionError: It is too deep.
    """
    return json.loads(text, object_pairs_hook=_object)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        raise ValueError
    return value


Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]


class BufferedRequest:
    """A request, whose body is kept while the app reads it; the app reads it as ever.

    Attributes:
        method: Such as ``POST``.
        path: Its path, without the query.
        headers: Their values by lower-case name; of several with a name the last.
        run_id: What the request calls itself by ``x-request-id``, as far as that can be shown;
            else a new id.
    """

    def __init__(self, scope: Scope, most_bytes: int) -> None:
        self.method: str = scope["method"]
        self.path: str = scope["path"]
        self.headers: Mapping[str, str] = {
            name.decode("latin-1").lower(): value.decode("latin-1")
            for name, value in scope["headers"]
        }
        self.run_id = single_line(self.headers.get("x-request-id", ""))[:100] or uuid4().hex
        self._most = most_bytes
        self._pieces: list[bytes] = []
        self._size = 0
        self._whole = False

    def heard(self, receive: Receive) -> Receive:
        """Return a ``receive`` for the app, which hears along."""

        async def hear() -> Message:
            message = await receive()
            if message["type"] == "http.request":
                piece = message.get("body", b"")
                self._size += len(piece)
                if self._size <= self._most:
                    self._pieces.append(piece)
                else:
                    self._pieces.clear()
                self._whole = not message.get("more_body", False)
            return message

        return hear

    def body(self) -> tuple[Any, str | None]:
        """Return its JSON, and why there is none; both None for an empty body."""
        if self._size > self._most:
            return None, reason("body_too_large", most=self._most)
        if not self._whole:
            return None, reason("request_not_read")
        try:
            text = decoded(b"".join(self._pieces), self.headers.get("content-encoding"), self._most)
            return (json_value(text) if text.strip() else None), None
        except Undecodable as error:
            return None, error.why
        except (ValueError, RecursionError):
            return None, reason("broken_json", part="request")


class AnswerPath(JsonPath):
    """A path to the answers in a reply."""

    def answers(self, body: Any) -> list[str | None] | None:
        """Return each answer, None for an empty one; None if what stands there is no text."""
        values = self.values(body)
        lists = (value for value in values or () if isinstance(value, list))
        is_mixed = any(text_of([part]) is None for value in lists for part in value)
        return None if is_mixed else _texts(values)

    def replaced(self, body: Any, texts: Sequence[str | None]) -> Any:
        """Copy the body with other answers; None leaves one as it is."""
        left = iter(texts)

        def change(old: Any) -> Any:
            new = next(left)
            return old if new is None else new

        return self.changed(body, change)

    def beside(self, body: Any) -> frozenset[str]:  # noqa: ARG002
        """Name nothing, for nothing is known of that."""
        return frozenset()


# Keys of what a chat model says beside its answer, and what that is; it is not judged.
BESIDE = {
    "tool_calls": "tool_calls",
    "function_call": "tool_calls",
    "reasoning_content": "reasoning",
    "reasoning": "reasoning",
    "refusal": "refusal",
    "audio": "audio",
}

# Keys of a streamed choice that spell its text out beside its delta.
SPELLED = ("logprobs", "message", "text")


class ChatCompletions:
    """The answers of a chat completion in the form of OpenAI's API.

    A message that only calls tools has no answer. What a model reasons is no answer either. Where
    an answer is replaced its log-probabilities go too, for they spell it out, and its choice ends
    with ``content_filter``, which is what that form calls an answer that was held back.
    """

    def answers(self, body: Any) -> list[str | None] | None:
        """Return the content of each choice's message; None for one without, as a tool call."""
        choices = body.get("choices") if isinstance(body, Mapping) else None
        if not isinstance(choices, list):
            return None
        return _texts(list(map(_content, choices)))

    def replaced(self, body: Any, texts: Sequence[str | None]) -> Any:
        """Copy the body with other contents; None leaves one as it is."""
        choices = [
            choice if text is None else _held(choice, text)
            for choice, text in zip(body["choices"], texts, strict=True)
        ]
        return {**body, "choices": choices}

    def beside(self, body: Any) -> frozenset[str]:
        """Name what messages have beside answers that is not judged."""
        return beside(map(_message, body["choices"]))

    def __str__(self) -> str:
        return "$.choices[*].message.content"


def beside(messages: Iterable[Mapping[str, Any]]) -> frozenset[str]:
    """Name what messages of a chat model have beside their text."""
    return frozenset(
        name for message in messages for key, name in BESIDE.items() if message.get(key)
    )


def text_of(value: Any) -> str | None:
    """Return the text of a content: itself, or that of its parts; None if it has none.

    Parts of any kind are read, as a user may be shown them; of files, only known kinds are.
    """
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        parts = [part for part in value if isinstance(part, str | Mapping)]
        contents = [part if isinstance(part, str) else part.get("text") for part in parts]
        texts = [text for text in contents if isinstance(text, str)]
        return "".join(texts) if texts else None
    return None


def _texts(values: Sequence[Any] | None) -> list[str | None] | None:
    """Return the text of each value; None if one of them may say something, and is no text."""
    texts = [text_of(value) for value in values or ()]
    if values is None or any(
        value and text is None for value, text in zip(values, texts, strict=True)
    ):
        return None
    return texts


def _content(choice: Any) -> Any:
    """Return what a choice says, also of a completion in the older form, without messages."""
    if isinstance(choice, Mapping) and isinstance(choice.get("message"), Mapping):
        return _message(choice).get("content")
    if isinstance(choice, Mapping) and "text" in choice:
        return choice["text"]
    return choice


def _message(choice: Any) -> Mapping[str, Any]:
    message = choice.get("message") if isinstance(choice, Mapping) else None
    return message if isinstance(message, Mapping) else {}


def _held(choice: Mapping[str, Any], text: str) -> dict[str, Any]:
    if isinstance(choice.get("message"), Mapping):
        held = {**choice, "message": {**_message(choice), "content": text}}
    else:
        held = {**choice, "text": text}
    held["finish_reason"] = "content_filter"
    if "logprobs" in held:
        held["logprobs"] = None
    return held


Extracted = tuple[str | None, Any]
# From the request and its JSON (None if it has none) to the question and the contexts.
Extract = Callable[[BufferedRequest, Any], Extracted | Awaitable[Extracted]]


@dataclass(frozen=True, slots=True)
class Extraction:
    """Finds the question and the contexts of an answer.

    What was told by ``tell_guard`` is taken first, then what ``extract`` gives, then the paths: of
    question and contexts in the request, and of contexts in the reply.
    """

    extract: Extract | None
    question: JsonPath | None
    contexts: JsonPath | None
    reply_contexts: JsonPath | None

    async def exchange(
        self, request: BufferedRequest, facts: Told, reply: Any
    ) -> tuple[Exchange, str | None]:
        """Return the facts that an answer is judged by; ``facts`` went to ``tell_guard``.

        The second is why it cannot be judged: the contexts are not where they should be. Without a
        question that can be read it is judged by them alone.
        """
        known = facts.exchange.over(Exchange(run_id=request.run_id))
        if known.contexts is None and self.reply_contexts is not None:
            known = known.over(Exchange(contexts=_at(self.reply_contexts, reply)))
        lacks_question = known.question is None and (self.extract or self.question) is not None
        lacks_contexts = known.contexts is None and (self.extract or self.contexts) is not None
        why = None
        if lacks_question or lacks_contexts:
            known, why = await self._extracted(request, known)
        if known.contexts is None and (why is not None or self.reply_contexts is not None):
            missing = reason("nothing_at", path=self.reply_contexts, part="reply")
            return known, missing if why is None else why
        if why is not None:
            # Whoever asks could switch the guard off, if it needed a question that it can read.
            LOGGER.warning("no question run_id=%s reason=%s", shown(known.run_id), why)
        return known, None

    async def _extracted(
        self, request: BufferedRequest, known: Exchange
    ) -> tuple[Exchange, str | None]:
        body, why = request.body()
        if why is not None:
            return known, why
        if self.extract is not None:
            with ContainedInRequest("extract failed", known.run_id) as extracting:
                extracted = self.extract(request, body)
                if inspect.isawaitable(extracted):
                    extracted = await extracted
                question, contexts = extracted
            if extracting.error is not None:
                return known, extracting.reason("extract_failed")
            known = known.over(Exchange(question, contexts))
        if known.question is None and self.question is not None:
            text = asked_in((self.question.values(body) or [None])[-1])
            if text is None:
                why = reason("nothing_at", path=self.question, part="request")
            known = known.over(Exchange(text))
        if known.contexts is None and self.contexts is not None:
            contexts = _at(self.contexts, body)
            if contexts is None:
                why = reason("nothing_at", path=self.contexts, part="request")
            known = known.over(Exchange(contexts=contexts))
        return known, why


def _at(path: JsonPath, value: Any) -> list[Any] | None:
    values = path.values(value)
    if values is None or path.several:
        return values
    return values[0] if isinstance(values[0], list) else None if values[0] is None else values
