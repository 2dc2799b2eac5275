"""Read facts: repeated ids, rejected records, broken label rules and notes, gathered while reading.

Some data use the question's id for the rows of all systems; the id of such an example becomes
ID/SYSTEM. Each id takes 32 bytes of memory.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from operator import attrgetter
from typing import NamedTuple, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ragstone.core.errors import Fault
from ragstone.core.messages import argument, reason

from .example import Example
from .fields import NESTED
from .json_path import path_in
from .json_text import Problem, ascii_safe
from .record_labels import Severity, violations
from .records import DEFAULT_SYSTEM, Counts, RecordReader, question_hash
from .text_files import Meter

Hashes = NDArray[np.uint64]
Texts = Sequence[str] | pl.Series

# Seeds: two hashes of 64 bits tell a hundred million ids apart with a chance of error below
# 1e-22.
FIRST, SECOND = 0, 1

# Ids from which on a run is not merged with others, which would take its memory three times.
LONGEST = 200_000

# Of an example whose id cannot be that of a question.
NO_SYSTEM = ""


class IdBlock(NamedTuple):
    """Hashed ids, each array of shape (n,).

    ``systems`` hashes the system that the example names beside its id, 0 for none; ``places``
    are lines or rows.
    """

    first: Hashes
    second: Hashes
    systems: Hashes
    places: NDArray[np.int64]

    @classmethod
    def of(cls, ids: Texts, systems: Texts, places: Sequence[int] | NDArray[np.int64]) -> Self:
        texts = pl.Series(ids, dtype=pl.String)
        of_systems = pl.Series(systems, dtype=pl.String)
        has_system = (of_systems != NO_SYSTEM).to_numpy()
        return cls(
            texts.hash(FIRST).to_numpy(),
            texts.hash(SECOND).to_numpy(),
            np.where(has_system, of_systems.hash(FIRST).to_numpy() | np.uint64(1), np.uint64(0)),
            np.asarray(places, dtype=np.int64),
        )

    def at(self, chosen: NDArray[np.intp]) -> "IdBlock":
        """Return the ids at some indices."""
        first, second, systems, places = self
        return IdBlock(first[chosen], second[chosen], systems[chosen], places[chosen])


@dataclass(slots=True)
class SeenIds:
    """The ids so far, in sorted runs: each is at least twice as long as the next, or long."""

    _runs: list[IdBlock] = field(default_factory=list)

    def look_up(self, block: IdBlock) -> tuple[NDArray[np.int64], bool]:
        """Find the ids of a block that occurred before, in it or others, and add the new ones.

        Returns:
            The first place of each id, -1 for one that is new, of shape (n,); and True if an id
            occurs under several systems, so that it is that of a question.
        """
        _, earliest, whose = np.unique(block.first, return_index=True, return_inverse=True)
        first = earliest[whose]
        places = np.where(first < np.arange(len(first)), block.places[first], np.int64(-1))
        systems = _named_first(block.systems, whose)
        over_systems = _differ(block.systems, systems)
        for run in self._runs:
            at = np.minimum(np.searchsorted(run.first, block.first), len(run.first) - 1)
            same = (run.first[at] == block.first) & (run.second[at] == block.second)
            places = np.where(same, run.places[at], places)
            over_systems |= _differ(systems[same], run.systems[at[same]])
            lacking = same & (run.systems[at] == 0)
            run.systems[at[lacking]] = systems[lacking]
        new = np.flatnonzero(places < 0)
        if len(new):
            ids = IdBlock(block.first, block.second, systems, block.places)
            self._keep(ids.at(new[np.argsort(block.first[new], kind="stable")]))
        return places, over_systems

    def all(self) -> IdBlock:
        """Return every id that was looked up, once."""
        return _joined([IdBlock.of((), (), ()), *self._runs])

    def _keep(self, run: IdBlock) -> None:
        while self._runs and len(self._runs[-1].first) < min(2 * len(run.first), LONGEST):
            both = _joined([self._runs.pop(), run])
            run = both.at(np.argsort(both.first, kind="stable"))
        self._runs.append(run)


def _joined(blocks: Sequence[IdBlock]) -> IdBlock:
    return IdBlock._make(map(np.concatenate, zip(*blocks, strict=True)))


def _named_first(systems: Hashes, whose: NDArray[np.intp]) -> Hashes:
    with_system = np.flatnonzero(systems)[::-1]
    of_ids = np.zeros(len(systems), np.uint64)
    of_ids[whose[with_system]] = systems[with_system]
    return of_ids[whose]


def _differ(systems: Hashes, others: Hashes) -> bool:
    return bool(((systems != others) & (systems != 0) & (others != 0)).any())


# Ids that are looked up together: few at first, for ids that repeat mostly do so early.
LOOKED_UP, MOST_LOOKED_UP = 16, 4096


def ids_repeat(examples: Iterable[Example]) -> bool:
    """Return True if an id occurs under several systems; reads until the first such id."""
    every, seen = iter(examples), SeenIds()
    size = LOOKED_UP
    while some := list(map(attrgetter("id", "system"), islice(every, size))):
        ids, systems = zip(*some, strict=True)
        _, over_systems = seen.look_up(IdBlock.of(ids, systems, range(len(ids))))
        if over_systems:
            return True
        size = min(2 * size, MOST_LOOKED_UP)
    return False


def has_system(example: Example) -> bool:
    """Return True if the data name the system; only then can its id be that of a question."""
    return example.system != DEFAULT_SYSTEM


def of_its_system(example: Example) -> Example:
    """Rename the example to ID/SYSTEM; its id is the question's, unless the data name that."""
    question = example.question
    has_question = example.question_id != example.id and (
        question is None or example.question_id != question_hash(question, example.history)
    )
    return replace(
        example,
        id=id_of(example.id, example.system),
        question_id=example.question_id if has_question else example.id,
    )


