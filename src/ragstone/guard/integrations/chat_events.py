"""Chat events: where text stands in the streams of OpenAI's, Anthropic's and Ollama's APIs."""

# ruff: noqa: ARG002, for one form needs what another does not.

from collections.abc import Callable, Mapping
from typing import Any

from .event_places import (
    AnswerKey,
    EventParts,
    EventText,
    Written,
    index_of,
    is_unread,
    json_of,
    json_text,
    plain_parts,
)
from .event_reader import ServerEvent
from .request_reading import SPELLED, beside, text_of


class _Form:
    """The events of one API; its methods are those of ``EventText``."""

    def __init__(self, written: Written) -> None:
        self._written = written

    def repeated(self, event: ServerEvent) -> bytes:
        return event.raw

    def _event(self, value: Mapping[str, Any], like: ServerEvent) -> bytes:
        return self._written(json_text(value), value["type"] if like.name else "")


class _ChatChunks(_Form):
    """The chunks of a chat completion in the form of OpenAI's API.

    The note stands in the chunk that ends the choice, as a further key, which clients leave alone.
    A choice of which something was held back ends with ``content_filter``.
    """

    def parts(self, event: ServerEvent, value: Mapping[str, Any]) -> EventParts:
        choices = value["choices"]
        if not isinstance(choices, list):
            return EventParts(value, rest=event.raw, unread=bool(choices))
        texts = {_number(choice): _text(choice) for choice in choices if _text(choice)}
        ends = frozenset(
            _number(choice)
            for choice in choices
            if isinstance(choice, Mapping) and choice.get("finish_reason") is not None
        )
        unjudged = beside(_delta(choice) for choice in choices)
        if not texts and not ends and not any(map(_spells, choices)):
            return EventParts(value, rest=event.raw, known=True, beside=unjudged)
        others = [_without_text(choice) for choice in choices if _says_more(choice)]
        rest = self._written(json_text({**value, "choices": others}), "") if others else b""
        return EventParts(value, texts, rest, ends, known=True, beside=unjudged)

    def piece(self, like: ServerEvent, answer: AnswerKey, text: str) -> bytes:
        return self._written(json_text(_chunk(like, answer, text, None)), "")

    def end(
        self, like: ServerEvent, answer: AnswerKey, key: str, note: Any, *, held: bool
    ) -> bytes:
        choices = [choice for choice in json_of(like)["choices"] if _number(choice) == answer] or [
            {}
        ]
        finish = "content_filter" if held else choices[0].get("finish_reason") or "stop"
        return self._written(json_text({**_chunk(like, answer, "", finish), key: note}), "")


def _chunk(like: ServerEvent, answer: AnswerKey, text: str, finish: str | None) -> dict[str, Any]:
    value = json_of(like)
    choice: dict[str, Any] = {"index": answer[1]}
    if all(isinstance(other, Mapping) and "text" in other for other in value["choices"]):
        # A completion in the older form, without messages.
        choice |= {"finish_reason": finish, "text": text}
    else:
        choice |= {"delta": {"content": text} if text else {}, "finish_reason": finish}
    return {name: part for name, part in value.items() if name != "usage"} | {"choices": [choice]}


def _delta(choice: Any) -> Mapping[str, Any]:
    delta = choice.get("delta") if isinstance(choice, Mapping) else None
    return delta if isinstance(delta, Mapping) else {}


def _text(choice: Any) -> str:
    text = text_of(_delta(choice).get("content"))
    if text is None and isinstance(choice, Mapping):
        # A completion in the older form, without messages.
        text = text_of(choice.get("text"))
    return text or ""


def _spells(choice: Any) -> bool:
    """Tell whether a choice may repeat its text beside the place where it stands."""
    if not isinstance(choice, Mapping):
        return bool(choice)
    return bool(_delta(choice).get("content")) or any(choice.get(name) for name in SPELLED)


