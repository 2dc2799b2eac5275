"""Pair table: two systems beside each other, metric by metric, with each difference drawn."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import floor, log10

from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from ragstone.decisions.comparing.compared import Comparison

from .facts import DIM, HEAD
from .figures import ARROWS, counted, drawn, ends, number, p_word, percent, signed
from .render.grid import Cell, Column, Grid, Row, cell, folded

VERDICTS = {
    "better": ("better", "bold green"),
    "worse": ("worse", "bold red"),
    "equivalent": ("equivalent", "bright_blue"),
    "same": ("same", DIM),
    "cannot_tell": ("cannot tell", DIM),
}
"""The words of a verdict and their colour, which its interval has too."""

METRIC_WIDTH, SLICE_WIDTH = 26, 20


@dataclass(frozen=True, slots=True)
class Layout:
    """What there is room for."""

    strip: int
    sizes: bool = False
    """Relative change, win rate and effect size."""
    counts: bool = True
    means: bool = True
    interval: bool = True


LAYOUTS = (
    Layout(31, sizes=True),
    Layout(25, sizes=True),
    Layout(19, sizes=True),
    Layout(15, sizes=True),
    Layout(11, sizes=True),
    Layout(31),
    Layout(25),
    Layout(19),
    Layout(15),
    Layout(11),
    Layout(15, counts=False),
    Layout(11, counts=False),
    Layout(15, counts=False, means=False),
    Layout(11, counts=False, means=False),
    Layout(15, counts=False, means=False, interval=False),
    Layout(0, counts=False, means=False, interval=False),
)
"""From the roomiest to the narrowest; the first that fits is used."""


@dataclass(frozen=True)
class PairTable:
    """Two systems, metric by metric, as wide as the console lets it be."""

    comparisons: Sequence[Comparison]
    adjusted: str
    """How p-values are, in a word."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield self.grid(self.layout(options.max_width))

    def layout(self, width: int) -> Layout:
        """The layout in which it is drawn on a console so wide."""
        fitting = (one for one in LAYOUTS if self.grid(one).width <= width)
        return next(fitting, LAYOUTS[-1])

    @property
    def scale(self) -> float:
        """Where the strips end on both sides; 0 where nothing is drawn."""
        return _scale(self.comparisons)

    def shows_margin(self, layout: Layout) -> bool:
        """Whether a strip has the margin on it, which may lie too near zero or too far out."""
        scale = self.scale
        strips = (strip(one, scale, layout.strip, "") for one in self.comparisons)
        return bool(layout.strip) and any("┊" in one.plain for one in strips)

    def grid(self, layout: Layout) -> Grid:
        """The table in one layout."""
        sliced = any(one.slice for one in self.comparisons)
        scale = self.scale
        columns = [Column(), Column(gap=1)]
        head = [cell("metric", DIM), cell()]
        if sliced:
            columns.append(Column())
            head.append(cell("slice", DIM))
        if layout.means:
            columns += [Column("right"), Column("right")]
            head += [cell("a", DIM), cell("b", DIM)]
        columns.append(Column("right"))
        head.append(cell("a - b", DIM))
        if layout.interval:
            columns.append(Column("right"))
            head.append(cell(f"{percent(self.comparisons[0].level)} interval", DIM))
        if layout.strip:
            columns.append(Column())
            head.append(cell(_axis(scale, layout.strip), DIM))
        if layout.sizes:
            columns += [Column("right"), Column("right"), Column("right")]
            head += [cell("rel.", DIM), cell("win", DIM), cell("d", DIM)]
        columns.append(Column("right"))
        head.append(cell(f"p {self.adjusted}", DIM))
        if layout.counts:
            columns.append(Column("right"))
            head.append(cell("w/t/l", DIM))
        columns.append(Column())
        head.append(cell("verdict", DIM))
        rows: list[Row] = [head]
        for ones in by_metric(self.comparisons):
            rows += self._metric(ones, layout, sliced, scale)
        return Grid(columns, rows)

    def _metric(
        self, ones: Sequence[Comparison], layout: Layout, sliced: bool, scale: float
    ) -> list[Row]:
        rows: list[Row] = []
        for place, one in enumerate(ones):
            name = folded(one.metric, METRIC_WIDTH) if place == 0 else ""
            arrow = ARROWS[one.better] if place == 0 else ""
            row = [cell(name), cell(arrow, DIM)]
            if sliced:
                row.append(cell(folded(_slice(one), SLICE_WIDTH), "" if one.slice else HEAD))
            rows.append([*row, *_figures(one, layout, scale)])
        return rows


