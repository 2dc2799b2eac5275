"""Terminal: a page as text that fits the width of the console; nothing is ever cut off."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from io import StringIO
from itertools import groupby

from rich.console import Console, ConsoleOptions, RenderResult
from rich.segment import Segment
from rich.text import Text

from ragstone.core.escape import visible
from ragstone.core.messages import in_shell, throughout
from ragstone.report import page as ui
from ragstone.report.number_format import ARROWS, ends, percent, tight

from .text_cells import (
    DIM,
    FILLS,
    HEAD,
    OUTCOMES,
    SHORT,
    TONES,
    Grid,
    GridCell,
    GridColumn,
    axis,
    banner_lines,
    broken_name,
    cell,
    coloured,
    counts_of,
    draw_bar,
    fact_lines,
    folded,
    indented,
    outline_lines,
    spread,
    stacked,
    strip,
    styled,
    styled_name,
    value_of,
    words_of,
    wrapped,
)

# Widths of a strip: the largest, the one for which names are wrapped, the smallest.
WIDEST, WIDE, NARROWEST = 31, 21, 11

NAME_WIDTH = 30
WIDE_NAME, NARROW_NAME, NARROWEST_NAME, SHORT_HEAD = 72, 20, 12, 7
# The details of at most this many rows are shown; JSON has them all.
MOST_DETAILS = 6


@dataclass(frozen=True, slots=True)
class _Layout:
    """The way a table is drawn; columns with a ``drop`` up to ``cut`` are left out.

    ``stacked`` puts names that several rows share on their own lines; names wrap at ``names``, and
    values in ``peer`` columns have ``places`` decimals.
    """

    strip: int
    cut: int = 0
    stacked: bool = False
    names: int = NAME_WIDTH
    places: int = 3


@dataclass(frozen=True)
class Shown:
    """A page that Rich can print on a console."""

    page: ui.Page

    def __post_init__(self) -> None:
        object.__setattr__(self, "page", throughout(self.page, in_shell))

    @property
    def small(self) -> ui.Facts | None:
        """The last block of small print; the legend of the drawings follows it."""
        blocks = [block for part in self.page.sections for block in part.blocks]
        small = [block for block in blocks if isinstance(block, ui.Facts) and block.small]
        return small[-1] if small else None

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        width = options.max_width
        drawn = [(table, layout(table, width)) for table in self.page.tables]
        layouts = {id(table): item for table, item in drawn}
        heads = {table.columns[at].head for table, item in drawn for at in _kept(table, item)}
        small = self.small

        def lines_of(block: ui.Block) -> Iterator[Text | Segment]:
            match block:
                case ui.Banner():
                    yield from banner_lines(block, console, width)
                case ui.Paragraphs():
                    for words in block.lines:
                        yield from wrapped(styled(words), console, width)
                case ui.Verbatim():
                    # As text, tabs would become blanks.
                    yield from (Segment(f"    {line}\n") for line in block.lines)
                case ui.Facts():
                    pieces = [fact for fact in block.rows if not fact.needs or fact.needs in heads]
                    pieces += _legend(drawn) if block is small else []
                    yield from fact_lines(pieces, console, width, DIM if block.small else "")
                case ui.Table():
                    yield from _table(block, layouts[id(block)], console, width)
                    yield from _details(block, console, width)
                case ui.Outline():
                    yield from [Text(block.title, DIM)] if block.title else []
                    for item in block.items:
                        yield from outline_lines(item, console, width, 2)

        first = True
        for section in self.page.sections:
            titled = bool(ui.plain(section.title))
            for block in section.blocks:
                lines = list(lines_of(block))
                if not lines:
                    continue
                if not first:
                    yield Text()
                first = False
                if titled:
                    yield from wrapped(styled(section.title, HEAD), console, width, hang=2)
                    titled = False
                yield from lines


def as_text(page: ui.Page, width: int = 100) -> str:
    """The page as plain text, without colours."""
    console = Console(file=StringIO(), width=width, highlight=False, emoji=False, markup=False,
                      color_system=None)  # fmt: skip
    console.print(Shown(page), crop=False)
    assert isinstance(console.file, StringIO)
    return visible(console.file.getvalue())


def layout(table: ui.Table, width: int) -> _Layout:
    """The roomiest layout in which the table fits, or the narrowest if none does."""
    if _tight(table):
        strips = (WIDE, NARROWEST) if any(map(table.draws, range(len(table.columns)))) else ()
        fitted = [_Layout(strip, names=WIDE_NAME) for strip in (*strips, 0)]
        fitted.append(_Layout(0, names=WIDE_NAME, places=2))
        return next((item for item in fitted if grid(table, item).width <= width), fitted[-2])
    drawn = sum(table.draws(at) for at in range(len(table.columns)))
    for layout, least in layouts(table, drawn > 0):
        excess = max(grid(table, layout).width - width, 0)
        strip = layout.strip - -(-excess // drawn) if layout.strip else 0
        narrowed = replace(layout, strip=strip - 1 + strip % 2 if strip else 0)
        if narrowed.strip >= least and (not excess or grid(table, narrowed).width <= width):
            return narrowed
    return layout


def _tight(table: ui.Table) -> bool:
    return any(
        column.peer and table.holds(at, ui.IntervalCell) for at, column in enumerate(table.columns)
    )


def layouts(table: ui.Table, drawn: bool) -> Iterator[tuple[_Layout, int]]:
    """Layouts from the roomiest to the narrowest, each with the smallest width of its strips.

    First strips shrink, then long names wrap, columns are dropped, and names get their own lines.
    """
    shares = any(isinstance(cell, ui.Share) for row in table.rows for cell in row.cells)
    cuts = sorted({0, *(column.drop for column in table.columns), *([1] if shares else [])})
    strip, wide, least = (WIDEST, WIDE, NARROWEST) if drawn else (0, 0, 0)
    stackable = _stackable(table)
    yield _Layout(strip, names=WIDE_NAME), wide
    for cut in cuts[:2] if stackable else cuts:
        yield _Layout(strip, cut), least
        yield _Layout(least, cut, names=NARROW_NAME), least
        if not drawn:
            yield _Layout(0, cut, names=NARROWEST_NAME), 0
        if shares:
            yield _Layout(0, cut), 0
    if stackable:
        yield from ((_Layout(strip, cut, stacked=True), least) for cut in cuts)
    yield _Layout(0, cuts[-1], stackable), 0
    yield _Layout(0, cuts[-1], stackable, NARROWEST_NAME), 0
    if table.columns[0].key and not stackable:
        yield _Layout(0, cuts[-1], stacked=True), 0


def _stackable(table: ui.Table) -> bool:
    if not table.columns[0].key:
        return False
    return any(table.holds(at, ui.RowName) for at in _kept(table, _Layout(0))[1:])


def grid(table: ui.Table, layout: _Layout) -> Grid:
    """A table in one layout."""
    return _Drawing(table, layout).grid()


@dataclass(frozen=True)
class _Drawing:
    table: ui.Table
    layout: _Layout

    @cached_property
    def kept(self) -> list[int]:
        return _kept(self.table, self.layout)

    @cached_property
    def shapes(self) -> dict[int, list[GridColumn]]:
        return {at: self.shaped(at) for at in range(len(self.table.columns))}

    @cached_property
    def intervals(self) -> dict[int, tuple[bool, bool]]:
        looks = {}
        for at in range(len(self.table.columns)):
            cells = [row.cells[at] for row in self.table.rows]
            intervals = [cell for cell in cells if isinstance(cell, ui.IntervalCell)]
            if intervals:
                words = any(cell.word for cell in intervals)
                looks[at] = (words, bool(self.layout.strip) and self.table.draws(at))
        return looks

    @cached_property
    def alone(self) -> bool:
        return self.layout.stacked and not _stackable(self.table)

    def grid(self) -> Grid:
        columns = [column for at in self.kept for column in self.shapes[at]]
        lines: list[list[GridCell]] = []
        tight = _tight(self.table)
        for group in self.table.groups:
            if tight and lines:
                lines.append([cell(group.title, HEAD, span=len(columns))])
                lines += self.rows(group.rows, len(columns))
                continue
            lines += [[]] if lines else []
            if self.alone:
                title = group.title or self.table.columns[0].head
                lines.append([cell(title, HEAD if group.title else DIM, span=len(columns))])
            head = self.head(group)
            lines += [head] if any(item.text for item in head) else []
            lines += self.rows(group.rows, len(columns))
        return Grid(columns, lines)

    def shaped(self, at: int) -> list[GridColumn]:
        right, close = GridColumn("right"), GridColumn(gap=1)
        cells = [row.cells[at] for row in self.table.rows]
        if at in self.intervals:
            words, drawn = self.intervals[at]
            strip = [GridColumn()] if drawn else []
            if self.table.columns[at].peer:
                counted = any(
                    isinstance(item, ui.IntervalCell) and counts_of(item) for item in cells
                )
                return [GridColumn(), close, *([close] if counted else []), *strip]
            return [right, *([close] if words else []), right, *strip]
        if any(isinstance(item, ui.RowName) for item in cells):
            arrows = any(isinstance(item, ui.RowName) and item.better for item in cells)
            return [GridColumn(), *([close] if arrows else [])]
        if any(isinstance(item, ui.Number) for item in cells):
            counted = any(isinstance(item, ui.Number) and item.n is not None for item in cells)
            return [right, *([GridColumn("right", gap=1)] if counted else [])]
        numeric = (ui.Count, ui.P, ui.Share)
        return [right] if any(isinstance(item, numeric) for item in cells) else [GridColumn()]

    def head(self, group: ui.Group) -> list[GridCell]:
        cells: list[GridCell] = []
        for index, at in enumerate(self.kept):
            column, more = self.table.columns[at], len(self.shapes[at]) - 1
            row_cells = [row.cells[at] for row in group.rows]
            intervals = [item for item in row_cells if isinstance(item, ui.IntervalCell)]
            ticks = cell(axis(
                [interval.scale for interval in intervals if interval.scale is not None],
                self.layout.strip,
                percent=not column.peer and any(interval.percent for interval in intervals),
                signed=not column.peer and any(interval.signed for interval in intervals),
            ), DIM)  # fmt: skip
            worded, drawn = self.intervals.get(at, (False, False))
            if column.peer and at in self.intervals:
                name = cell(broken_name(column.head), DIM, span=more + 1 - drawn)
                cells += [name, *([ticks] if drawn else [])]
                continue
            title = group.title if index == 0 and not self.alone else ""
            words = title or column.head
            first = Text(stacked(words) if column.peer else words, HEAD if title else DIM)
            if column.fill is not None:
                fill, style = FILLS[column.fill % len(FILLS)]
                first = Text.assemble((f"{fill} ", style), (folded(words, SHORT_HEAD), DIM))
            cells.append(GridCell(first))
            if at in self.intervals:
                text = "interval" if column.level is None else f"{percent(column.level)} interval"
                cells += [*([cell()] if worded else []), cell(text, DIM)]
                cells += [ticks] if drawn else []
            else:
                counted = any(isinstance(item, ui.Number) for item in row_cells)
                cells += (cell("n", DIM) if counted else cell() for _ in range(more))
        return cells

    def rows(self, rows: Sequence[ui.Row], width: int) -> Iterator[list[GridCell]]:
        for _, shared in groupby(rows, key=self.key):
            run = list(shared)
            name = self.key(run[0])
            lines = [line for row in run for line in self.lines(row, width)]
            if name is None:
                yield from lines
                continue
            if self.layout.stacked:
                yield [GridCell(styled_name(name), span=width)]
                for line in lines:
                    first = line[0]
                    yield [GridCell(indented(first.text), first.span), *line[1:]]
                continue
            arrow = len(self.shapes[self.kept[0]]) > 1
            names = spread(folded(name.text, self.layout.names).split("\n"), len(lines))
            for at, (words, line) in enumerate(zip(names, lines, strict=True)):
                mark = ARROWS[name.better] if at == 0 and name.better else ""
                style = HEAD if name.strong else ""
                yield [cell(words, style), *([cell(mark, DIM)] if arrow else []), *line]

    def key(self, row: ui.Row) -> ui.RowName | None:
        first = row.cells[0]
        keyed = self.table.columns[0].key and isinstance(first, ui.RowName)
        return first if keyed and isinstance(first, ui.RowName) else None

    def lines(self, row: ui.Row, width: int) -> Iterator[list[GridCell]]:
        keyed = self.key(row) is not None and not self.layout.stacked
        columns = [at for at in self.kept if not (at == 0 and keyed)]
        cells: list[GridCell] = []
        for at in columns:
            item = row.cells[at]
            if item is None:
                last = cells.pop()
                cells.append(GridCell(last.text, last.span + len(self.shapes[at])))
            else:
                cells += self.cells(item, at)
        yield cells
        names = [at for at in columns if isinstance(row.cells[at], ui.RowName)]
        before = sum(len(self.shapes[at]) for at in names)
        width -= len(self.shapes[0]) if keyed else 0
        before = before if before < width else 0
        tone = row.verdict.tone if row.verdict else ""
        for words in row.below:
            if all(part.tone == "quiet" for part in ui.parts(words)):
                yield [GridCell(Text.assemble("  ", styled(words)), span=width)]
                continue
            text = Text.assemble("↳ ", styled(words), style=TONES[tone])
            yield [*(cell() for _ in range(before)), GridCell(text, span=width - before)]

    def cells(self, item: ui.Cell, at: int) -> list[GridCell]:
        wide = len(self.shapes[at])
        match item:
            case ui.IntervalCell() if self.table.columns[at].peer:
                return self.tight(item, at)
            case ui.IntervalCell():
                worded, drawn = self.intervals[at]
                both = ends(item.low, item.high, percent=item.percent)
                cells = [cell(value_of(item), HEAD if item.strong else "")]
                cells += [*([cell(item.word)] if worded else []), cell(both)]
                return [*cells, GridCell(self.drawn(item))] if drawn else cells
            case ui.Why():
                style = TONES[OUTCOMES[item.outcome]]
                tight = self.table.columns[at].peer and at in self.intervals
                if item.words or tight:
                    return [cell(item.words or SHORT[item.outcome], style, span=wide)]
                zeros = (cell("0", DIM) for _ in range(wide - 1))
                return [cell(SHORT[item.outcome], style), *zeros]
            case ui.RowName():
                words = folded(item.text, self.layout.names)
                arrow = [cell(ARROWS[item.better] if item.better else "", DIM)] if wide > 1 else []
                return [cell(words, HEAD if item.strong else ""), *arrow]
            case ui.Number() if wide > 1:
                n = "" if item.n is None else f"{item.n:,}"
                return [GridCell(styled(words_of(item))), cell(n, DIM)]
            case ui.Bar():
                return [GridCell(draw_bar(item, self.layout.strip))]
            case ui.Share() if self.layout.cut:
                return [cell(f"{item.count:,}")]
        text = styled(words_of(item))
        if text.cell_len > 2 * self.layout.names and "\n" not in text.plain:
            lines = folded(text.plain, 2 * self.layout.names)
            text = Text(lines, text.spans[0].style if text.spans else "")
        return [GridCell(text), *(cell() for _ in range(wide - 1))]

    def tight(self, item: ui.IntervalCell, at: int) -> list[GridCell]:
        style, mark = (HEAD, "*") if item.leads else ("", "")
        value, *both = (
            "–" if figure is None else tight(figure, self.layout.places, percent=item.percent)
            for figure in (item.value, item.low, item.high)
        )
        between = "–".join(end for end in both if end != "–") or item.word
        behind = Text(" ").join(styled(text) for text in counts_of(item))
        drawn = [GridCell(self.drawn(item))] if self.intervals[at][1] else []
        counted = len(self.shapes[at]) - len(drawn) > 2
        return [cell(f"{value}{mark}", style), cell(between, DIM),
                *([GridCell(behind)] if counted else []), *drawn]  # fmt: skip

    def drawn(self, interval: ui.IntervalCell) -> Text:
        tone = TONES[interval.tone] or "cyan"
        value = "bold bright_cyan" if not interval.tone else f"{HEAD} {tone}"
        return coloured(strip(interval, self.layout.strip), tone, value)


def _kept(table: ui.Table, layout: _Layout) -> list[int]:
    return [
        at
        for at, column in enumerate(table.columns)
        if not (column.drop and column.drop <= layout.cut)
        and not (layout.stacked and at == 0 and column.key)
        and table.tells(at)
        and not (layout.strip == 0 and table.holds(at, ui.Bar))
    ]


def _legend(drawn: Sequence[tuple[ui.Table, _Layout]]) -> list[ui.Note]:
    letters, scales = set[str](), set[ui.Scale]()
    for table, item in drawn:
        columns = _kept(table, item) if item.strip else []
        for collected in (row.cells[at] for row in table.rows for at in columns):
            if isinstance(collected, ui.IntervalCell) and collected.scale and collected.scale.marks:
                letters |= set(strip(collected, item.strip))
                scales.add(collected.scale)
    marks = {mark.what for scale in scales for mark in scale.marks}
    pieces = ["┃ the bar"] if letters & set("┃◉") else []
    pieces += ["┊ the margin"] if "┊" in letters and "margin" in marks else []
    pieces += ["┊ expected by chance"] if "┊" in letters and "chance" in marks else []
    if not pieces:
        return []
    scales_note = ", each line on its own scale" if pieces[0].startswith("┃") else ""
    return [ui.Note("strip", f"{', '.join(pieces)}, ├─●─┤ interval and value{scales_note}")]


def _table(table: ui.Table, layout: _Layout, console: Console, width: int) -> Iterator[Text]:
    peers = [at for at, column in enumerate(table.columns) if column.peer]
    while True:
        fitting = len(peers)
        while fitting > 1 and grid(_with(table, peers[:fitting]), layout).width > width:
            fitting -= 1
        yield from grid(_with(table, peers[:fitting]), layout).lines(console)
        peers = peers[fitting:]
        if not peers:
            return
        yield Text()


def _with(table: ui.Table, peers: Sequence[int]) -> ui.Table:
    at = [at for at, column in enumerate(table.columns) if not column.peer or at in peers]
    if len(at) == len(table.columns):
        return table
    rows_of = (
        tuple(ui.Row(tuple(row.cells[index] for index in at), row.below) for row in group.rows)
        for group in table.groups
    )
    groups = tuple(map(ui.Group, rows_of, (group.title for group in table.groups)))
    return ui.Table(tuple(table.columns[index] for index in at), groups, table.details)


def _details(table: ui.Table, console: Console, width: int) -> Iterator[Text]:
    rows = [row for row in table.rows if row.detail]
    tones = {row.verdict.tone for row in rows if row.verdict}
    for tone in ("bad", "caution", "missing"):
        if tone in tones:
            rows = [row for row in rows if row.verdict and row.verdict.tone == tone]
            break
    for row in rows[:MOST_DETAILS]:
        yield Text()
        name, *more = row.names
        yield Text.assemble((f"{table.details}  ", DIM), (name, HEAD), (f"  {' '.join(more)}", DIM))
        for item in row.detail:
            yield from outline_lines(item, console, width, 2)
    if len(rows) > MOST_DETAILS:
        yield Text()
        yield Text(f"and of {len(rows) - MOST_DETAILS} more: --json has them", DIM)