def _says_more(choice: Any) -> bool:
    """Tell whether a choice has more than text and its end, such as a role or a call of a tool."""
    return any(value for name, value in _delta(choice).items() if name != "content")


def _without_text(choice: Mapping[str, Any]) -> dict[str, Any]:
    others = {name: value for name, value in choice.items() if name not in SPELLED}
    delta = {name: value for name, value in _delta(choice).items() if name != "content"}
    return {**others, "delta": delta, "finish_reason": None}


def _number(choice: Any) -> AnswerKey:
    return "choice", index_of(choice, "index"), 0


class _ResponseEvents(_Form):
    """The events of OpenAI's Responses, of which the last ones repeat the text of the others."""

    def __init__(self, written: Written) -> None:
        super().__init__(written)
        self._left: dict[AnswerKey, str] = {}

    def parts(self, event: ServerEvent, value: Mapping[str, Any]) -> EventParts:
        kind = value["type"]
        if kind == "response.output_text.delta" and isinstance(value.get("delta"), str):
            key = _output(value)
            self._left.setdefault(key, "")
            return EventParts(value, {key: value["delta"]}, known=True)
        spoken: dict[AnswerKey, str] = {}

        def note(key: AnswerKey, text: str) -> str:
            spoken[key] = text
            return text

        _with_texts(value, note)
        unjudged = _named(kind, _BESIDE)
        new = {key: text for key, text in spoken.items() if key not in self._left}
        self._left |= dict.fromkeys(new, "")
        says = any(isinstance(value.get(name), str) for name in ("delta", "text"))
        return EventParts(
            value, new, b"" if spoken else event.raw, frozenset(spoken),
            unread=says and not unjudged and not spoken and kind != _TEXT_DONE,
            known=True, repeats=bool(spoken), beside=unjudged,
        )  # fmt: skip

    def piece(self, like: ServerEvent, answer: AnswerKey, text: str) -> bytes:
        self._left[answer] += text
        return self._output("response.output_text.delta", like, answer, delta=text)

    def end(
        self, like: ServerEvent, answer: AnswerKey, key: str, note: Any, *, held: bool
    ) -> bytes:
        return self._output(_TEXT_DONE, like, answer, text=self._left[answer], **{key: note})

    def repeated(self, event: ServerEvent) -> bytes:
        value = json_of(event)
        if value["type"] == _TEXT_DONE:
            return b""
        changed = _with_texts(value, lambda key, _: self._left[key])
        return self._written(json_text(changed), event.name)

    def _output(self, kind: str, like: ServerEvent, answer: AnswerKey, **more: Any) -> bytes:
        value = json_of(like)
        same = {name: value[name] for name in ("item_id", "sequence_number") if name in value}
        where = {"output_index": answer[1], "content_index": answer[2]}
        return self._event({"type": kind, **same, **where, "logprobs": [], **more}, like)


_TEXT_DONE = "response.output_text.done"
_BESIDE = (
    ("reasoning", "reasoning"),
    ("refusal", "refusal"),
    ("audio", "audio"),
    ("_call", "tool_calls"),
    ("mcp", "tool_calls"),
)
_OTHER_PARTS = ("reasoning_text", "summary_text", "refusal")

Change = Callable[[AnswerKey, str], str]


def _named(kind: str, names: tuple[tuple[str, str], ...]) -> frozenset[str]:
    """Return what an event of this kind has beside answers, by the first part that it holds."""
    return frozenset([name for part, name in names if part in kind][:1])


def _output(value: Mapping[str, Any]) -> AnswerKey:
    return "output", index_of(value, "output_index"), index_of(value, "content_index")


