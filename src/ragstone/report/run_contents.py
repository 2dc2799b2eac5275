"""Run contents: the dossier of an example, the calls to models, and tables exported to files.

The tables of a run have their ``index`` from 0. Pages and exports show a ``number`` from 1
instead, under another name, so that neither is taken for the other.
"""

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal, get_args

import polars as pl

from ragstone.core.errors import InputError, UnknownName
from ragstone.core.escape import csv_table
from ragstone.core.files import write_result
from ragstone.core.parquet import as_parquet
from ragstone.data import Example
from ragstone.data.record_labels import FIELDS, Unit
from ragstone.data.write_examples import from_frame
from ragstone.judgements import ASKS, KINDS, Ask, Claims, Kind, Statements
from ragstone.judgements.view import ABOUT
from ragstone.models.chat import Usage
from ragstone.run import Entry, Run
from ragstone.run.calls.journal_reader import Attempt, Totals

from .number_format import counted
from .page import OutlineItem, Phrase, quiet, strong
from .reason_words import words
from .run_notes import Excerpted, Readable

INDEX, NUMBER = "index", "number"


def numbered(kind: type[Kind]) -> bool:
    """Tell whether rows of a kind are, or are about, claims, statements or gold evidence."""
    about = any(ask.over and ABOUT[ask.over.unit] == "proposition" for ask in kind.asks)
    return INDEX in kind.schema() and (about or kind.name in (*Claims.made_by, *Statements.made_by))


def numbered_row(row: Mapping[str, Any]) -> dict[str, Any]:
    """The row with its number in the place of its index."""
    return {
        NUMBER if name == INDEX else name: value + 1 if name == INDEX else value
        for name, value in row.items()
    }


def numbered_table(table: pl.DataFrame) -> pl.DataFrame:
    """The same for a table."""
    return table.with_columns(pl.col(INDEX) + 1).rename({INDEX: NUMBER})


def call_items(calls: Sequence[Entry], *, prompts: bool = False) -> Iterator[OutlineItem]:
    """One item for each request: its cost, what went wrong, and the reply as received."""
    for call in calls:
        head = (strong(call.task), f"  {call.judge}", quiet(f"  {call.key[:8]}"))
        texts = (call.system, "".join(call.parts)) if prompts else ()
        inner = [OutlineItem(quiet(text)) for text in texts]
        for attempt in call.attempts:
            inner.append(OutlineItem(quiet(_took(attempt))))
            if attempt.trouble:
                why = f": {words(attempt.words)}" if attempt.words else ""
                inner.append(OutlineItem(Phrase(f"{attempt.trouble}{why}", "caution")))
            if attempt.reply:
                inner.append(OutlineItem(Phrase(_pretty(attempt.reply), "text")))
        yield OutlineItem(head, tuple(inner))


def _took(attempt: Attempt) -> str:
    if attempt.source == "cache":
        return "the reply of an earlier run, from the cache"
    paid = f"{tokens(attempt.usage)}, {cost(attempt.usd)}"
    if attempt.source == "batch":
        return f"in a batch: {paid}"
    which = f"attempt {attempt.number}: " if attempt.number > 1 else ""
    return f"{which}{attempt.seconds:.2f} s{'' if attempt.finish is None else f', {paid}'}"


def _pretty(reply: str) -> str:
    try:
        value = json.loads(reply)
    except (ValueError, RecursionError):
        return reply
    if not isinstance(value, dict):
        return reply
    return "\n".join(f"{name}: {_json(item)}" for name, item in value.items())


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def took(totals: Totals) -> str:
    """The cost of all requests of a run, in words.

    >>> took(Totals(calls=350, from_cache=50, prompt=9000, completion=700, usd=0.0123))
    '350 model calls, 50 replies of earlier runs, 9,000 tokens sent, 700 received, $0.0123'
    """
    parts = [counted(totals.calls, "model call")]
    if totals.from_cache:
        parts.append(f"{totals.from_cache:,} replies of earlier runs")
    if totals.prompt:
        cached = f" ({totals.cached:,} from the server's cache)" if totals.cached else ""
        parts.append(f"{totals.prompt:,} tokens sent{cached}, {totals.completion:,} received")
    if totals.calls:
        more = f" and {totals.unpriced:,} calls without a price" if totals.unpriced else ""
        parts.append(cost(None) if totals.usd is None else f"{cost(totals.usd)}{more}")
    return ", ".join(parts)


