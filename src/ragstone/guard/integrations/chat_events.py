"""Chat events: where text stands in the streams of OpenAI's, Anthropic's and Ollama's APIs."""

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


class ChatEvents:
    """The events of chat APIs: OpenAI's completions and responses, Anthropic's, Ollama's.

    Calls of tools and what a model reasons pass at once.

    Attributes:
        left: What has left so far of each answer that has begun; only Responses repeats it.
    """

    def __init__(self, written: Written) -> None:
        self.written = written
        self.left: dict[AnswerKey, str] = {}

    def parts(self, event: ServerEvent) -> EventParts:
        """Return the contents of an event."""
        if (parts := plain_parts(event)) is not None:
            return parts
        value = json_of(event)
        if (form := _form_of(value)) is not None:
            return _PARTS[form](self, event, value)
        is_error = isinstance(value, Mapping) and bool(value.get("error"))
        unread = is_unread(event, value)
        return EventParts(value, rest=event.raw, unread=unread, known=is_error)

    def piece(self, like: ServerEvent, answer: AnswerKey, text: str) -> bytes:
        """Write an event with this text of an answer, and all else as in one of the app's."""
        form, value = _known_form(like)
        if form == "response":
            self.left[answer] += text
        return self._event(_PIECES[form](value, answer, text), form, like)

    def end(
        self, like: ServerEvent, answer: AnswerKey, key: str, note: Any, *, held: bool
    ) -> bytes:
        """Write the event that ends an answer, with the note; see ``EventText.end``."""
        form, value = _known_form(like)
        whole = self.left.get(answer, "")
        return self._event({**_ENDS[form](value, answer, whole, held), key: note}, form, like)

    def repeated(self, event: ServerEvent) -> bytes:
        """Write an event of Responses that repeats answers, with what left of them."""
        value = json_of(event)
        if value["type"] == _TEXT_DONE:
            return b""
        changed = _with_texts(value, lambda key, _: self.left[key])
        return self.written(json_text(changed), event.name)

    def _event(self, value: Mapping[str, Any], form: str, like: ServerEvent) -> bytes:
        is_named = like.name and form in ("response", "message")
        return self.written(json_text(value), value["type"] if is_named else "")

    def __str__(self) -> str:
        return "$.choices[*].delta.content"


def _form_of(value: Any) -> str | None:
    if not isinstance(value, Mapping):
        return None
    kind = value.get("type")
    if value.get("choices") is not None:
        return "chunk"
    if isinstance(kind, str) and kind.startswith("response."):
        return "response"
    if kind in _MESSAGE_TYPES:
        return "message"
    lines = "done" in value and ("message" in value or "response" in value)
    return "line" if lines else None


def _known_form(event: ServerEvent) -> tuple[str, Any]:
    value = json_of(event)
    form = _form_of(value)
    assert form is not None
    return form, value


# The chunks of a chat completion in the form of OpenAI's API. The note stands in the chunk that
# ends the choice, as a further key, which clients leave alone. A choice of which something was held
# back ends with ``content_filter``.


def _chunk_parts(events: ChatEvents, event: ServerEvent, value: Mapping[str, Any]) -> EventParts:
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
    rest = events.written(json_text({**value, "choices": others}), "") if others else b""
    return EventParts(value, texts, rest, ends, known=True, beside=unjudged)


def _chunk_end(
    value: Mapping[str, Any], answer: AnswerKey, _: str, held: bool
) -> Mapping[str, Any]:
    choices = [choice for choice in value["choices"] if _number(choice) == answer] or [{}]
    finish = "content_filter" if held else choices[0].get("finish_reason") or "stop"
    return _chunk(value, answer, "", finish)


def _chunk(
    value: Mapping[str, Any], answer: AnswerKey, text: str, finish: str | None = None
) -> Mapping[str, Any]:
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


# The events of OpenAI's Responses, of which the last ones repeat the text of the others.


def _response_parts(events: ChatEvents, event: ServerEvent, value: Mapping[str, Any]) -> EventParts:
    kind = value["type"]
    if kind == _TEXT_DELTA and isinstance(value.get("delta"), str):
        key = _output(value)
        events.left.setdefault(key, "")
        return EventParts(value, {key: value["delta"]}, known=True)
    spoken: dict[AnswerKey, str] = {}

    def note(key: AnswerKey, text: str) -> str:
        spoken[key] = text
        return text

    _with_texts(value, note)
    unjudged = _named(kind, _BESIDE)
    new = {key: text for key, text in spoken.items() if key not in events.left}
    events.left |= dict.fromkeys(new, "")
    says = any(isinstance(value.get(name), str) for name in ("delta", "text"))
    return EventParts(
        value, new, b"" if spoken else event.raw, frozenset(spoken),
        unread=says and not unjudged and not spoken and kind != _TEXT_DONE,
        known=True, repeats=bool(spoken), beside=unjudged,
    )  # fmt: skip


