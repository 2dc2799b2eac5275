"""Text cells: cells, intervals, grids and lines of text in characters; nothing is cut off."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Literal

from rich.console import Console
from rich.text import Text

from ragstone.report import page as ui
from ragstone.report.number_format import ARROWS, ends, number, p_word, percent

DIM, HEAD = "bright_black", "bold"
TONES: dict[ui.Tone, str] = {
    "": "",
    "good": "green",
    "bad": "red",
    "caution": "yellow",
    "undefined": "yellow",
    "missing": "magenta",
    "equal": "bright_blue",
    "quiet": DIM,
    "name": "cyan",
    "text": "",
}
# Character and colour of bar parts by level, the best first; the last is neutral.
FILLS = (("█", "green"), ("▓", "cyan"), ("▒", "yellow"), ("░", "red"), ("▁", "magenta"), ("·", DIM))

HEAD_WIDTH = 12
# The width of a value and its interval in a ``peer`` column.
TIGHT = 20

LINES = {"bar": "┃", "zero": "│", "margin": "┊", "chance": "┊"}


def strip(cell: ui.IntervalCell, width: int) -> str:
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
    marks = [(mark, _place(mark.at, scale, width)) for mark in scale.marks]

    def place(value: float) -> int:
        at = _place(value, scale, width)
        for mark, line in marks:
            if mark.what in ("bar", "zero") and at == line and value != mark.at:
                at += 1 if value > mark.at else -1
        return min(width - 1, max(0, at))

    letters = ["·"] * width
    if cell.low is not None and cell.high is not None:
        first, last = place(cell.low), place(cell.high)
        letters[first : last + 1] = ["─"] * (last - first + 1)
        letters[first], letters[last] = "├", "┤"
    for mark, at in marks:
        if scale.low <= mark.at <= scale.high:
            if mark.what == "zero" and letters[at] == "─":
                letters[at] = "┼"
            elif mark.what == "bar" or letters[at] == "·":
                letters[at] = LINES[mark.what]
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
    scales: Iterable[ui.Scale], width: int, *, percent: bool = False, signed: bool = False
) -> str:
    """The ends of a shared scale, with zero or chance; ``bar`` if all are about a threshold."""
    shared = set(scales)
    if not shared or not width:
        return ""
    if all(scale.about_bar for scale in shared):
        return "bar".center(width).rstrip()
    scale = shared.pop()
    if shared or not scale.drawable:
        return ""
    values = (end * 100 if percent else end for end in (scale.low, scale.high))
    low, high = (f"{end:+g}" if signed and end else f"{end:g}" for end in values)
    letters = list(low.ljust(width - len(high)) + high)
    for mark in scale.marks:
        word = f"{mark.at:g}".replace("0.", ".") if mark.what in ("zero", "chance") else ""
        at = _place(mark.at, scale, width)
        if word and not "".join(letters[max(at - 1, 0) : at + len(word) + 1]).strip():
            letters[at : at + len(word)] = word
    return "".join(letters)


def _place(value: float, scale: ui.Scale, width: int) -> int:
    share = (value - scale.low) / (scale.high - scale.low)
    return min(width - 1, max(0, round(share * (width - 1))))


OUTCOMES: dict[ui.Outcome, ui.Tone] = {
    "undefined": "undefined",
    "missing": "missing",
    "unknown": "caution",
}
SHORT: dict[ui.Outcome, str] = {"undefined": "undef.", "missing": "missing", "unknown": "–"}


def written(cell: ui.Cell) -> ui.Phrase:
    """A cell as text.

    >>> written(IntervalCell(0.656, 0.6, 0.72)).text
    '0.656 (0.600 – 0.720)'
    """
    match cell:
        case None:
            return ui.Phrase("")
        case str():
            return ui.Phrase(cell)
        case ui.Phrase():
            return cell
        case ui.RowName():
            return ui.Phrase(cell.text, strong=cell.strong)
        case ui.Verdict():
            return ui.Phrase(cell.word, cell.tone, strong=True)
        case ui.Count():
            known = "–" if cell.value is None else f"{cell.value:,}"
            text = f"{known} {cell.note}" if cell.note else known
            tone: ui.Tone = cell.tone if cell.value or not cell.tone else "quiet"
            return ui.Phrase(text, tone, cell.strong)
        case ui.Share():
            share = percent(cell.count / cell.total, 0) if cell.total else "–"
            return ui.Phrase(f"{cell.count:,} {share:>5}")
        case ui.P():
            return ui.Phrase(p_word(cell.value), "quiet")
        case ui.Number():
            return ui.Phrase(_number(cell), cell.tone, cell.strong)
        case ui.IntervalCell():
            value = value_of(cell)
            if cell.low is not None and cell.high is not None:
                value += f" ({ends(cell.low, cell.high, percent=cell.percent)})"
            text = ", ".join([value, *(item.text for item in counts_of(cell))])
            return ui.Phrase(text, strong=cell.low is None and cell.strong)
        case ui.Bar():
            return ui.Phrase(", ".join(f"{part.word} {part.size:,g}" for part in cell.parts))
        case ui.Why():
            return ui.Phrase(cell.words or SHORT[cell.outcome], OUTCOMES[cell.outcome])


def words_of(cell: ui.Cell) -> ui.Words:
    """A cell as text; a verdict is followed by its note."""
    if isinstance(cell, ui.Verdict) and cell.note:
        return (written(cell), ui.quiet(f"  {cell.note}"))
    return written(cell)


def value_of(cell: ui.IntervalCell) -> str:
    """The value without its interval; one that leads is marked.

    >>> value_of(IntervalCell(0.02, None, None, signed=True))
    '+0.020'
    """
    sign: Literal["", "+"] = "+" if cell.signed else ""
    figure = _number(ui.Number(cell.value, percent=cell.percent, sign=sign))
    return f"{figure}*" if cell.leads else figure


def counts_of(cell: ui.IntervalCell) -> list[ui.Phrase]:
    """Return how many rows are behind a value, and how many are missing.

    >>> [one.text for one in counts_of(IntervalCell(0.5, None, None, n=7, missing=1))]
    ['n=7', '1 missing']
    """
    known = [] if cell.n is None else [ui.Phrase(f"n={cell.n:,}", "quiet")]
    return known + ([ui.Phrase(f"{cell.missing:,} missing", "missing")] if cell.missing else [])


def _number(cell: ui.Number) -> str:
    """A number with its sign and unit; a dash if there is none.

    >>> _number(Number(0.5, sign="±")), _number(Number(1.234, 2, unit=" ×"))
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
                    widths[at] = max(widths[at], *(line.cell_len for line in cell.text.split("\n")))
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
            inner = self.columns[at + 1 : at + cell.span]
            wide = sum(widths[at : at + cell.span]) + sum(column.gap for column in inner)
            if cell.span == 1:
                lines = list(cell.text.split("\n"))
                for line in lines if self.columns[at].justify == "right" else ():
                    line.pad_left(wide - line.cell_len)
            else:
                alone = len(row) == 1
                lead = len(cell.text.plain) - len(cell.text.plain.lstrip()) if alone else 0
                room = max(console.width if alone else wide, 20)
                first, *more = cell.text.wrap(console, room) or [Text()]
                again = Text(" ").join(more).wrap(console, room - lead) if lead and more else more
                lines = [first, *(Text.assemble(" " * lead, line) for line in again)]
            blocks.append((gap, wide, lines))
            at += cell.span
        for pieces in zip_longest(*(lines for _, _, lines in blocks), fillvalue=Text()):
            text = Text()
            for (gap, wide, _), piece in zip(blocks, pieces, strict=True):
                piece.rstrip()
                text.append(" " * gap)
                text.append_text(piece)
                text.append(" " * (wide - piece.cell_len))
            text.rstrip()
            yield plain_line(text)


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


