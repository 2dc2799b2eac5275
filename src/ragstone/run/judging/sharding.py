"""Sharding: cuts a run's data into shards and blocks, the same on every machine.

Memory has to hold a block while it is judged; a shard is written to files together. The end of
each depends on the examples alone, never on time, so that every machine makes the same rows,
even after an interruption.

Lines that can be read separately are cut as they are in the file, so that a run resumes at its
place and any process can read a piece. Other data are read from the beginning and cut as
examples.

Of a finished run, the shards are read again with what was judged of them.
"""

import heapq
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count, islice
from operator import itemgetter
from typing import NamedTuple

import numpy as np
import polars as pl

from ragstone.data import Example, Examples, Rejected
from ragstone.data.line_ranges import START, LinePlace, Lines, PieceSize
from ragstone.data.read_facts import NO_SYSTEM, IdBlock, ReadFacts, SeenIds
from ragstone.data.records import DEFAULT_SYSTEM
from ragstone.judgements import ASKS, Tables, kind_of
from ragstone.judges import LEDGER, Block, Filled, Judge, RowBuilder
from ragstone.run.folder.checksums import as_line, collect
from ragstone.run.folder.folder import Folder
from ragstone.run.folder.run_tally import Violations
from ragstone.run.folder.schemas import Manifest, PieceForm, ShardForm
from ragstone.run.folder.shards import Shards

from .judge_blocks import LabelFiles, resolve

# Characters of a block, texts and context ids, with which it ends.
CHARACTERS = 4_000_000

# The most examples and characters in a shard, unless a single example has more. Where lines of a
# file are cut as they stand, their bytes are counted instead of characters.
OF_A_SHARD = 2_500
CHARACTERS_OF_A_SHARD = 32_000_000


def size_of_a_shard() -> PieceSize:
    """Return the size of a shard of lines that are cut as they stand."""
    return PieceSize(OF_A_SHARD, CHARACTERS_OF_A_SHARD)


# The number of a shard, and its examples, which are read before those of the next.
DataShard = tuple[int, Iterable[Example]]


class FaultyRecords(NamedTuple):
    """Rejected records and broken rules, as lines in texts of several; how often each is broken."""

    rejected: Iterator[str]
    violations: Iterator[str]
    rules: Counter[str]


def blocks(shards: Iterable[DataShard], most: int) -> Iterator[tuple[int, list[Example]]]:
    """Group the examples of shards into blocks, which end with the example that fills them.

    Each comes with the number of its shard.
    """
    for number, examples in shards:
        block: list[Example] = []
        held = 0
        for example in examples:
            block.append(example)
            held += example.characters
            if len(block) >= most or held >= CHARACTERS:
                yield number, block
                block, held = [], 0
        if block:
            yield number, block


def shards_of(
    examples: Iterator[Example], done: Callable[[int], int | None] = lambda _: None
) -> Iterator[DataShard]:
    """Cut examples into shards.

    Args:
        done: Says how many examples a shard has that is done, which are passed over; None for one
            that is not.
    """
    ahead: list[Example] = []  # At most one, which belongs to the next shard.

    def peek() -> Example | None:
        if not ahead:
            ahead.extend(islice(examples, 1))
        return ahead[0] if ahead else None

    def of_a_shard() -> Iterator[Example]:
        n = characters = 0
        while n < OF_A_SHARD and (example := peek()) is not None:
            characters += example.characters
            if n and characters > CHARACTERS_OF_A_SHARD:
                return
            ahead.clear()
            n += 1
            yield example

    for number in count():
        if (passed := done(number)) is not None:
            if passed and ahead:
                ahead.clear()
                passed -= 1
            next(islice(examples, passed, passed), None)
        elif peek() is None:
            return
        else:
            yield number, of_a_shard()


def cut(examples: Examples, label_files: LabelFiles, shards: Shards) -> "CutData":
    begun = next(iter(shards.ledger), None)
    in_pieces = examples.in_pieces() if begun is None else begun.piece is not None
    if in_pieces and not label_files:
        return PiecewiseData(examples, shards)
    return WholeData(examples, label_files, shards)


