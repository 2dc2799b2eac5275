"""Contexts: the retrieved contexts of a record, in the order of their ranks, and judged ones."""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from math import isfinite
from typing import Any, NamedTuple

from .conversation import text_in
from .documents import HOLDERS, unwrapped
from .example import TEXT_KEYS, Context, read_id
from .fields import ABSENT, squash
from .json_text import Problem, RepeatedNames, add_problem, opened, shown

ID_KEYS = ("id", "context_id", "chunk_id", "node_id", "_id", "id_", "segment_id")
DOCUMENT_KEYS = ("doc_id", "document_id", "source", "file_id")

# Keys of contexts that hold another object, or whose keys have a common beginning.
WRAPPED = HOLDERS | {"document.id", "document.content", "document.score"}


class _Reading(NamedTuple):
    text: str | None
    id: str | None
    rank: object
    score: float | None


def ranked_contexts(
    value: object, ids: object, problems: list[Problem], *, graded: bool
) -> tuple[tuple[Context, ...], list[int] | None]:
    """Return the contexts in rank order, and the permutation that sorted them, if any.

    Args:
        value: Texts or objects.
        ids: The ids of the contexts, if given in a separate list.
        graded: True if the record also has relevance grades by id, so that ids must be unique.
    """
    if isinstance(value, str):
        value = [value]
    elif isinstance(value, dict):
        value = _rows_of(value)
    names = None if ids is None else _context_ids(ids, problems)
    if value is None and names is not None:
        value = [None] * len(names)
    elif not isinstance(value, list):
        add_problem(problems, "contexts", "a list of texts or objects", value)
        return (), None
    elif names is not None and len(names) != len(value):
        expected = f"one id a context, {len(value)}"
        problems.append(Problem("context_ids", expected, f"{len(names)} ids"))
        return (), None
    if any(type(part) is str and part[:1] == "{" for part in value):
        value = [opened_context(part) if type(part) is str else part for part in value]
    if names is None and set(map(type, value)) <= {str}:
        # By far the most common, so it takes the short way.
        texts = enumerate(value, 1)
        return tuple(Context(str(rank), text, rank) for rank, text in texts), None
    readings: list[_Reading] = []
    of_documents = False
    for index, part in enumerate(value):
        if isinstance(part, dict):
            part = unwrapped(part) if part.keys() & WRAPPED else part
            text_key, id_key, is_document = _keys(tuple(part))
            of_documents |= is_document
            has_ids = names is not None
            readings.append(_reading(part, text_key, id_key, index, problems, has_id=has_ids))
            continue
        is_text = type(part) is str
        if not is_text and (part is not None or names is None):
            where = f"contexts[{index}]"
            add_problem(problems, where, "a text or an object with text", part)
        readings.append(_Reading(part if is_text else None, None, None, None))
    order = _order([reading.rank for reading in readings], problems)
    # Chunks of one document may share its id; what is judged by id may not.
    own_ids = [reading.id for reading in readings]
    chosen = _chosen(own_ids, names, problems, shared=of_documents and not graded)
    positions = range(len(readings)) if order is None else order
    contexts = tuple(
        Context(chosen[i] or str(rank), readings[i].text, rank, readings[i].score)
        for rank, i in enumerate(positions, 1)
    )
    some_have_ids = any(chosen) and None in chosen
    if some_have_ids and len({context.id for context in contexts}) < len(contexts):
        got = "an id that is another's position"
        problems.append(Problem("contexts", "ids for all or none", got))
    return contexts, order


def opened_context(text: str) -> Any:
    """Return a context's JSON object if that has a text; otherwise the context as it is."""
    value = opened(text)
    if not isinstance(value, dict):
        return text
    fields = unwrapped(value) if value.keys() & WRAPPED else value
    return value if isinstance(fields.get(_keys(tuple(fields))[0]), str) else text


@lru_cache(maxsize=256)
def _keys(keys: tuple[str, ...]) -> tuple[str, str, bool]:
    """Which keys of an object are its text and its id, and whether that is a document's id."""
    by_name = {squash(key): key for key in reversed(keys)}
    text = _first(by_name, TEXT_KEYS)
    id = _first(by_name, ID_KEYS)
    document = _first(by_name, DOCUMENT_KEYS)
    is_document = id is ABSENT and document != ABSENT
    return text, document if id is ABSENT else id, is_document


