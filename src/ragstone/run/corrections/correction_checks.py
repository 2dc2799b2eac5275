"""Correction checks: what a person says, against the kind; one error lists every fault."""

import json
from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any

import polars as pl

from ragstone.core.errors import InputError
from ragstone.core.messages import argument
from ragstone.data import Example
from ragstone.judgements import ASKS, KINDS, Ask, Column, Kind, kind_of, values_of

from .apply import ruled
from .correction import DROPPED, TEXT, JudgedUnit, Row, correctable

LONGEST_AUTHOR, LONGEST_TEXT = 200, 10_000
TRUTHS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
MOST_NAMED = 12


def asks_named(kind: str) -> list[Ask]:
    asks = [ASKS[kind]] if kind in ASKS else list(KINDS[kind].asks) if kind in KINDS else []
    answerable = [ask for ask in asks if correctable(ask)]
    if answerable:
        return answerable
    can_be = sorted({ask.kind for ask in ASKS.values() if correctable(ask)})
    why = "is counted or computed, not judged" if asks else "is no kind of judgement"
    raise InputError(f"{kind!r} {why}. People can correct: {', '.join(can_be)}.")


def unit_named(units: Sequence[JudgedUnit], kind: str, name: object) -> JudgedUnit:
    unit_wanted = None if name is None else str(name).strip().removeprefix("#")
    matching = [unit for unit in units if unit_wanted in (unit.name, *unit.also)]
    if not matching and unit_wanted is not None:
        word, _, number = unit_wanted.rpartition(" ")
        matching = [unit for unit in units if word and number == unit.name and _sort(unit) == word]
    if not matching and unit_wanted is None and len(units) == 1:
        matching = list(units)
    if len(matching) == 1:
        return matching[0]
    if not units:
        raise InputError(
            f"There is nothing of {kind} in this example that could be corrected: it is undefined "
            "here, or what it is about was never extracted."
        )
    choices = [unit.named for unit in matching or units]
    if matching:
        raise InputError(f"{kind}#{unit_wanted} may be {' or '.join(choices)}. Name which.")
    more = ", …" if len(choices) > MOST_NAMED else ""
    what = "no unit" if unit_wanted is None else f"no unit {unit_wanted!r}"
    raise InputError(
        f"{kind} has {what} here. Name one of: {', '.join(choices[:MOST_NAMED])}{more}."
    )


def _sort(unit: JudgedUnit) -> str:
    over = ASKS[unit.ask].over
    return kind_of(unit.ask).name.removesuffix("s") if over is None else over.unit


def checked(unit: JudgedUnit, values: Mapping[str, object], example: Example) -> dict[str, Any]:
    """Return the person's values by column."""
    faults = []
    kind, ask = kind_of(unit.ask), ASKS[unit.ask]
    checked_values: dict[str, Any] = {}
    known = sayable(kind, ask)
    by_label = {column.label: name for name, column in known.items() if column.label}
    for name, value in values.items():
        column_name = by_label.get(name, name)
        if column_name not in known and not (column_name == DROPPED and kind.made):
            can_be = ", ".join([*known, *([DROPPED] if kind.made else [])])
            faults.append(f"{name}: {unit.ask} has no such column to correct; it has {can_be}")
            continue
        try:
            is_dropped = column_name == DROPPED
            checked_values[column_name] = (
                _dropped(value) if is_dropped else _value(known[column_name], ask, value)
            )
        except ValueError as error:
            faults.append(f"{name}: expected {error}, got {_shown(value)}")
    if not values:
        faults.append(f"nothing is said: name a column and its value, such as {_example(known)}")
    if len(checked_values) == len(values) and checked_values:
        faults += _of_whole(unit, kind, checked_values, example)
    if faults:
        lines = "\n".join(f"  {fault}" for fault in faults)
        raise InputError(f"{example.id}, {unit.named} cannot be corrected so:\n{lines}")
    return checked_values


