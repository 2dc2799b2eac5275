"""Judged: builds a label table from rows: each column is a judgement, each cell a label."""

import json
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import polars as pl

from ragstone.core.errors import DataError, Fault
from ragstone.core.messages import Reason, argument, reason
from ragstone.data.json_text import ascii_safe
from ragstone.data.read_facts import id_of
from ragstone.data.record_labels import PROPOSITIONS

from .label_names import (
    NOT_THE_METRIC,
    SAME_TWICE,
    TWO_LABELS,
    Ends,
    Name,
    NoLabel,
    RatingScale,
    is_known,
    known_labels,
    label,
    name_of,
    named,
    rating_scales,
)
from .label_table import SCHEMA, UNIT, LabelTable
from .raw_rows import GivenRow, LabelValue, header_of, in_words

# A column of words is read as labels up to this many distinct words, and letters in a word.
MOST_WORDS = 20
LONGEST_WORD = 40

BESIDE = {
    "context": "a context beside it",
    "proposition": "a claim, a statement or a criterion beside it",
    "answer": "no context, claim, statement or criterion beside it",
}


def judged(
    rows: Sequence[GivenRow],
    faults: list[Fault],
    source: str,
    seen: Sequence[str],
    columns: Mapping[str, str],
    scales: Mapping[str, Ends] | None,
) -> LabelTable:
    """Build the label table of rows.

    Args:
        faults: Faults found so far; all are raised together.
        seen: The columns of the files.
        scales: Maps a metric to the ends of the scale on which people rated it; None: values
            outside of the metric's range are not read as ratings of it.
    """
    systems, over_systems = _systems(rows)
    names, ratings, notes = _names(rows, faults, columns, scales)
    notes += over_systems
    if not names and not faults and not any(row.discarded for row in rows):
        faults.append(_nothing(rows, source, seen, columns))
    table_rows: list[tuple[Any, ...]] = []
    places: list[tuple[str, int | None]] = []
    probabilities: dict[tuple[str, str | None], GivenRow] = {}
    blank: list[tuple[str, str, str | None]] = []
    empty = 0
    unlike: dict[str, None] = {}
    for row in rows:
        labels = list(_labels(row, names, ratings, faults, unlike))
        table_rows += [_row(row, name, label) for name, label in labels]
        if labels and not row.discarded:
            _check_probability(row, probabilities, faults)
        elif not labels and row.discarded:
            table_rows.append(_row(row, None, None))
        elif not labels:
            blank.append((row.annotator, row.id, row.unit))
        empty += not row.labels and not row.discarded
        places += [(row.file, row.line)] * (len(table_rows) - len(places))
    if faults:
        raise DataError(faults, hint=_hint(unlike))
    if all(name.kind == "own" for name in names.values()):
        empty_columns = _empty(rows, seen, columns)
        kinds = [name_of(each, (), frozenset(), meant=True)[0].kind for each in empty_columns]
        judgements = [ascii_safe(each) for each, kind in zip(empty_columns, kinds, strict=True)
                      if kind != "own"]  # fmt: skip
        if judgements:
            notes.append(reason("no_cell_filled", columns="\n".join(judgements)))
    notes += _set_aside(table_rows, places)
    if empty:
        notes.append(reason("rows_without_label", n=empty, rows=len(rows)))
    return LabelTable(
        source, pl.DataFrame(table_rows, schema=SCHEMA, orient="row"), tuple(notes),
        pl.DataFrame(places, schema={"file": pl.String, "line": pl.Int64}, orient="row"), systems,
        pl.DataFrame(blank, schema=dict.fromkeys(UNIT, pl.String), orient="row"),
    )  # fmt: skip


def _systems(rows: Sequence[GivenRow]) -> tuple[dict[str, str], list[str]]:
    """The system of each id that has one; an id with several systems becomes ID/SYSTEM."""
    systems_of: dict[str, dict[str, None]] = {}
    for row in rows:
        if row.system is not None:
            systems_of.setdefault(row.id, {})[row.system] = None
    if all(len(systems) == 1 for systems in systems_of.values()):
        return {id: next(iter(systems)) for id, systems in systems_of.items()}, []
    for row in rows:
        if row.system is not None:
            row.id = id_of(row.id, row.system)
    return {}, [reason("labels_by_system")]


SHOWN = 3
VALUE = list(SCHEMA).index("value")


def _check_probability(
    row: GivenRow, first: dict[tuple[str, str | None], GivenRow], faults: list[Fault]
) -> None:
    probability = row.inclusion_probability
    if probability is None:
        return
    before = first.setdefault((row.id, row.unit), row)
    if before.inclusion_probability == probability:
        return
    file = "" if before.file == row.file else f" of {before.file}"
    got = f"{probability} and {before.inclusion_probability} as in line {before.line}{file}"
    expected = "one probability an example"
    fault = Fault(row.file, row.line, "inclusion_probability", expected, got)
    # Several annotators may share a line.
    if not faults or faults[-1] != fault:
        faults.append(fault)


