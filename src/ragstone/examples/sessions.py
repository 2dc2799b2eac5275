"""Sessions: which conversation an example is a turn of, wherever a record says so."""

from functools import lru_cache
from math import isfinite
from typing import Any

from ragstone.examples.example import SESSION
from ragstone.examples.fields import NAMES, squash

KNOWN = frozenset(map(squash, NAMES["session"]))


def put_session(column: str, given: object, slices: dict[str, Any], meta: dict[str, Any]) -> None:
    """Put the session where ``Example.session`` looks for it, ``slices["session"]``.

    A session of another name in ``slices`` or ``meta``, such as ``meta.thread_id``, is moved there.

    Args:
        column: Of the record, that is called as a session is.
        given: Its value. What is no id, such as a list of messages, goes to ``meta``.
        slices: Of the example.
        meta: Of the example.
    """
    if _is_id(given):
        slices[SESSION] = given
    elif isinstance(given, (list, dict)):
        meta[column] = given
    if SESSION in slices:
        return
    for place in (slices, meta):
        found = next((name for name in place if names_session(name) and _is_id(place[name])), None)
        if found is not None:
            slices[SESSION] = place.pop(found)
            return


@lru_cache(maxsize=4096)
def names_session(name: object) -> bool:
    """Whether a column of this name is the session, where ``session`` itself is missing."""
    return isinstance(name, str) and squash(name) in KNOWN


def _is_id(value: object) -> bool:
    if isinstance(value, bool):
        return False
    if isinstance(value, float):
        return isfinite(value)
    return isinstance(value, (str, int)) and value != ""