def spent(totals: Totals | None) -> str:
    """The calls of a run and their cost in a few words.

    >>> spent(None), spent(Totals(calls=350, usd=1.5)), spent(Totals(calls=1))
    ('no calls to models', '350 calls, $1.50', '1 call, cost unknown')
    """
    if totals is None or not totals.calls:
        return "no calls to models"
    return f"{counted(totals.calls, 'call')}, {cost(totals.usd)}"


def lasted(seconds: float | None) -> str:
    """A length of time; empty if it is not known.

    >>> lasted(107.2), lasted(2400), lasted(90_000), lasted(None)
    ('107 s', '40 min', '25 h', '')
    """
    if seconds is None or seconds < 120:
        return "" if seconds is None else f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7_200 else f"{seconds / 3_600:.0f} h"


def cost(usd: float | None) -> str:
    """US dollars, to a hundredth of a cent below one dollar; words if the cost is unknown.

    >>> cost(0.00123), cost(12.5), cost(None)
    ('$0.0012', '$12.50', 'cost unknown')
    """
    if usd is None:
        return "cost unknown"
    return f"${usd:,.2f}" if usd >= 1 else f"${usd:.4f}"


def tokens(usage: Usage) -> str:
    """The tokens of a request and its reply; words if the server does not report them.

    >>> tokens(Usage(prompt=2413, completion=120, cached=1920))
    '2,413 tokens sent (1,920 from its cache), 120 received'
    """
    if usage.prompt is None and usage.completion is None:
        return "tokens unknown"
    sent = "tokens sent unknown" if usage.prompt is None else f"{usage.prompt:,} tokens sent"
    cached = f" ({usage.cached:,} from its cache)" if usage.cached else ""
    back = "" if usage.completion is None else f", {usage.completion:,} received"
    thought = f" ({usage.reasoning:,} of them reasoning)" if usage.reasoning else ""
    return f"{sent}{cached}{back}{thought}"


NEAR = 5_000

