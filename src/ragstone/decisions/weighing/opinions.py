"""Opinions: which of two answers people prefer, or how they rate one, from a file.

Each row is by one annotator. Preferences name two examples, by their ids or by question and
systems, with a value from -2 (a is much better) to 2 (b is much better), or ``a``, ``b``, ``tie``::

    question_id,system_a,system_b,preference,annotator
    q1,bm25,dense,2,ann
    q1,bm25,dense,1,ben

Ratings name one example with any number; higher is better::

    id,rating,annotator
    q1-bm25,4,ann
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import compress
from math import isfinite
from pathlib import Path
from typing import Any

from ragstone.core.errors import DataError, Fault
from ragstone.data.fields import squash
from ragstone.data.json_text import BadRow, Problem, shown
from ragstone.data.sources import on_disk
from ragstone.data.text_files import Meter
from ragstone.decisions.scored import Scored
from ragstone.labels.last_word import Word, that_count
from ragstone.labels.read import source_of


class Sort(StrEnum):
    """The sort of opinions in a file, by the name of their column."""

    PREFERENCE = "preference"
    RATING = "rating"


MOST = 2.0
WORDS = {"a": -MOST, "b": MOST, "tie": 0.0}
PLACES = ("id_a", "id_b", "question_id", "system_a", "system_b")


@dataclass(frozen=True, slots=True)
class Opinion:
    """The opinion of one annotator, as in the file."""

    line: int | None
    annotator: str
    value: float
    id: str | None = None
    id_a: str | None = None
    id_b: str | None = None
    question_id: str | None = None
    system_a: str | None = None
    system_b: str | None = None


@dataclass(frozen=True, slots=True)
class Opinions:
    """A file of preferences, or of ratings."""

    source: str
    sort: Sort
    rows: tuple[Opinion, ...]


@dataclass(frozen=True, slots=True)
class JointOpinion:
    """People's combined opinion of a pair of examples, or of one example.

    ``a`` and ``b`` are row indexes in ``Scored.facets``, several if a system answered a question
    several times; ``a`` is empty for a rating. ``value`` is the mean over the annotators, or over
    those of them who are adjudicators, if any.
    """

    a: tuple[int, ...]
    b: tuple[int, ...]
    value: float
    annotators: int


def read_opinions(path: str | Path) -> Opinions:
    """Read preferences or ratings from .jsonl or .csv, each optionally .gz.

    Raises:
        DataError: Lists every fault: the file does not exist, a row is neither a preference nor
            a rating, a value is out of range, a row names no pair and no example, or one file
            mixes both.
    """
    place, name = on_disk(path), str(path)
    if not place.is_file():
        raise DataError([Fault(name, None, "", "a file of preferences", "none of this name")])
    rows: list[Opinion] = []
    faults: list[Fault] = []
    sorts: dict[Sort, int | None] = {}
    for line, record in source_of(place, name).rows(Meter(windows=None)):
        problems: list[Problem] = []
        if isinstance(record, BadRow):
            problems.extend(record.problems)
        elif isinstance(record, Mapping):
            by_name = {squash(str(key)): value for key, value in record.items()}
            sort = Sort.PREFERENCE if by_name.get(Sort.RATING) is None else Sort.RATING
            row = _opinion(by_name, sort, line, problems)
            if not problems:
                sorts.setdefault(sort, line)
                rows.append(row)
        faults += [Fault(name, line, *problem) for problem in problems]
    if len(sorts) > 1:
        faults.append(
            Fault(
                name,
                max(line or 0 for line in sorts.values()),
                "",
                "preferences or ratings",
                "both",
            )
        )
    if not rows and not faults:
        faults.append(Fault(name, None, "", "a row with a preference or a rating", "no row"))
    if faults:
        raise DataError(faults)
    return Opinions(name, next(iter(sorts)), tuple(rows))


def judged_of(opinions: Opinions, scored: Scored) -> list[JointOpinion]:
    """One entry for each pair, or example, of a run: the mean over its annotators.

    A pair that one annotator saw as a, b and another as b, a is one pair.

    Raises:
        DataError: Lists every row about an example that the run does not have, and every
            annotator with two opinions of the same pair or example.
    """
    facets = scored.facets
    ids = {id: (row,) for row, id in enumerate(facets["example_id"])}
    questions = facets["question_id"].to_list()
    answers: dict[tuple[str, str], tuple[int, ...]] = {}
    for row, key in enumerate(facets.select("question_id", "system").iter_rows()):
        answers[key] = (*answers.get(key, ()), row)
    faults: list[Fault] = []
    said: dict[tuple[tuple[int, ...], tuple[int, ...]], dict[str, float]] = {}
    for one in opinions.rows:
        problems: list[Problem] = []
        a, b = _places(one, ids, answers, questions, problems)
        if not problems:
            turn = (b, a) in said
            votes = said.setdefault((b, a) if turn else (a, b), {})
            if one.annotator in votes:
                who = one.annotator or "an annotator without a name"
                problems.append(Problem("annotator", "one row an annotator", f"{who} twice"))
            votes[one.annotator] = -one.value if turn else one.value
        faults += [Fault(opinions.source, one.line, *problem) for problem in problems]
    if faults:
        raise DataError(faults, hint=f"The run is {scored.run.path}.")
    found = []
    for (a, b), votes in said.items():
        words = (Word(None, None, annotator, discarded=False) for annotator in votes)
        values = list(compress(votes.values(), that_count(words)))
        found.append(JointOpinion(a, b, sum(values) / len(values), len(values)))
    return found


def _opinion(
    record: Mapping[str, Any], sort: Sort, line: int | None, problems: list[Problem]
) -> Opinion:
    value = _value(record.get(sort), sort, problems)
    texts = {
        name: _text(record.get(squash(name)), name, problems)
        for name in ("id", "annotator", *PLACES)
    }
    annotator = texts.pop("annotator") or ""
    named = [name for name in texts if texts[name] is not None]
    if sort == Sort.RATING:
        if texts["id"] is None:
            problems.append(Problem("id", "the id of an example", "null"))
    elif not ({"id_a", "id_b"} <= set(named) or set(PLACES[2:]) <= set(named)):
        expected = "id_a and id_b, or question_id, system_a and system_b"
        problems.append(Problem("", expected, ", ".join(named) or "none of them"))
    return Opinion(line, annotator, value, **texts)


def _value(value: object, sort: Sort, problems: list[Problem]) -> float:
    number = _number(value)
    if sort == Sort.RATING:
        if number is None:
            problems.append(Problem(sort, "a number", shown(value)))
        return number or 0.0
    if isinstance(value, str) and value.strip().lower() in WORDS:
        return WORDS[value.strip().lower()]
    if number is None or abs(number) > MOST:
        expected = "-2 (a is much better) to 2 (b is much better), or a, b or tie"
        problems.append(Problem(sort, expected, shown(value)))
    return number or 0.0


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if isfinite(number) else None


def _text(value: object, field: str, problems: list[Problem]) -> str | None:
    if value is None or (isinstance(value, str) and value):
        return value
    if type(value) is int:
        return str(value)
    problems.append(Problem(field, "text or a whole number", shown(value)))
    return None


def _places(
    one: Opinion,
    ids: Mapping[str, tuple[int, ...]],
    answers: Mapping[tuple[str, str], tuple[int, ...]],
    questions: Sequence[str],
    problems: list[Problem],
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    found = list(_found(one, ids, answers, problems))
    if not problems and len(found) == 2:
        if found[0] == found[1]:
            problems.append(Problem("", "two answers", "one and the same"))
        elif questions[found[0][0]] != questions[found[1][0]]:
            asked = " and ".join(repr(questions[one[0]]) for one in found)
            problems.append(Problem("", "two answers to one question", f"answers to {asked}"))
    if problems:
        return (), ()
    return ((), found[0]) if len(found) == 1 else (found[0], found[1])


def _found(
    one: Opinion,
    ids: Mapping[str, tuple[int, ...]],
    answers: Mapping[tuple[str, str], tuple[int, ...]],
    problems: list[Problem],
) -> Iterator[tuple[int, ...]]:
    named = {"id": one.id} if one.id_a is None and one.system_a is None else {
        "id_a": one.id_a, "id_b": one.id_b
    }  # fmt: skip
    if one.id_a is not None or one.system_a is None:
        for field, id in named.items():
            if id is not None and id in ids:
                yield ids[id]
            else:
                problems.append(Problem(field, "the id of an example of the run", repr(id)))
        return
    for field, system in (("system_a", one.system_a), ("system_b", one.system_b)):
        key = (str(one.question_id), str(system))
        if key in answers:
            yield answers[key]
        else:
            expected = "a question and system of the run"
            problems.append(Problem(field, expected, f"{one.question_id!r} by {system!r}"))
