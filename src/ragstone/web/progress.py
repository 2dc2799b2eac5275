"""Progress: how far a run is that has not finished, from what it has written so far."""

from dataclasses import dataclass
from datetime import UTC, datetime

import polars as pl

from ragstone.errors import RagstoneError
from ragstone.parquet import scan_parquet
from ragstone.run.calls.entries import FILE as JOURNAL
from ragstone.run.calls.entries import totals
from ragstone.run.folder import Folder
from ragstone.run.written import reading

STILL = 120
"""Seconds without a sign of life after which a run is taken for stopped."""


@dataclass(frozen=True, slots=True)
class RunProgress:
    """How far a run is.

    Attributes:
        examples: How many are judged and stored.
        calls: Calls to models so far.
        usd: Their cost so far; None if it is not known.
        touched: When it last wrote anything.
        goes_on: Whether it wrote lately.
    """

    examples: int
    calls: int
    usd: float | None
    touched: datetime
    goes_on: bool


def progress_of(folder: Folder, changed: datetime) -> RunProgress:
    """How far an unfinished run is."""
    examples, touched = 0, changed.timestamp()
    for part in folder.parts.all():
        file = part / "facets.parquet"
        try:
            with reading(file):
                examples += int(scan_parquet(file).select(pl.len()).collect().item())
            touched = max(touched, file.stat().st_mtime)
        except (RagstoneError, OSError):
            continue
    calls, usd = 0, None
    for journal in (folder.path / JOURNAL, folder.path / f"{JOURNAL}-wal"):
        if journal.is_file():
            touched = max(touched, journal.stat().st_mtime)
    try:
        if (folder.path / JOURNAL).is_file():
            sofar = totals(folder.path / JOURNAL)
            calls, usd = sofar.calls, sofar.usd
    except RagstoneError:
        pass
    last = datetime.fromtimestamp(touched, UTC)
    return RunProgress(
        examples, calls, usd, last, (datetime.now(UTC) - last).total_seconds() < STILL
    )
