"""Block judging: asks judges in turn, selects a judgement for each unit, and joins label files."""

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import compress
from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from ragstone.annotation.label_table import LabelTable, is_joined
from ragstone.annotation.read_labels import read_label_table
from ragstone.core.errors import DataError, Fault
from ragstone.data import Example, to_frame
from ragstone.judgements import (
    ASKS,
    KINDS,
    MISSING,
    REQUIREMENTS,
    UNDEFINED,
    VALUE,
    Relevance,
    Tables,
    kind_of,
    same_outcome,
)
from ragstone.judges import Block, Filled, Judge
from ragstone.judges.judge import HUMAN, NO_ENTRIES
from ragstone.metrics.score import AS_WRITTEN
from ragstone.run.calls.journal_reader import Entry
from ragstone.run.folder.folder import Folder, of_no_example

# The outcome of an ask by the status in the ledger; any other is a failure.
CODES = {"ok": VALUE, "undefined": UNDEFINED}


@dataclass(frozen=True, slots=True)
class JudgedBlock:
    """A block's judgements: as the metrics see them, and as they are stored."""

    tables: Tables
    ledger: pl.DataFrame
    # For each ask the rows of every judge, each subject once.
    rows: Mapping[str, pl.DataFrame]


class Live:
    """The examples of a judged block, with the interface of a finished run."""

    def __init__(self, folder: Folder, judged: JudgedBlock, scores: pl.DataFrame) -> None:
        self._folder, self._judged, self._scores = folder, judged, scores
        self._ids = judged.tables.examples.select(
            pl.int_range(pl.len(), dtype=pl.UInt32).alias("row"), example_id="id"
        )

    def excerpt(self, examples: Collection[str]) -> "Live":  # noqa: ARG002
        return self

    def examples(self, columns: Sequence[str] | None = None) -> pl.DataFrame:
        table = self._judged.tables.examples
        return table if columns is None else table.select(columns)

    def scores(self) -> pl.DataFrame:
        return self._scores

    def judgements(self, kind: str) -> pl.DataFrame:
        """The rows of a kind, each with its example's id."""
        columns = ["example_id", *KINDS[kind].schema()]
        ledger = self._judged.ledger.filter(pl.col("status").is_in(["ok", "vote"]))
        ledger = ledger.join(self._ids, on="row")
        parts = [of_no_example(kind).select(columns)]
        for ask in (name for name in self._judged.rows if ASKS[name].kind == kind):
            lines = ledger.filter(pl.col("ask") == ask).select("example_id", "judge", "subject")
            rows = self._judged.rows[ask]
            joined = lines.join(rows, on=["judge", "subject"], maintain_order="left")
            parts.append(joined.select(columns))
        return pl.concat(parts)

    def calls(self, example: str) -> list[Entry]:
        rows = self._ids.filter(pl.col("example_id") == example).select("row")
        return self._folder.calls(self._judged.ledger.join(rows, on="row", how="semi"))


# Called with a judged block and the id of one of its examples.
Debug = Callable[[Live, str], None]


def judge_block(
    examples: Sequence[Example], judges: Sequence[Judge], asks: Sequence[str]
) -> JudgedBlock:
    """Judge a block of examples.

    Each ask goes to the judges in order. The first judge with an ok row for a unit
    decides it; an example goes on to the next judge as long as a unit is open.
    """
    return judge_further(examples, Tables(to_frame(examples)), judges, asks)


def judge_further(
    examples: Sequence[Example], tables: Tables, judges: Sequence[Judge], asks: Sequence[str]
) -> JudgedBlock:
    """Judge further asks of a block that is already judged in part.

    Returns:
        In ``tables`` all judgements; in ``ledger`` and ``rows`` only the new ones.
    """
    block = Block(examples, tables.examples, tables)
    holds = _what_holds(tables.examples, asks)
    ledgers: dict[str, pl.DataFrame] = {}
    rows: dict[str, pl.DataFrame] = {}
    # Relevance comes last: by then, support has given the encoder the contexts' vectors.
    is_last = not any(Relevance.name in ASKS[ask].after for ask in asks)
    for ask in sorted(asks, key=lambda ask: is_last and ask == Relevance.name):
        filled, _ = _put(ask, block, judges, holds)
        of_parts = map(attrgetter("rows"), filled)
        rows[ask] = pl.concat(of_parts) if filled else kind_of(ask).empty()
        ledger = pl.concat([NO_ENTRIES, *map(attrgetter("ledger"), filled)])
        ledgers[ask] = ledger
        block = replace(block, tables=resolve(block.tables, ask, ledger, rows[ask], judges))
    ledger = pl.concat([NO_ENTRIES, *(ledgers[ask] for ask in asks)])
    return JudgedBlock(block.tables, ledger, {ask: rows[ask] for ask in asks})


