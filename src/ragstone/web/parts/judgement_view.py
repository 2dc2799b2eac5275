"""Judgement view: a verdict with its shape, words and author, and its corrections."""

import json
from collections import UserDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from getpass import getuser
from typing import Any
from urllib.parse import quote, unquote, urlencode

import polars as pl

from ragstone.core.errors import InputError
from ragstone.data import Context
from ragstone.judgements import ASKS, Agreement, Kind, kind_of, values_of
from ragstone.report.judgement_words import in_words, judged, says, speaking
from ragstone.report.number_format import number
from ragstone.report.reason_words import words
from ragstone.report.run_contents import JudgementRow
from ragstone.run.corrections.correction import DROPPED, TEXT, Correction, Judgement
from ragstone.run.corrections.correction_checks import sayable
from ragstone.web.page_request import Asked, fields_of
from ragstone.web.security import is_alone
from ragstone.web.templating import View

# The shape of a verdict that has none of its own.
BY_TONE = {"good": "correct", "bad": "wrong", "caution": "absent"}

OWN_SHAPE = frozenset(
    ("supported", "contradicted", "absent", "full", "partial", "matches", "contradicts", "extra")
)


def said(row: JudgementRow, lead: str | None = None) -> View:
    """Return a judgement in words after ``lead``; ``code``: the shape and colour of its verdict."""
    code, word = verdict_of(row)
    column = speaking(row.kind)
    about = [name for name, other in row.kind.columns.items()
             if column is not None and other.of == column.name]  # fmt: skip
    chance = row.values.get(about[0]) if about else None
    return {
        "code": code,
        "word": word,
        "number": "" if chance is None else number(chance),
        "words": in_words(row),
        "styled": judged(row, says(row.kind) if lead is None else lead),
        "reason": because(row.reason),
    }


def verdict_of(row: JudgementRow) -> tuple[str, str]:
    """Return the shape and the word of a row's verdict; both empty if it has none."""
    column = speaking(row.kind)
    value = None if column is None else row.values.get(column.name)
    return ("", "") if column is None or value is None else look(row.kind, column.name, value)


def look(kind: type[Kind], column: str, value: object) -> tuple[str, str]:
    """Return the shape and the word of a value."""
    declared = kind.columns[column]
    if kind is Agreement and value == "missing":
        # Missing is said of a judge that failed, and of nothing else.
        return "left_out", "left out"
    if isinstance(value, bool):
        word = (column if value else f"not {column}").replace("_", " ")
    else:
        word = str(value).replace("_", " ")
    if value in OWN_SHAPE:
        return str(value), word
    return BY_TONE.get(declared.tones.get(value, ""), "other"), word


def because(reason: str | None) -> str:
    """Return a reason in words; empty if there is none.

    >>> because("no_retrieval"), because(None)
    ('no retrieval', '')
    """
    text = words(reason or "")
    return text.replace("_", " ") if text.isidentifier() else text


def says_of(ask: str) -> str:
    """Return the words before a judgement of an ask."""
    known = ASKS[ask]
    return known.says if known.says is not None else known.kind


MOST_VALUES = 12
AUTHOR = "ragstone-author"
NO_REASON = "no reason given"
UNDO, REWORD = "undo", "reword"


def author_of(request: Asked) -> str:
    """Return who corrects: the name given last, or the user of the machine itself."""
    if author := request.cookies.get(AUTHOR):
        return unquote(author)
    if not is_alone(request.server):
        return ""
    try:
        return getuser()
    except (OSError, KeyError):
        return ""


def author_cookie(author: str) -> Mapping[str, tuple[str, str]]:
    """Return a cookie that keeps the name for the next correction."""
    return {AUTHOR: (quote(author), "/")}


def about_of(ask: str, unit: str | None) -> str:
    """Return the name of a judgement.

    >>> about_of("support/claim", "3"), about_of("response", None)
    ('support/claim#3', 'response')
    """
    return ask if unit is None else f"{ask}#{unit}"


def read_button(text: str) -> tuple[str | None, str, str | None, str]:
    """Read what a button sent: version, ask and unit of a judgement, and what is said of it."""
    fields = dict(fields_of(text))
    if not {"seen", "about", "say"} <= fields.keys():
        raise InputError("Choose what is right with one of the buttons.")
    ask, mark, unit = fields["about"].partition("#")
    return fields["seen"] or None, ask, unit if mark else None, fields["say"]


