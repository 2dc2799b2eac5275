"""Dossier: everything that a run holds about one example."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import polars as pl

from ragstone.core.errors import UnknownName
from ragstone.data import Example
from ragstone.data.record_labels import FIELDS, Unit
from ragstone.data.write import from_frame
from ragstone.judgements import ASKS, KINDS, Ask, Claims, Kind, Statements
from ragstone.run import Entry

from .numbered import numbered, numbered_row
from .stored import Excerpted, Readable

NEAR = 5_000

PLACES: Mapping[Unit, str] = {
    "claim": FIELDS["claim"],
    "statement": FIELDS["statement"],
    "evidence": "gold_evidence",
    "context": FIELDS["context"],
}
"""The field of an example, or of the JSON record, that lists the units of each sort."""


@dataclass(frozen=True, slots=True)
class JudgementRow:
    """A row of a kind's table: ``values`` maps each column that the kind declares to its value."""

    kind: type[Kind]
    values: Mapping[str, Any]

    @property
    def judge(self) -> str:
        """The judge that gave the row."""
        return str(self.values["judge"])

    @property
    def reason(self) -> str:
        """The reason; empty if the judge gave none."""
        return self.values["reason"] or ""


@dataclass(frozen=True, slots=True)
class SaidOfPart:
    """The rows of a kind about one part of an example.

    ``several`` if the part is compared with every reference; otherwise there is at most one row."""

    rows: tuple[JudgementRow, ...]
    several: bool

    def to_record(self) -> Any:
        """The JSON form: a list if there may be several rows, otherwise the row or null."""
        rows = [numbered_row(row.values) if numbered(row.kind) else row.values for row in self.rows]
        return rows if self.several else next(iter(rows), None)


@dataclass(frozen=True, slots=True)
class JudgedPart:
    """A context, claim, statement or piece of gold evidence, with the judgements about it.

    Attributes:
        place: The rank of a context; for other parts the position, from 0.
        text: None for a context that is known only by its id.
        own: Its own fields, in their JSON form.
        said: The judgements about it, by kind.
        reference: For a statement, the index of its reference, from 0.
    """

    place: int
    text: str | None
    own: Mapping[str, Any]
    said: Mapping[str, SaidOfPart]
    reference: int = 0

    def rows(self, kind: str) -> tuple[JudgementRow, ...]:
        """The rows of a kind about this part."""
        return self.said[kind].rows


@dataclass(frozen=True, slots=True)
class ExampleScore:
    """The score of the example under a metric: a value, or why there is none."""

    metric: str
    status: str
    value: float | None
    label: str | None
    reason: str | None


@dataclass(frozen=True, slots=True)
class Dossier:
    """An example with its parts and the judgements about each of them.

    Attributes:
        example: The example as it was given.
        parts: Its contexts with their relevance, claims and statements with their support and
            agreement, gold evidence with its support, each also with the judgements of
            user-defined kinds.
        judgements: The rows of all other kinds that have any, by kind.
        scores: One for each metric.
        calls: The requests sent to models: prompt, replies and cost.
    """

    example: Example
    parts: Mapping[Unit, tuple[JudgedPart, ...]]
    judgements: Mapping[str, tuple[JudgementRow, ...]]
    scores: tuple[ExampleScore, ...]
    calls: tuple[Entry, ...]

    def to_dict(self) -> dict[str, Any]:
        """What ``ragstone show RUN EXAMPLE --json`` prints."""
        of, grades = self.example, self.example.reference_contexts
        parts = {
            PLACES[unit]: [
                {
                    **numbered_row(one.own),
                    **{kind: said.to_record() for kind, said in one.said.items()},
                }
                for one in found
            ]
            for unit, found in self.parts.items()
        }
        return {
            "id": of.id,
            "question_id": of.question_id,
            "system": of.system,
            "question": of.question,
            "history": [asdict(turn) for turn in of.history],
            "policy": of.policy,
            PLACES["context"]: None if of.contexts is None else parts[PLACES["context"]],
            "answer": of.answer,
            PLACES["claim"]: parts[PLACES["claim"]],
            "reference": list(of.reference),
            PLACES["statement"]: parts[PLACES["statement"]],
            PLACES["evidence"]: parts[PLACES["evidence"]],
            "reference_contexts": None
            if grades is None
            else [{"id": id, "grade": grade} for id, grade in grades.items()],
            "judgements": {
                kind: [row.values for row in rows] for kind, rows in self.judgements.items()
            },
            "scores": [asdict(score) for score in self.scores],
            "calls": [asdict(call) for call in self.calls],
            "slices": dict(of.slices),
            "labels": dict(of.labels),
            "meta": dict(of.meta),
        }


