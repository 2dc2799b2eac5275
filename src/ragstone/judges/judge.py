"""Judge: the interface of all judges, and the judges that read human labels or reference ids.

In a conversation an answer may rest on the retrieved contexts and on earlier turns. A judge of
both reads the turns as further contexts, with the ids ``turn 1``, ``turn 2`` and so on.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import blake2b
from typing import Any, Literal, Protocol

import polars as pl

from ragstone.data import Context, Example, Turn
from ragstone.data.pictures import PICTURES
from ragstone.data.record_labels import FIELDS, LABELS, verdicts_left
from ragstone.judgements import (
    ASKS,
    Ask,
    Claim,
    Column,
    Criteria,
    Kind,
    Relevance,
    Tables,
    View,
    kind_of,
)

# ``blocked``: a model or its filter declined. ``truncated``: its reply was cut off. ``vote``: a
# member of a panel, whose word counts in the panel's.
LedgerStatus = Literal["ok", "undefined", "failed", "blocked", "truncated", "vote"]

# Why nothing is compared with a context.
NO_TEXT = "no_context_text"

# Why nothing that needs a text of the contexts is defined.
ARE_PICTURES = "contexts_are_pictures"

# Why a question is put to the same judge no more.
OF_NO_USE = ("too_long", "filtered", "refusal")

HUMAN = "human"
# The author of propositions that the data list.
DATA = "data"
# Begins the name of the judge of a corrected row. No judge is called so.
PERSON = "person:"

# Names of judges, as users write them; of models, whatever their name, ``LLM``.
RULES = "rules"
LOCAL = "local"
STRINGS = "local:strings"
NLI = "nli"
LLM = "LLM"

# ``requests``: where a model was asked, the keys of the questions in the journal.
LEDGER = pl.Schema({"row": pl.UInt32(), "ask": pl.String(), "judge": pl.String(),
                    "subject": pl.String(), "status": pl.String(), "reason": pl.String(),
                    "requests": pl.List(pl.String)})  # fmt: skip
NO_ENTRIES = pl.DataFrame(schema=LEDGER)


@dataclass(frozen=True, slots=True)
class Proposition:
    """A claim, a statement, a criterion or a piece of gold evidence to be judged."""

    author: str
    reference: int
    index: int
    text: str

    def columns(self, origin: str | None) -> dict[str, Any]:
        """Return the columns that tell it from others in a table of judgements."""
        return {"origin": origin, "author": self.author, "reference": self.reference,
                "index": self.index}  # fmt: skip


@dataclass(frozen=True)
class Block:
    """Examples to be judged together, with their judgements so far."""

    examples: Sequence[Example]
    frame: pl.DataFrame
    tables: Tables = field(default_factory=lambda: Tables(pl.DataFrame()))

    def propositions(self, ask: str) -> Mapping[int, list[Proposition]]:
        """The propositions of an ask: for each row its claims, statements, criteria or evidence."""
        over = ASKS[ask].over
        if over is None or not over.made_by:
            listed = enumerate(listed_in(example, over) for example in self.examples)
            return {row: propositions for row, propositions in listed if propositions}
        by_row: dict[int, list[Proposition]] = {}
        for maker in over.made_by:
            table = self.tables.of(maker)
            number = "reference" if "reference" in table.columns else pl.lit(0)
            columns = table.select("row", "judge", number, "index", "text")
            for row, author, reference, index, text in columns.iter_rows():
                by_row.setdefault(row, []).append(Proposition(author, reference, index, text))
        return by_row

    @cached_property
    def digests(self) -> list[str]:
        contexts = (None if example.contexts is None else [(c.id, c.text) for c in example.contexts]
                    for example in self.examples)  # fmt: skip
        return [fingerprint(example.question, texts)
                for example, texts in zip(self.examples, contexts, strict=True)]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Filled:
    """A judge's result: rows of the kind, and the outcome for each example.

    ``rows`` has the kind's columns with ``subject``; ``ledger`` joins examples
    to subjects.
    """

    rows: pl.DataFrame
    ledger: pl.DataFrame


class Judge(Protocol):
    """Fills tables. It never retries, and reads no files."""

    @property
    def name(self) -> str:
        """The name written to every row it fills."""

    @property
    def about(self) -> str:
        """A description for reports."""

    @property
    def asks(self) -> frozenset[str]:
        """The asks that it can judge."""

    def fill(self, ask: str, block: Block, rows: Sequence[int]) -> Filled:
        """Judge these rows of the block. Rows that it cannot judge are left out of the ledger."""


class RowBuilder:
    """Collects rows and ledger entries, column by column."""

    def __init__(self, ask: str, judge: str) -> None:
        self.kind = kind_of(ask)
        self.ask = ask
        self.origin = ASKS[ask].origin
        self.judge = judge
        self.columns: dict[str, list[Any]] = {name: [] for name in self.kind.schema()}
        self.subjects: set[str] = set()
        self.entries: list[tuple[object, ...]] = []

    def done(self, row: int, subject: str, status: LedgerStatus = "ok", reason: str | None = None,
             *, requests: Sequence[str] | None = None) -> bool:  # fmt: skip
        """Add a row to the ledger; returns True if this subject has no rows yet."""
        if reason is not None and reason.endswith(ARE_PICTURES):
            status, reason = "undefined", ARE_PICTURES
        self.entries.append((row, self.ask, self.judge, subject, status, reason, requests))
        if subject in self.subjects:
            return False
        self.subjects.add(subject)
        return status in ("ok", "vote")

    def add(self, subject: str, **values: Any) -> None:
        """Add a row; columns that are not given are null."""
        values["subject"] = subject
        values["judge"] = self.judge
        for name, column in self.columns.items():
            column.append(values.get(name))

    def filled(self) -> Filled:
        if not self.entries and not self.columns["judge"]:
            return Filled(self.kind.empty(), NO_ENTRIES)
        columns = dict(zip(LEDGER, zip(*self.entries, strict=True), strict=False))
        rows = pl.DataFrame(self.columns, schema=self.kind.schema())
        return Filled(rows, pl.DataFrame(columns, schema=LEDGER))


def listed_in(example: Example, over: type[View] | None) -> list[Proposition]:
    """The criteria or the gold evidence that the data list."""
    texts = example.criteria if over is Criteria else example.evidence
    return [Proposition(DATA, 0, index, text) for index, text in enumerate(texts)]


def no_text(example: Example) -> str | None:
    """Why no context has a text; None if one has, or if there are no contexts."""
    contexts = example.contexts or ()
    if contexts and all(context.text is None for context in contexts):
        return lack_of_text(example)
    return None


def lack_of_text(example: Example) -> str:
    return ARE_PICTURES if PICTURES in example.meta else NO_TEXT


def fingerprint(*facts: object) -> str:
    """BLAKE2b-128 of what was judged, as 32 hex digits."""
    digest = blake2b(digest_size=16)
    for fact in facts:
        digest.update(repr(fact).encode("utf-8", "surrogatepass"))
        digest.update(b"\0")
    return digest.hexdigest()


def with_turns(
    example: Example, written: Callable[[Turn], str] = lambda turn: turn.text
) -> Example:
    """The example with its earlier turns behind its contexts, by default without their roles."""
    contexts = example.contexts or ()
    turns = (Context(f"turn {number}", written(turn), len(contexts) + number)
             for number, turn in enumerate(example.history, 1))  # fmt: skip
    return replace(example, contexts=(*contexts, *turns))


def block_with_turns(block: Block) -> Block:
    return replace(block, examples=[with_turns(example) for example in block.examples])


Rows = list[dict[str, Any]]
Labels = Mapping[str, Any]


@dataclass(frozen=True)
class HumanJudge:
    """Reads the ``labels`` of an example: of its answer, contexts, claims and statements.

    A missing label is a null in the row, but what follows from the grade of a context is added. An
    example without labels of a kind is left to the next judge. Labels of the whole answer decide
    its claims once the next judges have spoken, see ``rules.decide_parts``.
    """

    name: str = "human"
    about: str = "labels that people put into the data"

    @property
    def asks(self) -> frozenset[str]:
        return frozenset(name for name, ask in ASKS.items()
                         if "people" in ask.by and (kind_of(name).made or _labelled(ask))
                         )  # fmt: skip

    def fill(self, ask: str, block: Block, rows: Sequence[int]) -> Filled:
        sheet = RowBuilder(ask, self.name)
        columns = _labelled(ASKS[ask])
        for row in rows:
            example = block.examples[row]
            if not example.labels:
                continue
            listed = (
                _listed(example, ask) if sheet.kind.made else _said(example, ASKS[ask], columns)
            )
            if listed is not None:
                subject = fingerprint("labels", example.id)
                sheet.done(row, subject)
                for values in listed:
                    sheet.add(subject, **values)
        return sheet.filled()


def _listed(example: Example, field: str) -> Rows | None:
    """The claims or statements in the labels; no claims if the answer's labels rule out any."""
    labels: Sequence[Labels] | None = example.labels.get(field)
    if labels is None:
        is_empty = field == Claim.name and not verdicts_left(example.labels.get("answer") or {}, 0)
        return [] if is_empty else None
    return [{"reference": label.get("reference", 0), "index": index, "text": label["text"],
             "sentence": label.get("sentence"), "factual": True}
            for index, label in enumerate(labels)]  # fmt: skip


