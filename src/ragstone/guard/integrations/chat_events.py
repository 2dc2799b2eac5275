"""Chat events: where text stands in the streams of OpenAI's, Anthropic's and Ollama's APIs."""

# ruff: noqa: ARG002, for one form needs what another does not.

from collections.abc import Callable, Mapping
from typing import Any

from .event_places import (
    DONE,
    AnswerKey,
    EventParts,
    Written,
    index_of,
    is_unread,
    json_of,
    json_text,
)
from .event_reader import ServerEvent
from .request_reading import SPELLED, beside, text_of


class _Form:
    """The events of one API, none of which repeats an answer."""

    def __init__(self, written: Written) -> None:
        self._written = written

    def repeated(self, event: ServerEvent) -> bytes:
        """The event as it is."""
        return event.raw


class ChatChunks(_Form):
    """The chunks of a chat completion in the form of OpenAI's API.

    The note stands in the chunk that ends the choice, as a further key, which clients leave alone.
    A choice of which something was held back ends with ``content_filter``.
    """

    def parts(self, event: ServerEvent, value: Mapping[str, Any]) -> EventParts:
        """What a chunk holds; calls of tools and reasoning pass at once."""
        choices = value["choices"]
        if not isinstance(choices, list):
            return EventParts(value, rest=event.raw, unread=bool(choices))
        texts = {_number(one): _text(one) for one in choices if _text(one)}
        ends = frozenset(
            _number(one)
            for one in choices
            if isinstance(one, Mapping) and one.get("finish_reason") is not None
        )
        found = beside(_delta(one) for one in choices)
        if not texts and not ends and not any(_spells(one) for one in choices):
            return EventParts(value, rest=event.raw, known=True, beside=found)
        kept = [_without_text(choice) for choice in choices if _says_more(choice)]
        rest = self._written(json_text({**value, "choices": kept}), "") if kept else b""
        return EventParts(value, texts, rest, ends, known=True, beside=found)

    def piece(self, like: ServerEvent, answer: AnswerKey, text: str) -> bytes:
        """A chunk with this text."""
        said: dict[str, Any] = {
            "index": answer[1],
            "delta": {"content": text},
            "finish_reason": None,
        }
        if _is_legacy(like):
            said["text"] = said.pop("delta")["content"]
        return self._written(json_text(_chunk(like, said)), "")

    def end(
        self, like: ServerEvent, answer: AnswerKey, key: str, note: Any, *, held: bool
    ) -> bytes:
        """The chunk that ends the choice, with the note."""
        value = json_of(like.data or "")
        found = [one for one in value["choices"] if _number(one) == answer] or [{}]
        finish = "content_filter" if held else found[0].get("finish_reason") or "stop"
        choice: dict[str, Any] = {"index": answer[1], "delta": {}, "finish_reason": finish}
        if _is_legacy(like):
            choice["text"] = ""
            del choice["delta"]
        return self._written(json_text({**_chunk(like, choice), key: note}), "")


def _chunk(like: ServerEvent, choice: dict[str, Any]) -> dict[str, Any]:
    value = json_of(like.data or "")
    return {**{name: one for name, one in value.items() if name != "usage"}, "choices": [choice]}


def _delta(choice: Any) -> Mapping[str, Any]:
    delta = choice.get("delta") if isinstance(choice, Mapping) else None
    return delta if isinstance(delta, Mapping) else {}


def _text(choice: Any) -> str:
    said = text_of(_delta(choice).get("content"))
    if said is None and isinstance(choice, Mapping):
        # A completion in the older form, without messages.
        said = text_of(choice.get("text"))
    return said or ""


def _is_legacy(event: ServerEvent) -> bool:
    """Whether the text of an event stands as in completions without messages."""
    choices = json_of(event.data or "")["choices"]
    return all(isinstance(one, Mapping) and "text" in one for one in choices)


def _spells(choice: Any) -> bool:
    """Whether a choice may repeat its text beside the place where it stands."""
    if not isinstance(choice, Mapping):
        return bool(choice)
    return bool(_delta(choice).get("content")) or any(choice.get(name) for name in SPELLED)


def _says_more(choice: Any) -> bool:
    """Whether a choice has more than text and its end, such as a role or the call of a tool."""
    return any(one for name, one in _delta(choice).items() if name != "content")


def _without_text(choice: Mapping[str, Any]) -> dict[str, Any]:
    kept = {name: one for name, one in choice.items() if name not in SPELLED}
    delta = {name: one for name, one in _delta(choice).items() if name != "content"}
    return {**kept, "delta": delta, "finish_reason": None}


def _number(choice: Any) -> AnswerKey:
    return "choice", index_of(choice, "index"), 0


