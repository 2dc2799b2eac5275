"""Notebook: the page of a result, shortened for a notebook cell or for ``print``."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from shutil import get_terminal_size
from typing import Any

from ragstone.analysis import Calibration
from ragstone.analysis.comparison.comparison_result import Comparisons
from ragstone.analysis.composite_weights.fit_weights import FittedWeights
from ragstone.analysis.release_gate.release_gate import GateResult
from ragstone.analysis.summaries.failure_stages import Failures
from ragstone.analysis.summaries.run_summary import summarise
from ragstone.analysis.summaries.session_figures import Conversations
from ragstone.annotation import LabelAgreement
from ragstone.guard import Assessment, Improvement
from ragstone.guard.confidence_gate.confidence_gate import GateCalibration, GateCheck
from ragstone.run import Run

from .page import (
    Block,
    Cell,
    Group,
    IntervalCell,
    Page,
    Paragraphs,
    Row,
    Section,
    Table,
    quiet,
    section,
)
from .pages.agreement_page import agreement_page
from .pages.calibration_page import calibration_page
from .pages.comparison_page import comparison_page, weights_page
from .pages.confidence_gate_page import gate_calibration_page, gate_check_page
from .pages.conversations_page import conversations_page
from .pages.failures_page import failures_page
from .pages.guard_pages import assessment_page, improvement_page
from .pages.release_gate_page import gate_page
from .pages.runs_page import run_page
from .render.documents import as_html
from .render.terminal import as_text
from .run_notes import run_notes
from .worst_examples import failing

MOST_ROWS, MOST_DETAILS, MOST_DRAWN = 40, 6, 150
LEAST_ROWS = 3
"""Of a table, unless it has fewer: tables that have no room for them are left out."""


def brief(page: Page, rows: int = MOST_ROWS) -> Page:
    """The page with at most this many rows of tables, and with the details of a few rows.

    Tables share the room; those with few rows leave theirs to the others. Of a table with
    decisions, rows that decide nothing go first; the others keep their order. Where there are too
    many tables, those that decide nothing go first. Many intervals are told and not drawn.
    """
    tables = page.tables
    listed = _shown(tables, rows)
    rooms = _rooms(
        [len(item.rows) if any(item is table for table in listed) else 0 for item in tables], rows
    )
    sizes = dict(zip(map(id, tables), rooms, strict=True))
    drawn = sum(rooms[at] * _intervals(table) for at, table in enumerate(tables)) <= MOST_DRAWN
    sections, left_out = list[Section](), 0
    for item in page.sections:
        own_tables = [block for block in item.blocks if isinstance(block, Table)]
        without = [table for table in own_tables if table.rows and not sizes[id(table)]]
        left_out += len(without)
        columns = [block for block in item.blocks if not any(block is table for table in without)]
        if not without or len(without) < len(own_tables):
            blocks = (part for block in columns for part in _cut(block, sizes, drawn=drawn))
            sections.append(replace(item, blocks=tuple(blocks)))
    if left_out:
        tables_left = "table" if left_out == 1 else "tables"
        more = section(Paragraphs((quiet(f"and {left_out:,} more {tables_left}"),)))
        at = max((at for at, part in enumerate(sections) if _has_table(part)), default=-1)
        sections.insert(at + 1, more)
    return replace(page, sections=tuple(sections))


def _has_table(part: Section) -> bool:
    return any(isinstance(block, Table) for block in part.blocks)


def _shown(tables: Sequence[Table], rows: int) -> list[Table]:
    decide_first = sorted(tables, key=lambda item: min(map(_rank, item.rows), default=0))
    listed = list[Table]()
    for item in decide_first:
        least = min(LEAST_ROWS, len(item.rows))
        if least <= rows or not listed:
            listed.append(item)
            rows -= least
    return listed


def _intervals(table: Table) -> int:
    return sum(table.draws(at) for at in range(len(table.columns)))


def _rooms(sizes: list[int], rows: int) -> list[int]:
    """The rows that each table keeps: the smallest first take what they need.

    >>> _rooms([3, 30, 20], 40)
    [3, 19, 18]
    """
    rooms = [0] * len(sizes)
    order = sorted(range(len(sizes)), key=lambda at: sizes[at])
    for done, at in enumerate(order):
        rooms[at] = min(sizes[at], rows // (len(sizes) - done))
        rows -= rooms[at]
    return rooms


def _cut(block: Block, sizes: Mapping[int, int], *, drawn: bool) -> Iterator[Block]:
    if not isinstance(block, Table):
        yield block
        return
    columns = sizes[id(block)]
    ranked = sorted(range(len(block.rows)), key=lambda at: _rank(block.rows[at]))
    chosen = {id(block.rows[at]) for at in ranked[:columns]}
    with_detail = {id(row) for row in [row for row in block.rows if row.detail][:MOST_DETAILS]}
    groups = [
        Group(
            tuple(
                replace(
                    row,
                    detail=row.detail if id(row) in with_detail else (),
                    cells=row.cells if drawn else tuple(map(_told, row.cells)),
                )
                for row in group.rows
                if id(row) in chosen
            ),
            group.title,
        )
        for group in block.groups
    ]
    yield replace(block, groups=tuple(group for group in groups if group.rows))
    if left := len(block.rows) - columns:
        rows = "row" if left == 1 else "rows"
        yield Paragraphs((quiet(f"and {left:,} more {rows}"),))


def _told(cell: Cell) -> Cell:
    return replace(cell, scale=None) if isinstance(cell, IntervalCell) else cell


def _rank(row: Row) -> int:
    return int(row.verdict is not None and row.verdict.tone == "quiet")


WIDTH = 100
"""Of what is printed where there is no terminal."""


def notebook_html(result: object) -> str:
    """The page of a result in brief, as a notebook shows it."""
    return as_html(brief(page_of(result)))


def printed(result: object) -> str:
    """The page of a result in brief, as text that fits the terminal."""
    return as_text(brief(page_of(result)), get_terminal_size((WIDTH, 0)).columns).rstrip("\n")


PAGES: Mapping[type, Callable[[Any], Page]] = {
    Run: lambda run: run_page(run, summarise(run), tuple(run_notes(run))),
    GateResult: lambda result: gate_page(result.run, result, failing(result.run, result)),
    LabelAgreement: agreement_page,
    Comparisons: comparison_page,
    Failures: failures_page,
    Conversations: conversations_page,
    Calibration: calibration_page,
    FittedWeights: weights_page,
    Assessment: assessment_page,
    Improvement: improvement_page,
    GateCalibration: gate_calibration_page,
    GateCheck: gate_check_page,
}
"""What makes the page of each result that has one of its own."""


def page_of(result: object) -> Page:
    """Return the page of a result.

    Raises:
        TypeError: There is no page that can be built from this result alone.
    """
    for kind, page in PAGES.items():
        if isinstance(result, kind):
            return page(result)
    raise TypeError(f"{type(result).__name__} has no page of its own")