Judgements = Mapping[str, tuple[JudgementRow, ...]]


def dossier(run: Readable, example: str) -> Dossier:
    """Everything that a run holds about one example.

    Raises:
        UnknownName: The run has no such example; the error suggests similar ids.
    """
    some = run.excerpt([example])
    found = _dossiers(some, [example])
    if not found:
        ids = run.examples(["id"])["id"]
        near = ids.filter(ids.str.starts_with(example[:2])).head(NEAR).to_list()
        known = near or ids.head(NEAR).to_list()
        raise UnknownName("example", example, known, hint="ragstone show RUN lists some.")
    return replace(found[example], calls=tuple(some.calls(example)))


def dossiers(run: Readable, examples: Collection[str]) -> dict[str, Dossier]:
    """The same of several examples, each table read once, without the requests to models."""
    return _dossiers(run.excerpt(examples), examples)


def _dossiers(some: Excerpted, examples: Collection[str]) -> dict[str, Dossier]:
    judged = {kind: some.judgements(kind) for kind in KINDS}
    placed = {ask.kind for unit in PLACES for ask in asks_about(unit)}
    made = {*Claims.made_by, *Statements.made_by}
    scores = some.scores().select(
        "example_id", pl.col("metric", "status").cast(pl.String), "value", "label", "reason"
    )
    found: dict[str, Dossier] = {}
    for one in from_frame(some.examples().filter(pl.col("id").is_in(list(examples)))):
        rows = {kind: _rows(judged[kind], KINDS[kind], one.id) for kind in KINDS}
        own = scores.filter(pl.col("example_id") == one.id).drop("example_id")
        found[one.id] = Dossier(
            one,
            _parts(one, rows),
            {kind: said for kind, said in rows.items() if said and kind not in placed | made},
            tuple(
                ExampleScore(metric, status, value, label, reason)
                for metric, status, value, label, reason in own.iter_rows()
            ),
            calls=(),
        )
    return found


def asks_about(unit: Unit) -> list[Ask]:
    """The asks about units of one sort."""
    return [ask for ask in ASKS.values() if ask.over is not None and ask.over.unit == unit]


def _rows(frame: pl.DataFrame, kind: type[Kind], example: str) -> tuple[JudgementRow, ...]:
    """The rows of one example in their order, without the columns that are equal in all of them.

    For a panel these are the rows of its joint verdict; ``export`` also has those of its members.
    """
    rows = frame.filter(pl.col("example_id") == example)
    panels = [judge for judge in rows["judge"].unique() if "," in (judge or "")]
    members = [member for panel in panels for member in panel.split(",")]
    rows = rows.filter(pl.col("judge").is_in(members).fill_null(value=False).not_())
    rows = rows.drop("example_id", "subject", strict=False).unique(maintain_order=True)
    return tuple(JudgementRow(kind, row) for row in rows.to_dicts())


def _parts(one: Example, judged: Judgements) -> dict[Unit, tuple[JudgedPart, ...]]:
    return {
        "claim": _made(judged, "claim", Claims.made_by),
        "statement": _made(judged, "statement", Statements.made_by),
        "evidence": tuple(
            JudgedPart(at, text, {"text": text}, _said(judged, "evidence", {"index": at}))
            for at, text in enumerate(one.evidence)
        ),
        "context": tuple(
            JudgedPart(context.rank, context.text, own, _said(judged, "context", own))
            for context in one.contexts or ()
            for own in (asdict(context),)
        ),
    }


def _made(judged: Judgements, unit: Unit, makers: Sequence[str]) -> tuple[JudgedPart, ...]:
    """The claims or statements that a judge extracted, with the judgements about them."""
    return tuple(
        JudgedPart(
            own["index"], own["text"], own, _said(judged, unit, own), own.get("reference", 0)
        )
        for maker in makers
        for own in (row.values for row in judged[maker])
    )


def _said(judged: Judgements, unit: Unit, own: Mapping[str, Any]) -> dict[str, SaidOfPart]:
    """The judgements about one unit, by kind."""
    found: dict[str, SaidOfPart] = {}
    for ask in asks_about(unit):
        keys = ask.over.keys if ask.over else ()
        known = [key for key in keys if key in own]
        rows = tuple(
            row
            for row in judged[ask.kind]
            if row.values.get("origin", unit) == unit
            and all(row.values[key] == own[key] for key in known)
        )
        several = len(known) < len(keys)
        found[ask.kind] = SaidOfPart(rows if several else rows[:1], several)
    return found
