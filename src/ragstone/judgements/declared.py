"""Declared: the faults in the declaration of a user-defined kind."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import get_args

import polars as pl

from ragstone.data.record_labels import LABELS, Rule, known_values

from .ask import Ask, values_of
from .column import SAID, Column, Role, Tone
from .requirements import REQUIREMENTS
from .view import View

SHOWN = ("question", "contexts", "answer", "sentences", "reference", "policy")
EVERY_TABLE_HAS = ("example_id", "subject", "judge", "reason")


def faults_of(
    name: object,
    asks: object,
    shows: object,
    rules: object,
    columns: Mapping[str, Column],
    known: Collection[str],
) -> list[str]:
    """Every fault of a declaration, found before the kind is registered.

    Args:
        name: The kind's name.
        asks: Its asks.
        shows: The texts that it shows to judges.
        rules: The rules between its labels.
        columns: Its own columns.
        known: The names of the existing kinds.
    """
    faults = list(_of_name(name, known))
    for column in columns.values():
        faults += _of_column(column)
    decides = [one for one in columns.values() if one.role in ("verdict", "grade", "number")]
    if not decides:
        faults.append('no column with role="verdict", so nothing is decided')
    elif _typed(decides[0]) and decides[0].dtype.is_numeric() and not decides[0].values:
        faults.append(
            f"{decides[0].name} has no values, so a model does not know what it may answer"
        )
    if not isinstance(asks, Sequence) or not all(isinstance(ask, Ask) for ask in asks):
        faults.append("asks must be a tuple: asks = (Ask(over=Answers),)")
    elif not asks:
        faults.append("no ask, so no judge is asked: asks = (Ask(over=Answers),)")
    else:
        for ask in asks:
            faults += _of_ask(ask, columns)
    faults += _of_shows(shows)
    if not isinstance(rules, Sequence) or not all(isinstance(rule, Rule) for rule in rules):
        faults.append("rules must be a tuple of ragstone.data.record_labels.Rule")
    return list(dict.fromkeys(faults))


def _of_name(name: object, known: Collection[str]) -> Iterator[str]:
    if not isinstance(name, str) or not name.isidentifier() or name != name.lower():
        yield "the name must be a word of lower-case letters, digits and _"
    elif name in known:
        yield f"there is already a kind called {name}; choose another name"


def _of_shows(shows: object) -> Iterator[str]:
    if isinstance(shows, str) or not isinstance(shows, Sequence):
        yield 'shows must be a tuple: shows = ("question", "answer")'
        return
    unknown = [str(text) for text in shows if text not in SHOWN]
    if unknown:
        yield f"shows {', '.join(unknown)}; a kind can show {', '.join(SHOWN)}"


def _of_column(column: Column) -> Iterator[str]:
    roles = get_args(Role)
    if column.name in EVERY_TABLE_HAS:
        yield f"every kind already has a column {column.name}; choose another name"
    if column.role not in roles:
        yield f"{column.name} has the role {column.role}; the roles are {', '.join(roles)}"
    no_text = [
        name
        for name in ("doc", "label", "reply", "fact")
        if not isinstance(getattr(column, name), str)
    ]
    if no_text:
        yield f"the {' and '.join(no_text)} of {column.name} must be text"
    if not _typed(column):
        yield (
            f"{column.name} has the type {column.dtype!r}, which is no type of Polars, "
            "such as pl.Boolean"
        )
    if not isinstance(column.values, Mapping):
        yield f'the values of {column.name} need their meanings: values={{"yes": "it is so"}}'
    else:
        if not column.values and column.dtype == pl.Enum([]):
            yield f"{column.name} has neither a type nor values"
        yield from _of_values(column)
        yield from _of_tones(column)
    unknown = [word for word in column.positive if word not in column.values]
    if unknown:
        yield f"{column.name} counts {', '.join(unknown)} as yes, but has no such values"


def _typed(column: Column) -> bool:
    return isinstance(column.dtype, pl.DataType) or (
        isinstance(column.dtype, type) and issubclass(column.dtype, pl.DataType)
    )


def _of_values(column: Column) -> Iterator[str]:
    if not all(isinstance(means, str) for means in column.values.values()):
        yield f"the meanings of the values of {column.name} must be text"
    if not column.values or not _typed(column):
        return
    numbers = [type(value) is int for value in column.values]
    if column.dtype.is_numeric():
        if not all(numbers):
            yield f"{column.name} is a number, but not all of its values are whole numbers"
        elif column.role == "number" and sorted(column.values) != list(range(len(numbers))):
            yield f"the values of {column.name} must be the steps 0, 1, 2, and so on"
    elif all(numbers):
        yield f"the values of {column.name} are numbers, so it needs a type: Column(pl.Int32, …)"
    elif not all(isinstance(value, str) and value.strip() for value in column.values):
        yield f"the values of {column.name} must all be words, or all be whole numbers"


def _of_tones(column: Column) -> Iterator[str]:
    for what, given in (("tones", column.tones), ("phrase", column.phrase)):
        if not isinstance(given, Mapping):
            if what == "tones" or not (given is None or isinstance(given, str)):
                yield f'the {what} of {column.name} must be a mapping: {what}={{"yes": "good"}}'
            continue
        unknown = [
            value for value in given if column.values and value not in (*column.values, None)
        ]
        if unknown:
            yield (
                f"the {what} of {column.name} name {', '.join(map(str, unknown))}, "
                "which are not among its values"
            )
    if isinstance(column.tones, Mapping):
        tones = get_args(Tone)
        unknown = [tone for tone in column.tones.values() if tone not in tones]
        if unknown:
            said = ", ".join(map(str, unknown))
            yield f"{column.name} has the tone {said}; the tones are {', '.join(tones)}"


def _of_ask(ask: Ask, columns: Mapping[str, Column]) -> Iterator[str]:
    words = ("requires", "after", "by", "beside", "columns", "values")
    lone = [name for name in words if isinstance(getattr(ask, name), str)]
    for name in lone:
        yield f'{name} must be a tuple: {name}=("{getattr(ask, name)}",)'
    if lone:
        return
    unknown = [one for one in ask.requires if one not in REQUIREMENTS]
    if unknown:
        yield f"requires {', '.join(unknown)}; an ask can require {', '.join(REQUIREMENTS)}"
    others = [one for one in ask.by if one not in ("people", "model")]
    if others:
        yield f"is answered by {', '.join(others)}; an ask can be answered by people, model"
    unknown = [one for one in ask.columns if one not in columns]
    if unknown:
        yield f"fills {', '.join(unknown)}, but the kind has no such columns"
    verdicts = {word for one in columns.values() if one.role == "verdict" for word in one.values}
    unknown = [one for one in ask.values if one not in verdicts]
    if unknown:
        yield f"has the verdicts {', '.join(unknown)}, which are not among the kind's values"
    if ask.over is None:
        return
    if not isinstance(ask.over, type) or not issubclass(ask.over, View):
        yield f"is over {ask.over!r}, which is not a view such as Answers"
        return
    filled = [one for one in columns.values() if not ask.columns or one.name in ask.columns]
    given: set[str] = set()
    for column in filled:
        fact = column.fact or column.name
        if column.role in SAID:
            if fact in given or ask.over.has(fact):
                yield (
                    f"{ask.over.__name__} already has a column {fact!r}; "
                    f"give {column.name} another one: Column(..., fact=NAME)"
                )
            given.add(fact)
        yield from _of_label(ask, column)
    labels = [one.label for one in filled if one.label]
    for label in sorted({label for label in labels if labels.count(label) > 1}):
        yield f"several columns have the label {label}"


def _of_label(ask: Ask, column: Column) -> Iterator[str]:
    unit = ask.over.unit if ask.over else "answer"
    if column.label and unit in LABELS and isinstance(column.values, Mapping):
        known, own = known_values(unit, column.label), values_of(ask, column)
        if known not in (None, own):
            one = ", ".join(map(str, known or ("yes", "no")))
            other = ", ".join(map(str, own or ("yes", "no")))
            yield f"the label {column.label} of {unit}s is {one}, not {other}; choose another label"