# The field of an example, or of the JSON record, that lists the units of each sort.
PLACES: Mapping[Unit, str] = {
    "claim": FIELDS["claim"],
    "statement": FIELDS["statement"],
    "criterion": FIELDS["criterion"],
    "evidence": "gold_evidence",
    "context": FIELDS["context"],
}


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
class JudgedPart:
    """A context, claim, statement, criterion or piece of gold evidence, with what is judged of it.

    Attributes:
        place: The rank of a context; for other parts the position, from 0.
        text: None for a context that is known only by its id.
        own: Its own fields, in their JSON form.
        said: The judgements about it, by kind.
        several: Kinds that compare it with every reference; others have one row at most.
        reference: For a statement, the index of its reference, from 0.
    """

    place: int
    text: str | None
    own: Mapping[str, Any]
    said: Mapping[str, tuple[JudgementRow, ...]]
    several: Collection[str] = ()
    reference: int = 0

    def to_record(self) -> dict[str, Any]:
        """The JSON form, with a list of rows where there may be several, else a row or null."""
        record = numbered_row(self.own)
        for kind, said in self.said.items():
            rows = [numbered_row(row.values) if numbered(row.kind) else row.values for row in said]
            record[kind] = rows if kind in self.several else next(iter(rows), None)
        return record


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
        parts: Its contexts with their relevance, claims and statements with their support and
            agreement, criteria, gold evidence with its support, each also with the judgements of
            user-defined kinds.
        judgements: The rows of all other kinds that have any, by kind.
        calls: The requests sent to models: prompt, replies and cost.
    """

    example: Example
    parts: Mapping[Unit, tuple[JudgedPart, ...]]
    judgements: Mapping[str, tuple[JudgementRow, ...]]
    scores: tuple[ExampleScore, ...]
    calls: tuple[Entry, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return what ``ragstone show RUN EXAMPLE --json`` prints."""
        of, grades = self.example, self.example.reference_contexts
        parts = {unit: [part.to_record() for part in parts] for unit, parts in self.parts.items()}
        return {
            "id": of.id,
            "question_id": of.question_id,
            "system": of.system,
            "question": of.question,
            "history": [asdict(turn) for turn in of.history],
            "policy": of.policy,
            PLACES["context"]: None if of.contexts is None else parts["context"],
            "answer": of.answer,
            PLACES["claim"]: parts["claim"],
            "reference": list(of.reference),
            PLACES["statement"]: parts["statement"],
            PLACES["criterion"]: parts["criterion"],
            PLACES["evidence"]: parts["evidence"],
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
    dossier_of = _dossiers(some, [example])
    if not dossier_of:
        ids = run.examples(["id"])["id"]
        near = ids.filter(ids.str.starts_with(example[:2])).head(NEAR).to_list()
        known = near or ids.head(NEAR).to_list()
        raise UnknownName("example", example, known, hint="ragstone show RUN lists some.")
    return replace(dossier_of[example], calls=tuple(some.calls(example)))


def dossiers(run: Readable, examples: Collection[str]) -> dict[str, Dossier]:
    """The same of several examples, each table read once, without the requests to models."""
    return _dossiers(run.excerpt(examples), examples)


def _dossiers(some: Excerpted, examples: Collection[str]) -> dict[str, Dossier]:
    judged = {
        kind: _by_example(some.judgements(kind).drop("subject", strict=False)) for kind in KINDS
    }
    makers = {"claim": Claims.made_by, "statement": Statements.made_by}
    shown_elsewhere = {ask.kind for unit in PLACES for ask in asks_about(unit)}
    shown_elsewhere |= {kind for made_by in makers.values() for kind in made_by}
    names = pl.col("metric", "status").cast(pl.String)
    scores = _by_example(some.scores().select("example_id", names, "value", "label", "reason"))
    by_id: dict[str, Dossier] = {}
    for item in from_frame(some.examples().filter(pl.col("id").is_in(list(examples)))):
        rows = {kind: _rows(of.get(item.id, ()), KINDS[kind]) for kind, of in judged.items()}
        fields_of: dict[Unit, list[Mapping[str, Any]]] = {
            "claim": [row.values for maker in Claims.made_by for row in rows[maker]],
            "statement": [row.values for maker in Statements.made_by for row in rows[maker]],
            "criterion": [{"index": at, "text": text} for at, text in enumerate(item.criteria)],
            "evidence": [{"index": at, "text": text} for at, text in enumerate(item.evidence)],
            "context": [asdict(context) for context in item.contexts or ()],
        }
        by_id[item.id] = Dossier(
            item,
            {unit: tuple(_part(rows, unit, fields) for fields in listed)
             for unit, listed in fields_of.items()},
            {kind: row for kind, row in rows.items() if row and kind not in shown_elsewhere},
            tuple(ExampleScore(**row) for row in scores.get(item.id, ())),
            calls=(),
        )  # fmt: skip
    return by_id


def asks_about(unit: Unit) -> list[Ask]:
    """The asks about units of one sort."""
    return [ask for ask in ASKS.values() if ask.over is not None and ask.over.unit == unit]


Row = Mapping[str, Any]


def _by_example(frame: pl.DataFrame) -> Mapping[str, Sequence[Row]]:
    """The rows of each example in their order, without those that are equal in all columns."""
    rows = frame.unique(maintain_order=True)
    return rows.rows_by_key("example_id", named=True, include_key=False)


def _rows(rows: Sequence[Row], kind: type[Kind]) -> tuple[JudgementRow, ...]:
    """The rows of one example.

    For a panel these are the rows of its joint verdict; ``export`` also has those of its members.
    """
    judges = {row["judge"] or "" for row in rows}
    members = {member for judge in judges if "," in judge for member in judge.split(",")}
    return tuple(JudgementRow(kind, row) for row in rows if row["judge"] not in members)


def _part(judged: Judgements, unit: Unit, fields: Mapping[str, Any]) -> JudgedPart:
    by_kind: dict[str, tuple[JudgementRow, ...]] = {}
    several = []
    for ask in asks_about(unit):
        keys = ask.over.keys if ask.over else ()
        known = [key for key in keys if key in fields]
        rows = tuple(
            row
            for row in judged[ask.kind]
            if row.values.get("origin", unit) == unit
            and all(row.values[key] == fields[key] for key in known)
        )
        several += [ask.kind] if len(known) < len(keys) else []
        by_kind[ask.kind] = rows if ask.kind in several else rows[:1]
    position = fields["rank" if unit == "context" else "index"]
    shown_fields = {"text": fields["text"]} if unit in ("criterion", "evidence") else fields
    return JudgedPart(
        position, fields["text"], shown_fields, by_kind, several, fields.get("reference", 0)
    )


FileFormat = Literal["csv", "jsonl", "parquet"]
WHAT = ("scores", "estimates", "judgements:KIND", "examples")


def export_table(run: Run, what: str = "scores") -> pl.DataFrame:
    """Scores, estimates, the judgements of a kind (``judgements:support``), or the examples.

    Claims and statements have their ``number`` from 1 instead of the stored ``index``.

    Raises:
        UnknownName: A run has no table of that name.
    """
    part, _, kind = what.partition(":")
    if part == "judgements":
        if kind not in KINDS:
            raise UnknownName("judgement kind", kind, KINDS, hint=f"There are {', '.join(KINDS)}.")
        table = run.judgements(kind)
        return numbered_table(table) if numbered(KINDS[kind]) else table
    match what:
        case "scores":
            return run.scores()
        case "estimates":
            return _estimates(run)
        case "examples":
            return run.examples()
    raise UnknownName("part of a run", what, WHAT, hint=f"There are {', '.join(WHAT)}.")


def exported(run: Run, what: str, format: FileFormat) -> Iterator[bytes]:
    """Yield a run's table as a file's bytes; scores and examples in parts, except as Parquet."""
    if format == "parquet" or what not in ("scores", "examples"):
        yield as_bytes(export_table(run, what), format)
        return
    read = run.scores if what == "scores" else run.examples
    for number, shard in enumerate(run.shards):
        part = as_bytes(read(shards=[shard]), format)
        yield part.partition(b"\n")[2] if number and format == "csv" else part


def _estimates(run: Run) -> pl.DataFrame:
    # Half a second to import, which nothing else here needs.
    from ragstone.analysis.calibration.checked_run import checked_against_people

    checked = checked_against_people(run.path, run.form)
    means = [checked.corrected(estimate.metric, estimate.group) for estimate in run.estimate_list]
    names = {"value": "corrected", "low": "corrected_low", "high": "corrected_high",
             "n_labels": "corrected_labels"}  # fmt: skip
    return run.estimates().with_columns(
        pl.Series(
            name, [mean and getattr(mean, of) for mean in means],
            pl.Int64 if of == "n_labels" else pl.Float64,
        )
        for of, name in names.items()
    )  # fmt: skip


def as_bytes(table: pl.DataFrame, format: FileFormat) -> bytes:
    """The table as the bytes of a file; in CSV, nested values become JSON text."""
    if format == "csv":
        for name, dtype in table.schema.items():
            if dtype.is_nested():
                texts = [None if item is None else _json(item) for item in table[name].to_list()]
                table = table.with_columns(pl.Series(name, texts, pl.String))
        return csv_table(table).write_csv().encode()
    if format == "jsonl":
        return table.write_ndjson().encode()
    if format == "parquet":
        return as_parquet(table)
    raise InputError(f"A table is written as {', '.join(get_args(FileFormat))}.")


ENDINGS: dict[str, FileFormat] = {".csv": "csv", ".jsonl": "jsonl", ".parquet": "parquet"}


def write_table(table: pl.DataFrame, file: Path) -> None:
    """Write a table in the format given by the file's extension; raises as ``format_of``."""
    write_result(file, as_bytes(table, format_of(file)), private=True)


def format_of(file: Path) -> FileFormat:
    """The format of a table with this extension: .csv, .jsonl or .parquet."""
    if file.suffix not in ENDINGS:
        raise InputError(f"{file}: a table is written as {', '.join(ENDINGS)}.")
    return ENDINGS[file.suffix]
