"""Problem: one thing wrong with one record, before its file and line are known."""

import math
from typing import NamedTuple

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
    problems: tuple[Problem, ...]
    file: str | None = None


def shown(value: object) -> str:
    """A value as a message shows it: short, and saying what kind it is.

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


def ascii_safe(text: str) -> str:
    """The text with lone surrogates spelled out, so that it can be printed anywhere."""
    return text.encode("utf-8", "backslashreplace").decode()
