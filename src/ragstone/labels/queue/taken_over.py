"""Taken over: labels that people gave elsewhere, such as in a sheet, put into a queue."""

from collections.abc import Mapping
from dataclasses import dataclass
from secrets import token_hex
from typing import Any

import polars as pl

from ragstone.judgements import Preference
from ragstone.labels.given import unit_kind
from ragstone.labels.last_word import adjudicator_named, is_adjudicator
from ragstone.labels.names import named
from ragstone.labels.set_aside import SET_ASIDE
from ragstone.labels.table import LabelTable

from .form import YES_NO, ItemAnswers
from .pairs import LABEL, shown_as
from .queue import Queue

Part = tuple[str, str]
Here = tuple[str, int]
"""A person and an item."""

NAMED = {"true": "yes", "false": "no"}
NOBODY = "somebody"
"""Who gave the labels of a file that names nobody."""


@dataclass(frozen=True, slots=True)
class TakenOver:
    """What became of labels: items that people's answers were kept of, and rows left out.

    Attributes:
        answers: Of one person on one item each.
        people: Who gave them.
        left_out: Rows of examples, parts or labels that the queue does not have.
    """

    answers: int
    people: tuple[str, ...]
    left_out: int


def take_over(queue: Queue, labels: LabelTable, by: str = "") -> TakenOver:
    """Put the labels of a table into a queue, as those of the people who gave them.

    What somebody said in the queue stays as it is. Adjudicators' labels are decisions here, too.

    Args:
        queue: Whose items they are about.
        labels: As ``read_label_table`` reads them.
        by: Who takes them over.
    """
    places = _places(queue)
    choices = {(str(one.unit), one.label): one.choices for one in queue.form.asked}
    pairs = queue.pairs()
    said: dict[Here, dict[Part, dict[str, str]]] = {}
    notes: dict[Here, str] = {}
    discarded: dict[Here, str] = {}
    left_out = 0
    aside = pl.col("discarded").is_in(SET_ASIDE).fill_null(value=False)
    for row in labels.frame.filter(~aside).iter_rows(named=True):
        part, is_used = _part(row["unit"]), False
        for number in places.get((row["example_id"], part), ()):
            here = (row["annotator"] or NOBODY, number)
            label, value = _answer(row, pairs.get(number))
            if row["discarded"] is not None:
                discarded[here] = row["discarded"]
            elif (part[0], label) in choices:
                word = NAMED.get(value, value) if choices[part[0], label] == YES_NO else value
                said.setdefault(here, {}).setdefault(part, {})[label] = word
            else:
                continue
            is_used = True
            if row["note"]:
                notes[here] = row["note"]
        left_out += not is_used
    decided = {(one.person, one.item) for one in queue.said() if one.role == "adjudicator"}
    kept = []
    for who, number in dict.fromkeys((*said, *discarded)):
        answers = ItemAnswers(
            said.get((who, number), {}),
            notes.get((who, number), ""),
            "" if (who, number) in said else discarded[who, number],
        )
        if not is_adjudicator(who):
            is_new = queue.fill(who, number, answers, by)
        elif is_new := (adjudicator_named(who), number) not in decided:
            queue.decide(adjudicator_named(who), number, answers, f"taken over {token_hex()}")
        kept += [who] if is_new else []
    return TakenOver(len(kept), tuple(dict.fromkeys(kept)), left_out)


def _places(queue: Queue) -> dict[tuple[str, Part], list[int]]:
    """The items with a part of an example."""
    found: dict[tuple[str, Part], list[int]] = {}
    for number, (id, parts) in queue.places().items():
        for part in parts:
            found.setdefault((id, part), []).append(number)
    return found


def _part(unit: str | None) -> Part:
    """Unit and name of a part, from its name in a table of labels.

    >>> _part("claim 2"), _part("7"), _part(None)
    (('claim', '2'), ('context', '7'), ('answer', ''))
    """
    if unit is None:
        return "answer", ""
    kind = unit_kind(unit)
    return kind, unit if kind == "context" else unit.partition(" ")[2]


def _answer(row: Mapping[str, Any], pair: Mapping[str, Any] | None) -> tuple[str, str]:
    """The label and what is said, as the screen shows it."""
    if row["kind"] is None:
        return "", ""
    if row["kind"] == Preference.name and pair and row["column"] == pair["rival"]:
        return LABEL, shown_as(row["value"], pair)
    return str(named(row["kind"], row["column"])), row["value"]