class ResponseEvents(_Form):
    """The events of OpenAI's Responses, of which the last ones repeat the text of the others."""

    def __init__(self, written: Written) -> None:
        super().__init__(written)
        self._left: dict[AnswerKey, str] = {}

    def parts(self, event: ServerEvent, value: Mapping[str, Any]) -> EventParts:
        """What an event holds; what repeats an answer is written anew once it has ended."""
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
        what = next((name for part, name in _BESIDE if part in kind), None)
        new = {key: text for key, text in spoken.items() if key not in self._left}
        self._left |= dict.fromkeys(new, "")
        says = any(isinstance(value.get(name), str) for name in ("delta", "text"))
        return EventParts(
            value, new, b"" if spoken else event.raw, frozenset(spoken),
            unread=says and what is None and not spoken and kind != _TEXT_DONE,
            known=True, repeats=bool(spoken),
            beside=frozenset() if what is None else frozenset({what}),
        )  # fmt: skip

    def piece(self, like: ServerEvent, answer: AnswerKey, text: str) -> bytes:
        """An event with this text."""
        self._left[answer] += text
        return self._event("response.output_text.delta", like, answer, delta=text)

    def end(
        self, like: ServerEvent, answer: AnswerKey, key: str, note: Any, *, held: bool
    ) -> bytes:
        """The event that ends the text, with the note."""
        return self._event(_TEXT_DONE, like, answer, text=self._left[answer], **{key: note})

    def repeated(self, event: ServerEvent) -> bytes:
        """An event that repeats answers, with what left of them."""
        value = json_of(event.data or "")
        if value["type"] == _TEXT_DONE:
            return b""
        changed = _with_texts(value, lambda key, _: self._left[key])
        return self._written(json_text(changed), event.name)

    def _event(self, kind: str, like: ServerEvent, answer: AnswerKey, **more: Any) -> bytes:
        value = json_of(like.data or "")
        same = {name: value[name] for name in ("item_id", "sequence_number") if name in value}
        _, output, content = answer
        place = {"output_index": output, "content_index": content}
        told = {"type": kind, **same, **place, "logprobs": [], **more}
        return self._written(json_text(told), kind if like.name else "")


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


def _output(value: Mapping[str, Any]) -> AnswerKey:
    return "output", index_of(value, "output_index"), index_of(value, "content_index")


def _with_texts(value: Mapping[str, Any], change: Change) -> dict[str, Any]:
    """A copy of an event of Responses in which each text of an answer is changed."""
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
        items = [_item(one, number, change) for number, one in enumerate(response["output"])]
        changed["response"] = {**response, "output": items}
    return changed


def _item(item: Any, output: int, change: Change) -> Any:
    if not isinstance(item, Mapping) or not isinstance(item.get("content"), list):
        return item
    parts = [_with_text(one, output, n, change) for n, one in enumerate(item["content"])]
    return {**item, "content": parts}


def _with_text(part: Any, output: int, content: int, change: Change) -> Any:
    if not isinstance(part, Mapping) or part.get("type") in _OTHER_PARTS:
        return part
    text = part.get("text")
    if not isinstance(text, str) or not text:
        return part
    return {**part, "text": change(("output", output, content), text), "logprobs": []}


class MessageEvents(_Form):
    """The events of Anthropic's messages; each block of text is an answer."""

    TYPES = (
        "message_start", "content_block_start", "content_block_delta", "content_block_stop",
        "message_delta", "message_stop", "ping",
    )  # fmt: skip

    def __init__(self, written: Written) -> None:
        super().__init__(written)
        self._begun: set[AnswerKey] = set()

    def parts(self, event: ServerEvent, value: Mapping[str, Any]) -> EventParts:
        """What an event holds; calls of tools and thoughts pass at once."""
        key: AnswerKey = ("block", index_of(value, "index"), 0)
        if value["type"] == "content_block_stop" and key in self._begun:
            return EventParts(value, ends=frozenset({key}), known=True)
        place = "content_block" if value["type"] == "content_block_start" else "delta"
        block = value.get(place)
        block = block if isinstance(block, Mapping) else {}
        if block.get("type") in ("text", "text_delta") and isinstance(block.get("text"), str):
            self._begun.add(key)
            begin = {**value, place: {**block, "text": ""}}
            rest = b"" if place == "delta" else self._written(json_text(begin), event.name)
            return EventParts(value, {key: block["text"]}, rest, known=True)
        message = value.get("message")
        says = isinstance(message, Mapping) and bool(message.get("content"))
        unread = says or isinstance(block.get("text"), str)
        what = next((name for part, name in _BLOCKS if part in str(block.get("type"))), None)
        found = frozenset[str]() if what is None else frozenset({what})
        return EventParts(value, rest=event.raw, unread=unread, known=True, beside=found)

    def piece(self, like: ServerEvent, answer: AnswerKey, text: str) -> bytes:
        """An event with this text."""
        return self._event("content_block_delta", like, answer,
                           delta={"type": "text_delta", "text": text})  # fmt: skip

    def end(
        self, like: ServerEvent, answer: AnswerKey, key: str, note: Any, *, held: bool
    ) -> bytes:
        """The event that ends the block, with the note."""
        return self._event("content_block_stop", like, answer, **{key: note})

    def _event(self, kind: str, like: ServerEvent, answer: AnswerKey, **more: Any) -> bytes:
        told = {"type": kind, "index": answer[1], **more}
        return self._written(json_text(told), kind if like.name else "")


