"""Example: a system's answer to a question, with its ids, texts, turns, session and table cells."""

import ast
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from math import isfinite
from types import MappingProxyType
from typing import Any

from .fields import NAMES, squash
from .json_text import BadJsonError, Problem, add_problem, decode, shown, surrogate_in

NOTHING: Mapping[str, Any] = MappingProxyType({})

# The slice that names the conversation of an example.
SESSION = "session"


@dataclass(frozen=True, slots=True)
class Context:
    """One retrieved passage.

    ``rank`` counts from 1. ``text`` is None if only the id is known, as in a TREC run.
    """

    id: str
    text: str | None
    rank: int
    score: float | None = None


@dataclass(frozen=True, slots=True)
class Turn:
    """One earlier turn of the conversation."""

    role: str
    text: str


@dataclass(frozen=True, slots=True)
class Example:
    """One answer of one system to one question.

    ``contexts`` is None if the system does not retrieve, and empty if it retrieved
    nothing; contexts are in rank order. ``reference`` lists alternative reference
    answers, any of which counts. ``reference_contexts`` maps the ids of judged
    contexts to their grades, where 0 means judged not relevant; None if no grades
    are known. ``evidence`` is the gold evidence as text. ``labels`` are human
    labels, kept as given. The session that the example is a turn of stands in ``slices``,
    under ``session``.
    """

    id: str
    question_id: str
    system: str
    question: str | None = None
    contexts: tuple[Context, ...] | None = None
    answer: str | None = None
    reference: tuple[str, ...] = ()
    history: tuple[Turn, ...] = ()
    policy: str | None = None
    evidence: tuple[str, ...] = ()
    reference_contexts: Mapping[str, int] | None = None
    slices: Mapping[str, Any] = field(default_factory=lambda: NOTHING)
    labels: Mapping[str, Any] = field(default_factory=lambda: NOTHING)
    meta: Mapping[str, Any] = field(default_factory=lambda: NOTHING)

    @property
    def session(self) -> str | None:
        """The id of its conversation; None if it is not known."""
        session = self.slices.get(SESSION)
        return id_text(session) or _as_text(session)

    @property
    def characters(self) -> int:
        """The number of characters that judges read, ids of contexts among them."""
        texts = [self.question, self.answer, *self.reference, *self.evidence]
        texts += [turn.text for turn in self.history]
        for context in self.contexts or ():
            texts += context.id, context.text
        return sum(map(len, filter(None, texts)))

    def facet(self, name: str) -> str | None:
        """Return the value to group by: at the top level, then in slices, meta, labels."""
        if name in ("id", "question_id", "system", "question", "answer", "policy"):
            return getattr(self, name)  # type: ignore[no-any-return]
        for facets in (self.slices, self.meta, self.labels):
            if name in facets:
                return _as_text(facets[name])
        return None


def _as_text(value: object) -> str | None:
    if value is None:
        return None
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (list, tuple)):
        return ", ".join(str(part) for part in value) or None
    return str(value)


# Characters of a list in Python's words that are parsed; its parser takes far more memory.
LONGEST_PYTHON = 1 << 20


def parse_cell(cell: str, field: str, problems: list[Problem]) -> object:
    """Parse a list or an object in a cell: JSON, or a list as pandas writes it; else the text.

    A cell such as ``[1] As the first source says`` is a text. One that begins
    like a list of texts or objects and does not end like one is a fault.
    """
    text = cell.strip()
    if not text.startswith(("[", "{")):
        return cell
    try:
        return decode(text)
    except BadJsonError as error:
        problem = error.problem
    try:
        value: object = ast.literal_eval(text) if len(text) <= LONGEST_PYTHON else None
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        value = None
    if isinstance(value, (list, dict)) and repr(value) == text and surrogate_in(value) is None:
        return value
    opening = text.replace(" ", "")[:2]
    if opening in ('["', "['", "[{", '{"', "{'"):
        expected = f'{problem.expected}; to mean this as text, put it into a list: ["…"]'
        problems.append(Problem(field, expected, problem.got))
        return None
    return cell


def put_cell(
    parent: dict[str, Any], path: Sequence[str], value: object, column: str, problems: list[Problem]
) -> None:
    """Store the cell of a column such as ``labels.answer.helpful`` at its place."""
    if value is None:
        return
    for name in path[:-1]:
        inner = parent.setdefault(name, {})
        if not isinstance(inner, dict):
            add_problem(problems, column, "an object to stand in", inner)
            return
        parent = inner
    if isinstance(value, str) and column.startswith("labels."):
        with suppress(BadJsonError):
            value = decode(value.lower() if value.lower() in ("true", "false") else value)
    parent[path[-1]] = value


# Keys under which an object has its text.
TEXT_KEYS = ("text", "content", "page_content", "context", "passage")

# Bits of a whole number that is still read as a text.
LONGEST_NUMBER = 200

# From here on a float stands for several whole numbers.
EXACT = 2.0**53


def id_text(value: object) -> str | None:
    """Return an id as text; None if it is no id.

    Whole numbers are ids, also those that a table made floats of because another row has none.

    >>> id_text("d7"), id_text(7), id_text(7.0), id_text(7.5), id_text("")
    ('d7', '7', '7', None, None)
    """
    if type(value) is float and value.is_integer() and abs(value) < EXACT:
        value = int(value)
    if type(value) is int and value.bit_length() <= 128:
        return str(value)
    return value if type(value) is str and value else None


