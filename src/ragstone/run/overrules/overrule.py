"""Overrule: one correction by a person, what it is about, and what came of it."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from ragstone.judgements import ASKS

Row = Mapping[str, Any]
"""A row of a kind's table, as plain values."""

TEXT, DROPPED = "text", "dropped"
"""What is said of a claim, or of anything else that a judge extracts: its wording, or that it goes.
Neither is a verdict."""

PERSON = "person:"
"""Begins the name of the judge of an overruled row. No judge is called so, and ``human`` is the
judge that repeats labels."""


@dataclass(frozen=True, slots=True)
class Undone:
    """Who took an overrule back, when and why."""

    author: str
    at: str
    reason: str


@dataclass(frozen=True, slots=True)
class Overrule:
    """A correction of one judgement by a person.

    Attributes:
        number: Counts the overrules of the run, from 1.
        example: The id of the example in which it was made.
        ask: What was asked, such as ``support/claim``.
        unit: What it is about as people name it, such as ``3``; None for the answer.
        author: Who overruled.
        reason: Why.
        at: When, in UTC.
        judge: Who had judged; None if nobody had.
        was: What was said before, by column; empty if nothing was.
        said: What the person says, by column.
        subject: The fingerprint of what was judged. Answers that share it share the judgement.
        key: The columns that identify the unit in the kind's table.
        about: The wording that the verdict is about, where it is about a claim or statement.
        again: For a new wording, by example and ask: the rows that the judges gave to it.
        undone: Who took it back; None if it stands.
    """

    number: int
    example: str
    ask: str
    unit: str | None
    author: str
    reason: str
    at: str
    judge: str | None
    was: Row
    said: Row
    subject: str
    key: Row
    about: str | None = None
    again: Mapping[str, Mapping[str, list[Row]]] = field(default_factory=dict)
    undone: Undone | None = None

    @property
    def kind(self) -> str:
        """The kind of judgement."""
        return ASKS[self.ask].kind

    @property
    def person(self) -> str:
        """The name of the judge in the overruled rows. A comma would make it that of a panel."""
        return PERSON + " ".join(self.author.replace(",", " ").split())

    def to_dict(self) -> dict[str, Any]:
        """As plain data, without what only the run needs."""
        inner = ("subject", "key", "again")
        return {
            **{name: value for name, value in asdict(self).items() if name not in inner},
            "kind": self.kind,
        }


@dataclass(frozen=True, slots=True)
class Overruled:
    """What came of an overrule, or of taking one back.

    Attributes:
        overrule: The correction.
        examples: The ids of the examples that it changes: all that share the judgement.
        version: The version of the judgement now, to be given as ``seen`` by whoever saw this.
        unasked: Of a new wording, why a judge gave no verdict on it, by ask.
    """

    overrule: Overrule
    examples: tuple[str, ...]
    version: str
    unasked: Mapping[str, str] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return {
            **self.overrule.to_dict(),
            "examples": list(self.examples),
            "version": self.version,
            "unasked": dict(self.unasked),
        }


@dataclass(frozen=True, slots=True)
class Judgement:
    """A judgement of one example that a person may overrule.

    Attributes:
        ask: What was asked, such as ``support/claim``.
        unit: What it is about as people name it; None for the answer.
        values: What is said of it, by column; empty if no judge said anything.
        judge: Who said so; None if nobody did.
        version: Given as ``seen``, so that nobody overrules what they have not seen.
        examples: The ids of the examples that share the judgement.
        overrule: The latest overrule that stands; None if the judge's word does.
    """

    ask: str
    unit: str | None
    values: Row
    judge: str | None
    version: str
    examples: tuple[str, ...]
    overrule: Overrule | None = None

    @property
    def kind(self) -> str:
        """The kind of judgement."""
        return ASKS[self.ask].kind