def id_of(question: str, system: str) -> str:
    """Return the id of one system's answer to a question.

    >>> id_of("q1", "bm25")
    'q1/bm25'
    """
    return f"{question}/{system}"


class Questions:
    """Detects ids that belong to different questions in different systems."""

    def __init__(self) -> None:
        self._asked: dict[str, int] = {}
        self._differing: dict[str, None] = {}

    def hear(self, example: Example) -> None:
        """Take note of an example as the data name it."""
        if example.question is not None:
            question = hash(example.question)
            if self._asked.setdefault(example.id, question) != question:
                self._differing[example.id] = None

    def note(self) -> str:
        """Return a reason with what users should know of it."""
        first = next(iter(self._differing), None)
        return reason("ids_repeat", differing=len(self._differing) or None, first=first)


class ReadRow(NamedTuple):
    """A row: the example, or what is wrong with it, and the file where that is not the source."""

    line: int | None
    row: int
    record: object
    example: Example | None
    problems: Sequence[Problem]
    file: str | None


def row_number(row: ReadRow, unit: str) -> int:
    """Return its line where lines are counted, else its row."""
    return row.line if unit == "line" and row.line else row.row


def row_id(row: ReadRow, questions: Questions | None) -> str | None:
    """Return the id of a row; of a record that cannot be read, the text that it names."""
    if row.example is None:
        id = row.record.get("id") if isinstance(row.record, Mapping) else None
        return id if isinstance(id, str) else None
    return row.example.id if questions is None else of_its_system(row.example).id


def named_system(row: ReadRow, reader: RecordReader) -> str:
    """Return the system that a row names beside an id of its own."""
    if row.example is None or not has_system(row.example):
        return NO_SYSTEM
    has_id = isinstance(row.record, Example) or (
        isinstance(row.record, Mapping) and reader.has_id(row.record)
    )
    return row.example.system if has_id else NO_SYSTEM


