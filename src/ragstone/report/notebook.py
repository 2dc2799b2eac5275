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

from . import page as ui
from .number_format import counted
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
# Rows that a table keeps, unless it has fewer: tables that have no room for them are left out.
LEAST_ROWS = 3


def brief(page: ui.Page, rows: int = MOST_ROWS) -> ui.Page:
    """The page with at most this many rows of tables, and with the details of a few rows.

    Tables share the room; those with few rows leave theirs to the others. Of a table with
    decisions, rows that decide nothing go first; the others keep their order. Where there are too
    many tables, those that decide nothing go first. Many intervals are told and not drawn.
    """
    tables = page.tables
    listed = _listed(tables, rows)
    rooms = _rooms([len(item.rows) if id(item) in listed else 0 for item in tables], rows)
    sizes = dict(zip(map(id, tables), rooms, strict=True))
    cells = (
        room * sum(map(table.draws, range(len(table.columns))))
        for room, table in zip(rooms, tables, strict=True)
    )
    drawn = sum(cells) <= MOST_DRAWN
    sections, left_out, last = list[ui.Section](), 0, 0
    for item in page.sections:
        own_tables = [block for block in item.blocks if isinstance(block, ui.Table)]
        without = [id(table) for table in own_tables if table.rows and not sizes[id(table)]]
        left_out += len(without)
        if not without or len(without) < len(own_tables):
            blocks = (part for block in item.blocks if id(block) not in without
                      for part in _cut(block, sizes, drawn=drawn))  # fmt: skip
            sections.append(replace(item, blocks=tuple(blocks)))
            last = len(sections) if own_tables else last
    if left_out:
        more = f"and {counted(left_out, 'more table')}"
        sections.insert(last, ui.section(ui.quiet(more)))
    return replace(page, sections=tuple(sections))


def _listed(tables: Sequence[ui.Table], rows: int) -> set[int]:
    listed = set[int]()
    for item in sorted(tables, key=lambda item: min(map(_rank, item.rows), default=0)):
        least = min(LEAST_ROWS, len(item.rows))
        if least <= rows or not listed:
            listed.add(id(item))
            rows -= least
    return listed


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


def _cut(block: ui.Block, sizes: Mapping[int, int], *, drawn: bool) -> Iterator[ui.Block]:
    if not isinstance(block, ui.Table):
        yield block
        return
    rows, most = block.rows, sizes[id(block)]
    chosen = {id(row) for row in sorted(rows, key=_rank)[:most]}
    with_detail = {id(row) for row in [row for row in rows if row.detail][:MOST_DETAILS]}

    def short(row: ui.Row) -> ui.Row:
        detail = row.detail if id(row) in with_detail else ()
        cells = tuple(
            replace(cell, scale=None) if isinstance(cell, ui.IntervalCell) and not drawn else cell
            for cell in row.cells
        )
        return replace(row, detail=detail, cells=cells)

    groups = (
        replace(group, rows=tuple(short(row) for row in group.rows if id(row) in chosen))
        for group in block.groups
    )
    yield replace(block, groups=tuple(group for group in groups if group.rows))
    if left := len(rows) - most:
        yield ui.Paragraphs((ui.quiet(f"and {counted(left, 'more row')}"),))


def _rank(row: ui.Row) -> int:
    return int(row.verdict is not None and row.verdict.tone == "quiet")


# The width in characters of what is printed where there is no terminal.
WIDTH = 100


def notebook_html(result: object) -> str:
    """The page of a result in brief, as a notebook shows it."""
    return as_html(brief(page_of(result)))


def printed(result: object) -> str:
    """The page of a result in brief, as text that fits the terminal."""
    return as_text(brief(page_of(result)), get_terminal_size((WIDTH, 0)).columns).rstrip("\n")


# What makes the page of each result that has one of its own.
PAGES: Mapping[type, Callable[[Any], ui.Page]] = {
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


def page_of(result: object) -> ui.Page:
    """Return the page of a result that has one of its own."""
    for kind, page in PAGES.items():
        if isinstance(result, kind):
            return page(result)
    raise TypeError(f"{type(result).__name__} has no page of its own")