def _figures(one: Comparison, layout: Layout, scale: float) -> list[Cell]:
    word, style = VERDICTS[one.verdict]
    row = []
    if layout.means:
        row += [cell(_number(one.value_a)), cell(_number(one.value_b))]
    row.append(cell(signed(one.difference), HEAD))
    if layout.interval:
        row.append(cell(ends(one.low, one.high)))
    if layout.strip:
        row.append(Cell(strip(one, scale, layout.strip, style)))
    if layout.sizes:
        row += [cell(_relative(one)), cell(_won(one)), cell(_effect(one))]
    row.append(cell(p_word(one.p_adjusted) or "–"))
    if layout.counts:
        row.append(cell(f"{one.wins}/{one.ties}/{one.losses}"))
    told = needed(one) or (f"{counted(one.n_pairs, 'pair')} only" if one.caution else "")
    row.append(Cell(Text.assemble((word, style), (f"  {told}" if told else "", DIM))))
    return row


def strip(one: Comparison, scale: float, width: int, style: str) -> Text:
    """The interval drawn about zero, from -scale to +scale; nothing where there is none.

    ``│`` is zero, ``┊`` the margin on both sides, ``├──┤`` the interval, ``●`` the difference.
    """
    if one.difference is None or not is_drawn(one) or not scale:
        return Text()

    letters = drawn(one.difference, one.low, one.high, start=-scale, end=scale, width=width)
    styles = [DIM if letter == "·" else style for letter in letters]
    zero = width // 2
    letters[zero] = {"·": "│", "─": "┼"}.get(letters[zero], letters[zero])
    if one.margin is not None and one.margin <= scale:
        off = round(one.margin / scale * zero)
        for at in (zero - off, zero + off):
            letters[at] = "┊" if letters[at] == "·" else letters[at]
    return Text.assemble(*zip(letters, styles, strict=True))


def _scale(comparisons: Iterable[Comparison]) -> float:
    """One, two or five times a power of ten that holds all that is drawn."""
    largest = 0.0
    for one in comparisons:
        if is_drawn(one):
            reach = [one.difference, one.low, one.high, one.margin]
            largest = max(largest, *(abs(end) for end in reach if end is not None))
    if largest == 0:
        return 0.0
    power = 10.0 ** floor(log10(largest))
    return next(step * power for step in (1, 2, 5, 10) if step * power >= largest * (1 - 1e-9))


def is_drawn(one: Comparison) -> bool:
    """Not a metric of another order than shares and cosines: it would press the rest flat."""
    reach = [abs(end) for end in (one.difference, one.low, one.high) if end is not None]
    return max(reach, default=3.0) <= 2


def _axis(scale: float, width: int) -> str:
    if not scale:
        return ""
    low, high = f"-{scale:g}", f"+{scale:g}"
    middle = "0".rjust(width // 2 + 1 - len(low))
    return low + middle + high.rjust(width // 2)


def _number(value: float | None) -> str:
    return "–" if value is None else number(value)


def _relative(one: Comparison) -> str:
    """How far a lies above b, in percent of b: ``+12.5 %``; a dash where b is 0 or less."""
    if one.relative_change is None:
        return "–"
    change = round(one.relative_change, 1) + 0.0
    return f"{'+' if change > 0 else ''}{change:,.1f} %"


def _won(one: Comparison) -> str:
    return "–" if one.win_rate is None else percent(one.win_rate.value, 0)


def _effect(one: Comparison) -> str:
    if one.effect_size is None:
        return "–"
    effect = round(one.effect_size, 2) + 0.0
    return f"{'+' if effect > 0 else ''}{effect:.2f}"


def needed(one: Comparison) -> str:
    """How many pairs, where these are too few."""
    if one.n_needed is None:
        return ""
    return f"~{one.n_needed:,}"


def _slice(one: Comparison) -> str:
    if one.slice is None:
        return "all"
    return ", ".join(one.slice.values())


def by_metric(comparisons: Iterable[Comparison]) -> list[list[Comparison]]:
    """Those of each metric together, in their order."""
    found: dict[str, list[Comparison]] = {}
    for one in comparisons:
        found.setdefault(one.metric, []).append(one)
    return list(found.values())