def resolve(
    tables: Tables, ask: str, ledger: pl.DataFrame, rows: pl.DataFrame, judges: Sequence[Judge]
) -> Tables:
    """Add an ask's rows and outcomes to the tables, with one judge for each unit."""
    places = {judge.name: position for position, judge in enumerate(judges) if ask in judge.asks}
    outcomes = _outcomes(tables, ask, ledger, places)
    chosen = _as_they_are(tables, ask, ledger, rows)
    if chosen is None:
        chosen = _chosen(tables, ask, ledger, rows, places)
    return replace(
        tables, rows={**tables.rows, ask: chosen}, status={**tables.status, ask: outcomes}
    )


def _as_they_are(
    tables: Tables, ask: str, ledger: pl.DataFrame, rows: pl.DataFrame
) -> pl.DataFrame | None:
    """Return the rows if empty or if one judge settled one example; else None."""
    if rows.height and (ledger.height != 1 or ledger["status"][0] != "ok"):
        return None
    if _is_shared(ask) and any(rows[name].null_count() for name in _verdicts(ask)):
        return None
    over = ASKS[ask].over
    if over is not None and "author" in rows.columns:
        authors = set(rows["author"])
        if any(not authors <= set(tables.of(maker)["judge"]) for maker in over.made_by):
            return None
    examples = (
        ledger["row"].new_from_index(0, rows.height) if rows.height else ledger["row"].clear()
    )
    columns = rows.to_dict()
    first = [columns.pop("judge"), columns.pop("subject")]
    return pl.DataFrame([examples.cast(pl.UInt32), *first, *columns.values()])


def _chosen(
    tables: Tables, ask: str, ledger: pl.DataFrame, rows: pl.DataFrame, places: Mapping[str, int]
) -> pl.DataFrame:
    ok = ledger.filter(pl.col("status") == "ok").select("row", "judge", "subject")
    turns = [places.get(judge, len(places)) for judge in ok["judge"]]
    with_turn = ok.lazy().with_columns(turn=pl.Series(turns, dtype=pl.UInt32))
    joined = with_turn.join(rows.lazy(), on=["subject", "judge"]).sort(
        "row", "turn", maintain_order=True
    )
    if _is_shared(ask):
        # Contexts are decided one by one, each by the first judge that did not leave it open. For
        # other units a single judge decides the whole example.
        says_something = pl.any_horizontal(pl.col(name).is_not_null() for name in _verdicts(ask))
        joined = joined.sort(says_something.not_(), maintain_order=True).unique(
            subset=["row", *(kind_of(ask).key or ())], keep="first", maintain_order=True
        )
        joined = joined.sort("row", maintain_order=True)
    else:
        first = with_turn.group_by("row").agg(pl.col("turn").min())
        joined = joined.join(first, on=["row", "turn"], how="semi")
    over = ASKS[ask].over
    if over is not None and "author" in rows.columns:
        # Only rows about propositions of the judge whose propositions are in the tables.
        for maker in over.made_by:
            authors = tables.of(maker).lazy().select("row", author="judge").unique()
            joined = joined.join(authors, on=["row", "author"], how="semi", maintain_order="left")
    return joined.drop("turn").collect(engine="in-memory", optimizations=AS_WRITTEN)


def still_open(ask: str, block: Block, judges: Sequence[Judge]) -> list[int]:
    """The examples that these judges leave open, among those that the ask applies to."""
    return _put(ask, block, judges, _what_holds(block.frame, [ask]))[1]


def _put(
    ask: str, block: Block, judges: Sequence[Judge], holds: Mapping[str, pl.Series]
) -> tuple[list[Filled], list[int]]:
    """Ask the judges in turn, each about open examples; return also those left open by all."""
    # Opening a run needs no judge, whose tables take a tenth of a second to load.
    from ragstone.judges.rules import PARTS, decide_parts, fill_labels

    open_rows = holds[ask].arg_true().to_list()
    filled: list[Filled] = []
    for_people: list[int] = []
    in_part: set[int] = set()
    for judge in judges:
        if ask == PARTS and judge.name == HUMAN:
            for_people = open_rows
        if ask not in judge.asks or not open_rows:
            continue
        answers = judge.fill(ask, block, open_rows)
        if answers.ledger.is_empty():
            continue
        filled.append(answers)
        outcomes = zip(answers.ledger["row"], answers.ledger["status"], strict=True)
        done = {row for row, status in outcomes if status in ("ok", "undefined")}
        if _is_shared(ask):
            done -= _partly_covered(ask, answers, block)
        if kind_of(ask).derived and judge.name == HUMAN:
            labels = [column.name for column in kind_of(ask).filled_by(ASKS[ask]) if column.label]
            gaps = answers.rows.filter(pl.any_horizontal(pl.col(labels).is_null()))
            in_part = set(answers.ledger.join(gaps, on="subject", how="semi")["row"])
            done -= in_part
        open_rows = [row for row in open_rows if row not in done]
    if for_people:
        filled = _instead(filled, decide_parts(block, filled, for_people))
    if in_part:
        filled = _instead(filled, fill_labels(ask, filled, sorted(in_part)))
    return filled, open_rows


