"""Text cells: cells, intervals and tables drawn with characters; nothing is ever cut off."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Literal

from rich.console import Console
from rich.text import Text

from ragstone.report import page as pages
from ragstone.report.number_format import ends, number, p_word, percent
from ragstone.report.page import IntervalCell, Mark, Phrase, Scale

LINES = {"bar": "┃", "zero": "│", "margin": "┊", "chance": "┊"}


def strip(cell: IntervalCell, width: int) -> str:
    """The interval on its scale, in characters; empty if the scale does not have two ends.

    ``·`` is the scale, ``├──┤`` the interval, ``●`` the value, ``┃`` a threshold (``◉`` if the
    value lies on it), ``│`` zero, ``┊`` a margin or the level of chance. Values beyond the scale
    are drawn at its end; a value near a threshold or zero is never drawn on top of it.

    >>> strip(IntervalCell(0.5, 0.25, 0.75, Scale(0, 1)), 9)
    '··├─●─┤··'
    """
    scale = cell.scale
    if scale is None or not scale.drawable or not width:
        return ""
    fixed = [(mark, _place(mark.at, scale, width)) for mark in scale.marks]
    lines = [(mark, at) for mark, at in fixed if mark.what in ("bar", "zero")]

    def place(value: float) -> int:
        at = _place(value, scale, width)
        for mark, line in lines:
            if at == line and value != mark.at:
                at += 1 if value > mark.at else -1
        return min(width - 1, max(0, at))

    letters = ["·"] * width
    if cell.low is not None and cell.high is not None:
        first, last = place(cell.low), place(cell.high)
        letters[first : last + 1] = ["─"] * (last - first + 1)
        letters[first], letters[last] = "├", "┤"
    for mark, at in fixed:
        letters[at] = (
            _marked(mark, letters[at]) if scale.low <= mark.at <= scale.high else letters[at]
        )
    if cell.value is not None:
        at = place(cell.value)
        letters[at] = "◉" if letters[at] == "┃" else "●"
    return "".join(letters)


def coloured(letters: str, tone: str, value: str) -> Text:
    """The drawing in colour: the interval in its tone, the value in another, the scale dim."""
    text = Text(letters, tone)
    for at, letter in enumerate(letters):
        if letter in "·┊│":
            text.stylize("bright_black", at, at + 1)
        elif letter in "●":
            text.stylize(value, at, at + 1)
        elif letter in "┃◉":
            text.stylize("not dim bold default", at, at + 1)
    return text


def axis(
    scales: Iterable[Scale], width: int, *, percent: bool = False, signed: bool = False
) -> str:
    """The ends of a shared scale, with zero or chance; ``bar`` if all are about a threshold."""
    shared = set(scales)
    if not shared or not width:
        return ""
    if all(scale.about_bar for scale in shared):
        return "bar".center(width).rstrip()
    if len(shared) > 1:
        return ""
    scale = shared.pop()
    if not scale.drawable:
        return ""
    low, high = (_end(end, percent, signed) for end in (scale.low, scale.high))
    letters = list(low.ljust(width - len(high)) + high)
    for mark in scale.marks:
        word = f"{mark.at:g}".replace("0.", ".") if mark.what in ("zero", "chance") else ""
        at = _place(mark.at, scale, width)
        if word and not "".join(letters[max(at - 1, 0) : at + len(word) + 1]).strip():
            letters[at : at + len(word)] = word
    return "".join(letters)


def _place(value: float, scale: Scale, width: int) -> int:
    share = (value - scale.low) / (scale.high - scale.low)
    return min(width - 1, max(0, round(share * (width - 1))))


def _marked(mark: Mark, letter: str) -> str:
    if mark.what == "bar":
        return LINES["bar"]
    if mark.what == "zero" and letter == "─":
        return "┼"
    return LINES[mark.what] if letter == "·" else letter


def _end(end: float, percent: bool, signed: bool) -> str:
    value = end * 100 if percent else end
    return f"{value:+g}" if signed and value else f"{value:g}"


OUTCOMES: dict[pages.Outcome, pages.Tone] = {
    "undefined": "undefined",
    "missing": "missing",
    "unknown": "caution",
}
SHORT: dict[pages.Outcome, str] = {"undefined": "undef.", "missing": "missing", "unknown": "–"}


def written(cell: pages.Cell) -> Phrase:
    """A cell as text.

    >>> written(pages.IntervalCell(0.656, 0.6, 0.72)).text
    '0.656 (0.600 – 0.720)'
    """
    match cell:
        case None:
            return Phrase("")
        case str():
            return Phrase(cell)
        case Phrase():
            return cell
        case pages.RowName():
            return Phrase(cell.text, strong=cell.strong)
        case pages.Verdict():
            return Phrase(cell.word, cell.tone, strong=True)
        case pages.Count():
            known = "–" if cell.value is None else f"{cell.value:,}"
            text = f"{known} {cell.note}" if cell.note else known
            tone: pages.Tone = cell.tone if cell.value or not cell.tone else "quiet"
            return Phrase(text, tone, cell.strong)
        case pages.Share():
            return Phrase(
                f"{cell.count:,} {percent(cell.count / cell.total, 0) if cell.total else '–':>5}"
            )
        case pages.P():
            return Phrase(p_word(cell.value), "quiet")
        case pages.Number():
            return Phrase(_number(cell), cell.tone, cell.strong)
        case pages.IntervalCell():
            value = value_of(cell)
            if cell.low is not None and cell.high is not None:
                value += f" ({ends(cell.low, cell.high, percent=cell.percent)})"
            behind = ", ".join(one.text for one in counts_of(cell))
            return Phrase(
                f"{value}, {behind}" if behind else value, strong=cell.low is None and cell.strong
            )
        case pages.Bar():
            return Phrase(", ".join(f"{part.word} {part.size:,g}" for part in cell.parts))
        case pages.Why():
            return Phrase(cell.words or SHORT[cell.outcome], OUTCOMES[cell.outcome])


def words_of(cell: pages.Cell) -> pages.Words:
    """A cell as text; a verdict is followed by its note."""
    if isinstance(cell, pages.Verdict) and cell.note:
        return (written(cell), pages.quiet(f"  {cell.note}"))
    return written(cell)


def value_of(cell: pages.IntervalCell) -> str:
    """The value without its interval; one that leads is marked.

    >>> value_of(pages.IntervalCell(0.02, None, None, signed=True))
    '+0.020'
    """
    sign: Literal["", "+"] = "+" if cell.signed else ""
    figure = _number(pages.Number(cell.value, percent=cell.percent, sign=sign))
    return f"{figure}*" if cell.leads else figure


def counts_of(cell: pages.IntervalCell) -> list[Phrase]:
    """What is said of the rows behind a value: how many they are, and how many are missing.

    >>> [one.text for one in counts_of(pages.IntervalCell(0.5, None, None, n=7, missing=1))]
    ['n=7', '1 missing']
    """
    known = [] if cell.n is None else [Phrase(f"n={cell.n:,}", "quiet")]
    return known + ([Phrase(f"{cell.missing:,} missing", "missing")] if cell.missing else [])


def _number(cell: pages.Number) -> str:
    """A number with its sign and unit; a dash if there is none.

    >>> _number(pages.Number(0.5, sign="±")), _number(pages.Number(1.234, 2, unit=" ×"))
    ('±0.500', '1.23 ×')
    """
    if cell.value is None:
        return "–"
    if cell.places == 3:
        figure = number(cell.value, percent=cell.percent)
    else:
        figure = f"{round(cell.value, cell.places) + 0.0:,.{cell.places}f}"
    positive = cell.value > 0 and float(figure.replace(",", "")) != 0
    sign = cell.sign if cell.sign == "±" or positive else ""
    return f"{sign}{figure}{cell.unit}"


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