def spread(lines: list[str], rows: int) -> list[str]:
    """Lines distributed over rows, one each; the last row takes the rest.

    >>> spread(["a", "b", "c"], 2), spread(["a"], 2)
    (['a', 'b\\nc'], ['a', ''])
    """
    dealt = [*lines[: rows - 1], "\n".join(lines[rows - 1 :])]
    return dealt + [""] * (rows - len(dealt))


def styled(words: ui.Words, style: str = "") -> Text:
    """The words in their tones, with a style under them."""
    pieces = ((part.text, f"{HEAD if part.strong else ''} {TONES[part.tone]}".strip())
             for part in ui.parts(words))  # fmt: skip
    return Text.assemble(*pieces, style=style)


def styled_name(name: ui.RowName) -> Text:
    """A row's name, followed by the direction in which it is better."""
    arrow = (f" {ARROWS[name.better]}", DIM) if name.better else ""
    return Text.assemble((name.text, HEAD if name.strong else ""), arrow)


def indented(text: Text) -> Text:
    """The text with each line indented by two blanks."""
    return Text("\n").join(Text.assemble("  ", line) for line in text.split("\n"))


def broken_name(name: str) -> str:
    """A system's name on lines no wider than its column; it breaks after a hyphen and the like."""
    lines = [""]
    for piece in re.findall(r"[^-_/. ]*[-_/. ]?", name):
        if len(lines[-1]) + len(piece) > TIGHT and lines[-1]:
            lines.append("")
        lines[-1] += piece
    return "\n".join(lines)


