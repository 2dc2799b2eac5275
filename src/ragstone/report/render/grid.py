"""Grid: rows of cells in columns as wide as their content; nothing is ever cut off."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Literal

from rich.console import Console
from rich.text import Text

LONG_WORD = re.compile(r"[^(,:]*[(,:]?")


@dataclass(frozen=True, slots=True)
class GridColumn:
    """The alignment of a column, and the number of blanks before it."""

    justify: Literal["left", "right"] = "left"
    gap: int = 2


@dataclass(frozen=True, slots=True)
class GridCell:
    """Text in one column, or wrapped to the width of several; alone in a row, to the console's.

    A cell of one column may have several lines, and is as wide as the widest.
    """

    text: Text
    span: int = 1

    def __post_init__(self) -> None:
        # A terminal moves to its next tab stop, wherever that is.
        self.text.plain = self.text.plain.replace("\t", " ")


Row = Sequence[GridCell]


@dataclass(frozen=True)
class Grid:
    """Rows of cells; a row may end early, and an empty row is a blank line.

    The grid is printed in full even if it is wider than the console.
    """

    columns: Sequence[GridColumn]
    rows: Sequence[Row]

    @property
    def widths(self) -> list[int]:
        """The width of each column; cells that span several columns do not count."""
        widths = [0] * len(self.columns)
        for row in self.rows:
            at = 0
            for cell in row:
                if cell.span == 1:
                    lines = cell.text.split("\n")
                    widths[at] = max(widths[at], *(line.cell_len for line in lines))
                at += cell.span
        return widths

    @property
    def width(self) -> int:
        """The width of all columns, including the gaps between them."""
        return sum(self.widths) + sum(column.gap for column in self.columns[1:])

    def lines(self, console: Console) -> Iterator[Text]:
        """The lines as they are printed."""
        widths = self.widths
        for row in self.rows:
            yield from self._lines(row, widths, console) if row else [Text()]

    def _lines(self, row: Row, widths: list[int], console: Console) -> Iterator[Text]:
        blocks: list[tuple[int, int, list[Text]]] = []
        at = 0
        for cell in row:
            gap = self.columns[at].gap if at else 0
            wide = sum(widths[at : at + cell.span])
            wide += sum(column.gap for column in self.columns[at + 1 : at + cell.span])
            if cell.span == 1:
                lines = list(cell.text.split("\n"))
            else:
                alone = len(row) == 1
                lead = len(cell.text.plain) - len(cell.text.plain.lstrip()) if alone else 0
                room = max(console.width if alone else wide, 20)
                first, *more = cell.text.wrap(console, room) or [Text()]
                again = Text(" ").join(more).wrap(console, room - lead) if lead and more else more
                lines = [first, *(Text.assemble(" " * lead, line) for line in again)]
            if self.columns[at].justify == "right" and cell.span == 1:
                for line in lines:
                    line.pad_left(wide - line.cell_len)
            blocks.append((gap, wide, lines))
            at += cell.span
        for pieces in zip_longest(*(lines for _, _, lines in blocks)):
            line = Text()
            for (gap, wide, _), piece in zip(blocks, pieces, strict=True):
                line.append(" " * gap)
                if piece is not None:
                    piece.rstrip()
                    line.append_text(piece)
                line.append(" " * (wide - (piece.cell_len if piece is not None else 0)))
            line.rstrip()
            yield plain_line(line)


def plain_line(line: Text) -> Text:
    """A line that is never wrapped, however long."""
    line.overflow = "ignore"
    return line


def cell(text: str = "", style: str = "", span: int = 1) -> GridCell:
    """A cell in one style."""
    return GridCell(Text(text, style=style), span)


def folded(text: str, width: int) -> str:
    """The text wrapped to lines of about ``width``; all but the first are indented.

    Lines break at blanks; a word longer than that breaks after an opening parenthesis,
    a comma or a colon, or else is left whole.

    >>> folded('ndcg(k=10, gain="linear")', 12).splitlines()
    ['ndcg(k=10,', '  gain="linear")']
    """
    lines: list[str] = []
    for word in re.split(r"[ \t\n]", text):
        pieces = [word] if len(word) <= width else [p for p in LONG_WORD.findall(word) if p]
        blank = " "
        for piece in pieces:
            if lines and len(lines[-1]) + len(blank) + len(piece) <= width:
                lines[-1] += blank + piece
            else:
                lines.append(f"  {piece}" if lines else piece)
            blank = ""
    return "\n".join(lines)
