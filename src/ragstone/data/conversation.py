"""Texts: what was asked and answered, in the many shapes in which inputs and outputs are written.

An input is a text, a list of chat messages, or an object that holds either under one of many
names, written as JSON or given as values; and each of these may be inside another.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from .example import Turn
from .fields import NAMES, squash
from .json_text import Problem, add_problem, first_value, objects_in, opened

DEEPEST = 10

USER, ASSISTANT, SYSTEM, TOOL = "user", "assistant", "system", "tool"
SPEAKERS: Mapping[str, str] = {
    **dict.fromkeys(("user", "human", "humanmessage", "humanmessagechunk"), USER),
    **dict.fromkeys(("assistant", "ai", "aimessage", "aimessagechunk"), ASSISTANT),
    **dict.fromkeys(("model", "chatbot", "gpt", "bot"), ASSISTANT),
    **dict.fromkeys(("system", "systemmessage", "developer"), SYSTEM),
    **dict.fromkeys(("tool", "toolmessage", "function", "functionmessage"), TOOL),
    **dict.fromkeys(("observation",), TOOL),
}

MESSAGES = frozenset(
    ("messages", "chathistory", "history", "conversation", "inputmessages", "chatmessages")
)
_EARLIER = frozenset(("chathistory", "history", "conversationhistory", "memory"))
# Names of a question, the likeliest first; behind them those of what may hold one.
_QUESTIONS = tuple(
    squash(name)
    for name in (
        *NAMES["question"],
        *("query_str", "user_query", "user_message", "question_text", "search_query"),
        *("str_or_query_bundle", "query_bundle", "prompt", "user_prompt", "utterance", "message"),
        *("text", "content", "value", "q"),
        *("inputs", "kwargs", "args", "data", "body", "request", "payload"),
    )
)

_ANSWERS = tuple(
    squash(name)
    for name in (
        *NAMES["answer"],
        *("result", "output_text", "final_answer", "final_output", "completion", "reply"),
        *("return", "return_value", "text", "content", "message", "value"),
        *("outputs", "data", "body", "kwargs", "return_values", "choices", "generations"),
        *("candidates", "messages"),
    )
)


_ALTERNATIVES = frozenset(("choices", "generations", "candidates"))
_OWN_ANSWERS = frozenset(squash(name) for name in NAMES["answer"])
# Names that the state of a pipeline, a message or a call of a tool has, and no answer.
_NO_RECORDS = frozenset(
    squash(name)
    for name in (
        *(*MESSAGES, *NAMES["question"], *NAMES["contexts"]),
        *("role", "tool", "tool_calls", "function_call", "arguments", "page_content"),
    )
)

# Fields for the speaker and the content.
ROLES = ("role", "type", "from", "speaker", "sender", "author")
CONTENTS = ("content", "parts", "text", "value", "message")
# Kinds of items beside the messages of a chat, such as function_call_output, in small letters.
_NOT_SAID = re.compile("call|output|tool|function|result|reason|think|reference|approval")

_NO_TEXTS = frozenset(("role", "type", "id", "name", "model", "status", "finish_reason", "error"))
_TEXT_PARTS = (None, "text", "input_text", "output_text")


def messages_in(value: Any, deep: int = DEEPEST) -> list[Turn]:
    """Return the chat messages that a value is, with their texts; none if it is no chat."""
    value = opened(value)
    if isinstance(value, dict):
        for name, item in value.items():
            if squash(name) in MESSAGES and squash(name) not in _EARLIER:
                return messages_in(item, deep - 1) if deep else []
        message = _message(value)
        return [] if message is None else [message]
    if not isinstance(value, list) or not deep:
        return []
    messages = [message for item in value if (message := _message(item)) is not None]
    if not messages and len(value) == 1 and isinstance(value[0], list):
        return messages_in(value[0], deep - 1)
    return messages


def history_in(value: Any) -> list[Turn]:
    """Earlier messages that an input names as such, beside its question."""
    value = opened(value)
    if isinstance(value, dict):
        for name, item in value.items():
            if squash(name) in _EARLIER:
                return messages_in(item) or _in_turn(item)
        for name in ("inputs", "kwargs", "input"):
            if isinstance(inner := value.get(name), dict):
                return history_in(inner)
    return []


def _in_turn(value: Any) -> list[Turn]:
    """Return texts that were said in turn, or pairs of them."""
    if not isinstance(value, list):
        return []
    texts = [text for item in value for text in (item if isinstance(item, list) else [item])]
    return [
        Turn(ASSISTANT if index % 2 else USER, text)
        for index, text in enumerate(texts)
        if isinstance(text, str)
    ]


def asked_in(value: Any, deep: int = DEEPEST) -> str | None:
    """Return the question that an input is or holds."""
    return _said_in(value, deep, USER, _QUESTIONS)


def answered_in(value: Any, deep: int = DEEPEST) -> str | None:
    """Return the answer that an output is or holds."""
    return _said_in(value, deep, ASSISTANT, _ANSWERS)


def _said_in(value: Any, deep: int, role: str, names: Iterable[str]) -> str | None:
    """Return what one of both said last, in messages or under one of these names."""
    original, value = value, opened(value)
    if isinstance(value, str):
        return value if value.strip() not in ("", "null") else None
    if not deep:
        return None
    if messages := messages_in(value, deep):
        own_texts = [item.text for item in messages if item.role == role and item.text.strip()]
        if own_texts:
            return own_texts[-1]
        if isinstance(value, list) or set(map(squash, value)).isdisjoint(names):
            return None
    if isinstance(value, list):
        if role == ASSISTANT and len(value) > 1 and (text := _parts_in(value, original)):
            return text
        texts = [text for item in value if (text := _said_in(item, deep - 1, role, names))]
        return ("\n".join(texts) or None) if role == ASSISTANT else next(iter(texts), None)
    if isinstance(value, dict):
        return _under(value, names, lambda item: _said_in(item, deep - 1, role, names))
    return None


def _parts_in(value: list[Any], original: Any) -> str | None:
    parts = any(isinstance(item, dict) and item.get("text") for item in value)
    return text_in(value) if parts else structured_in(original)


def structured_in(value: Any, deep: int = DEEPEST) -> str | None:
    """Return the JSON of an answer that is an object, a list, a number or a truth value.

    None for what is a text or holds one, is empty, and for messages, calls of tools, passages and
    the state of a pipeline.
    """
    opens = opened(value)
    if isinstance(opens, dict) and deep:
        by_name = {squash(name): item for name, item in opens.items()}
        if by_name.keys() & _NO_RECORDS or by_name.get("error"):
            return None
        name = next((answer for answer in _ANSWERS if answer in by_name), "")
        inner = by_name.get(name)
        while name in _ALTERNATIVES and isinstance(inner, list):
            inner = next(iter(inner), None)
        if name and inner is None and len(opens) == 1:
            return None
        if name in _OWN_ANSWERS or isinstance(inner, (dict, list)):
            return structured_in(inner, deep - 1)
        if isinstance(inner, str):
            return None
    elif isinstance(opens, list):
        items = [opened(item) for item in opens]
        objects = [item for item in items if isinstance(item, (dict, list))]
        if any(structured_in(item, deep - 1) is None for item in objects):
            return None
    elif not isinstance(opens, (bool, int, float)):
        return None
    # NaN stands for nothing, as in tables.
    if opens in ({}, []) or opens != opens:
        return None
    return value if isinstance(value, str) else json.dumps(opens, ensure_ascii=False)


def leaves_of(value: Any) -> Iterator[str]:
    """Give the texts and numbers in a value, as texts."""
    value = opened(value)
    if isinstance(value, (dict, list)):
        for item in value.values() if isinstance(value, dict) else value:
            yield from leaves_of(item)
    elif not isinstance(value, bool) and value is not None:
        yield str(value)


def _under(
    value: Mapping[str, Any], names: Iterable[str], read: Callable[[Any], str | None]
) -> str | None:
    by_name = {squash(name): item for name, item in reversed(list(value.items()))}
    for name in names:
        inner = by_name.get(name)
        while name in _ALTERNATIVES and isinstance(inner, list):
            inner = next(iter(inner), None)
        if inner is not None and (text := read(inner)):
            return str(text)
    alone = [
        item for name, item in value.items() if isinstance(item, str) and name not in _NO_TEXTS
    ]
    return read(alone[0]) if len(value) == 1 and alone and alone[0].strip() else None


def _message(value: Any) -> Turn | None:
    """Return what a message says; None for what is no message, such as the call of a tool."""
    if isinstance(value, list) and len(value) == 2 and isinstance(value[0], str):
        role = SPEAKERS.get(value[0].lower())
        return None if role is None else Turn(role, text_in(value[1]))
    if not isinstance(value, dict):
        return None
    if isinstance(value.get("kwargs"), dict) and isinstance(value.get("id"), list):
        # What LangChain writes of a message: its class at the end of the id.
        kwargs = value["kwargs"]
        kind = str(kwargs.get("type") or (value["id"][-1:] and value["id"][-1]))
        return _of(kind, kwargs.get("content"))
    if isinstance(value.get("message"), dict) and not value.keys() & {"role", "type"}:
        return _message(value["message"])
    if "message.role" in value:
        content = value.get("message.content")
        if content is None:
            content = [item for name, item in value.items() if name.endswith(".text")]
        return _of(str(value["message.role"]), content)
    role = _role(value)
    if role is None:
        return None
    content = next((value[name] for name in CONTENTS if value.get(name)), "")
    if not value.keys() & {*CONTENTS, "tool_calls", "data"}:
        return None
    if isinstance(value.get("data"), dict) and not content:
        content = value["data"].get("content")
    return _of(role, content)


def _role(message: Mapping[str, Any]) -> str | None:
    role = first_value(message, ROLES)
    role = role.get("role") if isinstance(role, dict) else role
    return role if isinstance(role, str) else None


def _of(role: str, content: Any) -> Turn | None:
    speaker = SPEAKERS.get(role.lower())
    if speaker is None:
        return None
    if speaker == ASSISTANT and isinstance(content, list):
        return Turn(speaker, _reply_in(content))
    return Turn(speaker, text_in(content))


def _reply_in(parts: list[Any]) -> str:
    """Return the text of a reply, which models cut into parts in the middle of a sentence."""
    text, follows = "", False
    for part in parts:
        piece = text_in(part)
        if piece:
            runs_on = follows and not (text[-1] in ".!?" and piece[0].isupper())
            text += piece if runs_on or not text else f"\n{piece}"
        follows = bool(piece)
    return text


def text_in(content: Any, deep: int = DEEPEST) -> str:
    """Return the text of a message: its own, or those of its parts that are texts."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "\n".join(filter(None, (text_in(item, deep - 1) for item in content if deep)))
    if isinstance(content, dict) and content.get("thought") is True:
        return ""  # What a Gemini model thought.
    if isinstance(content, dict) and deep and _kind_of(content) in _TEXT_PARTS:
        for name in ("text", "content", "parts", "value", "data"):
            if content.get(name):
                return text_in(content[name], deep - 1)
    return ""