def _said(example: Example, ask: Ask, columns: Sequence[Column]) -> Rows | None:
    over = ask.over
    if over is None:
        return None
    if over.unit == "answer":
        record = {name: example.labels.get(name) for name in LABELS["record"]}
        labels = record | (example.labels.get("answer") or {})
        row = _values(labels, columns)
        return [row] if any(value is not None for value in row.values()) else None
    field = FIELDS[over.unit]
    units: Sequence[Labels | None] | None = example.labels.get(field)
    if units is None:
        return None
    labelled = [_values(label or {}, columns) for label in units]
    is_open = [all(value is None for value in row.values()) for row in labelled]
    if over.unit == "context":
        rows = [{"rank": rank, **_with_grade(row, columns)}
                for rank, row in enumerate(labelled, start=1) if not is_open[rank - 1]]  # fmt: skip
        return rows or None
    if units and all(is_open):
        return None
    kind = kind_of(ask.name)
    author = HUMAN if over.made_by else DATA
    return [{"origin": over.unit, "author": author, "reference": reference, "index": index, **row,
             **beside(kind, row, label or {})}
            for index, (label, row) in enumerate(zip(units, labelled, strict=True))
            for reference in _references(ask, label or {}, example)]  # fmt: skip


def _labelled(ask: Ask) -> list[Column]:
    """The labels that a unit may have; none if labels cannot refer to such units."""
    if ask.over is None or ask.over.unit not in ("answer", *FIELDS):
        return []
    return [column for column in kind_of(ask.name).filled_by(ask) if column.label]


