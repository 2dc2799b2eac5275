"""JSON text: a strict decoder, and the faults of a record as messages show them.

Python's decoder also accepts any nesting depth that does not exhaust the stack, and escapes of
lone surrogates. Both are rejected here, because they cannot be written again. NaN and Infinity
are accepted, because they matter only in fields that are used, which the reader of a record
checks.
"""

import json
import math
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import repeat
from typing import Any, NamedTuple

SHOWN_CHARACTERS = 60


class Problem(NamedTuple):
    """``field`` is a path such as ``contexts[2].score``, empty for the record itself."""

    field: str
    expected: str
    got: str


class BadRow(NamedTuple):
    """A row that could not be parsed: its text as far as it was read, and why.

    ``file`` is set if a source reads several files.
    """

    text: str
    problem: Problem
    file: str | None = None


def shown(value: object) -> str:
    """Return a value as a message shows it: short, and with its kind.

    >>> shown(42), shown(None), shown([1, 2])
    ('42 (a number)', 'null', 'a list of 2')
    """
    if value is None:
        return "null"
    if isinstance(value, bool):
        return f"{str(value).lower()} (a truth value)"
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else ("Infinity" if value > 0 else "-Infinity")
    if isinstance(value, int) and value.bit_length() > 200:
        return "a number of more than 60 digits"
    if isinstance(value, (int, float)):
        return f"{value} (a number)"
    if isinstance(value, str):
        cut = value if len(value) <= SHOWN_CHARACTERS else value[: SHOWN_CHARACTERS - 1] + "…"
        return f"the text {ascii_safe(cut)!r}"
    if isinstance(value, (list, tuple)):
        return f"a list of {len(value)}"
    if isinstance(value, dict):
        names = ", ".join(ascii_safe(str(name)) for name in list(value)[:5])
        return f"an object with {names or 'no fields'}{', …' if len(value) > 5 else ''}"
    return f"a {type(value).__name__}"


def add_problem(problems: list[Problem], field: str, expected: str, value: object) -> None:
    """Add the problem that a field has this value."""
    problems.append(Problem(field, expected, shown(value)))


def ascii_safe(text: str) -> str:
    """Return the text with lone surrogates spelled out, so that it can be printed anywhere."""
    return text.encode("utf-8", "backslashreplace").decode()


MAX_DEPTH = 200


class RepeatedNames(dict[str, Any]):
    """An object in which a name occurs more than once; ``others`` are all values but the last.

    ``others`` are the values before it, with their names.
    """

    others: Sequence[tuple[str, Any]] = ()


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    names = dict(pairs)
    if len(names) < len(pairs):
        names = RepeatedNames(names)
        names.others = [(name, value) for name, value in pairs if value is not names[name]]
    return names


DECODER = json.JSONDecoder(object_pairs_hook=_object)