def _kind_of(part: Mapping[str, Any]) -> Any:
    kind = part.get("type")
    return kind.lower() if isinstance(kind, str) else kind


def read_turns(value: object, problems: list[Problem]) -> tuple[Turn, ...]:
    """Read earlier turns: objects with role and text, texts in turn, or pairs of them."""
    if isinstance(value, str):
        value = [value]
    if not isinstance(value, list):
        add_problem(problems, "history", "a list of turns", value)
        return ()
    turns: list[Turn] = []
    for index, turn in enumerate(value):
        pair = turn if isinstance(turn, list) and len(turn) == 2 else [turn]
        for part in pair:
            where = f"history[{index}]"
            if isinstance(part, str):
                turns.append(Turn(ASSISTANT if len(turns) % 2 else USER, part))
            elif isinstance(part, dict):
                silent = SPEAKERS.get(str(_role(part)).lower()) == ASSISTANT
                turns += _turn(part, where, problems) or [Turn(ASSISTANT, "")] * silent
            else:
                add_problem(problems, where, "a text or {role, text}", part)
    return tuple(turns)


def read_conversation(
    messages: list[Any], field: str, problems: list[Problem]
) -> tuple[str | None, tuple[Turn, ...], str | None]:
    """Split a conversation into question (the last user turn), history and answer.

    What tools gave back is no turn: ``tool_results`` reads that.
    """
    turns: list[Turn] = []
    for index, message in enumerate(messages):
        if isinstance(message, dict):
            turns += _turn(message, f"{field}[{index}]", problems)
        else:
            add_problem(problems, f"{field}[{index}]", "a message with role and content", message)
    user_turns = [index for index, turn in enumerate(turns) if turn.role == USER]
    if not user_turns:
        if not problems:
            problems.append(Problem(field, "at least one turn of the user", "none"))
        return None, (), None
    last = user_turns[-1]
    replies = [turn.text for turn in turns[last + 1 :] if turn.role == ASSISTANT]
    # An empty text is an answer, and no text, as beside the call of a tool, is none.
    answer = next(filter(None, reversed(replies)), "" if "" in replies else None)
    return turns[last].text, tuple(turns[:last]), answer


def _turn(message: dict[str, Any], where: str, problems: list[Problem]) -> list[Turn]:
    """Return the turn of a message; none where it only calls a tool or holds what one gave."""
    turn, role = _message(message), _role(message)
    role = turn.role if turn is not None else role
    if turn is not None and (turn.text or turn.role == TOOL):
        return [turn] if turn.role != TOOL else []
    text = first_value(message, CONTENTS)
    kinds = [str(part.get("type", part)) for part in objects_in(text)]
    if kinds and all(map(_is_not_said, kinds)):
        return []
    if text is None and (role == ASSISTANT or _is_not_said(f"{role} {[*message]}")):
        return []
    text = text_in(text) if isinstance(text, list) else text
    if role is None or not isinstance(text, str):
        add_problem(problems, where, "an object with role and text", message)
        return [Turn(USER, "")]
    return [Turn(SPEAKERS.get(role.lower(), role), text)]


def _is_not_said(kind: str) -> bool:
    return _NOT_SAID.search(kind.lower()) is not None