def _instead(filled: Sequence[Filled], decided: Filled) -> list[Filled]:
    """Replace the judges' word for the examples that labels decide."""
    if decided.ledger.is_empty():
        return list(filled)
    spoken = pl.col("row").is_in(decided.ledger["row"].implode()) & (pl.col("status") == "ok")
    ledgers = [part.ledger.filter(~spoken) for part in filled]
    left = [
        Filled(part.rows.join(ledger, on="subject", how="semi"), ledger)
        for part, ledger in zip(filled, ledgers, strict=True)
    ]
    return [*left, decided]


def _what_holds(frame: pl.DataFrame, asks: Sequence[str]) -> Mapping[str, pl.Series]:
    holds = {
        ask: pl.all_horizontal(REQUIREMENTS[name].holds for name in ASKS[ask].requires)
        for ask in asks
    }
    return frame.select(**holds).to_dict()


def _is_shared(ask: str) -> bool:
    """Return whether several judges may divide the ask's contexts among them."""
    over = ASKS[ask].over
    return over is not None and over.unit == "context"


def _verdicts(ask: str) -> list[str]:
    return kind_of(ask).having("grade", "verdict")


def _partly_covered(ask: str, answers: Filled, block: Block) -> set[int]:
    verdict_rows = zip(*(answers.rows[name].to_list() for name in _verdicts(ask)), strict=True)
    decided = (any(verdict is not None for verdict in verdicts) for verdicts in verdict_rows)
    decided_contexts = Counter(compress(answers.rows["subject"].to_list(), decided))
    return {
        row
        for row, subject in zip(answers.ledger["row"], answers.ledger["subject"], strict=True)
        if decided_contexts[subject] < len(block.examples[row].contexts or ())
    }


def _outcomes(
    tables: Tables, ask: str, ledger: pl.DataFrame, places: Mapping[str, int]
) -> pl.DataFrame:
    if ledger.is_empty():
        return same_outcome(MISSING, ASKS[ask].not_judged, tables.examples.height)
    codes = [MISSING] * tables.examples.height
    reasons: list[str | None] = [ASKS[ask].not_judged] * len(codes)
    turns: dict[int, int] = {}
    columns = map(ledger.get_column, ("row", "judge", "status", "reason"))
    for row, judge, status, reason in zip(*columns, strict=True):
        code, turn = CODES.get(status, MISSING), places.get(judge, len(places))
        if row not in turns or (code, turn) < (codes[row], turns[row]):
            codes[row], turns[row] = code, turn
            reasons[row] = None if code == VALUE else reason
    return pl.DataFrame(
        [pl.Series("status", codes, dtype=pl.UInt8), pl.Series("reason", reasons, dtype=pl.String)]
    )


class LabelFile(NamedTuple):
    """The labels of a file, all ids that they name, and those of no example so far."""

    labels: LabelTable
    ids: frozenset[str]
    unknown: set[str]


class LabelFiles:
    """Joins label files, if there are any, to a stream of examples; records what does not fit."""

    def __init__(self, paths: Sequence[Path]) -> None:
        self._files: list[LabelFile] = []
        self._faults: list[Fault] = []
        self.notes: list[str] = []
        for labels in map(_read, paths):
            ids = frozenset(labels.frame["example_id"])
            self._files.append(LabelFile(labels, ids, set(ids)))
            self.notes += labels.notes

    def __bool__(self) -> bool:
        return bool(self._files)

    def join(self, examples: Iterator[Example]) -> Iterator[Example]:
        last = ""
        for example in examples:
            last, labelled = example.id, example
            for file in self._files:
                file.unknown.discard(file.labels.name_of(labelled.id, labelled.system))
                try:
                    labelled = file.labels.join(labelled)
                except DataError as error:
                    self._faults += error.faults
            if not self._faults:
                yield labelled
        for file in self._files:
            if last and file.unknown == file.ids:
                known = f"the id of an example, such as {last}"
                self._faults += file.labels.faults(file.ids, "id", known)
        if self._faults:
            raise DataError(self._faults)

    @property
    def unknown_ids(self) -> list[str]:
        ids = set[str]()
        for file in self._files:
            ids |= file.unknown
        return sorted(ids)

    def ties(self) -> Iterator[dict[str, Any]]:
        """Labels on which annotators are tied; they are left open."""
        for labels, _, _ in self._files:
            for tie in labels.ties():
                if is_joined(tie.kind, tie.column):
                    yield {
                        "file": labels.source, "example_id": tie.example_id, "context": tie.unit,
                        "label": tie.name, "votes": list(tie.votes),
                    }  # fmt: skip


def _read(path: Path) -> LabelTable:
    labels = read_label_table(path)
    if not any(is_joined(kind, column) for kind, column in labels.columns):
        present = ", ".join(dict.fromkeys(column for _, column in labels.columns)) or "none"
        expected = "a label that a judge could give (`ragstone agreement` takes the others)"
        raise DataError([Fault(labels.source, None, "", expected, present)])
    return labels
