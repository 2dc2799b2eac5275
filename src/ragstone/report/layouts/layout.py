"""Layout: the report of another tool as data: its files, their columns, what each column shows."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import polars as pl

from ragstone.metrics import Limit
from ragstone.report.export import as_bytes

from .report_data import ReportData


@dataclass(frozen=True, slots=True)
class ReportColumn:
    """A column of a report.

    Args:
        name: What the tool calls it.
        metric: The metric that it shows, by its text form here.
        shows: The value, the word that comes with it, or the judges' reasons.
    """

    name: str
    metric: str
    shows: Literal["value", "label", "reason"] = "value"


@dataclass(frozen=True, slots=True)
class ReportFile:
    """A file of a report: its name, and its tables, one below the other."""

    name: str
    tables: tuple[pl.DataFrame, ...]

    @property
    def content(self) -> bytes:
        """The tables as CSV, with an empty line between two."""
        return b"\n".join(as_bytes(table, "csv") for table in self.tables)


@dataclass(frozen=True, slots=True)
class OtherFile:
    """A file of a report that is no table."""

    name: str
    content: bytes


@dataclass(frozen=True, slots=True)
class Report:
    """A run as the report of another tool.

    Args:
        files: Its files, the main one first.
        notes: What to know of them.
    """

    files: tuple[ReportFile | OtherFile, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Layout:
    """The report of the tool that a suite is named after.

    Args:
        suite: The suite.
        columns: The columns that show metrics, in the order of the tool.
        files: Makes its files.
        percent: Whether values are in percent with two decimals.
        reasons: Columns of the tool for the reasons of the judges, behind the others.
        behind: Columns of ours, behind those of the tool.
        limits: The limits of the suite, whose advice stands behind.
        at_any_k: Whether a metric is shown at each ``k`` that the run has it for.
    """

    suite: str
    columns: tuple[ReportColumn, ...]
    files: "Callable[[Layout, ReportData], Sequence[ReportFile]]"
    percent: bool = False
    reasons: tuple[ReportColumn, ...] = ()
    behind: tuple[ReportColumn, ...] = ()
    limits: tuple[Limit, ...] = ()
    at_any_k: bool = False

    @property
    def metrics(self) -> tuple[str, ...]:
        """The text forms of its metrics, each once."""
        return tuple(dict.fromkeys(column.metric for column in self.columns))