def _response_event(
    kind: str, value: Mapping[str, Any], answer: AnswerKey, **more: Any
) -> Mapping[str, Any]:
    same = {name: value[name] for name in ("item_id", "sequence_number") if name in value}
    where = {"output_index": answer[1], "content_index": answer[2]}
    return {"type": kind, **same, **where, "logprobs": [], **more}


_TEXT_DELTA, _TEXT_DONE = "response.output_text.delta", "response.output_text.done"
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


# The events of Anthropic's messages; each block of text is an answer.

_MESSAGE_TYPES = (
    "message_start", "content_block_start", "content_block_delta", "content_block_stop",
    "message_delta", "message_stop", "ping",
)  # fmt: skip


def _message_parts(events: ChatEvents, event: ServerEvent, value: Mapping[str, Any]) -> EventParts:
    key: AnswerKey = ("block", index_of(value, "index"), 0)
    if value["type"] == "content_block_stop" and key in events.left:
        return EventParts(value, ends=frozenset({key}), known=True)
    name = "content_block" if value["type"] == "content_block_start" else "delta"
    block = value.get(name)
    block = block if isinstance(block, Mapping) else {}
    if block.get("type") in ("text", "text_delta") and isinstance(block.get("text"), str):
        events.left[key] = ""
        begin = {**value, name: {**block, "text": ""}}
        rest = b"" if name == "delta" else events.written(json_text(begin), event.name)
        return EventParts(value, {key: block["text"]}, rest, known=True)
    message = value.get("message")
    says = isinstance(message, Mapping) and bool(message.get("content"))
    unread = says or isinstance(block.get("text"), str)
    unjudged = _named(str(block.get("type")), _BLOCKS)
    return EventParts(value, rest=event.raw, unread=unread, known=True, beside=unjudged)


def _message_piece(_: Mapping[str, Any], answer: AnswerKey, text: str) -> Mapping[str, Any]:
    delta = {"type": "text_delta", "text": text}
    return {"type": "content_block_delta", "index": answer[1], "delta": delta}


_BLOCKS = (("tool", "tool_calls"), ("input_json", "tool_calls"), ("thinking", "reasoning"))


# The lines of Ollama's chat and generate.


def _line_parts(events: ChatEvents, event: ServerEvent, value: Mapping[str, Any]) -> EventParts:
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
        value, {_LINE: text} if text else {}, events.written(json_text(rest), "") if more else b"",
        ends, known=True,
        beside=beside([spoken]) | ({"reasoning"} if "thinking" in spoken else frozenset()),
    )  # fmt: skip


def _line_piece(value: Mapping[str, Any], _: AnswerKey, text: str) -> Mapping[str, Any]:
    names = ("model", "created_at", "message", "response")
    same = {name: value[name] for name in names if name in value}
    if "message" in same:
        same["message"] = {"role": same["message"].get("role", "assistant")}
    return {**_line_with(same, text), "done": False}


def _line_end(value: Mapping[str, Any], _: AnswerKey, __: str, held: bool) -> Mapping[str, Any]:
    return {**_line_with(_plain_line(value) if held else value, ""), "done": True}


_LINE: AnswerKey = ("line", 0, 0)


def _plain_line(value: Mapping[str, Any]) -> dict[str, Any]:
    """Copy a line without what spells its text out."""
    return {name: part for name, part in value.items() if name not in ("context", "logprobs")}


def _line_with(value: Mapping[str, Any], text: str) -> dict[str, Any]:
    if isinstance(value.get("message"), Mapping):
        return {**value, "message": {**value["message"], "content": text}}
    return {**value, "response": text}


_PARTS: dict[str, Callable[[ChatEvents, ServerEvent, Mapping[str, Any]], EventParts]] = {
    "chunk": _chunk_parts,
    "response": _response_parts,
    "message": _message_parts,
    "line": _line_parts,
}
_PIECES: dict[str, Callable[[Mapping[str, Any], AnswerKey, str], Mapping[str, Any]]] = {
    "chunk": _chunk,
    "response": lambda value, answer, text: _response_event(_TEXT_DELTA, value, answer, delta=text),
    "message": _message_piece,
    "line": _line_piece,
}
_ENDS: dict[str, Callable[[Mapping[str, Any], AnswerKey, str, bool], Mapping[str, Any]]] = {
    "chunk": _chunk_end,
    "response": lambda value, answer, text, _: _response_event(
        _TEXT_DONE, value, answer, text=text
    ),
    "message": lambda _, answer, __, ___: {"type": "content_block_stop", "index": answer[1]},
    "line": _line_end,
}

# Where the text of answers stands in the events of one reply.
EventPlaces = EventText | ChatEvents