def _values(labels: Labels, columns: Sequence[Column]) -> dict[str, Any]:
    values = {}
    for column in columns:
        value = labels.get(column.label)
        yes_or_no = value is not None and column.dtype == pl.Boolean
        values[column.name] = bool(value) if yes_or_no else value
    return values


def _with_grade(row: dict[str, Any], columns: Sequence[Column]) -> dict[str, Any]:
    grade = next((row[column.name] for column in columns if column.role == "grade"), None)
    follows = {column.name: grade >= column.at_least for column in columns
               if column.at_least and grade is not None and row[column.name] is None}  # fmt: skip
    return row | follows


def beside(kind: type[Kind], row: Mapping[str, Any], labels: Labels) -> dict[str, Any]:
    """The probability and the evidence that go with a verdict."""
    values: dict[str, Any] = {}
    verdict = row.get(kind.decides)
    is_positive = verdict in kind.columns[kind.decides].positive
    for name, column in kind.columns.items():
        if column.certain:
            values[name] = None if verdict is None else float(is_positive)
        elif column.role == "evidence":
            evidence = labels.get(name)
            values[name] = [] if evidence is None and not is_positive else evidence
    return values


def _references(ask: Ask, label: Labels, example: Example) -> Sequence[int]:
    against = ask.over is not None and ask.over.unit == "claim" and "reference" in ask.over.keys
    if against and label.get("reference") is None:
        return range(len(example.reference))
    return [label.get("reference", 0)]


@dataclass(frozen=True)
class IdsJudge:
    """Looks up each retrieved id among the judged ids.

    An id that is not listed counts as not relevant, as trec_eval does;
    ``unjudged_rate`` measures how often that happens.
    """

    name: str = "ids"
    about: str = "reference ids or qrels in the data; ids not listed count as not relevant"
    asks: frozenset[str] = frozenset(ask.name for ask in Relevance.asks)

    def fill(self, ask: str, block: Block, rows: Sequence[int]) -> Filled:
        """One row per retrieved context of an example whose judged ids are known."""
        sheet = RowBuilder(ask, self.name)
        for row in rows:
            example = block.examples[row]
            known = example.reference_contexts
            if known is None or example.contexts is None:
                continue
            subject = fingerprint("ids", example.id)
            sheet.done(row, subject)
            for context in example.contexts:
                grade = known.get(context.id, 0)
                sheet.add(subject, rank=context.rank, grade=grade, relevant=grade >= 1)
        return sheet.filled()
