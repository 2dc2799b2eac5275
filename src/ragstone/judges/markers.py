"""Citation markers: the sources that an answer cites in brackets, by id or by rank."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from ragstone.data import Context

MARKERS = r"\[\^?([^\[\]\n]{1,60})\]|【([^【】\n]{1,60})】"
"""What stands in square or lenticular brackets."""

_NUMBERS = re.compile(r"[1-9]\d{0,2}(?:\s*[-–,;]\s*[1-9]\d{0,2})*")
_ID_LIKE = re.compile(r"(?=.*\d)(?=.*[A-Za-z_])[\w.:#/-]+")
_INTRODUCED = re.compile(
    r"(?:[Ss]ource|[Dd]oc|[Dd]ocument|[Rr]ef|[Rr]eference|[Pp]assage|[Cc]ontext|[Cc]hunk|[Qq]uelle"
    r"|[Ff]uente)s?(?: ?[:#] ?| )([^\s:#][^†]{0,59})|([1-9]\d{0,2})†[^†]{0,58}"
)
_ACRONYM = re.compile(r"[A-Z]{2,}-\d+")
MOST = 50
"""A span of more ranks than this is no citation."""


@dataclass(frozen=True, slots=True)
class Marker:
    """One source that an answer cites; ``context`` is None if it is none of the contexts."""

    text: str
    place: int
    context: str | None


def markers(answer: str, contexts: Sequence[Context], pattern: str = MARKERS) -> list[Marker]:
    """The markers of an answer in order.

    A number names the context with that id, else the one of that rank; ``[1, 3]``
    and ``[1-3]`` name several. Another word names the context with that id; one
    of letters and digits, as ``[doc-7]``, is a marker even if no context has that
    id. A word before it, as in ``[Source 2]`` or ``[doc: a1]``, and a name after a dagger, as in
    ``【2†guide.pdf】``, do not matter. No markers: ``[citation needed]``, a year as
    ``[2023]``, an interval as ``[0, 1]``, ``[3.5]``, a name as ``[COVID-19]``.
    """
    return list(each_marker(answer, contexts, pattern))


def each_marker(
    answer: str, contexts: Sequence[Context], pattern: str, most: int | None = None
) -> Iterator[Marker]:
    """The same markers, each found when it is asked for, in at most so many places."""
    ids = {context.id for context in contexts}
    ranks = {str(context.rank): context.id for context in contexts}
    for match in islice(places(answer, pattern), most):
        inside = next((group for group in match.groups() if group is not None), match.group())
        for name in _names(inside.strip(), ids):
            context = name if name in ids else ranks.get(name)
            yield Marker(match.group(), match.start(), context)


def places(answer: str, pattern: str) -> Iterator[re.Match[str]]:
    """Where a pattern finds what may be a marker."""
    return re.finditer(pattern, answer)


def _names(inside: str, ids: set[str]) -> list[str]:
    if inside in ids:
        return [inside]
    if introduced := _INTRODUCED.fullmatch(inside):
        inside = introduced[1] or introduced[2]
        if inside in ids:
            return [inside]
    if _NUMBERS.fullmatch(inside):
        spans = [_span(part) for part in re.split(r"[,;]", inside)]
        numbers = [number for span in spans for number in span]
        return [str(number) for number in numbers] if len(numbers) <= MOST else []
    parts = [part.strip() for part in re.split(r"[,;]", inside)]
    if all(part in ids or _is_id_like(part) for part in parts):
        return parts
    return []


def _is_id_like(part: str) -> bool:
    return bool(_ID_LIKE.fullmatch(part)) and not _ACRONYM.fullmatch(part)


def _span(part: str) -> range:
    ends = [int(end) for end in re.split(r"[-–]", part)]
    return range(ends[0], max(ends[0], ends[-1]) + 1)
