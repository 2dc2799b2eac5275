"""Schemas: ``run.json``, ``estimates.json``, the shard ledger, and the columns of each table.

A form lists what Ragstone reads; other content, from a later version or added by hand, is left
alone.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Self

import polars as pl
from pydantic import AfterValidator, BaseModel, ConfigDict, model_validator

from ragstone.core.errors import InputError
from ragstone.core.files import RunEntry
from ragstone.core.messages import argument, noticed
from ragstone.data.write_examples import SCHEMA
from ragstone.judgements import ASKS, KINDS, MISSING, UNDEFINED, VALUE
from ragstone.judges import LEDGER
from ragstone.run.calls.journal_reader import Totals
from ragstone.run.settings import ModelNames, RunSettings, Several

from .checksums import Count, File


def _loaded(ask: str) -> str:
    """Refuse an unknown ask: the run has its checksum, so a user's kind is not loaded yet."""
    if ask not in ASKS:
        kind, load = ask.partition("/")[0], argument("kinds", "FILE")
        raise InputError(
            f"The run judged {kind}, a kind of your own that has to be loaded: {load}."
        )
    return ask


Ask = Annotated[str, AfterValidator(_loaded)]

# A text that may name arguments.
Words = Annotated[str, AfterValidator(noticed)]


class _Shown(BaseModel):
    """Content that is passed on unchanged, including unknown fields."""

    model_config = ConfigDict(extra="allow", frozen=True)

    def to_dict(self) -> dict[str, Any]:
        return self.model_dump(exclude_unset=True)


class JudgeForm(_Shown):
    """A judge of the run."""

    name: str
    about: str
    kinds: Several[str]


class Compared(BaseModel):
    """The numbers of pairs of texts that a measure compared, and of those that were truncated."""

    pairs: Count
    cut: Count


class Counted(BaseModel):
    """Counts over judged examples; those of several shards add up."""

    model_config = ConfigDict(frozen=True)

    judged: Several[tuple[Ask, str, str, Count]]
    compared: dict[str, Compared] = {}
    left_open: Several[tuple[str, str, str, Count]] = []
    quotes: dict[str, Count] = {}
    languages: dict[str, Count] = {}
    unanswered: Count = 0


class Data(_Shown):
    """The description of the data, in the order of ``run.json``."""

    source: str
    format: Any = None
    fingerprint: Any = None
    rejected: Count
    rejected_for: Several[Words]
    label_violations: dict[str, Count]
    label_ties: Count
    labels_of_nothing: Several[str]
    examples: Count
    questions: Count
    systems: Count

    @model_validator(mode="after")
    def _gives_reasons(self) -> Self:
        if self.rejected and not self.rejected_for:
            raise ValueError("reasons in rejected_for")
        return self


NO_DATA = Data(
    source="", rejected=0, rejected_for=[], label_violations={}, label_ties=0,
    labels_of_nothing=[], examples=0, questions=0, systems=0,
)  # fmt: skip


class Manifest(Counted):
    """``run.json``."""

    ragstone: str
    finished: bool
    settings: RunSettings
    signature: str
    metrics: Several[str]
    added: Several[str]
    suites: Several[str]
    by: Several[str]
    cluster: str
    judges: Several[JudgeForm]
    models: ModelNames
    compared: dict[str, Compared]
    left_open: Several[tuple[str, str, str, Count]]
    quotes: dict[str, Count]
    served: Several[tuple[str, str, Count]]
    unheard: Count
    data: Data = NO_DATA
    created: str = ""
    seconds: float | None = None
    remarks: Several[Words] = []
    calls: Totals | None = None
    tables: dict[str, Count] = {}
    files: dict[str, File] = {}

    @model_validator(mode="after")
    def _has_counts(self) -> Self:
        if self.finished and "data" not in self.model_fields_set:
            raise ValueError("data, for it is finished")
        return self


class PieceForm(BaseModel):
    """Facts of a piece of the data, which is not read again when its shard is done."""

    model_config = ConfigDict(frozen=True)

    # Records, lines and bytes of the file before the next piece.
    end: tuple[Count, Count, Count]
    # Encoding of the file so far; empty while all of it is ASCII.
    encoding: str = ""
    # True if the file cannot be read after the piece.
    broken: bool = False
    # Lines of ``rejected.jsonl``, as text: mostly nobody wants to know what they say.
    rejected: str = ""
    # The same of ``label_violations.jsonl``.
    violations: str = ""
    rules: dict[str, Count] = {}
    # As in ``ReadFacts``; of ``counts`` the code of a reason, what is counted, and how often.
    thoughts: Count = 0
    pictures: Count = 0
    json_answers: Count = 0
    counts: Several[tuple[str, str | tuple[str, str], Count]] = []
    # True if any record names a system beside an id of its own.
    own_ids: bool = True
    # If so, the ids of records that name a system alone.
    other_ids: Several[str] = []
    unread_ids: Several[str] = []