class BadJsonError(ValueError):
    """The text is not JSON, or JSON that is rejected."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        super().__init__(f"expected {problem.expected}, got {problem.got}")


def decode(text: str) -> object:
    """Decode the whole text.

    Raises:
        BadJsonError: Broken syntax, nesting over 200, half a surrogate pair.
    """
    try:
        value: object = DECODER.decode(text)
    except (ValueError, RecursionError) as error:
        raise BadJsonError(syntax_problem(error, text)) from None
    if (problem := problem_in(value, text, 0, len(text))) is not None:
        raise BadJsonError(problem)
    return value


def opened(value: Any) -> Any:
    """Return the value that a text spells as JSON, where it does; else the value itself.

    An object or list that was written as JSON twice, as some exporters do, is opened twice.
    """
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "[", '"') and len(value) > 1:
        try:
            inside = decode(value)
        except BadJsonError:
            return value
        nests = isinstance(inside, str) and inside.lstrip()[:1] in ("{", "[")
        return opened(inside) if nests else inside
    return value


def object_or_empty(value: Any) -> dict[str, Any]:
    """Return an object as it is, and an empty one for anything else."""
    return value if isinstance(value, dict) else {}


def list_or_empty(value: Any) -> list[Any]:
    """Return a list as it is, and an empty one for anything else."""
    return value if isinstance(value, list) else []


def objects_in(value: Any) -> list[dict[str, Any]]:
    """Return the objects of a list; none of anything else."""
    return [item for item in list_or_empty(value) if isinstance(item, dict)]


def first_value(record: Mapping[str, Any], names: Iterable[str], kind: Any = object) -> Any:
    """Return the first value under these names of this type and not null; otherwise None.

    >>> first_value({"a": None, "b": 1, "c": "d"}, ("a", "b", "c"), str)
    'd'
    """
    values = (record.get(name) for name in names)
    return next((value for value in values if value is not None and isinstance(value, kind)), None)


def is_json(text: str | None) -> bool:
    """Return True if a text spells a JSON object, list, number or truth value.

    >>> is_json('{"a": 1}'), is_json("true"), is_json("A sentence."), is_json('"quoted"')
    (True, True, False, False)
    """
    if text is None or text.lstrip()[:1] not in set("{[tf-0123456789"):
        return False
    with suppress(BadJsonError):
        return not isinstance(decode(text), str)
    return False


def finite_number(value: object) -> float | None:
    """Return the number that a value is or spells; None if there is none, or it is not finite.

    >>> finite_number("0.5"), finite_number(True), finite_number(float("nan"))
    (0.5, None, None)
    """
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def syntax_problem(error: Exception, text: str) -> Problem:
    """Return a decoder's error in the words of a fault."""
    if isinstance(error, RecursionError):
        return too_deep()
    if isinstance(error, json.JSONDecodeError):
        at = error.pos
        if at >= len(text.rstrip()):
            got = "the end of the text"
        else:
            got = repr(ascii_safe(text[at : at + 20]))
        reason = error.msg[:1].lower() + error.msg[1:]
        return Problem("", "JSON", f"{got} at column {error.colno} ({reason})")
    return Problem("", "JSON", f"a number of more than {sys.get_int_max_str_digits():,} digits")


def too_deep() -> Problem:
    return Problem("", f"at most {MAX_DEPTH} levels of nesting", "deeper nesting")


def problem_in(value: object, text: str, start: int, end: int) -> Problem | None:
    """Find a fault in a value decoded from ``text[start:end]``; mostly two quick searches."""
    brackets = text.count("{", start, end) + text.count("[", start, end)
    if brackets > MAX_DEPTH and depth_exceeds(value, MAX_DEPTH):
        return too_deep()
    escaped = text.find("\\ud", start, end) >= 0 or text.find("\\uD", start, end) >= 0
    return surrogate_in(value) if escaped else None


def depth_exceeds(value: object, limit: int) -> bool:
    """Return True if containers nest deeper than the limit; a cycle counts as too deep."""
    stack = [(value, 1)]
    while stack:
        here, depth = stack.pop()
        if not isinstance(here, (Mapping, list, tuple)):
            continue
        if depth > limit:
            return True
        parts = here.values() if isinstance(here, Mapping) else here
        stack.extend(zip(parts, repeat(depth + 1)))
    return False


def surrogate_in(value: object, path: str = "") -> Problem | None:
    """Find the first text with half a surrogate pair, which no encoding can store."""
    if isinstance(value, str):
        if is_storable(value):
            return None
        return Problem(path, "text", "half a surrogate pair (" + _first_surrogate(value) + ")")
    if isinstance(value, Mapping):
        for key, part in value.items():
            name = str(key)
            if not is_storable(name):
                got = f"half a surrogate pair ({_first_surrogate(name)})"
                return Problem(path, "field names that are text", got)
            problem = surrogate_in(part, f"{path}.{name}" if path else name)
            if problem is not None:
                return problem
    elif isinstance(value, (list, tuple)):
        for index, part in enumerate(value):
            if (problem := surrogate_in(part, f"{path}[{index}]")) is not None:
                return problem
    return None


def is_storable(text: str) -> bool:
    """Return True if the text has a UTF-8 form."""
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _first_surrogate(text: str) -> str:
    return next(f"U+{ord(mark):04X}" for mark in text if "\ud800" <= mark <= "\udfff")


# Gives the same object where nothing changes.
Change = Callable[[str], str]

_HALF = re.compile("[\ud800-\udfff]")


def whole_texts(value: Any) -> Any:
    """Return the value with a mark for each half of a surrogate pair, which cannot be stored."""
    return changed_texts(value, lambda text: _HALF.sub("\ufffd", text))


def changed_texts(value: Any, change: Change) -> Any:
    """Return the value of a JSON text with ``change(text)`` for all texts and keys in it."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, list):
        return [changed_texts(item, change) for item in value]
    if isinstance(value, dict):
        return {change(name): changed_texts(item, change) for name, item in value.items()}
    return value