class WholeData:
    """Data that are read from the beginning, and cut as examples."""

    def __init__(self, examples: Examples, label_files: LabelFiles, done: Shards) -> None:
        self._examples, self._label_files, self._done = examples, label_files, done
        self._violations = Violations()

    def shards(self) -> Iterator[DataShard]:
        self._violations = Violations()
        passed = self._violations.watch(self._label_files.join(iter(self._examples)))
        return shards_of(passed, self._done.ledger.examples_of)

    def piece(self, shard: int) -> None:  # noqa: ARG002
        """Nothing, for all is read again."""
        return

    def faults(self) -> FaultyRecords:
        rejected, broken = map(_line_of, self._examples.rejected), self._violations
        return FaultyRecords(rejected, iter(broken.lines), broken.rules)


class PiecewiseData:
    """Lines that are read apart from each other."""

    def __init__(self, examples: Examples, done: Shards) -> None:
        self.examples, self._done = examples, done
        self._pieces: dict[int, PieceForm] = {}

    def shards(self) -> Iterator[DataShard]:
        seen = SeenIds()
        for number, piece in self.open_pieces(seen):
            facts, broken = ReadFacts(), Violations()
            read = (example for _, example in self.examples.read_part(piece, seen, facts))
            yield number, broken.watch(read)
            self.examples.heard(facts, 0)
            self._note(number, piece, facts, "".join(broken.lines), broken.rules)
        self.examples.all_read()

    def open_pieces(self, seen: SeenIds) -> Iterator[tuple[int, Lines]]:
        """The pieces that are not done, with the numbers of their shards."""
        ledger = self._done.ledger
        start, first, ends = START, 0, False
        for form in ledger:
            if form.shard == first and form.piece is not None:
                start, first = LinePlace(*form.piece.end, form.piece.encoding), first + 1
                ends = form.piece.broken
        pieces = self.examples.pieces(size_of_a_shard(), start)
        # One after the other, for a line of the ledger may hold many records.
        for form in ledger:
            self.examples.heard(facts_of(form), form.examples)
        self._tell_ids(seen)
        left = () if ends else enumerate(pieces, first)
        return ((at, piece) for at, piece in left if at not in ledger)

    def took(
        self, shard: int, piece: Lines, facts: ReadFacts, violations: str, rules: Counter[str]
    ) -> None:
        """Note what was found out about the records of a shard, which were read elsewhere."""
        self.examples.heard(facts, facts.good)
        self._note(shard, piece, facts, violations, rules)

    def piece(self, shard: int) -> PieceForm:
        return self._pieces.pop(shard)

    def faults(self) -> FaultyRecords:
        rules = Counter[str]()
        for piece in self._all_pieces():
            rules.update(piece.rules)
        rejected = (piece.rejected for piece in self._all_pieces())
        broken = (piece.violations for piece in self._all_pieces())
        return FaultyRecords(rejected, broken, rules)

    def _all_pieces(self) -> Iterator[PieceForm]:
        stored = ((form.shard, form.piece) for form in self._done.ledger if form.piece is not None)
        both = heapq.merge(stored, sorted(self._pieces.items()), key=itemgetter(0))
        return (piece for _, piece in both)

    def _note(
        self, shard: int, piece: Lines, facts: ReadFacts, violations: str, rules: Counter[str]
    ) -> None:
        end = piece.end
        self._pieces[shard] = PieceForm(
            end=(end.records, end.lines, end.bytes), encoding=end.encoding,
            broken=piece.broken is not None, rejected="".join(map(_line_of, facts.rejected)),
            violations=violations, rules=rules,
            counts=[(code, counted, n) for code, by_name in facts.counts.items()
                    for counted, n in by_name.items()],
            thoughts=facts.thoughts, pictures=facts.pictures, json_answers=facts.json_answers,
            unread_ids=facts.unread_ids,
            own_ids=facts.own_ids > 0, other_ids=facts.other_ids if facts.own_ids else [],
        )  # fmt: skip

    def _tell_ids(self, seen: SeenIds) -> None:
        """Register the ids of finished shards as if these were read again."""
        alone, others, unread = list[int](), list[str](), list[str]()
        for form in self._done.ledger:
            if form.piece is not None:
                alone += [] if form.piece.own_ids else [form.shard]
                others += form.piece.other_ids
                unread += form.piece.unread_ids
        of_system = ~(pl.col("shard").is_in(alone) | pl.col("id").is_in(others))
        of_system &= pl.col("system") != DEFAULT_SYSTEM
        system = pl.when(of_system).then("system").otherwise(pl.lit(NO_SYSTEM))
        for some in self._done.scans("examples"):
            ids = collect(some.select("id", system.alias("system")), self._done.path)
            nowhere = np.zeros(ids.height, np.int64)
            seen.look_up(IdBlock.of(ids["id"], ids["system"], nowhere))
        seen.look_up(IdBlock.of(unread, [NO_SYSTEM] * len(unread), [0] * len(unread)))