def _with_texts(value: Mapping[str, Any], change: Change) -> dict[str, Any]:
    """Copy an event of Responses with each text of an answer changed."""
    _, output, content = _output(value)
    changed = dict(value)
    if value["type"] == _TEXT_DONE:
        changed = _with_text({**value, "type": "output_text"}, output, content, change)
    if isinstance(value.get("part"), Mapping):
        changed["part"] = _with_text(value["part"], output, content, change)
    if isinstance(value.get("item"), Mapping):
        changed["item"] = _item(value["item"], output, change)
    response = value.get("response")
    if isinstance(response, Mapping) and isinstance(response.get("output"), list):
        items = [_item(item, number, change) for number, item in enumerate(response["output"])]
        changed["response"] = {**response, "output": items}
    return changed


def _item(item: Any, output: int, change: Change) -> Any:
    if not isinstance(item, Mapping) or not isinstance(item.get("content"), list):
        return item
    parts = [_with_text(part, output, n, change) for n, part in enumerate(item["content"])]
    return {**item, "content": parts}


def _with_text(part: Any, output: int, content: int, change: Change) -> Any:
    if not isinstance(part, Mapping) or part.get("type") in _OTHER_PARTS:
        return part
    text = part.get("text")
    if not isinstance(text, str) or not text:
        return part
    return {**part, "text": change(("output", output, content), text), "logprobs": []}


class _MessageEvents(_Form):
    """The events of Anthropic's messages; each block of text is an answer."""

    TYPES = (
        "message_start", "content_block_start", "content_block_delta", "content_block_stop",
        "message_delta", "message_stop", "ping",
    )  # fmt: skip

    def __init__(self, written: Written) -> None:
        super().__init__(written)
        self._begun: set[AnswerKey] = set()

    def parts(self, event: ServerEvent, value: Mapping[str, Any]) -> EventParts:
        key: AnswerKey = ("block", index_of(value, "index"), 0)
        if value["type"] == "content_block_stop" and key in self._begun:
            return EventParts(value, ends=frozenset({key}), known=True)
        name = "content_block" if value["type"] == "content_block_start" else "delta"
        block = value.get(name)
        block = block if isinstance(block, Mapping) else {}
        if block.get("type") in ("text", "text_delta") and isinstance(block.get("text"), str):
            self._begun.add(key)
            begin = {**value, name: {**block, "text": ""}}
            rest = b"" if name == "delta" else self._written(json_text(begin), event.name)
            return EventParts(value, {key: block["text"]}, rest, known=True)
        message = value.get("message")
        says = isinstance(message, Mapping) and bool(message.get("content"))
        unread = says or isinstance(block.get("text"), str)
        unjudged = _named(str(block.get("type")), _BLOCKS)
        return EventParts(value, rest=event.raw, unread=unread, known=True, beside=unjudged)

    def piece(self, like: ServerEvent, answer: AnswerKey, text: str) -> bytes:
        delta = {"type": "text_delta", "text": text}
        value = {"type": "content_block_delta", "index": answer[1], "delta": delta}
        return self._event(value, like)

    def end(
        self, like: ServerEvent, answer: AnswerKey, key: str, note: Any, *, held: bool
    ) -> bytes:
        return self._event({"type": "content_block_stop", "index": answer[1], key: note}, like)


_BLOCKS = (("tool", "tool_calls"), ("input_json", "tool_calls"), ("thinking", "reasoning"))


