"""Label table: people's labels by annotator, unit and column, and their merging into examples."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import compress
from typing import Any

import polars as pl

from ragstone.core.errors import DataError, Fault
from ragstone.core.messages import reason
from ragstone.data import Example
from ragstone.data.read_facts import id_of
from ragstone.data.record_labels import EXTRACTED, FIELDS, LABELS, Unit
from ragstone.judgements import KINDS

from .adjudication import (
    ADJUDICATOR,
    Adjudication,
    BrokenRule,
    Tie,
    Vote,
    adjudicated,
    adjudication,
    broken_rules,
    by_adjudicators,
    rows_that_count,
    settle,
    that_count,
    ties,
)
from .label_names import (
    NO_CONTEXT,
    NO_EXAMPLE,
    SET_ASIDE,
    Scale,
    is_about_contexts,
    label_of,
    named,
    scale_of,
)
from .raw_rows import LabelValue, unit_kind

# What names a row that has no label.
UNIT = ("annotator", "example_id", "unit")


@dataclass(frozen=True, slots=True)
class Completeness:
    """The number of units that an annotator labelled with one label.

    ``asked`` counts the units in the annotator's rows, without discarded ones, of a sort
    (answer, context, claim, statement) to which anybody gives the label.
    """

    annotator: str
    label: str
    given: int
    asked: int


Place = Callable[..., tuple[str, int | None]]
SHOWN = 3
# No numbers are needed, because the scales of these kinds do not depend on their labels.
NO_NUMBERS = pl.Series(dtype=pl.Float64)


def is_joined(kind: str, column: str) -> bool:
    """Return True if a run can use this human label as a judgement."""
    return bool(label_of(kind, column)) and not KINDS[kind].having("topic")


def joined(example: Example, votes: Sequence[Vote], locate: Place) -> Example:
    """Return the example with labels merged into its own, see ``LabelTable.join``."""
    settled, faults = _settled(example, votes, locate)
    if faults:
        raise DataError(faults)
    if not settled:
        return example
    labels = dict(example.labels)
    for (kind, column, unit), label in settled.items():
        name = label_of(kind, column)
        value = None if label is None else _as_labelled(label, kind, column)
        if name in LABELS["record"]:
            if value is not None:
                labels[name] = value
        elif unit is None:
            labels["answer"] = {**(labels.get("answer") or {}), name: value}
        else:
            field, at = _place_of(unit)
            parts = [dict(part or {}) for part in labels.get(field) or ()]
            for index in range(len(parts), at + 1):
                number = {"text": f"{unit_kind(unit)} {index + 1}"}
                parts.append(number if unit_kind(unit) in EXTRACTED else {})
            parts[at][name] = value
            labels[field] = parts
    return replace(example, labels=labels)


def ranks_of(example: Example) -> dict[str, str]:
    """Return the rank of each context by its id and by its rank; ids take precedence."""
    contexts = example.contexts or ()
    ranks = {str(index): str(index) for index in range(1, len(contexts) + 1)}
    ranks.update({context.id: str(index) for index, context in enumerate(contexts, start=1)})
    return ranks


def _settled(
    example: Example, votes: Sequence[Vote], locate: Place
) -> tuple[dict[tuple[str, str, str | None], LabelValue | None], list[Fault]]:
    known_votes: list[tuple[str | None, Vote]] = []
    unknown: dict[str, None] = {}
    ranks = ranks_of(example)
    for vote in votes:
        if not vote.discarded and not is_joined(vote.kind, vote.column):
            continue
        unit = vote.unit
        if unit is not None and is_about_contexts(vote.kind, unit):
            unit = ranks.get(unit)
        if vote.unit is not None and (unit is None or _beyond(unit, example)):
            unknown |= {} if vote.discarded else {vote.unit: None}
        else:
            known_votes.append((unit, vote))
    votes_by_unit: dict[tuple[str, str, str | None], list[tuple[str, float | None]]] = {}
    words = (
        (at, (vote.kind, vote.column), vote.annotator, vote.discarded) for at, vote in known_votes
    )
    for unit, vote in compress(known_votes, that_count(words)):
        votes_by_unit.setdefault((vote.kind, vote.column, unit), []).append(
            (vote.value, vote.number)
        )
    faults = [_unknown(example, unit, locate) for unit in unknown]
    settled = {
        (kind, column, unit): settle(values, scale_of(kind, column, NO_NUMBERS))
        for (kind, column, unit), values in votes_by_unit.items()
    }
    return settled, faults


def _as_labelled(label: LabelValue, kind: str, column: str) -> Any:
    judged = KINDS[kind].columns[column]
    if judged.role == "grade":
        return int(label.number or 0)
    return bool(label.number) if judged.dtype == pl.Boolean else label.value


def _place_of(unit: str) -> tuple[str, int]:
    return FIELDS[unit_kind(unit)], int(unit.split()[-1]) - 1


def _units(example: Example, kind: Unit) -> Sequence[Any] | None:
    listed = {"context": example.contexts, "criterion": example.criteria}
    return listed[kind] if kind in listed else example.labels.get(FIELDS[kind])


def _beyond(unit: str, example: Example) -> bool:
    listed = _units(example, unit_kind(unit))
    return listed is not None and _place_of(unit)[1] >= len(listed)


def _unknown(example: Example, unit: str, locate: Place) -> Fault:
    kind = unit_kind(unit)
    n = len(_units(example, kind) or ())
    if n == 0:
        lists = "lists none" if kind in EXTRACTED else "has none"
        expected = f"no label of a {kind}, for {example.id!r} {lists}"
    elif kind == "context":
        positions = "position 1" if n == 1 else f"a position from 1 to {n}"
        expected = f"the id of a context of {example.id!r} or {positions}"
    elif n == 1:
        expected = f"{kind} 1, the only one of {example.id!r}"
    else:
        expected = f"one of the {n} {FIELDS[kind]} of {example.id!r}, counted from 1"
    file, line = locate(unit=unit)
    return Fault(file, line, kind, expected, repr(unit))


def _not_used(frame: pl.DataFrame, source: str) -> Iterator[str]:
    for code, lacks in ((NO_EXAMPLE, "example"), (NO_CONTEXT, "context")):
        rows = frame.filter(pl.col("discarded") == code)
        ids = rows["example_id"].unique(maintain_order=True).to_list()
        if ids:
            some, more = "\n".join(ids[:SHOWN]), max(0, len(ids) - SHOWN)
            yield reason("labels_not_used", lacks=lacks, n=rows.height, source=source,
                         examples=some, more=more)  # fmt: skip


# ``kind`` and ``column`` are those of the judgement, so that people and judges join: ``relevance``
# and ``relevant``, ``grounding`` and ``support_present``, ``response`` and ``response_type``,
# ``support`` and ``verdict``, ``rating`` and its criterion, ``critique`` and its aspect,
# ``preference`` and the rival (``verdict`` if none is named). Kind ``metric`` is the value of a
# metric, with the metric's text form as its column; kind ``own`` is a user-defined column, used
# only for agreement. ``unit`` says which part of an example it is about: the rank of a context (or
# its id, until the examples are known), ``claim 1``, ``criterion 2``; null for the answer.
# ``annotator`` is empty if the file names none, and ``adjudicator:NAME`` if it is one who decides
# what annotators leave divided. ``value`` is the label in words (``true``, ``supported``, ``3``),
# ``number`` the label as a number, null if it is not one. ``inclusion_probability`` is the
# probability that a sample contains the example; null if all examples were labelled. ``discarded``
# says why a row does not count; such rows are kept but not used; Ragstone gives the reasons of
# ``SET_ASIDE``, people all others. Kind, column and value are null if an annotator discarded an
# example without giving a label.
SCHEMA = {
    "example_id": pl.String,
    "kind": pl.String,
    "column": pl.String,
    "unit": pl.String,
    "annotator": pl.String,
    "value": pl.String,
    "number": pl.Float64,
    "inclusion_probability": pl.Float64,
    "note": pl.String,
    "discarded": pl.String,
}


@dataclass(frozen=True, eq=False)
class LabelTable:
    """Human labels.

    Attributes:
        frame: Has the columns of ``SCHEMA``; at most one row in use per annotator, unit and column.
        notes: What was left out, or read differently from what its name suggests.
        places: ``file`` and ``line`` of each row of ``frame``, if known.
        systems: Maps an example's id to its system, as far as the file names it.
        blank: ``annotator``, ``example_id`` and ``unit`` of the rows without a label.
    """

    source: str
    frame: pl.DataFrame
    notes: tuple[str, ...] = ()
    places: pl.DataFrame | None = field(default=None, repr=False)
    systems: Mapping[str, str] = field(default_factory=dict, repr=False)
    blank: pl.DataFrame = field(
        default_factory=lambda: pl.DataFrame(schema=dict.fromkeys(UNIT, pl.String)), repr=False
    )

    @cached_property
    def used(self) -> pl.DataFrame:
        """The rows that count: neither discarded nor set aside."""
        return self.frame.filter(pl.col("discarded").is_null())

    @property
    def n_discarded(self) -> int:
        return sum(self.discarded.values())

    @property
    def discarded(self) -> dict[str, int]:
        """Number of discarded rows for each reason given."""
        return {why: n for why, n in self._reasons.items() if why not in SET_ASIDE}

    @property
    def set_aside(self) -> dict[str, int]:
        """Number of other rows that do not count, for each reason in ``SET_ASIDE``."""
        return {why: n for why, n in self._reasons.items() if why in SET_ASIDE}

    @property
    def n_set_aside(self) -> int:
        return sum(self.set_aside.values())

    @cached_property
    def by_annotators(self) -> pl.DataFrame:
        """The rows that count among annotators, whatever an adjudicator said afterwards."""
        return self.used.filter(~by_adjudicators())

    @cached_property
    def counted(self) -> pl.DataFrame:
        """The rows of which the combined labels are made, see ``rows_that_count``."""
        return rows_that_count(self._spoken)

    @property
    def annotators(self) -> tuple[str, ...]:
        """The annotators, in the order of the data; no adjudicator is one."""
        return tuple(self.by_annotators["annotator"].unique(maintain_order=True))

    @property
    def adjudicators(self) -> tuple[str, ...]:
        """The names of those who decided what annotators left divided, in the order of the data."""
        names = self._spoken.filter(by_adjudicators())["annotator"].unique(maintain_order=True)
        return tuple(names.str.strip_prefix(ADJUDICATOR))

    @property
    def columns(self) -> tuple[tuple[str, str], ...]:
        """Kind and column of the labels that count, in the order of the data."""
        return tuple(self.used.select("kind", "column").unique(maintain_order=True).iter_rows())

    def of(self, kind: str, column: str) -> pl.DataFrame:
        """The rows of one column that count among annotators."""
        return self.by_annotators.filter(pl.col("kind") == kind, pl.col("column") == column)

    @cached_property
    def completeness(self) -> tuple[Completeness, ...]:
        """The completeness of each annotator's labels, in the order of the rows.

        Nothing is asked of adjudicators and discarded rows.
        """
        stays = pl.col("discarded").is_null() | pl.col("discarded").is_in(SET_ASIDE)
        rows = self.frame.filter(stays, ~by_adjudicators()).select(*UNIT, "kind", "column")
        sorts: dict[str, set[str]] = {}
        labels_of: dict[str, dict[tuple[str, str | None], set[str]]] = {}
        for annotator, id, unit, kind, column in rows.iter_rows():
            label = named(kind, column).shown
            sorts.setdefault(label, set()).add(unit_kind(unit))
            labels_of.setdefault(annotator, {}).setdefault((id, unit), set()).add(label)
        for annotator, id, unit in self.blank.filter(~by_adjudicators()).iter_rows():
            labels_of.setdefault(annotator, {}).setdefault((id, unit), set())
        completeness = []
        for annotator, units in labels_of.items():
            for label, of in sorts.items():
                asked_units = [each for (_, unit), each in units.items() if unit_kind(unit) in of]
                if asked_units:
                    n = sum(label in labels for labels in asked_units)
                    completeness.append(Completeness(annotator, label, n, len(asked_units)))
        return tuple(completeness)

    @cached_property
    def scales(self) -> Mapping[tuple[str, str], Scale]:
        """The scale of each column, see ``scale_of``; by annotators' labels, if there are any."""
        return {
            (str(kind), str(column)): scale_of(str(kind), str(column), part["number"])
            for rows in (self.used, self.by_annotators)
            for (kind, column), part in rows.partition_by(
                "kind", "column", as_dict=True, maintain_order=True
            ).items()
        }

    def adjudicated(self, scales: Mapping[str, Scale] | None = None) -> pl.DataFrame:
        """One row per unit and column: the annotators' combined label.

        The majority label; a tie is reported and left undecided. On an interval scale, such as
        that of a metric, the mean. Where adjudicators said something, only theirs counts; of
        several, the majority. A unit that an adjudicator discards has no label.
        """
        chosen = dict(self.scales)
        for name, scale in (scales or {}).items():
            chosen |= {key: scale for key in chosen if name in (key[1], named(*key).shown)}
        return adjudicated(self.counted, chosen)

    def ties(self, scales: Mapping[str, Scale] | None = None) -> list[Tie]:
        """Return every unit and column on which those who count are split."""
        return ties(self.counted, self.adjudicated(scales))

    @cached_property
    def adjudication(self) -> Adjudication:
        """The number of labels that adjudicators decided, and of those like the majority."""
        return adjudication(self.counted, self.by_annotators, self.scales)

    def join(self, example: Example) -> Example:
        """Return the example with the combined labels of its contexts, answer and claims.

        They take precedence over labels of the same name in the example; a tie leaves the label
        open. Columns that are not judgements are left out. If the example lists no claims or
        statements, those that people labelled are used, known only by their number; one that was
        skipped is a gap.

        Raises:
            DataError: A label of a context, a claim or a statement that the example does not have.
        """
        name = self.name_of(example.id, example.system)
        votes = self._votes.get(name)
        if not votes:
            return example
        return joined(example, votes, lambda **at: self._place(**at, example_id=name))

    def on(self, examples: Iterable[Example]) -> "LabelTable":
        """Name contexts by their rank in these examples.

        Rows about an unknown example or context are set aside, and a note says so.
        """
        listed = list(examples)
        known = self.known_as((example.id, example.system) for example in listed)
        ranks_by_id = {example.id: ranks_of(example) for example in listed}
        rows: list[tuple[str | None, str | None]] = []
        columns = ("example_id", "kind", "unit", "discarded")
        for id, kind, unit, why in known.frame.select(columns).iter_rows():
            ranks = ranks_by_id.get(id)
            problem = NO_EXAMPLE if ranks is None else None
            if ranks is not None and unit is not None and is_about_contexts(kind, unit):
                rank = ranks.get(unit)
                problem = NO_CONTEXT if rank is None else None
                unit = rank or unit
            rows.append((unit, why or problem))
        schema = {"unit": pl.String, "discarded": pl.String}
        renamed = pl.DataFrame(rows, schema, orient="row")
        frame = known.frame.with_columns(renamed.get_columns())
        return replace(known, frame=frame, notes=(*known.notes, *_not_used(frame, known.source)))

    def name_of(self, id: str, system: str) -> str:
        """Return the id of an example in the table: its own, ID/SYSTEM, or the id of its question.

        The last of these only if the file also names the system.
        """
        if id in self._ids:
            return id
        question = id.removesuffix(id_of("", system))
        if self.systems.get(question) == system:
            return question
        return id_of(id, system) if id_of(id, system) in self._ids else id

    def known_as(self, examples: Iterable[tuple[str, str]]) -> "LabelTable":
        """Rename examples, given as id and system, from their id in the table to their own."""
        ids = {self.name_of(id, system): id for id, system in examples}
        renamed = {name: id for name, id in ids.items() if name != id}
        if not renamed:
            return self
        new_ids = pl.col("example_id").replace(renamed)
        frame, blank = self.frame.with_columns(new_ids), self.blank.with_columns(new_ids)
        return replace(self, frame=frame, blank=blank, systems={})

    def broken_rules(self) -> list[BrokenRule]:
        """Return labels of one annotator that contradict each other; they are never corrected."""
        return broken_rules(self.used)

    def faults(self, ids: Iterable[str], field: str, expected: str) -> list[Fault]:
        """Return one fault for each line about these examples."""
        chosen = self.frame["example_id"].is_in(list(ids))
        places = self.places if self.places is not None else pl.DataFrame(
            {"file": [self.source] * self.frame.height, "line": [None] * self.frame.height},
            schema={"file": pl.String, "line": pl.Int64},
        )  # fmt: skip
        rows = places.with_columns(id=self.frame["example_id"]).filter(chosen).unique(
            maintain_order=True
        )  # fmt: skip
        return [Fault(file, line, field, expected, id) for file, line, id in rows.iter_rows()]

    @cached_property
    def _ids(self) -> frozenset[str]:
        return frozenset(self.frame["example_id"])

    @cached_property
    def _reasons(self) -> Mapping[str, int]:
        counts = self.frame["discarded"].drop_nulls().value_counts(sort=True)
        return {str(reason): int(n) for reason, n in counts.iter_rows()}

    @cached_property
    def _votes(self) -> dict[str, list[Vote]]:
        votes: dict[str, list[Vote]] = {}
        columns = ["kind", "column", "unit", "annotator", "value", "number"]
        rows = self._spoken.with_columns(pl.col("discarded").is_not_null())
        for id, *vote in rows.select("example_id", *columns, "discarded").iter_rows():
            votes.setdefault(id, []).append(Vote(*vote))
        return votes

    @cached_property
    def _spoken(self) -> pl.DataFrame:
        by_deciders = by_adjudicators() & ~pl.col("discarded").is_in(SET_ASIDE)
        return self.frame.filter(pl.col("discarded").is_null() | by_deciders)

    def _place(self, **values: Any) -> tuple[str, int | None]:
        at = self.frame.with_row_index("at").filter(
            *(pl.col(name).eq_missing(value) for name, value in values.items())
        )["at"]  # fmt: skip
        if self.places is None or at.is_empty():
            return self.source, None
        file, line = self.places.row(at[0])
        return file, line
