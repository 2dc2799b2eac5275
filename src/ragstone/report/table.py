"""Table: a row for each metric and system, with its interval and how many scores it rests on."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from ragstone.run.estimate import Estimate

from .facts import DIM, HEAD
from .figures import (
    ARROWS,
    band,
    coloured,
    ends,
    in_percent,
    method_word,
    number,
    percent,
    scale_of,
    strip,
    why_no_value,
)
from .groups import SYSTEM, by_family, by_metric
from .render.grid import Cell, Column, Grid, Row, cell, folded, roomiest

UNDEFINED, MISSING = "yellow", "red"
METRIC_WIDTH, SYSTEM_WIDTH = 28, 22


@dataclass(frozen=True, slots=True)
class Layout:
    """What there is room for."""

    strip: int = 0
    method: bool = True
    stacked: bool = False
    """Each metric is a line of its own, with its systems below."""


LAYOUTS = (
    Layout(strip=21),
    Layout(strip=15),
    Layout(strip=11),
    Layout(strip=11, method=False),
    Layout(strip=15, stacked=True),
    Layout(strip=9, stacked=True),
    Layout(stacked=True),
    Layout(method=False, stacked=True),
)
"""From the roomiest to the narrowest; the first that fits is used."""


@dataclass(frozen=True)
class EstimateTable:
    """Estimates by family, one for each metric and system, as wide as the console lets it be."""

    estimates: Sequence[Estimate]
    suites: Sequence[str] = ()

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        grids = (self.grid(layout) for layout in LAYOUTS)
        yield roomiest(grids, options.max_width)

    def grid(self, layout: Layout) -> Grid:
        """The table in one layout."""
        return _Rows(self.estimates, self.suites, layout).grid()


@dataclass(frozen=True)
class _Rows:
    estimates: Sequence[Estimate]
    suites: Sequence[str]
    layout: Layout

    @property
    def percent(self) -> bool:
        return in_percent(self.suites)

    @property
    def systems(self) -> list[str]:
        """Shown only where there are several."""
        names = list(dict.fromkeys(one.group.get(SYSTEM, "") for one in self.estimates))
        return names if len(names) > 1 else []

    @property
    def stacked(self) -> bool:
        return self.layout.stacked and bool(self.systems)

    @property
    def bands(self) -> bool:
        return any(band(one, self.suites) for one in self.estimates)

    def grid(self) -> Grid:
        named = [] if self.stacked else [Column(), Column(gap=1)]
        system = [Column()] if self.systems else []
        figures = [Column("right"), *([Column(gap=1)] if self.bands else []), Column("right")]
        drawn = [Column()] if self.layout.strip else []
        counts = [Column("right"), Column("right"), Column("right")]
        method = [Column()] if self.layout.method else []
        rows: list[Row] = []
        columns = [*named, *system, *figures, *drawn, *counts, *method]
        for title, estimates in by_family(self.estimates).items():
            if rows:
                rows.append([])
            rows.append(self.head(title, estimates))
            for metric, ones in by_metric(estimates).items():
                rows.extend(self.metric(metric, ones, len(columns)))
        return Grid(columns, rows)

    def head(self, title: str, estimates: Sequence[Estimate]) -> Row:
        level = percent(estimates[0].level)
        named = [] if self.stacked else [cell(title, HEAD), cell()]
        system = [cell(title if self.stacked else "system", HEAD if self.stacked else DIM)]
        words = ["value %" if self.percent else "value", *([""] if self.bands else [])]
        words.append(f"{level} interval")
        if self.layout.strip:
            words.append(_axis(estimates, self.layout.strip, times_100=self.percent))
        words += ["n", "undef.", "missing", *(["method"] if self.layout.method else [])]
        return [*named, *(system if self.systems else []), *(cell(word, DIM) for word in words)]

    def metric(self, metric: str, ones: Sequence[Estimate], width: int) -> list[Row]:
        """Its rows; the lines of a long name run down beside them."""
        arrow = ARROWS[ones[0].better]
        merged = self.merged(ones)
        lines: list[Row] = []
        for one in [merged] if merged else ones:
            system = []
            if self.systems:
                name = one.group.get(SYSTEM, "all")
                if merged:
                    name = f"all {sum(SYSTEM in other.group for other in ones)}"
                system = [cell(("  " if self.stacked else "") + folded(name, SYSTEM_WIDTH))]
            lines.append([*system, *self.figures(one)])
            if one.n_missing and one.value is not None:
                lines.append([*([cell()] if self.systems else []), *self.bounds(one)])
        if self.stacked:
            return [[Cell(Text.assemble(metric, " ", (arrow, DIM)), span=width)], *lines]
        names = spread(folded(metric, METRIC_WIDTH).split("\n"), len(lines))
        arrows = [arrow] + [""] * (len(lines) - 1)
        return [
            [cell(name), cell(mark, DIM), *line]
            for name, mark, line in zip(names, arrows, lines, strict=True)
        ]

    def merged(self, ones: Sequence[Estimate]) -> Estimate | None:
        """One row for all systems where none has a value, for the same reasons."""
        if len(ones) < 2 or any(one.value is not None for one in ones):
            return None
        if len({tuple(sorted(one.reasons)) for one in ones}) > 1:
            return None
        reasons: dict[str, int] = {}
        systems = [one for one in ones if SYSTEM in one.group] or ones
        for one in systems:
            for reason, count in one.reasons.items():
                reasons[reason] = reasons.get(reason, 0) + count
        return replace(
            ones[0],
            reasons=reasons,
            n_undefined=sum(one.n_undefined for one in systems),
            n_missing=sum(one.n_missing for one in systems),
        )

    def figures(self, one: Estimate) -> list[Cell]:
        if one.value is None:
            style = MISSING if one.n_missing else UNDEFINED
            shown = [cell(why_no_value(one), style, span=self.value_columns)]
        else:
            shown = [cell(number(one.value, percent=self.percent), HEAD)]
            shown += [cell(band(one, self.suites))] if self.bands else []
            shown.append(cell(ends(one.low, one.high, percent=self.percent)))
            if self.layout.strip:
                drawn = strip(one, scale_of(one.metric), self.layout.strip)
                shown.append(Cell(coloured(drawn)))
        counts = [
            cell(f"{one.n:,}"),
            cell(f"{one.n_undefined:,}", UNDEFINED if one.n_undefined else DIM),
            cell(f"{one.n_missing:,}", MISSING if one.n_missing else DIM),
        ]
        method = [cell(method_word(one.method), DIM)] if self.layout.method else []
        return [*shown, *counts, *method]

    def bounds(self, one: Estimate) -> list[Cell]:
        """What the mean could be if the missing scores were known."""
        if one.worst is None or one.best is None:
            return []
        low, high = sorted((one.worst, one.best))
        span = self.value_columns - 1
        words = f"{ends(low, high, percent=self.percent)} worst–best"
        return [cell("↳", MISSING), cell(words, MISSING, span=span + 3)]

    @property
    def value_columns(self) -> int:
        """Value, interval and what stands between and behind them."""
        return 2 + self.bands + bool(self.layout.strip)


def spread(lines: list[str], rows: int) -> list[str]:
    """Lines dealt to rows, one each; the last row takes what is left over.

    >>> spread(["a", "b", "c"], 2), spread(["a"], 2)
    (['a', 'b\\nc'], ['a', ''])
    """
    dealt = [*lines[: rows - 1], "\n".join(lines[rows - 1 :])]
    return dealt + [""] * (rows - len(dealt))


def _axis(estimates: Sequence[Estimate], width: int, *, times_100: bool) -> str:
    """The ends of the range above the strips, where all metrics of the section share it."""
    scales = {(s.low, s.high) for one in estimates if (s := scale_of(one.metric)) is not None}
    if len(scales) != 1:
        return ""
    low, high = (f"{end * (100 if times_100 else 1):g}" for end in scales.pop())
    return low + high.rjust(width - len(low))