# The data of a run in shards, with what is written down of their faults.
CutData = WholeData | PiecewiseData


def facts_of(form: ShardForm) -> ReadFacts:
    """Return the facts of a finished shard's records."""
    facts = ReadFacts()
    if (piece := form.piece) is not None:
        facts.good = form.examples
        facts.thoughts, facts.pictures = piece.thoughts, piece.pictures
        facts.json_answers = piece.json_answers
        for code, counted, n in piece.counts:
            facts.counts[code][counted] = n
    return facts


def _line_of(record: Rejected) -> str:
    faults = [str(fault) for fault in record.faults]
    return as_line({"line": record.line, "record": record.record, "faults": faults})


@dataclass(frozen=True, slots=True)
class FinishedJudge:
    """A judge of the finished run, which is not asked any more.

    Args:
        filled: What it repeats of a shard, by ask, under the names of the judges that said it.
    """

    name: str
    about: str
    asks: frozenset[str]
    filled: Mapping[str, Filled] = field(default_factory=dict)

    def fill(self, ask: str, block: Block, rows: Sequence[int]) -> Filled:  # noqa: ARG002
        return self.filled[ask] if self.filled else RowBuilder(ask, self.name).filled()


def finished_judges(manifest: Manifest) -> list[Judge]:
    """The judges of a finished run, in the order they were asked."""
    judges: list[Judge] = []
    for judge in manifest.judges:
        asks = frozenset(name for name, ask in ASKS.items() if ask.kind in judge.kinds)
        judges.append(FinishedJudge(judge.name, judge.about, asks))
    return judges


def stored_shards(
    folder: Folder, judges: Sequence[Judge], again: Collection[str] = ()
) -> Iterator[tuple[Tables, FinishedJudge]]:
    """The shards of a finished run, each with a judge that repeats what is there, but failures.

    Args:
        again: The asks that are not in the tables, for they are going to be judged again.
    """
    for form in folder.shards.ledger:
        here = [form.shard]
        frame = folder.read("examples", shards=here).drop("shard")
        ids = frame.select(example_id="id").with_row_index("row")
        ledger = folder.read("ledger", shards=here).join(ids, on="example_id").select(*LEDGER)
        tables = Tables(frame)
        stays: dict[str, Filled] = {}
        for ask in (name for name in ASKS if name in set(ledger["ask"])):
            entries = ledger.filter(pl.col("ask") == ask)
            rows = kind_of(ask).empty()
            if folder.has(kind := ASKS[ask].kind):
                of_ask = folder.read(kind, pl.col("ask") == ask, shards=here)
                rows = of_ask.select(*kind_of(ask).schema())
            if ask in again:
                stays[ask] = Filled(rows, entries.filter(pl.col("status") != "failed"))
            else:
                tables = resolve(tables, ask, entries, rows, judges)
        judge = FinishedJudge("known", "the judgements of the run", frozenset(stays), stays)
        yield tables, judge
