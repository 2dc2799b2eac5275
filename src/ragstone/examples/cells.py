"""Cells: lists and objects that a table stores as text, or spreads over several columns."""

import ast
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from ragstone.examples.json_text import BadJsonError, decode, surrogate_in
from ragstone.examples.problem import Problem, shown

LONGEST_PYTHON = 1 << 20
"""Characters of a list in Python's words that are parsed; its parser takes far more memory."""


def parse_cell(cell: str, field: str, problems: list[Problem]) -> object:
    """A list or an object in a cell: JSON text, or the list as pandas writes it; else the text.

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
        expected = f"{problem.expected}; a text that begins so goes into a list"
        problems.append(Problem(field, expected, problem.got))
        return None
    return cell


def put_cell(
    place: dict[str, Any], path: Sequence[str], value: object, column: str, problems: list[Problem]
) -> None:
    """Store the cell of a column such as ``labels.answer.helpful`` at its place."""
    if value is None:
        return
    for name in path[:-1]:
        inner = place.setdefault(name, {})
        if not isinstance(inner, dict):
            problems.append(Problem(column, "an object to stand in", shown(inner)))
            return
        place = inner
    if isinstance(value, str) and column.startswith("labels."):
        with suppress(BadJsonError):
            value = decode(value.lower() if value.lower() in ("true", "false") else value)
    place[path[-1]] = value
