"""Example: a system's answer to a question, with its ids, texts, turns, session and table cells."""

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from math import isfinite
from types import MappingProxyType
from typing import Any

from .fields import NAMES, squash
from .json_text import BadJsonError, Problem, add_problem, decode, shown, surrogate_in
from .printed_lists import LeftOutError, read_printed

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
    are known. ``evidence`` is the gold evidence as text. ``criteria`` are what this
    answer in particular has to meet. ``labels`` are human labels, kept as given. The
    session that the example is a turn of stands in ``slices``, under ``session``.
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
    criteria: tuple[str, ...] = field(default=(), kw_only=True)
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
        texts = [self.question, self.answer, *self.reference, *self.evidence, *self.criteria]
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


# What stands between two texts of a list that NumPy printed.
_BY_NUMPY = re.compile(r"""['"]\s+['"]""")
# How pandas ends what it prints of a column.
_BY_PANDAS = re.compile(r"\n(?:Name: [^\n]*, |Length: \d+, )*dtype: \w+\Z")
# A list of objects that Python printed, such as ``[Document(id=1)]``.
_OBJECTS = re.compile(r"\[[A-Z]\w*\(.*\)\]", re.DOTALL)


def parse_cell(cell: str, field: str, problems: list[Problem]) -> object:
    """Parse a list or an object in a cell: JSON, or a list as pandas writes it; else the text.

    A cell such as ``[1] As the first source says`` is a text. One that begins
    like a list of texts or objects and does not end like one is a fault.
    """
    text = cell.strip()
    if _BY_PANDAS.search(text[-200:]):
        got = "a column that pandas printed, which may leave texts out"
        problems.append(Problem(field, "a list of texts as JSON", got))
        return None
    if not text.startswith(("[", "{", "array(", "Index(", "('", '("')):
        return cell
    try:
        return decode(text)
    except BadJsonError as error:
        problem = error.problem
    try:
        value = read_printed(text)
    except LeftOutError:
        problems.append(Problem(field, "all elements", "'...', where NumPy left some out"))
        return None
    if value is not None and surrogate_in(value) is None:
        return value
    opening = text.replace(" ", "")[:2]
    if opening in ('["', "['") and text.endswith(("']", '"]')) and _BY_NUMPY.search(text):
        expected = "a list with commas between its texts, or JSON"
        got = "a list that NumPy printed, whose quotes do not show where a text ends"
    elif _OBJECTS.fullmatch(text):
        expected = "a list of texts or objects as JSON"
        got = "objects that Python printed in a way that cannot be read"
    elif opening in ('["', "['", "[{", '{"', "{'"):
        expected = f'{problem.expected}; to mean this as text, put it into a list: ["…"]'
        got = problem.got
    else:
        return cell
    problems.append(Problem(field, expected, got))
    return None


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
TEXT_KEYS = (
    *("text", "content", "page_content", "context", "passage"),
    *("document", "chunk", "body", "snippet"),
)

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


def read_criteria(value: object, problems: list[Problem]) -> tuple[str, ...]:
    """Read one criterion or several, in order; one that is empty or repeated is a fault."""
    if value is None:
        return ()
    if not isinstance(value, (str, list)):
        add_problem(problems, "criteria", "a text or a list of texts", value)
        return ()
    criteria: dict[str, int] = {}
    for index, text in enumerate([value] if isinstance(value, str) else value):
        if type(text) is not str or not text.strip():
            add_problem(problems, f"criteria[{index}]", "a text that is not empty", text)
        elif (first := criteria.setdefault(text, index)) != index:
            expected = f"a criterion other than criteria[{first}]"
            add_problem(problems, f"criteria[{index}]", expected, text)
    return tuple(criteria)


def are_texts(value: object) -> bool:
    """Return True for a text, or a list of texts or of objects that may have one."""
    if isinstance(value, str):
        return True
    return isinstance(value, list) and all(
        isinstance(part, str) or (isinstance(part, dict) and not part.keys() & {"id", "grade"})
        for part in value
    )


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
