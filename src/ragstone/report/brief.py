"""Brief: a page cut to what a notebook cell or a print shows of it."""

from collections.abc import Iterator
from dataclasses import replace

from .page import Block, Group, Page, Paragraphs, Row, Table, quiet

MOST_ROWS, MOST_DETAILS = 40, 6


def brief(page: Page, rows: int = MOST_ROWS) -> Page:
    """The page with at most this many rows of tables, and with the details of a few rows.

    Tables share the room; those with few rows leave theirs to the others. Of a table with
    decisions, rows that decide nothing go first; the others keep their order.
    """
    room = _rooms([len(one.rows) for one in page.tables], rows)
    sizes = iter(room)
    sections = tuple(
        replace(one, blocks=tuple(part for block in one.blocks for part in _cut(block, sizes)))
        for one in page.sections
    )
    return replace(page, sections=sections)


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


def _cut(block: Block, sizes: Iterator[int]) -> Iterator[Block]:
    if not isinstance(block, Table):
        yield block
        return
    kept = next(sizes)
    ranked = sorted(range(len(block.rows)), key=lambda at: _rank(block.rows[at]))
    chosen = {id(block.rows[at]) for at in ranked[:kept]}
    told = {id(row) for row in [row for row in block.rows if row.detail][:MOST_DETAILS]}
    groups = [
        Group(
            tuple(
                row if id(row) in told else replace(row, detail=())
                for row in one.rows
                if id(row) in chosen
            ),
            one.title,
        )
        for one in block.groups
    ]
    yield replace(block, groups=tuple(one for one in groups if one.rows))
    if left := len(block.rows) - kept:
        rows = "row" if left == 1 else "rows"
        yield Paragraphs((quiet(f"and {left:,} more {rows}"),))


def _rank(row: Row) -> int:
    """What decides stays before what decides nothing, and that before what was not tested."""
    if row.verdict is None or row.verdict.tone != "quiet":
        return 0
    return 2 if row.verdict.code == "same" else 1