def read_id(value: object, field: str, problems: list[Problem]) -> str | None:
    """Read an id as text; None if there is none."""
    text = id_text(value)
    if value is None or text is not None:
        return text
    expected = "text or a whole number" if value != "" else "a name or nothing"
    problems.append(Problem(field, expected, "an empty text" if value == "" else shown(value)))
    return None


def spelled_out(value: object) -> object:
    """Return a number as the text that spells it; anything else as it is.

    A whole number has no decimals however it was stored: a table makes 42.0 of 42 where another
    row has no value.

    >>> spelled_out(42), spelled_out(42.0), spelled_out(3.5), spelled_out(True)
    ('42', '42', '3.5', True)
    """
    if type(value) is int:
        return str(value) if value.bit_length() <= LONGEST_NUMBER else value
    if type(value) is float and isfinite(value):
        return str(int(value)) if value.is_integer() and abs(value) < EXACT else repr(value)
    return value


def read_texts(value: object, field: str, problems: list[Problem]) -> tuple[str, ...]:
    """Read one text or several; empty ones are dropped."""
    if value is None:
        return ()
    if type(value) is str:
        return (value,) if value else ()
    if not isinstance(value, list):
        add_problem(problems, field, "a text or a list of texts", value)
        return ()
    texts = []
    for index, text in enumerate(value):
        if isinstance(text, dict) and field != "reference":
            text = next((text[key] for key in TEXT_KEYS if key in text), text)
        if type(text) is not str:
            add_problem(problems, f"{field}[{index}]", "a text", text)
        elif text:
            texts.append(text)
    return tuple(texts)


def are_texts(value: object) -> bool:
    """Return True for a text, or a list of texts or of objects that may have one."""
    if isinstance(value, str):
        return True
    return isinstance(value, list) and all(
        isinstance(part, str) or (isinstance(part, dict) and not part.keys() & {"id", "grade"})
        for part in value
    )


TURN_TEXT_KEYS = ("text", "content")
TURN_ROLE_KEYS = ("role", "type")
ROLES = {"human": "user", "ai": "assistant"}


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
                turns.append(Turn("assistant" if len(turns) % 2 else "user", part))
            elif isinstance(part, dict):
                turns.append(_turn(part, where, problems))
            else:
                add_problem(problems, where, "a text or {role, text}", part)
    return tuple(turns)


def read_conversation(
    messages: list[Any], field: str, problems: list[Problem]
) -> tuple[str | None, tuple[Turn, ...], str | None]:
    """Split a multi-turn record into question (the last user turn), history and answer."""
    turns = []
    for index, message in enumerate(messages):
        if isinstance(message, dict):
            turns.append(_turn(message, f"{field}[{index}]", problems))
        else:
            add_problem(problems, f"{field}[{index}]", "a message with role and content", message)
    user_turns = [index for index, turn in enumerate(turns) if turn.role == "user"]
    if not user_turns:
        if not problems:
            problems.append(Problem(field, "at least one turn of the user", "none"))
        return None, (), None
    last = user_turns[-1]
    replies = [turn.text for turn in turns[last + 1 :] if turn.role == "assistant" and turn.text]
    # An empty text is an answer, and no text, as beside the call of a tool, is none.
    later = (message for message in messages[last + 1 :] if isinstance(message, dict))
    empty = any("" in map(message.get, TURN_TEXT_KEYS) for message in later)
    return turns[last].text, tuple(turns[:last]), replies[-1] if replies else "" if empty else None


def _turn(message: dict[str, Any], where: str, problems: list[Problem]) -> Turn:
    role = next((message[key] for key in TURN_ROLE_KEYS if message.get(key) is not None), None)
    text = next((message[key] for key in TURN_TEXT_KEYS if message.get(key) is not None), None)
    if isinstance(text, list):
        parts = [part.get("text") if isinstance(part, dict) else part for part in text]
        text = "\n".join(part for part in parts if isinstance(part, str))
    if text is None and role in ("ai", "assistant"):
        text = ""
    if not isinstance(role, str) or not isinstance(text, str):
        add_problem(problems, where, "an object with role and text", message)
        return Turn("user", "")
    return Turn(ROLES.get(role, role), text)


KNOWN = frozenset(map(squash, NAMES["session"]))


def put_session(column: str, value: object, slices: dict[str, Any], meta: dict[str, Any]) -> None:
    """Put the session into ``slices["session"]``, where ``Example.session`` looks for it.

    A session of another name in ``slices`` or ``meta``, such as ``meta.thread_id``, is moved
    there. A value that is no id, such as a list of messages, goes to ``meta``.
    """
    if _is_id(value):
        slices[SESSION] = value
    elif isinstance(value, (list, dict)):
        meta[column] = value
    if SESSION in slices:
        return
    for facets in (slices, meta):
        for name, session in facets.items():
            if names_session(name) and _is_id(session):
                slices[SESSION] = facets.pop(name)
                return


@lru_cache(maxsize=4096)
def names_session(name: object) -> bool:
    """Return True if a column of this name is the session, where ``session`` is missing."""
    return isinstance(name, str) and squash(name) in KNOWN


def _is_id(value: object) -> bool:
    if isinstance(value, bool):
        return False
    if isinstance(value, float):
        return isfinite(value)
    return isinstance(value, (str, int)) and value != ""
