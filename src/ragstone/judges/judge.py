"""Judge: the interface of everything that fills judgement tables, and its input, a block."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import blake2b
from typing import Any, Literal, Protocol

import polars as pl

from ragstone.data import Example
from ragstone.judgements import ASKS, Tables, kind_of

LedgerStatus = Literal["ok", "undefined", "failed", "blocked", "truncated", "vote"]
"""``blocked``: a model or its filter declined. ``truncated``: its reply was cut off. ``vote``: a
member of a panel, whose word counts in the panel's.
"""

OF_NO_USE = ("too_long", "filtered", "refusal")
"""Why a question is put to the same judge no more."""

LEDGER = pl.Schema(
    {
        "row": pl.UInt32(),
        "ask": pl.String(),
        "judge": pl.String(),
        "subject": pl.String(),
        "status": pl.String(),
        "reason": pl.String(),
        "requests": pl.List(pl.String),
    }
)
"""``requests``: where a model was asked, the keys of the questions in the journal."""


@dataclass(frozen=True, slots=True)
class Proposition:
    """A claim, a statement or a piece of gold evidence to be judged."""

    author: str
    reference: int
    index: int
    text: str


@dataclass(frozen=True)
class Block:
    """Examples to be judged together, with their judgements so far."""

    examples: Sequence[Example]
    frame: pl.DataFrame
    tables: Tables = field(default_factory=lambda: Tables(pl.DataFrame()))

    def propositions(self, ask: str) -> Mapping[int, list[Proposition]]:
        """The propositions of an ask: for each row its claims, statements or evidence."""
        over = ASKS[ask].over
        if over is None or not over.made_by:
            return {
                row: evidence_of(example)
                for row, example in enumerate(self.examples)
                if example.evidence
            }
        found: dict[int, list[Proposition]] = {}
        for maker in over.made_by:
            table = self.tables.of(maker)
            number = "reference" if "reference" in table.columns else pl.lit(0)
            columns = table.select("row", "judge", number, "index", "text")
            for row, author, reference, index, text in columns.iter_rows():
                found.setdefault(row, []).append(Proposition(author, reference, index, text))
        return found

    @cached_property
    def digests(self) -> list[str]:
        """The fingerprint of each example's question and contexts."""
        return [
            fingerprint(
                example.question,
                None if example.contexts is None else [(c.id, c.text) for c in example.contexts],
            )
            for example in self.examples
        ]


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
        """Its description in reports."""

    @property
    def asks(self) -> frozenset[str]:
        """The asks that it can judge."""

    def fill(self, ask: str, block: Block, rows: Sequence[int]) -> Filled:
        """Judge these rows of the block. Rows that it cannot judge are left out of the ledger."""


class Sheet:
    """Collects rows and ledger entries, column by column."""

    def __init__(self, ask: str, judge: str) -> None:
        self.kind = kind_of(ask)
        self.ask = ask
        self.judge = judge
        self.columns: dict[str, list[Any]] = {name: [] for name in self.kind.schema()}
        self.subjects: set[str] = set()
        self.entries: list[tuple[int, str, LedgerStatus, str | None, Sequence[str] | None]] = []

    def done(
        self,
        row: int,
        subject: str,
        status: LedgerStatus = "ok",
        reason: str | None = None,
        *,
        requests: Sequence[str] | None = None,
    ) -> bool:
        """Add a row to the ledger; returns True if this subject has no rows yet."""
        self.entries.append((row, subject, status, reason, requests))
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
        """The tables."""
        schema = self.kind.schema()
        rows = pl.DataFrame(
            {name: pl.Series(name, values, dtype=schema[name]) for name, values in
             self.columns.items()}
        )  # fmt: skip
        numbers, subjects, statuses, reasons, requests = (
            zip(*self.entries, strict=True) if self.entries else ((), (), (), (), ())
        )
        ledger = pl.DataFrame(
            {
                "row": pl.Series(numbers, dtype=pl.UInt32),
                "ask": pl.Series([self.ask] * len(numbers), dtype=pl.String),
                "judge": pl.Series([self.judge] * len(numbers), dtype=pl.String),
                "subject": pl.Series(subjects, dtype=pl.String),
                "status": pl.Series(statuses, dtype=pl.String),
                "reason": pl.Series(reasons, dtype=pl.String),
                "requests": pl.Series(requests, dtype=pl.List(pl.String)),
            }
        )
        return Filled(rows, ledger)


def evidence_of(example: Example) -> list[Proposition]:
    """The gold evidence of an example."""
    return [Proposition("data", 0, place, text) for place, text in enumerate(example.evidence)]


def no_text(example: Example) -> str | None:
    """Why no context has a text; None if one has, or if there are no contexts."""
    contexts = example.contexts or ()
    if contexts and all(context.text is None for context in contexts):
        return "no_context_text"
    return None


def fingerprint(*facts: object) -> str:
    """BLAKE2b-128 of what was judged, as 32 hex digits."""
    digest = blake2b(digest_size=16)
    for fact in facts:
        digest.update(repr(fact).encode("utf-8", "surrogatepass"))
        digest.update(b"\0")
    return digest.hexdigest()