class _OllamaLines(_Form):
    """The lines of Ollama's chat and generate."""

    def parts(self, event: ServerEvent, value: Mapping[str, Any]) -> EventParts:
        message = value.get("message")
        spoken = message if isinstance(message, Mapping) else {"content": value.get("response")}
        text = spoken.get("content") or ""
        both = message is not None and bool(value.get("response"))
        if both or not isinstance(text, str) or not isinstance(message, Mapping | None):
            return EventParts(value, rest=event.raw, unread=True)
        ends = frozenset({_LINE} if value["done"] is True else ())
        more = any(spoken.get(name) for name in spoken if name not in ("role", "content", "images"))
        more = more or bool(value.get("thinking"))
        rest = {**_line_with(_plain_line(value), ""), "done": False}
        return EventParts(
            value, {_LINE: text} if text else {}, self._bytes(rest) if more else b"", ends,
            known=True,
            beside=beside([spoken]) | ({"reasoning"} if "thinking" in spoken else frozenset()),
        )  # fmt: skip

    def piece(self, like: ServerEvent, answer: AnswerKey, text: str) -> bytes:
        value = json_of(like)
        names = ("model", "created_at", "message", "response")
        same = {name: value[name] for name in names if name in value}
        if "message" in same:
            same["message"] = {"role": same["message"].get("role", "assistant")}
        return self._bytes({**_line_with(same, text), "done": False})

    def end(
        self, like: ServerEvent, answer: AnswerKey, key: str, note: Any, *, held: bool
    ) -> bytes:
        value = json_of(like)
        same = _plain_line(value) if held else value
        return self._bytes({**_line_with(same, ""), "done": True, key: note})

    def _bytes(self, value: Mapping[str, Any]) -> bytes:
        return self._written(json_text(value), "")


_LINE: AnswerKey = ("line", 0, 0)


def _plain_line(value: Mapping[str, Any]) -> dict[str, Any]:
    """Copy a line without what spells its text out."""
    return {name: part for name, part in value.items() if name not in ("context", "logprobs")}


def _line_with(value: Mapping[str, Any], text: str) -> dict[str, Any]:
    if isinstance(value.get("message"), Mapping):
        return {**value, "message": {**value["message"], "content": text}}
    return {**value, "response": text}


class ChatEvents:
    """The events of chat APIs: OpenAI's completions and responses, Anthropic's, Ollama's.

    Calls of tools and what a model reasons pass at once.
    """

    def __init__(self, written: Written) -> None:
        self._chunks = _ChatChunks(written)
        self._responses = _ResponseEvents(written)
        self._messages = _MessageEvents(written)
        self._ollama = _OllamaLines(written)

    def parts(self, event: ServerEvent) -> EventParts:
        """Return the contents of an event."""
        if (parts := plain_parts(event)) is not None:
            return parts
        value = json_of(event)
        if (form := self._form(value)) is not None:
            return form.parts(event, value)
        is_error = isinstance(value, Mapping) and bool(value.get("error"))
        unread = is_unread(event, value)
        return EventParts(value, rest=event.raw, unread=unread, known=is_error)

    def piece(self, like: ServerEvent, answer: AnswerKey, text: str) -> bytes:
        """Write an event with this text of an answer, and all else as in one of the app's."""
        return self._like(like).piece(like, answer, text)

    def end(
        self, like: ServerEvent, answer: AnswerKey, key: str, note: Any, *, held: bool
    ) -> bytes:
        """Write the event that ends an answer, with the note; see ``EventText.end``."""
        return self._like(like).end(like, answer, key, note, held=held)

    def repeated(self, event: ServerEvent) -> bytes:
        """Write an event that repeats answers, with what left of them."""
        return self._like(event).repeated(event)

    def _like(
        self, event: ServerEvent
    ) -> _ChatChunks | _ResponseEvents | _MessageEvents | _OllamaLines:
        form = self._form(json_of(event))
        assert form is not None
        return form

    def _form(
        self, value: Any
    ) -> _ChatChunks | _ResponseEvents | _MessageEvents | _OllamaLines | None:
        if not isinstance(value, Mapping):
            return None
        kind = value.get("type")
        if value.get("choices") is not None:
            return self._chunks
        if isinstance(kind, str) and kind.startswith("response."):
            return self._responses
        if kind in _MessageEvents.TYPES:
            return self._messages
        lines = "done" in value and ("message" in value or "response" in value)
        return self._ollama if lines else None

    def __str__(self) -> str:
        return "$.choices[*].delta.content"


EventPlaces = EventText | ChatEvents
"""Where the text of answers stands in the events of one reply."""
