"""Facts: what is found out about records while they are read; those of several pieces add up."""

from collections import Counter
from dataclasses import dataclass, field

from ragstone.core.errors import Fault
from ragstone.examples.example import Example
from ragstone.examples.labels import Severity
from ragstone.examples.problem import Problem
from ragstone.examples.records import RecordReader
from ragstone.examples.systems import has_system

KEPT = 1000


@dataclass(frozen=True, slots=True)
class Rejected:
    """A record that could not be read: its JSON text, or the raw line if it is no JSON."""

    line: int | None
    record: str
    faults: tuple[Fault, ...]


@dataclass(frozen=True, slots=True)
class LabelViolation:
    """Human labels of an example that break a rule. They are kept as they are."""

    id: str
    rule: str
    severity: Severity
    where: str


@dataclass(slots=True)
class ReadFacts:
    """What was found out about records.

    Attributes:
        faults: The first 1,000 faults.
        n_faults: How many there are.
        rejected: Every record left out, with its faults; none unless bad ones are skipped.
        label_violations: The first 1,000 broken rules between human labels.
        n_label_violations: How many there are, by rule.
        good: How many records are good.
        own_ids: Of a piece, how many good records name a system beside an id of their own.
        other_ids: Of a piece, ids of those that name a system and no id, which are numbers.
        unread_ids: Of a piece, ids of records that cannot be read, which occurred there first.
        about_columns: Problems of columns, which are told once.
        rival: A field that two columns claim, with one of them.
        spelled: As in ``RecordReader``, and likewise ``unread`` and ``numbers``.
    """

    faults: list[Fault] = field(default_factory=list)
    n_faults: int = 0
    rejected: list[Rejected] = field(default_factory=list)
    label_violations: list[LabelViolation] = field(default_factory=list)
    n_label_violations: Counter[str] = field(default_factory=Counter)
    good: int = 0
    own_ids: int = 0
    other_ids: list[str] = field(default_factory=list)
    unread_ids: list[str] = field(default_factory=list)
    about_columns: set[Problem] = field(default_factory=set)
    rival: dict[str, str] = field(default_factory=dict)
    spelled: Counter[str] = field(default_factory=Counter)
    unread: Counter[tuple[str, str]] = field(default_factory=Counter)
    numbers: Counter[str] = field(default_factory=Counter)

    def note(self, fault: Fault) -> None:
        """Add a fault."""
        self.n_faults += 1
        if len(self.faults) < KEPT:
            self.faults.append(fault)

    def heard_id(self, example: Example, *, own: bool) -> None:
        """Note a good record; ``own``: it names a system beside an id of its own."""
        self.own_ids += own
        if not own and has_system(example):
            self.other_ids.append(example.id)

    def count(self, reader: RecordReader) -> None:
        """Add what a reader counted."""
        self.spelled += reader.spelled
        self.unread += reader.unread
        self.numbers += reader.numbers

    def join(self, other: "ReadFacts") -> None:
        """Add those of a later piece, without its ids."""
        told = {
            (one.field, one.expected, one.got) for one in other.about_columns & self.about_columns
        }
        new = [one for one in other.faults if (one.field, one.expected, one.got) not in told]
        self.n_faults += other.n_faults - (len(other.faults) - len(new))
        self.faults += new[: KEPT - len(self.faults)]
        self.rejected += other.rejected
        self.label_violations += other.label_violations[: max(0, KEPT - len(self.label_violations))]
        self.n_label_violations += other.n_label_violations
        self.good += other.good
        self.about_columns |= other.about_columns
        self.rival = self.rival or other.rival
        self.spelled += other.spelled
        self.unread += other.unread
        self.numbers += other.numbers