def _set_aside(
    table_rows: list[tuple[Any, ...]], places: Sequence[tuple[str, int | None]]
) -> list[str]:
    """Set aside an annotator's repeated labels of a unit; if they differ, all of them."""
    positions: dict[tuple[Any, ...], list[int]] = {}
    for at, (id, kind, column, unit, annotator, *_, discarded) in enumerate(table_rows):
        if not discarded:
            positions.setdefault((id, annotator, unit, kind, column), []).append(at)
    differing = []
    for several in positions.values():
        values = {table_rows[at][VALUE] for at in several}
        if len(values) > 1:
            differing.append(several)
        why = TWO_LABELS if len(values) > 1 else SAME_TWICE
        for at in several if len(values) > 1 else several[1:]:
            table_rows[at] = (*table_rows[at][:-1], why)
    if not differing:
        return []
    some = []
    for first, second, *_ in differing[:SHOWN]:
        row = dict(zip(SCHEMA, table_rows[first], strict=True))
        lines = f"{places[first][0]}:{places[first][1]}", str(places[second][1])
        some.append([row["column"], row["example_id"], row["annotator"], *lines])
    more = max(0, len(differing) - SHOWN)
    return [reason("two_labels_of_one", labels=json.dumps(some), more=more)]


def _nothing(
    rows: Sequence[GivenRow], source: str, seen: Sequence[str], columns: Mapping[str, str]
) -> Fault:
    if empty := _empty(rows, seen, columns):
        got = f"only empty cells in {' and '.join(map(ascii_safe, empty))}"
        return Fault(source, None, "", "at least one label", got)
    known = ", ".join(known_labels())
    got = f"the columns {', '.join(map(ascii_safe, seen))}" if seen else "none"
    return Fault(source, rows[0].line if rows else None, "", f"a label ({known}, …)", got)


def _empty(rows: Sequence[GivenRow], seen: Sequence[str], columns: Mapping[str, str]) -> list[str]:
    header = header_of(dict.fromkeys(seen), columns)
    if header.is_data:
        return []
    if header.is_long:
        return [] if any(row.labels for row in rows) else ["value"]
    filled = {column for row in rows for column in row.labels}
    return [name for _, name in header.labels if name not in filled]


def _hint(unlike: Collection[str]) -> str:
    if not unlike:
        return ""
    column = next(iter(unlike))
    renamed = argument("columns", {f"own.{column}": "COLUMN"})
    return f"If {column} is a column of your own, not the metric: {renamed}."


def _names(
    rows: Sequence[GivenRow],
    faults: list[Fault],
    columns: Collection[str],
    scales: Mapping[str, Ends] | None,
) -> tuple[dict[str, Name], dict[str, RatingScale], list[str]]:
    cells: dict[str, list[object]] = {}
    lines: dict[str, GivenRow] = {}
    for row in rows:
        for column, cell in row.labels.items():
            cells.setdefault(column, []).append(cell)
            lines.setdefault(column, row)
    units = frozenset(row.about for row in rows)
    ratings = {} if scales is None else rating_scales(cells, scales)
    names: dict[str, Name] = {}
    noted: dict[str, list[str]] = {}
    for column, values in cells.items():
        name, note = name_of(column, values, units, meant=column in columns)
        if column in ratings:
            name, note = named("metric", str(ratings[column].metric)), ratings[column].note
        elif note == NOT_THE_METRIC and scales is not None:
            note = reason(NOT_THE_METRIC, scale=column)
        dotted = "." in column
        if not is_known(name):
            row = lines[column]
            known = ", ".join(label for kind, label in known_labels().values() if kind == name.kind)
            expected = f"a column of {name.kind} ({known or 'any name'})"
            faults.append(Fault(row.file, row.line, column, expected, repr(name.column)))
        elif name.kind == "own" and not dotted and (why := no_labels(values)):
            noted.setdefault(why, []).append(column)
        else:
            names[column] = name
            if note:
                noted.setdefault(note, []).append(column)
    notes = [
        str(Reason.read(note).about(", ".join(map(ascii_safe, columns))))
        for note, columns in noted.items()
    ]
    return names, ratings, notes


def no_labels(cells: Sequence[object]) -> str:
    """Return a reason if a user-defined column does not hold labels; empty if it does."""
    words = Counter[str]()
    for cell in cells:
        value = in_words(cell)
        if value is None:
            return reason("no_single_values")
        if value.number is None:
            words[value.value] += 1
    if len(words) > MOST_WORDS or any(len(word) > LONGEST_WORD for word in words):
        return reason("free_text", most=MOST_WORDS)
    return ""


def _labels(
    row: GivenRow, names: Mapping[str, Name], ratings: Mapping[str, RatingScale],
    faults: list[Fault], unlike: dict[str, None],
) -> Iterator[tuple[Name, LabelValue]]:  # fmt: skip
    for column, cell in row.labels.items():
        name = names.get(column)
        if name is None:
            continue
        about = "proposition" if row.about in PROPOSITIONS else row.about
        if name.about not in ("anything", about):
            expected = BESIDE[name.about]
            faults.append(Fault(row.file, row.line, column, expected, row.unit or "none"))
            continue
        try:
            scale = ratings.get(column)
            value = label(name, cell, row.unit) if scale is None else scale.said(cell)
        except NoLabel as error:
            faults.append(Fault(row.file, row.line, column, error.expected, error.got))
            if name.kind == "metric" and not column.startswith("metric."):
                unlike[column] = None
            continue
        if value is not None:
            yield name, value


def _row(row: GivenRow, name: Name | None, label: LabelValue | None) -> tuple[Any, ...]:
    kind, column = (None, None) if name is None else (name.kind, name.column)
    about = (row.id, kind, column, row.unit, row.annotator, *(label or (None, None)))
    return (*about, row.inclusion_probability, row.note, row.discarded)
