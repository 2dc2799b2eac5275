"""Cells: a list or an object that a table keeps as text."""

import ast

from ragstone.examples.json_text import BadJsonError, decode, surrogate_in
from ragstone.examples.problem import Problem

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