_BLOCKS = (("tool", "tool_calls"), ("input_json", "tool_calls"), ("thinking", "reasoning"))


class OllamaLines(_Form):
    """The lines of Ollama's chat and generate."""

    def parts(self, event: ServerEvent, value: Mapping[str, Any]) -> EventParts:
        """What a line holds; calls of tools and thoughts pass at once."""
        message = value.get("message")
        said = message if isinstance(message, Mapping) else {"content": value.get("response")}
        text = said.get("content") or ""
        both = message is not None and bool(value.get("response"))
        if both or not isinstance(text, str) or not isinstance(message, Mapping | None):
            return EventParts(value, rest=event.raw, unread=True)
        ends = frozenset({_LINE} if value["done"] is True else ())
        more = any(said.get(name) for name in said if name not in ("role", "content", "images"))
        more = more or bool(value.get("thinking"))
        rest = {**_line_with(_plain_line(value), ""), "done": False}
        return EventParts(
            value, {_LINE: text} if text else {}, self._bytes(rest) if more else b"", ends,
            known=True,
            beside=beside([said]) | ({"reasoning"} if "thinking" in said else frozenset()),
        )  # fmt: skip

    def piece(self, like: ServerEvent, answer: AnswerKey, text: str) -> bytes:
        """A line with this text."""
        value = json_of(like.data or "")
        names = ("model", "created_at", "message", "response")
        same = {name: value[name] for name in names if name in value}
        if "message" in same:
            same["message"] = {"role": same["message"].get("role", "assistant")}
        return self._bytes({**_line_with(same, text), "done": False})

    def end(
        self, like: ServerEvent, answer: AnswerKey, key: str, note: Any, *, held: bool
    ) -> bytes:
        """The last line, with the note; without the tokens of what was held back."""
        value = json_of(like.data or "")
        same = _plain_line(value) if held else value
        return self._bytes({**_line_with(same, ""), "done": True, key: note})

    def _bytes(self, value: Mapping[str, Any]) -> bytes:
        return self._written(json_text(value), "")


_LINE: AnswerKey = ("line", 0, 0)


def _plain_line(value: Mapping[str, Any]) -> dict[str, Any]:
    """A line without what spells its text out."""
    return {name: one for name, one in value.items() if name not in ("context", "logprobs")}


def _line_with(value: Mapping[str, Any], text: str) -> dict[str, Any]:
    if isinstance(value.get("message"), Mapping):
        return {**value, "message": {**value["message"], "content": text}}
    return {**value, "response": text}


Form = ChatChunks | ResponseEvents | MessageEvents | OllamaLines


class ChatEvents:
    """The events of chat APIs: OpenAI's completions and responses, Anthropic's, Ollama's."""

    def __init__(self, written: Written) -> None:
        self._chunks = ChatChunks(written)
        self._responses = ResponseEvents(written)
        self._messages = MessageEvents(written)
        self._ollama = OllamaLines(written)

    def parts(self, event: ServerEvent) -> EventParts:
        """What an event holds."""
        if event.data is None or event.strange:
            return EventParts(rest=event.raw, unread=event.strange)
        if event.data.strip() == DONE:
            return EventParts(rest=event.raw, done=True)
        value = json_of(event.data)
        form = self._form(value)
        if form is not None:
            return form.parts(event, value)
        is_error = isinstance(value, Mapping) and bool(value.get("error"))
        unread = is_unread(event, value)
        return EventParts(value, rest=event.raw, unread=unread, known=is_error)

    def piece(self, like: ServerEvent, answer: AnswerKey, text: str) -> bytes:
        """An event with this text of an answer."""
        return self._like(like).piece(like, answer, text)

    def end(
        self, like: ServerEvent, answer: AnswerKey, key: str, note: Any, *, held: bool
    ) -> bytes:
        """The event that ends the answer, with the note."""
        return self._like(like).end(like, answer, key, note, held=held)

    def repeated(self, event: ServerEvent) -> bytes:
        """An event that repeats answers, with what left of them."""
        return self._like(event).repeated(event)

    def _like(self, event: ServerEvent) -> Form:
        form = self._form(json_of(event.data or ""))
        assert form is not None
        return form

    def _form(self, value: Any) -> Form | None:
        if not isinstance(value, Mapping):
            return None
        kind = value.get("type")
        if value.get("choices") is not None:
            return self._chunks
        if isinstance(kind, str) and kind.startswith("response."):
            return self._responses
        if kind in MessageEvents.TYPES:
            return self._messages
        lines = "done" in value and ("message" in value or "response" in value)
        return self._ollama if lines else None

    def __str__(self) -> str:
        return "$.choices[*].delta.content"
