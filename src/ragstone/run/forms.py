"""Forms: what stands in ``run.json`` and ``part.json``, and which columns each table has.

A form names what Ragstone reads; what else stands there, from a later version or by hand, is left
alone.
"""

from collections.abc import Mapping
from typing import Annotated, Any

import polars as pl
from pydantic import AfterValidator, BaseModel

from ragstone.examples.table import SCHEMA
from ragstone.judgements import ASKS, KINDS
from ragstone.judges import LEDGER

from .calls.entries import Totals
from .models import Opened
from .written import Count, File


def _known(ask: str) -> str:
    if ask not in ASKS:
        raise ValueError(f"one of the {len(ASKS)} asks, such as {next(iter(ASKS))}")
    return ask


Ask = Annotated[str, AfterValidator(_known)]


class Judge(BaseModel):
    """A judge of the run."""

    name: str
    about: str
    kinds: list[str]


class ByModel(BaseModel):
    """The judges by model."""

    judges: dict[str, list[str]] = {}
    prompts: dict[str, str] = {}
    plan: str = ""
    rubrics: str = ""


class Settings(BaseModel):
    """What the run was asked for."""

    data: str = ""
    definitions: dict[str, str] = {}
    local: list[str] = []
    nli: list[str] = []
    llm: ByModel = ByModel()
    citations: str = ""


class Compared(BaseModel):
    """Pairs of texts that a measure compared, and those that were cut."""

    pairs: Count
    cut: Count


class Data(BaseModel):
    """What is said of the data."""

    source: str = ""
    examples: Count = 0
    questions: Count = 0
    systems: Count = 0
    rejected: Count = 0
    rejected_for: list[str] = []
    label_violations: dict[str, Count] = {}
    label_ties: Count = 0
    labels_of_nothing: list[str] = []


class Manifest(BaseModel):
    """``run.json``."""

    ragstone: str
    finished: bool
    settings: Settings
    signature: str = ""
    metrics: list[str] = []
    added: list[str] = []
    suites: list[str] = []
    by: list[str] = []
    cluster: str = "question_id"
    judges: list[Judge] = []
    models: Opened = Opened()
    judged: list[tuple[Ask, str, str, Count]] = []
    compared: dict[str, Compared] = {}
    left_open: list[tuple[str, str, str, Count]] = []
    quotes: dict[str, Count] = {}
    unheard: Count = 0
    data: Data = Data()
    remarks: list[str] = []
    calls: Totals | None = None
    files: dict[str, File] = {}


class Part(BaseModel):
    """``part.json`` of a finished block."""

    block: Count
    files: dict[str, File]


BLOCK = {"block": pl.UInt32()}

SCORES = {
    **dict.fromkeys(("example_id", "question_id", "system", "metric"), pl.String()),
    "value": pl.Float64(),
    **dict.fromkeys(("label", "status", "reason"), pl.String()),
}

FACETS = {
    "system": pl.String(),
    **dict.fromkeys(("question", "asked", "cluster"), pl.UInt64()),
    "contexts": pl.Int64(),
}
"""Beside a column for each field that groups, and two for each component of a mean."""

TABLES: Mapping[str, Mapping[str, Any]] = {
    "examples": {**SCHEMA, **BLOCK},
    "scores": {**SCORES, **BLOCK},
    "ledger": {
        "example_id": pl.String(),
        **{name: dtype for name, dtype in LEDGER.items() if name != "row"},
        **BLOCK,
    },
    **{name: {**kind.schema(), **BLOCK, "ask": pl.String()} for name, kind in KINDS.items()},
}
"""The columns of each table of a run, in the order in which blocks are put together."""

OF_PARTS: Mapping[str, Mapping[str, Any]] = {
    **TABLES,
    "facets": FACETS,
    "origins": {"field": pl.String(), "cluster": pl.UInt64(), "value": pl.UInt64()},
}
"""The same of a block, which has two tables more."""
