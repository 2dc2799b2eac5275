"""Values: reads ids and texts of a record and checks their types."""

from math import isfinite

from ragstone.examples.problem import Problem, shown

TEXT_KEYS = ("text", "content", "page_content", "context", "passage")
"""Keys under which an object has its text."""

LONGEST_NUMBER = 200
"""Bits of a whole number that is still read as a text."""

EXACT = 2.0**53
"""From here on a float stands for several whole numbers."""


def read_id(value: object, field: str, problems: list[Problem]) -> str | None:
    """An id as text, even if given as an integer; None if there is none."""
    if value is None:
        return None
    if type(value) is str and value:
        return value
    if type(value) is int and value.bit_length() <= 128:
        return str(value)
    expected = "text or a whole number" if value != "" else "a name or nothing"
    problems.append(Problem(field, expected, "an empty text" if value == "" else shown(value)))
    return None


def spelled_out(value: object) -> object:
    """A number as the text that spells it; anything else as it is.

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
    """One text or several; empty ones are dropped."""
    if value is None:
        return ()
    if type(value) is str:
        return (value,) if value else ()
    if not isinstance(value, list):
        problems.append(Problem(field, "a text or a list of texts", shown(value)))
        return ()
    texts = []
    for index, one in enumerate(value):
        if isinstance(one, dict) and field != "reference":
            one = next((one[key] for key in TEXT_KEYS if key in one), one)
        if type(one) is not str:
            problems.append(Problem(f"{field}[{index}]", "a text", shown(one)))
        elif one:
            texts.append(one)
    return tuple(texts)


def are_texts(value: object) -> bool:
    """Whether it is a text, or a list of texts or of objects that may have one."""
    if isinstance(value, str):
        return True
    return isinstance(value, list) and all(
        isinstance(one, str) or (isinstance(one, dict) and not one.keys() & {"id", "grade"})
        for one in value
    )


def not_text(field: str, value: object) -> Problem:
    """The problem that a value is not text."""
    return Problem(field, "text", shown(value))