def stacked(value: str) -> str:
    """A heading wrapped to several short lines, none of them indented."""
    return "\n".join(line.strip() for line in folded(value, HEAD_WIDTH).split("\n"))


def draw_bar(bar: ui.Bar, width: int) -> Text:
    """A bar of ``width`` characters, divided by share; the largest remainders are rounded up.

    Every part larger than 0 gets at least one character, if there is room.
    """
    drawn = Text()
    if not bar.whole or not width:
        return drawn
    exact = [part.size / bar.whole * width for part in bar.parts]
    lengths = [int(length) for length in exact]
    by_remainder = sorted(range(len(exact)), key=lambda at: lengths[at] - exact[at])
    for at in by_remainder[: round(sum(exact)) - sum(lengths)]:
        lengths[at] += 1
    for at, part in enumerate(bar.parts):
        if part.size > 0 and not lengths[at] and max(lengths) > 1:
            lengths[lengths.index(max(lengths))] -= 1
            lengths[at] = 1
    for length, part in zip(lengths, bar.parts, strict=True):
        fill, style = FILLS[part.level % len(FILLS)]
        drawn.append(fill * length, style)
    return drawn


def banner_lines(banner: ui.Banner, console: Console, width: int) -> Iterator[Text]:
    """The verdict next to a vertical bar in its colour; the lines stand beside a short one."""
    style, word = TONES[banner.tone], f"{banner.word}  "
    first, *more = banner.lines
    indent = " " * len(word) if len(word) < width / 3 else ""
    head = Text.assemble((word[len(indent) :], f"bold {style}"), (first, HEAD))
    lead = word[: len(indent)]
    yield Text("█", style)
    for text in (head, *map(Text, more)):
        for line in text.wrap(console, max(width - len(indent) - 3, 20)):
            line.rstrip()
            yield plain_line(Text.assemble(("█  ", style), (lead, f"bold {style}"), line))
            lead = indent
    yield Text("█", style)


def fact_lines(
    facts: Sequence[ui.Note], console: Console, width: int, style: str
) -> Iterator[Text]:
    """Facts with their names in a separate column; a repeated name is shown once."""
    indent = max((len(fact.name) for fact in facts), default=0) + 2
    last = ""
    for fact in facts:
        lead = "" if fact.name == last else fact.name
        last = fact.name
        text = styled(fact.words)
        text.stylize_before(style)
        for line in text.wrap(console, max(width - indent, 20)):
            line.rstrip()
            yield plain_line(Text.assemble((lead.ljust(indent), DIM), line))
            lead = ""


def outline_lines(
    item: ui.OutlineItem, console: Console, width: int, indent: int
) -> Iterator[Text]:
    """An item of an outline, and the items inside it indented below."""
    lead = f"{item.lead}  " if item.lead else ""
    judged = all(part.tone == "text" for part in ui.parts(item.words))
    hang = len(lead) or (0 if judged else 2)
    text = Text.assemble(lead, styled(item.words))
    yield from wrapped(text, console, width, indent, hang)
    for nested in item.inner:
        yield from outline_lines(nested, console, width, indent + (len(lead) or 2))


def wrapped(
    text: Text, console: Console, width: int, indent: int = 0, hang: int = 0
) -> Iterator[Text]:
    """The text on lines that fit the width; ``hang`` indents all but the first."""
    lead = " " * indent
    for line in text.wrap(console, max(width - indent - hang, 20)):
        line.rstrip()
        yield plain_line(Text.assemble(lead, line))
        lead = " " * (indent + hang)
