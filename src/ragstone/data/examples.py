"""Examples: a data set read one example at a time, and the faults found in it."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain, islice
from pathlib import Path
from types import MappingProxyType

from ragstone.core.errors import DataError, Fault

from .example import Example
from .fields import NO_FIELD, ONE_COLUMN
from .json_text import BadRow, Problem, is_json
from .layouts.folded_rows import fold_of, folded
from .layouts.nested import laid_flat
from .layouts.trace_files import trace_format
from .line_ranges import START, LinePlace, Lines, PieceSize, pieces
from .pictures import without_pictures
from .read_facts import (
    NO_SYSTEM,
    IdBlock,
    LabelViolation,
    Questions,
    ReadFacts,
    ReadRow,
    Rejected,
    SeenIds,
    has_system,
    ids_repeat,
    named_system,
    notes_of,
    of_its_system,
    row_id,
    row_number,
    windows_notes,
)
from .records import RecordReader, values_at_paths
from .sources import ReadOnce, Row, Source, sound
from .text_files import Meter
from .thoughts import without_thoughts
from .write_examples import fingerprint_files, fingerprint_records, plain_record, record_text

ROWS_TO_FIND_A_COLUMN = 1000

# Up to this many rows, and characters of answers and contexts, have their ids looked up together.
AT_ONCE = 500
CHARACTERS_AT_ONCE = 500_000

NONE_REFUSED: Mapping[int, int] = MappingProxyType({})


class IdsOfSystems(Exception):
    """Ids turned out to be those of questions: several systems have rows of the same id."""


class Examples:
    """The examples of one data set, streamed.

    Each iteration reads the data anew (an iterator in memory can be read once). The facts below
    are about the last iteration, and complete after it.

    Attributes:
        facts: Facts about the records.
        over_systems: True if ids are those of questions of several systems; None if not known yet.
        notes: Fields and columns whose interpretation may surprise, as reasons.
    """

    def __init__(
        self, source: Source, *, columns: Mapping[str, str], skip_bad: bool = False,
        limit: int | None = None, layout: str | None = None, keep_thoughts: bool = False,
    ) -> None:  # fmt: skip
        self._source = source
        self._keep_thoughts = keep_thoughts
        self._columns = dict(columns)
        self._skip_bad = skip_bad
        self._limit = limit
        self._layout = layout
        self._format: str | None = source.format or layout
        self.over_systems: bool | None = None
        self._meter = Meter(sum(path.stat().st_size for path in source.files))
        self._reset()

    def __iter__(self) -> Iterator[Example]:
        """Yield one example after the other.

        Raises:
            DataError: After the whole data has been read, with every fault in it;
                from the first fault on nothing is yielded. With ``skip_bad`` only
                where no record is good.
        """
        # An id that occurs under several systems changes all ids, so the data are first read up to
        # such an id, unless the source sets the ids of its examples itself.
        if self.over_systems is None:
            self.over_systems = self._source.format is None and ids_repeat(self._read_ahead())
        self._reset()
        reader = RecordReader(self._columns, layout=self._layout)
        questions = Questions() if self.over_systems else None
        rows = self._rows()
        for _, example in self._read(rows, 0, reader, SeenIds(), self.facts, questions=questions):
            yield example
        self.facts.count(reader.counts)
        if reader.layout is not None and self._format is None:
            self._format = reader.layout
        self.all_read()
        self.notes += [questions.note()] if questions else []

    def in_pieces(self) -> bool:
        """Return True if pieces of the data can be read apart from each other, see ``pieces``.

        The lines of a JSON Lines file can, unless there is a limit, or an id stands for the rows
        of several systems.
        """
        if not self._source.by_line or self._limit is not None or self.over_systems:
            return False
        items = (item for _, item in self._source.rows(Meter()))
        first = next((item for item in items if isinstance(item, Mapping)), None)
        return first is not None and fold_of(first) is None

    def pieces(self, size: PieceSize, start: LinePlace = START) -> Iterator[Lines]:
        """Yield the pieces of the data from a place on, as bytes; see ``in_pieces``.

        Raises:
            DataError: No record has a column that the user mapped.
        """
        next(self._rows(), None)
        self._reset()
        if not self._source.by_line:
            return iter(())
        (path,) = self._source.files
        return pieces(path, self.source, self._meter, size, start)

    def apart(self) -> "Examples":
        """Return what other processes need to read pieces; they leave bad records out."""
        nothing = Source(self.source, Lines(self.source, b"", START, START).rows, unit="line")
        layout = self._found_layout if self._source.by_line else None
        other = Examples(
            nothing, columns=self._columns, skip_bad=True, layout=layout,
            keep_thoughts=self._keep_thoughts,
        )  # fmt: skip
        other.over_systems = self.over_systems
        return other

    @property
    def stopped(self) -> bool:
        """True if a fault was found, so that the rest is only read to find the others."""
        return bool(self.facts.n_faults) and not self._skip_bad

    def read_part(
        self, piece: Lines, seen: SeenIds, facts: ReadFacts,
        refused: Mapping[int, int] = NONE_REFUSED,
    ) -> Iterator[tuple[int, Example]]:  # fmt: skip
        """Yield the examples of a piece of this data, each with its line.

        Args:
            seen: The ids of the pieces before, where these are read here.
            facts: Facts about its records are added.
            refused: Lines whose id occurred in a piece read elsewhere, with its line there.

        Raises:
            IdsOfSystems: An id stands for the rows of several systems after all.
        """
        reader = RecordReader(self._columns, layout=self._found_layout)
        yield from self._read(
            piece.rows(self._meter), piece.start.records, reader, seen, facts,
            refused=refused, alone=self.over_systems is False, in_piece=True,
        )  # fmt: skip
        facts.count(reader.counts)

    def heard(self, facts: ReadFacts, examples: int) -> None:
        """Take over the facts of a piece, of which so many examples were read elsewhere."""
        self.facts.join(facts)
        self._yielded += examples

    def all_read(self) -> None:
        """Finish after the last piece, with the error that reading all at once raises."""
        facts = self.facts
        self.notes += [*notes_of(facts), *windows_notes(self._meter)]
        if not self._yielded and not facts.n_faults and self._limit != 0:
            facts.note(Fault(self.source, None, "", "at least one record", self._nothing()))
        if facts.n_faults and not (self._skip_bad and self._yielded):
            hint = facts.hint(skip_bad=self._skip_bad)
            raise DataError(facts.faults, total=facts.n_faults, hint=hint)

    def _read(
        self, rows: Iterator[Row], before: int, reader: RecordReader, seen: SeenIds,
        facts: ReadFacts, *, refused: Mapping[int, int] = NONE_REFUSED,
        questions: Questions | None = None, alone: bool = True, in_piece: bool = False,
    ) -> Iterator[tuple[int, Example]]:  # fmt: skip
        """Yield the examples in rows that follow so many others, each with its line or row.

        Args:
            refused: As in ``read_part``.
            questions: Notes the questions if ids are those of questions.
            alone: True if no id is known to be that of a question of several systems.
            in_piece: True if the rows are those of a piece.
        """
        unit = self._source.unit
        numbered = enumerate(rows, before + 1)
        while some := self._some(numbered, reader):
            ids: dict[int, str] = {}
            systems: dict[int, str] = {}
            places: dict[int, int] = {}
            for index, row in enumerate(some):
                if (id := row_id(row, questions)) is not None:
                    ids[index], places[index] = id, row_number(row, unit)
                    systems[index] = NO_SYSTEM if alone else named_system(row, reader)
            block = IdBlock.of([*ids.values()], [*systems.values()], [*places.values()])
            earlier, over_systems = seen.look_up(block)
            if over_systems:
                raise IdsOfSystems
            repeated: dict[int, int] = {}
            for index, line in zip(ids, earlier.tolist(), strict=True):
                if places[index] in refused:
                    repeated[index] = refused[places[index]]
                elif line >= 0:
                    # Where it was first in this piece, it may be refused for an earlier one.
                    repeated[index] = refused.get(line, line)
            for index, row in enumerate(some):
                example = row.example
                if example is None:
                    self._reject(facts, row, row.problems)
                    if in_piece and index in ids and index not in repeated:
                        facts.unread_ids.append(ids[index])
                    continue
                own_id = example.id
                if questions is not None:
                    questions.hear(example)
                    example = of_its_system(example)
                if index in repeated:
                    of = f" of system {example.system!r}" if questions is not None else ""
                    where = f"as in {unit} {repeated[index]}" if repeated[index] else "as before"
                    problem = Problem("id", "an id of its own", f"{own_id!r}{of}, {where}")
                    self._reject(facts, row._replace(file=None), (problem,))
                    continue
                example, was = without_pictures(example), example
                facts.pictures += example is not was
                if not self._keep_thoughts:
                    example, was = without_thoughts(example), example
                    facts.thoughts += example.answer != was.answer
                # A record's own answer may be a number; that of a trace is a text if all is well.
                if isinstance(row.record, Example) or (example.answer or "").startswith("["):
                    facts.json_answers += is_json(example.answer)
                if example.labels:
                    facts.check_labels(example)
                facts.good += 1
                if in_piece:
                    facts.heard_id(example, has_id=systems[index] != NO_SYSTEM)
                if (facts.n_faults or self.facts.n_faults) and not self._skip_bad:
                    continue
                self._yielded += 1
                yield row_number(row, unit), example

    def _some(self, rows: Iterator[tuple[int, Row]], reader: RecordReader) -> "list[ReadRow]":
        most = AT_ONCE if self._limit is None else min(AT_ONCE, self._limit - self._yielded)
        some: list[ReadRow] = []
        held = 0
        while len(some) < most and held < CHARACTERS_AT_ONCE:
            following = next(rows, None)
            if following is None:
                break
            row, (line, item) = following
            if isinstance(item, BadRow):
                some.append(ReadRow(line, row, item.text, None, (item.problem,), item.file))
                held += len(item.text)
                continue
            problems: list[Problem] = []
            example = item if isinstance(item, Example) else reader.read(item, row, problems)
            # A record is kept only if it may have to be shown.
            some.append(ReadRow(line, row, item, example, problems, None))
            held += 0 if example is None else example.characters
        return some

    def ahead(self, most: int) -> Iterator[Example]:
        """Yield the first examples that can be read, ignoring faults.

        Yields none where the source determines its format, such as a TREC run, whose records
        have no fields of the user's own.
        """
        if self._source.format is not None:
            return
        if isinstance(self._source.records, ReadOnce):
            self._source.records.keep()
        reader = RecordReader(self._columns, layout=self._layout)
        for count, (_, example) in enumerate(self._readable(reader, most), 1):
            yield example
            if count == self._limit:
                return

    def _readable(
        self, reader: RecordReader, most: int | None = None
    ) -> Iterator[tuple[Mapping[str, object] | Example, Example]]:
        rows = islice(folded(self._source.rows(Meter())), most)
        for row, (_, item) in enumerate(rows, 1):
            if isinstance(item, BadRow):
                continue
            example = item if isinstance(item, Example) else reader.read(item, row, [])
            if example is not None:
                yield item, example

    @property
    def source(self) -> str:
        """The path as given, or the kind of table."""
        return self._source.name

    @property
    def format(self) -> str:
        """The format that was recognised, by the name that ``formats`` lists."""
        if self._format is None:
            record = self._first_record()
            reader = RecordReader(self._columns)
            layout = None
            if isinstance(record, Mapping):
                layout = trace_format(record) or reader.layout_of(record)
            self._format = layout or "ragstone"
        return self._format

    @property
    def files(self) -> tuple[Path, ...]:
        """All files that are read; none in memory."""
        return self._source.files

    def progress(self) -> tuple[int, int] | None:
        """Return bytes read and bytes in total; None in memory."""
        return (self._meter.read, self._meter.total) if self._source.files else None

    def fingerprint(self) -> str:
        """Return 32 hex digits of the files' bytes, or of the records in memory.

        An iterator is taken into memory by this, so that it can still be read.
        """
        if self._source.files:
            return fingerprint_files(self._source.files)
        records = self._source.records
        if isinstance(records, ReadOnce):
            records.keep()
        if records is None:
            records = (item for _, item in self._source.rows(Meter()))
        return fingerprint_records(map(plain_record, records))

    def _reset(self) -> None:
        self.facts = ReadFacts()
        self.notes: list[str] = []
        self._yielded = 0
        self._meter.done = 0
        self._meter.windows = {}

    @property
    def faults(self) -> list[Fault]:
        """The first 1,000 faults."""
        return self.facts.faults

    @property
    def n_faults(self) -> int:
        """The number of all faults."""
        return self.facts.n_faults

    @property
    def rejected(self) -> list[Rejected]:
        """Every record left out, with its faults."""
        return self.facts.rejected

    @property
    def label_violations(self) -> list[LabelViolation]:
        """The first 1,000 broken rules between human labels."""
        return self.facts.label_violations

    @property
    def n_label_violations(self) -> Counter[str]:
        """The number of all of them, by rule."""
        return self.facts.n_label_violations

    @cached_property
    def _found_layout(self) -> str | None:
        reader = RecordReader(self._columns, layout=self._layout)
        rows = () if self._layout else self._source.rows(Meter())
        for _, item in islice(rows, ROWS_TO_FIND_A_COLUMN):
            if isinstance(item, Mapping) and reader.layout_of(item) is not None:
                break
        return reader.layout

    def _read_ahead(self) -> Iterator[Example]:
        reader = RecordReader(self._columns, layout=self._layout)
        if isinstance(self._source.records, ReadOnce):
            first = self._source.records.peek()
            first = sound(first) if isinstance(first, Mapping) else first
            example = reader.read(first, 1, []) if isinstance(first, dict) else first
            if not isinstance(example, Example) or not has_system(example):
                return
            self._source.records.keep()
        with_system = False
        for count, (item, example) in enumerate(self._readable(reader), 1):
            if has_system(example) and (isinstance(item, Example) or reader.has_id(item)):
                with_system = True
                yield example
            if count == self._limit or (count == ROWS_TO_FIND_A_COLUMN and not with_system):
                return

    def _rows(self) -> Iterator[Row]:
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
                missing -= values_at_paths(row[1], tuple(self._columns.items())).keys()
            if not missing or len(head) >= ROWS_TO_FIND_A_COLUMN:
                break
        if missing and seen:
            got = f"only the columns {', '.join(list(seen)[:20])}"
            for field, column in self._columns.items():
                if column in missing:
                    noun = "a value at" if column.startswith("$") else "a column called"
                    expected = f"{noun} {column!r}"
                    self.facts.note(Fault(self.source, None, field, expected, got))
            raise DataError(self.faults)
        return chain(head, rows)

    def _reject(self, facts: ReadFacts, row: ReadRow, problems: Sequence[Problem]) -> None:
        in_list = self._source.unit == "element" and row.record
        where = f", in element {row.row}" if in_list else ""
        faults = tuple(
            Fault(row.file or self.source, row.line, field, expected, got + where)
            for field, expected, got in problems
        )
        for fault, problem in zip(faults, problems, strict=True):
            if problem.expected == NO_FIELD:
                if problem in facts.about_columns:
                    continue
                facts.about_columns.add(problem)
            elif problem.expected == ONE_COLUMN:
                facts.rival = {problem.field: problem.got.rpartition(" and ")[2]}
            facts.note(fault)
        if self._skip_bad:
            facts.rejected.append(Rejected(row.line, record_text(row.record), faults))

    def _first_record(self) -> object:
        if isinstance(self._source.records, ReadOnce):
            return self._source.records.peek()
        return next((item for _, item in self._source.rows(Meter())), None)

    def _nothing(self) -> str:
        if not self._source.files:
            return "none"
        return "a file without any" if self._meter.total else "an empty file"
