"""Citation markers: the sources that an answer cites in brackets, by id or by rank."""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from ragstone.data import Context

# What stands before a raised number that is no power: not `10`, `x` or `km`.
# Checked only before a tag, for there are few.
NO_POWER = r"(?=<)(?<!\d)(?<!\b[A-Za-z])" + "".join(
    rf"(?<!\b{unit})" for unit in ("[kcdmnµ]m", "ft", "in", "yd", "mi")
)

# Stands for the forms that are known here, in settings and in the runs that keep them.
MARKERS = r"\[\^?([^\[\]\n]{1,60})\]|【([^【】\n]{1,60})】"

# What stands in square, lenticular or round brackets, or is raised.
_FORMS = re.compile(
    # The first sign alone decides at most places: what follows costs ten times as much.
    r"(?=[\[【［〔(（<])"
    r"(?:\[([^\[\]\n]{1,60})\]|【([^【】\n]{1,60})】|［([^［］\n]{1,60})］|〔([^〔〕\n]{1,60})〕"
    rf"|[(（]([^()（）\[\]【】［］\n]{{1,60}})[)）]|{NO_POWER}<sup>([^<>\n]{{1,60}})</sup>)"
)

_SOURCE = (
    r"(?:[Cc]itations?|[Cc]ite|[Ss]ources?|[Dd]ocs?|[Dd]ocuments?|[Rr]efs?|[Rr]eferences?"
    r"|[Pp]assages?|[Cc]ontexts?|[Cc]hunks?|[Qq]uellen?|[Bb]elege?|[Ff]uentes?|[Cc]itas?"
    r"|[Ff]onti|[Ff]onte|[Ии]сточники?|来源|來源|引用|出处|文献|出典|資料|출처|문서)"
)
# Words before the name of a source, with what parts them from it.
INTRODUCERS = rf"{_SOURCE}(?:\s?[:：#]\s?|\s|(?<=[^\x00-\x7f])(?=\d))"

_NUMBERS = re.compile(r"[1-9]\d{0,2}(?:\s*[-–]\s*[1-9]\d{0,2})?", re.ASCII)
_ID_LIKE = re.compile(r"(?=.*\d)(?=.*[A-Za-z_])[\w.:#/-]+")
# A word joined with a number: a rank, unless an id begins with that word.
_JOINED = re.compile(rf"({_SOURCE})[-_]?([1-9]\d{{0,2}})", re.ASCII)

_INTRODUCED = re.compile(rf"(?:{INTRODUCERS}|[Ii][Dd]\s?[:：]\s?)([^\s:#][^†]{{0,59}})")
# OpenAI's marks: of a message and a place in its results, from 0; or a number; and a name.
_DAGGER = re.compile(r"(?:\d{1,3}:(\d{1,3})|([1-9]\d{0,2}))†([^†]{0,58})")

_SEVERAL = re.compile(r"[,;、]|\s(?:and|und|et|y|e|&)\s")
_ACRONYM = re.compile(r"[A-Z]{2,}-\d+")
_WORD_OR_NUMBER = re.compile(r"[\W\d_]*|[^\W\d_]*")
_DEFINED = re.compile(r"^[ \t]{0,3}(\[\^[^\[\]\n]{1,60}\]):(.{0,300})", re.MULTILINE)
# A span of more ranks than this is no citation.
MOST = 50


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
    id. A word before it, as in ``[citation:2]`` or ``[doc: a1]``, and a name after a dagger, as in
    ``【2†guide.pdf】``, do not matter; ``【4:0†…】`` names the first. No markers:
    ``[citation needed]``, a year as ``[2023]``, an interval as ``[0, 1]``, ``[3.5]``, a name as
    ``[COVID-19]``. In round brackets, raised, and where the answer has a footnote of that name,
    only what names a context is one: ``(d1)`` and ``(Source 2)``, but no ``(1)``.
    """
    return list(each_marker(answer, contexts, pattern))


def each_marker(
    answer: str, contexts: Sequence[Context], pattern: str, most: int | None = None
) -> Iterator[Marker]:
    """The same markers, each found when it is asked for, in at most so many places."""
    ids = {context.id for context in contexts}
    ranks = {str(context.rank): context.id for context in contexts}
    notes = {note[1]: note for note in _DEFINED.finditer(answer)} if "[^" in answer else {}
    for match in islice(places(answer, pattern), most):
        text = match.group()
        inside = next((group for group in match.groups() if group is not None), text).strip()
        note = notes.get(text)
        if note is not None and note.start(1) == match.start():
            continue
        certain = pattern != MARKERS or (text[0] not in "(（<" and note is None)
        if text[0] in "(（" and pattern == MARKERS and _WORD_OR_NUMBER.fullmatch(inside):
            continue
        words = [] if note is None else [word.strip(".,;()[]") for word in note[2].split()]
        for name in [word for word in words if word in ids] or _names(inside, ids):
            context = name if name in ids else ranks.get(name)
            if certain or context is not None:
                yield Marker(text, match.start(), context)


def places(answer: str, pattern: str) -> Iterator[re.Match[str]]:
    """Yield the places where a pattern finds what may be a marker."""
    return _FORMS.finditer(answer) if pattern == MARKERS else re.finditer(pattern, answer)


def _names(inside: str, ids: set[str]) -> list[str]:
    for whole in (inside, inside.strip("^"), _plain(inside)):
        if whole in ids:
            return [whole]
    inside = _plain(inside)
    if (introduced := _INTRODUCED.fullmatch(inside)) and introduced[1] in ids:
        return [introduced[1]]
    parts = [_named(part.strip(" ^"), ids) for part in _SEVERAL.split(inside)]
    names = [name for part in parts for name in part]
    return names if all(parts) and len(names) <= MOST else []


def _named(part: str, ids: set[str]) -> list[str]:
    if introduced := _INTRODUCED.fullmatch(part):
        part = introduced[1]
    if part in ids:
        return [part]
    if (joined := _JOINED.fullmatch(part)) and not any(
        id.casefold().startswith(joined[1].casefold()) for id in ids
    ):
        part = joined[2]
    if dagger := _DAGGER.fullmatch(part):
        if dagger[3] in ids:
            return [dagger[3]]
        return [dagger[2] or str(int(dagger[1]) + 1)]
    if _NUMBERS.fullmatch(part):
        ends = [int(end) for end in re.split(r"[-–]", part)]
        span = range(ends[0], max(ends[0], ends[-1]) + 1)
        return [str(number) for number in span[: MOST + 1]]
    return [part] if _ID_LIKE.fullmatch(part) and not _ACRONYM.fullmatch(part) else []


def _plain(inside: str) -> str:
    if inside.isascii():
        return inside.strip("^")
    plain = unicodedata.normalize("NFKC", inside).strip("^")
    return "".join(str(unicodedata.decimal(letter, letter)) for letter in plain)
