"""Turns: the earlier turns of a conversation, and records that are a conversation as a whole."""

from typing import Any

from ragstone.examples.example import Turn
from ragstone.examples.problem import Problem, shown

TURN_TEXT_KEYS = ("text", "content")
TURN_ROLE_KEYS = ("role", "type")
ROLES = {"human": "user", "ai": "assistant"}


def read_turns(value: object, problems: list[Problem]) -> tuple[Turn, ...]:
    """Earlier turns: objects with role and text, texts in turn, or pairs of them."""
    if isinstance(value, str):
        value = [value]
    if not isinstance(value, list):
        problems.append(Problem("history", "a list of turns", shown(value)))
        return ()
    turns: list[Turn] = []
    for index, one in enumerate(value):
        pair = one if isinstance(one, list) and len(one) == 2 else [one]
        for part in pair:
            place = f"history[{index}]"
            if isinstance(part, str):
                turns.append(Turn("assistant" if len(turns) % 2 else "user", part))
            elif isinstance(part, dict):
                turns.append(_turn(part, place, problems))
            else:
                problems.append(Problem(place, "a text or {role, text}", shown(part)))
    return tuple(turns)


def read_conversation(
    messages: list[Any], field: str, problems: list[Problem]
) -> tuple[str | None, tuple[Turn, ...], str | None]:
    """Question, history and answer of a multi-turn record: the last user turn is the question."""
    turns = []
    for index, message in enumerate(messages):
        if isinstance(message, dict):
            turns.append(_turn(message, f"{field}[{index}]", problems))
        else:
            problems.append(
                Problem(f"{field}[{index}]", "a message with role and content", shown(message))
            )
    asked = [index for index, turn in enumerate(turns) if turn.role == "user"]
    if not asked:
        if not problems:
            problems.append(Problem(field, "at least one turn of the user", "none"))
        return None, (), None
    last = asked[-1]
    said = [turn.text for turn in turns[last + 1 :] if turn.role == "assistant" and turn.text]
    return turns[last].text, tuple(turns[:last]), said[-1] if said else None


def _turn(message: dict[str, Any], place: str, problems: list[Problem]) -> Turn:
    role = next((message[key] for key in TURN_ROLE_KEYS if message.get(key) is not None), None)
    text = next((message[key] for key in TURN_TEXT_KEYS if message.get(key) is not None), None)
    if isinstance(text, list):
        parts = [part.get("text") if isinstance(part, dict) else part for part in text]
        text = "\n".join(part for part in parts if isinstance(part, str))
    if text is None and role in ("ai", "assistant"):
        text = ""
    if not isinstance(role, str) or not isinstance(text, str):
        problems.append(Problem(place, "an object with role and text", shown(message)))
        return Turn("user", "")
    return Turn(ROLES.get(role, role), text)
