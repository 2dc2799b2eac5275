"""Citation markers of an answer, resolved to the contexts they name."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ragstone.examples import Context

MARKERS = r"\[\^?([^\[\]\n]{1,60})\]|【([^【】\n]{1,60})】"
"""What stands in square or lenticular brackets."""

_NUMBERS = re.compile(r"\d{1,3}(?:\s*[-–]\s*\d{1,3})?(?:\s*[,;]\s*\d{1,3}(?:\s*[-–]\s*\d{1,3})?)*")
_ID_LIKE = re.compile(r"(?=.*\d)[\w.:#/-]+")


@dataclass(frozen=True, slots=True)
class Marker:
    """One source that an answer names; ``context`` is None where it names none of the contexts."""

    text: str
    place: int
    context: str | None


def markers(answer: str, contexts: Sequence[Context], pattern: str = MARKERS) -> list[Marker]:
    """The markers of an answer in order.

    A number names the context with that id, else the one of that rank; ``[1, 3]``
    and ``[1-3]`` name several. Another word names the context with that id; one
    that holds a digit, as ``[doc-7]`` does, is a marker even if no context has
    that id. ``[citation needed]`` is none.
    """
    ids = {context.id for context in contexts}
    ranks = {str(context.rank): context.id for context in contexts}
    found = []
    for match in re.finditer(pattern, answer):
        inside = next((group for group in match.groups() if group is not None), match.group())
        for name in _names(inside.strip(), ids):
            context = name if name in ids else ranks.get(name)
            found.append(Marker(match.group(), match.start(), context))
    return found


def _names(inside: str, ids: set[str]) -> list[str]:
    if inside in ids:
        return [inside]
    if _NUMBERS.fullmatch(inside):
        return [number for part in re.split(r"[,;]", inside) for number in _numbers(part)]
    parts = [part.strip() for part in re.split(r"[,;]", inside)]
    if all(part in ids or _ID_LIKE.fullmatch(part) for part in parts):
        return parts
    return []


def _numbers(part: str) -> list[str]:
    ends = [int(end) for end in re.split(r"[-–]", part)]
    return [str(number) for number in range(ends[0], max(ends[0], ends[-1]) + 1)]
