"""Examples: a data set read one example at a time, and the faults found in it."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any

from ragstone.argument import argument
from ragstone.errors import DataError, Fault
from ragstone.examples.example import Example
from ragstone.examples.fields import NO_FIELD, ONE_COLUMN
from ragstone.examples.files import Meter
from ragstone.examples.fingerprint import fingerprint_files, fingerprint_records
from ragstone.examples.folding import folded
from ragstone.examples.in_memory import ReadOnce, Records, plain, sound
from ragstone.examples.labels import Severity, violations
from ragstone.examples.nested import laid_flat
from ragstone.examples.notes import notes_of, windows_notes
from ragstone.examples.problem import BadRow, Problem, ascii_safe
from ragstone.examples.records import RecordReader
from ragstone.examples.source import Row, Source
from ragstone.examples.systems import Questions, has_system, ids_repeat, of_its_system
from ragstone.examples.write import as_record

KEPT = 1000
ROWS_TO_FIND_A_COLUMN = 1000


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


class Examples:
    """The examples of one data set, streamed.

    Each iteration reads the data anew (an iterator in memory can be read once).
    The lists below are about the last iteration and complete after it.

    Args:
        source: Where the rows come from.
        columns: Field to column, as the user mapped them.
        skip_bad: Leave bad records out and go on, instead of raising at the end.
        limit: The largest number of examples to read.
        layout: The layout of the records, if the user named it.

    Attributes:
        faults: The first 1,000 faults.
        n_faults: How many there are.
        rejected: Every record left out, with its faults.
        label_violations: The first 1,000 broken rules between human labels.
        n_label_violations: How many there are, by rule.
        notes: Fields and columns whose interpretation may surprise, as reasons.
    """

    def __init__(
        self,
        source: Source,
        *,
        columns: Mapping[str, str],
        skip_bad: bool = False,
        limit: int | None = None,
        layout: str | None = None,
    ) -> None:
        self._source = source
        self._columns = dict(columns)
        self._skip_bad = skip_bad
        self._limit = limit
        self._layout = layout
        self._format: str | None = source.format or layout
        self._repeat: bool | None = None
        self._meter = Meter(sum(path.stat().st_size for path in source.files))
        self._reset()

    def __iter__(self) -> Iterator[Example]:
        """One example after the other.

        Raises:
            DataError: After the whole data has been read, with every fault in it;
                from the first fault on nothing is yielded. With ``skip_bad`` only
                where no record is good.
        """
        over_systems = self._over_systems()
        self._reset()
        reader = RecordReader(self._columns, layout=self._layout)
        questions = Questions()
        unit = self._source.unit
        places: dict[str, int] = {}
        yielded = 0
        problems: list[Problem] = []
        for row, (line, item) in enumerate(self._rows(), 1):
            if self._limit is not None and yielded >= self._limit:
                break
            example: Example | None
            if isinstance(item, Example):
                example = item
            elif isinstance(item, BadRow):
                self._reject(line, row, item.text, item.problems, item.file)
                continue
            else:
                example = reader.read(item, row, problems)
            if example is None:
                self._reject(line, row, item, problems)
                problems = []
                if isinstance(item, Mapping) and isinstance(item.get("id"), str):
                    places.setdefault(item["id"], line if unit == "line" and line else row)
                continue
            given = example.id
            if over_systems:
                questions.hear(example)
                example = of_its_system(example)
            if example.id in places:
                of = f" of system {example.system!r}" if over_systems else ""
                got = f"{given!r}{of}, as in {unit} {places[example.id]}"
                self._reject(line, row, item, (Problem("id", "an id of its own", got),))
                continue
            places[example.id] = line if unit == "line" and line is not None else row
            if example.labels:
                self._flag(example)
            self._good += 1
            if self.n_faults and not self._skip_bad:
                continue
            yielded += 1
            yield example
        self.notes += [
            *([questions.note()] if over_systems else []),
            *notes_of(reader),
            *windows_notes(self._meter),
        ]
        if reader.layout is not None and self._format is None:
            self._format = reader.layout
        if not yielded and not self.n_faults and self._limit != 0:
            self._note(Fault(self.source, None, "", "at least one record", self._nothing()))
        if self.n_faults and not (self._skip_bad and yielded):
            raise DataError(self.faults, total=self.n_faults, hint=self._hint(reader))

    def ahead(self, most: int) -> Iterator[Example]:
        """The first examples that can be read, without a word on the others.

        None where the source determines its format, such as a TREC run, whose records have no
        fields of the user's own.

        Args:
            most: The largest number of rows to look at.
        """
        if self._source.format is not None:
            return
        if isinstance(self._source, Records) and isinstance(self._source.records, ReadOnce):
            self._source.records.keep()
        reader = RecordReader(self._columns, layout=self._layout)
        found = 0
        for row, (_, item) in enumerate(islice(folded(self._source.rows(Meter())), most), 1):
            if isinstance(item, BadRow):
                continue
            example = item if isinstance(item, Example) else reader.read(item, row, [])
            if example is not None:
                found += 1
                yield example
            if found == self._limit:
                return

    @property
    def source(self) -> str:
        """What was read: the path as given, or the kind of table."""
        return self._source.name

    @property
    def format(self) -> str:
        """The format that was recognised, by the name that ``formats`` lists."""
        if self._format is None:
            record = self._first_record()
            reader = RecordReader(self._columns)
            found = reader.layout_of(record) if isinstance(record, Mapping) else None
            self._format = found or "ragstone"
        return self._format

    @property
    def size_bytes(self) -> int | None:
        """Bytes on disk; None in memory."""
        return self._meter.total if self._source.files else None

    @property
    def read_bytes(self) -> int | None:
        """How many of these have been read in this iteration; None in memory."""
        return self._meter.read if self._source.files else None

    def progress(self) -> tuple[int, int] | None:
        """Bytes read and bytes in total, for a progress bar; None in memory."""
        return (self._meter.read, self._meter.total) if self._source.files else None

    def fingerprint(self) -> str:
        """32 hex digits of the files' bytes, or of the records in memory.

        An iterator is taken into memory by this, so that it can still be read.
        """
        if self._source.files:
            return fingerprint_files(self._source.files)
        if isinstance(self._source, Records):
            if isinstance(self._source.records, ReadOnce):
                self._source.records.keep()
            return fingerprint_records(_canonical(record) for record in self._source.records)
        rows = self._source.rows(Meter())
        return fingerprint_records(_canonical(item) for _, item in rows)

    def _reset(self) -> None:
        self.faults: list[Fault] = []
        self.n_faults = 0
        self.rejected: list[Rejected] = []
        self.label_violations: list[LabelViolation] = []
        self.n_label_violations: Counter[str] = Counter()
        self.notes: list[str] = []
        self._about_columns: set[Problem] = set()
        self._rival: dict[str, str] = {}
        self._good = 0
        self._meter.done = 0
        self._meter.windows = {}

    def _over_systems(self) -> bool:
        """Whether the same id occurs under several systems, which changes the ids of all examples.

        To find out, the data are first read up to the first such id. Sources that set the ids of
        their examples themselves are not read twice.
        """
        if self._repeat is None:
            self._repeat = self._source.format is None and ids_repeat(self._read_ahead())
        return self._repeat

    def _read_ahead(self) -> Iterator[Example]:
        """The examples with an id and a system in the data; none if the first ones lack them."""
        reader = RecordReader(self._columns, layout=self._layout)
        if isinstance(self._source, Records) and isinstance(self._source.records, ReadOnce):
            first = self._source.records.peek()
            first = sound(first) if isinstance(first, Mapping) else first
            example = reader.read(first, 1, []) if isinstance(first, dict) else first
            if not isinstance(example, Example) or not has_system(example):
                return
            self._source.records.keep()
        named = found = 0
        for row, (_, item) in enumerate(folded(self._source.rows(Meter())), 1):
            if isinstance(item, BadRow):
                continue
            example = item if isinstance(item, Example) else reader.read(item, row, [])
            if example is None:
                continue
            if has_system(example) and (isinstance(item, Example) or reader.has_id(item)):
                named += 1
                yield example
            found += 1
            if found == self._limit or (found == ROWS_TO_FIND_A_COLUMN and not named):
                return

    def _rows(self) -> Iterator[Row]:
        """The rows, once it is clear that the mapped columns are among them."""
        rows = folded(self._source.rows(self._meter))
        missing = set(self._columns.values())
        if not missing:
            return rows
        head: list[Row] = []
        seen: dict[str, None] = {}
        for row in rows:
            head.append(row)
            if isinstance(row[1], Mapping):
                for record in (row[1], laid_flat(row[1])):
                    seen.update(dict.fromkeys(record))
                    missing -= record.keys()
            if not missing or len(head) >= ROWS_TO_FIND_A_COLUMN:
                break
        if missing and seen:
            got = f"only the columns {', '.join(list(seen)[:20])}"
            for field, column in self._columns.items():
                if column in missing:
                    expected = f"a column called {column!r}"
                    self._note(Fault(self.source, None, field, expected, got))
            raise DataError(self.faults)
        return chain(head, rows)

    def _reject(
        self,
        line: int | None,
        row: int,
        item: object,
        problems: Sequence[Problem],
        file: str | None = None,
    ) -> None:
        where = f", in element {row}" if self._source.unit == "element" and item else ""
        faults = tuple(
            Fault(file or self.source, line, problem.field, problem.expected, problem.got + where)
            for problem in problems
        )
        for fault, problem in zip(faults, problems, strict=True):
            if problem.expected == NO_FIELD:
                if problem in self._about_columns:
                    continue
                self._about_columns.add(problem)
            elif problem.expected == ONE_COLUMN:
                self._rival = {problem.field: problem.got.rpartition(" and ")[2]}
            self._note(fault)
        if self._skip_bad:
            self.rejected.append(Rejected(line, _json_text(item), faults))

    def _note(self, fault: Fault) -> None:
        self.n_faults += 1
        if len(self.faults) < KEPT:
            self.faults.append(fault)

    def _flag(self, example: Example) -> None:
        for broken in violations(example.labels):
            self.n_label_violations[broken.rule] += 1
            if len(self.label_violations) < KEPT:
                self.label_violations.append(
                    LabelViolation(example.id, broken.rule, broken.severity, broken.where)
                )

    def _hint(self, reader: RecordReader) -> str:
        if self._about_columns:
            guess = next(({field: name} for name, field in reader.unread), {"answer": "MY_COLUMN"})
            return f"Say which column is which field, for example {_mapped(guess)}."
        if self._rival:
            return f"Choose one, for example {_mapped(self._rival)}."
        hints = []
        for (column, field), _ in reader.unread.most_common(1):
            mapped = _mapped({field: column})
            hints.append(f"Is {ascii_safe(column)} meant for {field}? Then say {mapped}.")
        if self._good and not self._skip_bad:
            good = "one good record is" if self._good == 1 else f"{self._good:,} good records are"
            hints.append(f"With {argument('skip_bad', True)} the {good} read.")
        return " ".join(hints)

    def _first_record(self) -> object:
        if isinstance(self._source, Records) and isinstance(self._source.records, ReadOnce):
            return self._source.records.peek()
        return next((item for _, item in self._source.rows(Meter())), None)

    def _nothing(self) -> str:
        if not self._source.files:
            return "none"
        return "a file without any" if self._meter.total else "an empty file"


def _json_text(item: object) -> str:
    if isinstance(item, str):
        return item
    record = as_record(item) if isinstance(item, Example) else item
    try:
        return json.dumps(record, ensure_ascii=False, default=str)
    except (TypeError, ValueError, RecursionError):
        return repr(record)


def _canonical(record: object) -> Mapping[str, Any]:
    if isinstance(record, Example):
        return as_record(record)
    try:
        value = plain(record)
    except RecursionError:
        value = None
    return {str(k): v for k, v in value.items()} if isinstance(value, dict) else {"": str(value)}


def _mapped(guess: Mapping[str, str]) -> str:
    return argument("columns", {field: ascii_safe(name) for field, name in guess.items()})
