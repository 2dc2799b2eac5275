"""Words: a cell of a label file as a label, in words and as a number."""

import re
from math import isfinite
from typing import NamedTuple

NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?")
LARGEST_WHOLE = 2**53
NAMED_TRUTHS = {"true": True, "false": False}
YES_NO = {"yes": 1.0, "ja": 1.0, "no": 0.0, "nein": 0.0}


class LabelValue(NamedTuple):
    """A label in words, and as a number if it is one."""

    value: str
    number: float | None


def number_in_words(value: float) -> str:
    """A number as short as it can be written: ``3`` rather than ``3.0``.

    >>> number_in_words(3.0), number_in_words(0.25), number_in_words(-0.0)
    ('3', '0.25', '0')
    """
    if value == int(value) and abs(value) < LARGEST_WHOLE:
        return str(int(value))
    return repr(float(value))


def in_words(cell: object) -> LabelValue | None:
    """A cell as a label of any kind; None if it cannot be one: an object, a list, NaN.

    ``true`` and ``false`` in any case are truth values; text that parses as a number is a number.

    >>> in_words("True"), in_words(" a bit ")
    (LabelValue(value='true', number=1.0), LabelValue(value='a bit', number=None))
    """
    if isinstance(cell, bool):
        return LabelValue("true", 1.0) if cell else LabelValue("false", 0.0)
    if isinstance(cell, (int, float)):
        return number_said(cell)
    if not isinstance(cell, str):
        return None
    text = cell.strip()
    if text.lower() in NAMED_TRUTHS:
        return in_words(NAMED_TRUTHS[text.lower()])
    if NUMBER.fullmatch(text) and (said := number_said(float(text))) is not None:
        return said
    return LabelValue(text, None)


def number_said(value: float) -> LabelValue | None:
    """A finite number as a label."""
    try:
        number = float(value)
    except OverflowError:
        return None
    return LabelValue(number_in_words(number), number + 0.0) if isfinite(number) else None


def number_of(cell: object) -> float | None:
    """The number that a cell holds; None if it holds a word or a truth value."""
    said = in_words(cell)
    return None if said is None or said.value in NAMED_TRUTHS else said.number


def yes_or_no(said: LabelValue | None) -> float | None:
    """A label as a number, with 1 for yes and 0 for no; None for any other word."""
    return None if said is None else YES_NO.get(said.value.lower(), said.number)


def plain_value(value: str, number: float | None) -> bool | int | float | str:
    """A label as a JSON value.

    >>> plain_value("true", 1.0), plain_value("3", 3.0), plain_value("correct", 1.0)
    (True, 3, 'correct')
    """
    if value in NAMED_TRUTHS:
        return NAMED_TRUTHS[value]
    if number is None or NUMBER.fullmatch(value) is None:
        return value
    return int(number) if value == str(int(number)) else number