def _reading(
    context: dict[str, Any], text_key: str, id_key: str, index: int, problems: list[Problem], *,
    has_id: bool,
) -> _Reading:  # fmt: skip
    text: Any = context.get(text_key)
    if isinstance(text, (dict, list)):
        text = text_in(text) or text
    if text is not None and type(text) is not str:
        add_problem(problems, f"contexts[{index}].{text_key}", "text", text)
    id = read_id(context.get(id_key), f"contexts[{index}].{id_key}", problems)
    if text is None and id is None and not has_id:
        add_problem(problems, f"contexts[{index}]", "a text or an id", context)
    score = context.get("score")
    if score is not None:
        score = _score(score, index, problems)
    return _Reading(text, id, context.get("rank"), score)


def _chosen(
    own_ids: Sequence[str | None], names: list[str | None] | None, problems: list[Problem], *,
    shared: bool,
) -> Sequence[str | None]:  # fmt: skip
    if names is not None and not any(own_ids):
        return names
    repeated = _repeated(own_ids)
    if repeated is None:
        return own_ids
    if not shared:
        problems.append(_twice(f"contexts[{repeated}]", own_ids[repeated]))
    return [None] * len(own_ids)


def read_grades(value: object, problems: list[Problem]) -> dict[str, int] | None:
    """Read judged contexts: a list of relevant ids, a mapping id to grade, or objects of both."""
    field = "reference_contexts"
    pairs: list[tuple[object, object]]
    if isinstance(value, (str, int)) and not isinstance(value, bool):
        pairs = [(value, 1)]
    elif isinstance(value, dict):
        pairs = [*value.items(), *(value.others if isinstance(value, RepeatedNames) else ())]
    elif isinstance(value, list):
        pairs = [
            (item.get("id"), item.get("grade", 1)) if isinstance(item, dict) else (item, 1)
            for item in value
        ]
    else:
        add_problem(problems, field, "a list of ids or ids with their grades", value)
        return None
    grades: dict[str, int] = {}
    for index, (raw_id, grade) in enumerate(pairs):
        id = read_id(raw_id, f"{field}[{index}]", problems)
        if raw_id is None:
            problems.append(Problem(f"{field}[{index}]", "an id", "null"))
        if isinstance(grade, float) and grade.is_integer():
            grade = int(grade)
        if type(grade) is not int or abs(grade) > 1_000_000:
            add_problem(problems, f"{field}[{index}]", "a whole number as grade", grade)
        elif id is not None and grades.setdefault(id, grade) != grade:
            got = f"{shown(id)} graded {grades[id]} and {grade}"
            problems.append(Problem(f"{field}[{index}]", "one grade for each id", got))
    return {id: grade for id, grade in grades.items() if grade >= 0}


# What stands between ids in one cell.
LISTS = re.compile("[,;|]")

# Characters by which an id may be longer than the longest of the others.
LONGER = 8


def ids_among(texts: Sequence[str], contexts: Sequence[Context] | None) -> list[str]:
    """Return the gold contexts that are ids, as the retrieved contexts have them.

    A text is an id if it is the id of a retrieved context, or looks like these: no more words, no
    other letters or marks, hardly longer. Without a digit or a mark it may be a plain word or a
    title, and counts only if one of the texts is the id of a retrieved context. Where nothing was
    retrieved, an id is a single word with a digit.

    >>> retrieved = [Context("doc-1", "The pier is long.", 1), Context("doc-12", None, 2)]
    >>> ids_among(["doc-9", "The pier is 90 m long.", "Bath"], retrieved)

    ['doc-9']
    """
    if contexts is None:
        return []
    known = {context.id for context in contexts if context.id != str(context.rank)}
    if contexts and not known:
        return []
    texts = [text.strip() for text in texts]
    words = max((len(id.split()) for id in known), default=1)
    longest = max(map(len, known), default=LONGER * 4) + LONGER
    sorts = set(map(_sort, "".join(known))) if known else None
    has_known = not known.isdisjoint(texts)

    def is_id(text: str) -> bool:
        sorts_of_text = set(map(_sort, text))
        plain = sorts_of_text <= LETTERS if known else "0" not in sorts_of_text
        return (
            len(text.split()) <= words
            and len(text) <= longest
            and (sorts is None or sorts_of_text <= sorts)
            and (has_known or not plain)
        )

    return [text for text in texts if is_id(text)]