class AlikeScores(BaseModel):
    """The scores of a metric that are the same for all examples of a shard; there is no label."""

    model_config = ConfigDict(frozen=True)

    metric: str
    value: float | None
    status: str
    reason: str | None


class ShardForm(BaseModel):
    """A line of the shard ledger; ``piece`` and ``alike`` only while the run goes on."""

    model_config = ConfigDict(frozen=True)

    shard: Count
    examples: Count
    files: dict[str, File]
    counted: Counted
    piece: PieceForm | None = None
    # Scores that are not in the table; see ``ragstone.run.judging.scoring``.
    alike: Several[AlikeScores] = []


# The fields of an estimate that are mappings.
COUNTS = ("group", "labels", "flags", "reasons")


@dataclass(frozen=True, slots=True)
class Estimate:
    """Mean of a metric over a group of examples, with its interval.

    ``value`` is None if no example has a value. ``low`` and ``high`` are None if no
    interval can be computed, for instance from a single question. ``worst`` and
    ``best`` bound what the mean could be if the missing scores were known; they are
    None if the metric has no bounds. ``labels`` counts the words given with scores
    (outcomes, grades), ``flags`` the remarks on values, and ``reasons`` why scores
    are undefined or missing.
    """

    metric: str
    group: Mapping[str, str]
    value: float | None
    low: float | None
    high: float | None
    level: float
    method: str | None
    n: int
    n_undefined: int
    n_missing: int
    worst: float | None
    best: float | None
    better: Literal["+", "-", "0"]
    family: str
    clusters: int
    labels: Mapping[str, int]
    flags: Mapping[str, int]
    reasons: Mapping[str, int]
    signature: str

    @property
    def total(self) -> int:
        """Number of examples in the group, including undefined and missing ones."""
        return self.n + self.n_undefined + self.n_missing

    def to_dict(self) -> dict[str, Any]:
        """Return the entry in ``estimates.json``; absent values are null."""
        # Without ``asdict``, which copies each value deeply: a run has thousands.
        record = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return record | {name: dict(record[name]) for name in COUNTS}


STATUS_NAMES = {VALUE: "value", UNDEFINED: "undefined", MISSING: "missing"}
# The status of a score: its name in the table, its code in computations.
STATUS_CODES = {name: code for code, name in STATUS_NAMES.items()}

SHARD = {"shard": pl.UInt32()}

SCORES = {
    **dict.fromkeys(("example_id", "question_id", "system", "metric"), pl.String()),
    "value": pl.Float64(),
    **dict.fromkeys(("label", "status", "reason"), pl.String()),
}

# Beside a column for each field that groups, and two for each component of a mean.
FACETS = {
    "system": pl.String(),
    **dict.fromkeys(("question", "asked", "cluster"), pl.UInt64()),
    "contexts": pl.Int64(),
}

_TABLES: Mapping[str, Mapping[str, Any]] = {
    RunEntry.EXAMPLES: {**SCHEMA, **SHARD},
    RunEntry.SCORES: {**SCORES, **SHARD},
    "ledger": {
        "example_id": pl.String(),
        **{name: dtype for name, dtype in LEDGER.items() if name != "row"},
        **SHARD,
    },
}
# The tables that only estimates are made of.
FOR_ESTIMATES: Mapping[str, Mapping[str, Any]] = {
    RunEntry.FACETS: FACETS,
    RunEntry.ORIGINS: {"field": pl.String(), "cluster": pl.UInt64(), "value": pl.UInt64()},
}


def tables() -> list[str]:
    """The tables of a run that ``Run`` gives."""
    return [*_TABLES, *KINDS]


def columns_of(table: str) -> Mapping[str, Any]:
    """The columns of a table of a run; none for other names."""
    if table in KINDS:
        return {**KINDS[table].schema(), **SHARD, "ask": pl.String()}
    return _TABLES.get(table) or FOR_ESTIMATES.get(table, {})


def place(name: str) -> str:
    """The path of a table's folder in a run's folder."""
    return f"{RunEntry.JUDGEMENTS}/{name}" if name == "ledger" or name in KINDS else name