def check_words(author: object, reason: object, *, needs_reason: bool = True) -> None:
    faults = []
    if not isinstance(author, str) or not author.strip():
        faults.append(f"nobody is named: {argument('author', 'NAME')}")
    elif len(author) > LONGEST_AUTHOR:
        faults.append(f"the author's name has {len(author):,} letters of at most {LONGEST_AUTHOR}")
    if not isinstance(reason, str) or (needs_reason and not reason.strip()):
        faults.append(f"no reason is given: {argument('reason', 'WHY')}")
    elif len(reason) > LONGEST_TEXT:
        faults.append(f"the reason has {len(reason):,} letters of at most {LONGEST_TEXT:,}")
    if faults:
        raise InputError("A correction says who and why: " + "; ".join(faults) + ".")


def sayable(kind: type[Kind], ask: Ask) -> dict[str, Column]:
    """The columns of an ask that a person can set; the others follow, or are counted."""
    roles = ("verdict", "grade", "number", "evidence")
    return {
        column.name: column
        for column in kind.filled_by(ask)
        if (column.role in roles and not column.of and column.dtype != pl.List(pl.UInt32))
        or (kind.made and column.name == TEXT)
    }


def _value(column: Column, ask: Ask, value: object) -> Any:
    if column.role == "words":
        if isinstance(value, str) and value.strip() and len(value) <= LONGEST_TEXT:
            return value
        raise ValueError(f"a text of at most {LONGEST_TEXT:,} letters")
    if column.role == "evidence":
        return _ids(value)
    if column.dtype == pl.Boolean:
        word = str(value).strip().lower()
        if word not in TRUTHS:
            raise ValueError("true or false")
        return TRUTHS[word]
    words = [str(word) for word in values_of(ask, column)]
    if words:
        word = str(value).strip()
        if isinstance(value, bool) or word not in words:
            raise ValueError(f"one of {', '.join(words)}")
        if column.role == "number":
            return int(word) / max(map(int, words))
        return int(word) if column.dtype.is_numeric() else word
    return _number(value, whole=column.dtype.is_integer())


def _number(value: object, *, whole: bool) -> float:
    try:
        number = float(str(value))
    except ValueError:
        number = float("nan")
    if isinstance(value, bool) or not isfinite(number) or (whole and number != int(number)):
        raise ValueError("a whole number" if whole else "a number")
    return int(number) if whole else number


def _ids(value: object) -> list[str]:
    if isinstance(value, str):
        text = value.strip()
        if not text.startswith("["):
            return [part.strip() for part in text.split(",") if part.strip()]
        try:
            value = json.loads(text)
        except ValueError:
            value = None
    if not isinstance(value, list | tuple) or not all(isinstance(part, str) for part in value):
        raise ValueError("ids of contexts, separated by commas")
    return list(value)


def _dropped(value: object) -> bool:
    if str(value).strip().lower() not in ("true", "yes", "1"):
        raise ValueError(f"true; what was dropped comes back with {argument('undo', True)}")
    return True


def _of_whole(unit: JudgedUnit, kind: type[Kind], values: Row, example: Example) -> list[str]:
    faults = []
    if values.get(DROPPED) and len(values) > 1:
        faults.append(f"{DROPPED}: what is dropped can say nothing else")
    ids = {context.id for context in example.contexts or ()}
    for name in () if kind.made else kind.having("evidence"):
        unknown = [context for context in values.get(name) or () if context not in ids]
        faults += [f"{name}: there is no context {_shown(context)}" for context in unknown]
    row = ruled(unit.ask, unit.row or {}, values, "", "")
    if unit.row is not None and all(unit.row.get(name) == value for name, value in values.items()):
        faults.append("it says so already")
    columns = {label: name for name, label in kind.labels().items()}
    over = ASKS[unit.ask].over
    for rule in kind.rules:
        first, then = (row.get(columns.get(label, "")) for label in (rule.given, rule.then))
        if over is None or rule.unit != over.unit or rule.severity != "block" or not first:
            continue
        if then is not None and bool(then) != rule.says:
            should = str(rule.says).lower()
            faults.append(
                f"{columns[rule.given]} is true, so {columns[rule.then]} must be {should} "
                f"({rule.name}); say both"
            )
    return faults


def _example(known: Mapping[str, Column]) -> str:
    name, column = next(iter(known.items()))
    return f"{name}={next(iter(column.values), 'true')}"


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:59]}…"