def listed_ids(value: object, contexts: Sequence[Context] | None) -> object:
    """Split the ids that a text lists in one cell, if all its parts are ids.

    >>> listed_ids("doc-9; doc-2", [Context("doc-1", "The pier is long.", 1)])
    ['doc-9', 'doc-2']
    """
    if not isinstance(value, str) or any(LISTS.search(context.id) for context in contexts or ()):
        return value
    parts = [part.strip() for part in LISTS.split(value) if part.strip()]
    return parts if parts and ids_among(parts, contexts) == parts else value


LETTERS = frozenset(("a", "ä", " "))


def _sort(character: str) -> str:
    if character.isalpha():
        return "a" if character.isascii() else "ä"
    return "0" if character.isdigit() else character


def _context_ids(value: object, problems: list[Problem]) -> list[str | None] | None:
    if not isinstance(value, list):
        add_problem(problems, "context_ids", "a list of ids", value)
        return None
    ids = []
    for index, id in enumerate(value):
        ids.append(read_id(id, f"context_ids[{index}]", problems))
        if id is None:
            problems.append(Problem(f"context_ids[{index}]", "an id", "null"))
    if (repeated := _repeated(ids)) is not None:
        problems.append(_twice(f"context_ids[{repeated}]", ids[repeated]))
    return ids


def _twice(where: str, id: str | None) -> Problem:
    return Problem(where, "an id that no other context of the list has", f"{shown(id)} again")


def _rows_of(columns: dict[str, Any]) -> object:
    """Turn an object of equally long lists, as Hugging Face has lists of objects, into objects."""
    lists = list(columns.values())
    if lists and all(isinstance(column, list) and len(column) == len(lists[0]) for column in lists):
        return [dict(zip(columns, row, strict=True)) for row in zip(*lists, strict=True)]
    return columns


def _score(value: object, index: int, problems: list[Problem]) -> float | None:
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        try:
            number = float(value)
        except OverflowError:
            number = float("inf")
        if isfinite(number):
            return number
    add_problem(problems, f"contexts[{index}].score", "a finite number", value)
    return None


def _order(ranks: list[object], problems: list[Problem]) -> list[int] | None:
    if ranks.count(None) == len(ranks):
        return None
    numbers: list[int] = []
    for index, rank in enumerate(ranks):
        if isinstance(rank, float) and rank.is_integer():
            rank = int(rank)
        if type(rank) is not int:
            add_problem(problems, f"contexts[{index}].rank", "a whole number from 1", rank)
            return None
        numbers.append(rank)
    n = len(numbers)
    order: list[int] = [-1] * n
    zero_based = sorted(numbers) == list(range(n))
    for index, rank in enumerate(numbers):
        if rank == 0:
            got = "0; ranks start at 1"
            if zero_based and n > 1:
                got = f"0 to {n - 1}; ranks start at 1"
        elif rank < 0:
            got = f"the negative {rank}"
        elif rank > n:
            got = f"{rank}, which leaves a gap"
        elif order[rank - 1] >= 0:
            got = f"{rank} twice"
        else:
            order[rank - 1] = index
            continue
        problems.append(Problem(f"contexts[{index}].rank", f"ranks 1 to {n}, each once", got))
    if -1 in order or order == list(range(n)):
        return None
    return order


def _repeated(ids: Sequence[str | None]) -> int | None:
    seen: set[str] = set()
    for index, id in enumerate(ids):
        if id in seen:
            return index
        if id is not None:
            seen.add(id)
    return None


def _first(by_name: Mapping[str, str], names: Sequence[str]) -> str:
    return next((by_name[key] for name in names if (key := squash(name)) in by_name), ABSENT)