KEPT = 1000
COUNTED = ("rejected", "n_label_violations", "good", "thoughts", "pictures", "json_answers")


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
    """Facts about records.

    Attributes:
        faults: The first 1,000 faults.
        n_faults: The number of all faults.
        rejected: Every record left out, with its faults; none unless bad ones are skipped.
        label_violations: The first 1,000 broken rules between human labels.
        n_label_violations: The number of all of them, by rule.
        own_ids: Of a piece, the number of good records with a system beside an id of their own.
        other_ids: Of a piece, ids of those with a system and no id, which are numbers.
        unread_ids: Of a piece, ids of records that cannot be read, which occurred there first.
        about_columns: Problems of columns, which are told once.
        rival: A field that two columns claim, with one of them.
        thoughts: The number of answers with thoughts in think tags, which were taken off.
        pictures: The number of examples with contexts that are pictures.
        json_answers: The number of answers that are JSON, in traces or ready-made examples, or a
            JSON list anywhere.
        counts: As in ``RecordReader``.
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
    thoughts: int = 0
    pictures: int = 0
    json_answers: int = 0
    counts: Counts = field(default_factory=lambda: defaultdict(Counter))

    def note(self, fault: Fault) -> None:
        """Add a fault."""
        self.n_faults += 1
        if len(self.faults) < KEPT:
            self.faults.append(fault)

    def heard_id(self, example: Example, *, has_id: bool) -> None:
        """Note a good record; with ``has_id``, it names a system beside an id of its own."""
        self.own_ids += has_id
        if not has_id and has_system(example):
            self.other_ids.append(example.id)

    def check_labels(self, example: Example) -> None:
        """Note the rules that the human labels of an example break."""
        for broken in violations(example.labels):
            self.n_label_violations[broken.rule] += 1
            if len(self.label_violations) < KEPT:
                self.label_violations.append(
                    LabelViolation(example.id, broken.rule, broken.severity, broken.where)
                )

    def join(self, other: "ReadFacts") -> None:
        """Add those of a later piece, without its ids."""
        known = {
            (problem.field, problem.expected, problem.got)
            for problem in other.about_columns & self.about_columns
        }
        new = [
            fault for fault in other.faults if (fault.field, fault.expected, fault.got) not in known
        ]
        self.n_faults += other.n_faults - (len(other.faults) - len(new))
        self.faults += new[: KEPT - len(self.faults)]
        self.label_violations += other.label_violations[: max(0, KEPT - len(self.label_violations))]
        self.about_columns |= other.about_columns
        self.rival = self.rival or other.rival
        for name in COUNTED:
            total = getattr(self, name)
            total += getattr(other, name)
            setattr(self, name, total)
        self.count(other.counts)

    def count(self, counts: Counts) -> None:
        """Add the counts of a reader."""
        for code, counted in counts.items():
            self.counts[code] += counted

    def hint(self, *, skip_bad: bool) -> str:
        """Return what the user may change so that more records are read; may be empty."""
        if self.about_columns:
            guess = next(
                ({name: column} for column, name in self.counts["no_field"]),
                {"answer": "MY_COLUMN"},
            )
            return f"Say which column is which field, for example {_mapped(guess)}."
        if self.rival:
            return f"Choose one, for example {_mapped(self.rival)}."
        hints = []
        for (column, name), _ in self.counts["no_field"].most_common(1):
            mapped = _mapped({name: column})
            hints.append(f"Is {ascii_safe(column)} meant for {name}? Then say {mapped}.")
        if self.good and not skip_bad:
            good = "one good record is" if self.good == 1 else f"{self.good:,} good records are"
            hints.append(f"With {argument('skip_bad', True)} the {good} read.")
        return " ".join(hints)


def _mapped(guess: Mapping[str, str]) -> str:
    return argument("columns", {name: ascii_safe(column) for name, column in guess.items()})


MOST_COLUMNS = 5
# The reasons that name columns with their numbers of records.
COLUMN_NOTES = (
    *("numbers_as_texts", "ids_and_texts", "contexts_in_meta", "contexts_of_tools"),
    *("objects_as_texts", "contexts_joined"),
)


def notes_of(facts: ReadFacts) -> Iterator[str]:
    """Yield reasons for values that were read otherwise, and for columns like a field."""
    counts = facts.counts
    spelled = {field: n for field, n in counts["lists_spelled"].items() if field not in NESTED}
    if spelled:
        fields = "\n".join(f"{field}={n}" for field, n in spelled.items())
        yield reason("lists_spelled", fields=fields)
    for code in COLUMN_NOTES:
        by_column = {" ".join(name.split()): n for name, n in counts[code].items() if n}
        if by_column:
            columns = "\n".join(f"{ascii_safe(name)}={n}" for name, n in by_column.items())
            yield reason(code, columns=columns)
    if facts.thoughts:
        yield reason("thoughts_taken_off", n=facts.thoughts)
    if facts.pictures:
        yield reason("pictures_not_read", n=facts.pictures)
    if facts.json_answers:
        yield reason("answers_are_json", n=facts.json_answers)
    if n := counts["no_contexts_in_prompts"].total():
        yield reason("no_contexts_in_prompts", n=n)
    for path, names in islice(counts["answers_structured"], 1):
        shown = names.split("\n")[:MOST_COLUMNS]
        paths = "\n".join(path_in(name, path) for name in shown)
        n = counts["answers_structured"].total()
        yield reason("answers_structured", n=n, paths=ascii_safe(paths))
    for (column, name), n in counts["no_field"].most_common(MOST_COLUMNS):
        yield reason("no_field", column=ascii_safe(column), field=name, n=n)


def windows_notes(meter: Meter) -> Iterator[str]:
    """Yield a reason for each file that was read as Windows-1252."""
    for path, words in (meter.windows or {}).items():
        yield reason("read_as_windows", file=ascii_safe(path.name), words="\n".join(words))