def said_by_button(say: str, text: str, contexts: Sequence[Context]) -> Mapping[str, object]:
    """Return what a person says with a button, by column."""
    if say == REWORD:
        return {TEXT: text}
    column, mark, value = say.partition("=")
    if mark:
        return {column: value}
    column, _, places = say.partition("#")
    of = {str(position): context.id for position, context in enumerate(contexts)}
    chosen = list(filter(None, places.split(",")))
    if unknown := [position for position in chosen if position not in of]:
        raise InputError(f"There is no context at place {unknown[0]}.")
    return {column: json.dumps([of[position] for position in chosen], ensure_ascii=False)}


class Corrections(UserDict[str, Any]):
    """The judgements of an example that a person may correct, by name; made when shown."""

    def __init__(self, judgements: Sequence[Judgement], contexts: Sequence[Context]) -> None:
        super().__init__({about_of(each.ask, each.unit): each for each in judgements})
        self._contexts = contexts

    def __getitem__(self, about: str) -> View:
        return _correction(self.data[about], self._contexts)

    def dropped(self, kind: str) -> list[View]:
        """Return the claims or statements that a person dropped."""
        return [
            self[about]
            for about, judgement in self.data.items()
            if judgement.kind == kind and judgement.values.get(DROPPED)
        ]


def _correction(judgement: Judgement, contexts: Sequence[Context]) -> View:
    about = about_of(judgement.ask, judgement.unit)

    def button(say: str) -> str:
        return urlencode({"seen": judgement.version, "about": about, "say": say}, safe="/#=:")

    kind, ask = kind_of(judgement.ask), ASKS[judgement.ask]
    columns = []
    for name, column in sayable(kind, ask).items():
        if column.role in ("evidence", "words"):
            continue
        values = (True, False) if column.dtype == pl.Boolean else values_of(ask, column)
        if not values or len(values) > MOST_VALUES:
            continue
        choices = list(_choices(name, values, judgement, button))
        columns.append({"name": name.replace("_", " "), "choices": choices})
    decides = kind.decides.replace("_", " ")
    columns.sort(key=lambda column: column["name"] != decides)
    person = judgement.correction
    text = judgement.values.get(TEXT) if kind.made else None
    row = JudgementRow(kind, {"judge": judgement.judge, "reason": None, **judgement.values})
    return {
        "by": person.author if person else "",
        "when": when(person.at) if person else "",
        "reason": person.reason if person else "",
        "was": was_said(person) if person else "",
        "undo": button(UNDO) if person else "",
        "about": about,
        "code": verdict_of(row)[0] or "other",
        "words": "" if kind.made else in_words(row),
        "columns": columns,
        "rests": list(_rests(kind, judgement, contexts, button)),
        "text": None if text is None else str(text),
        "reword": button(REWORD),
        "drop": button(f"{DROPPED}=true") if kind.made else "",
        "others": len(judgement.examples) - 1,
    }


def _rests(
    kind: type[Kind],
    judgement: Judgement,
    contexts: Sequence[Context],
    button: Callable[[str], str],
) -> Iterator[View]:
    """Yield no context, and each of them, which a button adds or takes away."""
    for name in kind.having("evidence"):
        is_backed = judgement.values.get(kind.decides) in kind.columns[kind.decides].positive
        if not is_backed or kind.columns[name].dtype != pl.List(pl.String):
            continue
        now = judgement.values[name]
        yield {"value": button(f"{name}#"), "word": "none", "on": now == []}
        # By places, for a page with many contexts would have all their long ids at each of them.
        places = [at for at, context in enumerate(contexts) if context.id in (now or ())]
        for at, context in enumerate(contexts):
            others = [other for other in places if other != at]
            on = len(others) < len(places)
            chosen = ",".join(map(str, others if on else [*others, at]))
            yield {"value": button(f"{name}#{chosen}"), "word": str(context.rank), "on": on}


def _choices(
    name: str, values: Sequence[object], judgement: Judgement, button: Callable[[str], str]
) -> Iterator[View]:
    for value in values:
        code, word = look(kind_of(judgement.ask), name, value)
        written = str(value)
        if isinstance(value, bool):
            word, written = "yes" if value else "no", written.lower()
        on = judgement.values.get(name) == value
        yield {"value": button(f"{name}={written}"), "code": code, "word": word, "on": on}


def when(at: str) -> str:
    """Return a time as pages write it."""
    return datetime.fromisoformat(at).strftime("%d %b %Y, %H:%M UTC")


def was_said(correction: Correction) -> str:
    """Return what the judge had said in the columns that a person set."""
    kind = kind_of(correction.ask)
    words = []
    for name in correction.said:
        if name == DROPPED or name in kind.having("evidence"):
            continue
        value = correction.was.get(name)
        if name == TEXT or value is None:
            words.append("nothing" if value is None else str(value))
        elif name in kind.columns and not isinstance(value, list):
            words.append(look(kind, name, value)[1])
    return ", ".join(words)
