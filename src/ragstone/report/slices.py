"""Slices: metrics by the values of one field, side by side."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from ragstone.run.estimate import Estimate

from .facts import DIM, HEAD
from .figures import ARROWS, in_percent, number
from .groups import SYSTEM, by_family, by_metric
from .render.grid import Cell, Column, Grid, Row, cell, folded
from .table import METRIC_WIDTH, MISSING, SYSTEM_WIDTH, UNDEFINED, spread

SHOWN_VALUES = 24
HEAD_WIDTH = 12


@dataclass(frozen=True)
class SliceTable:
    """One row a metric and system, one column a value of the field: the mean and its n.

    Values that do not fit beside each other stand in tables below each other.
    Metrics without any value are left out; the whole says why they have none.
    """

    field: str
    estimates: Sequence[Estimate]
    suites: Sequence[str] = ()

    @property
    def values(self) -> list[str]:
        """The field's values; of very many the most frequent."""
        size: dict[str, int] = {}
        for one in self.estimates:
            value = one.group[self.field]
            size[value] = max(size.get(value, 0), one.total)
        if len(size) <= SHOWN_VALUES:
            return list(size)
        return sorted(size, key=lambda value: -size[value])[:SHOWN_VALUES]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        rest = self.values
        stacked = self.several and self.grid(rest).width > options.max_width
        while rest:
            fitting = len(rest)
            while fitting > 1 and self.grid(rest[:fitting], stacked).width > options.max_width:
                fitting -= 1
            yield self.grid(rest[:fitting], stacked)
            rest = rest[fitting:]
            if rest:
                yield Text()
        hidden = len({one.group[self.field] for one in self.estimates}) - len(self.values)
        if hidden > 0:
            yield Text(f"and {hidden:,} rarer values of {self.field}, with --json", style=DIM)

    @property
    def several(self) -> bool:
        """Whether there are several systems to name."""
        return len({one.group.get(SYSTEM) for one in self.estimates}) > 1

    def grid(self, values: Sequence[str], stacked: bool = False) -> Grid:
        """Some values beside each other; stacked, with each metric on a line of its own."""
        named = [] if stacked else [Column(), Column(gap=1)]
        system = [Column()] if self.several else []
        figures = [column for _ in values for column in (Column("right"), Column("right", gap=1))]
        title = cell(f"By {self.field}", HEAD)
        head = [title] if stacked else [title, cell(), *([cell("system", DIM)] if system else [])]
        for value in values:
            head += [cell(_stacked(value), DIM), cell("n", DIM)]
        rows: list[Row] = [head]
        columns = [*named, *system, *figures]
        ordered = [one for ones in by_family(self.estimates).values() for one in ones]
        for metric, ones in by_metric(ordered).items():
            if all(one.value is None for one in ones):
                continue
            lines = list(self._lines(ones, values, "  " if stacked else ""))
            arrow = ARROWS[ones[0].better]
            if stacked:
                name = Text.assemble(metric, " ", (arrow, DIM))
                rows += [[Cell(name, span=len(columns))], *lines]
                continue
            names = spread(folded(metric, METRIC_WIDTH).split("\n"), len(lines))
            arrows = [arrow] + [""] * (len(lines) - 1)
            rows += [
                [cell(name), cell(mark, DIM), *line]
                for name, mark, line in zip(names, arrows, lines, strict=True)
            ]
        return Grid(columns, rows)

    def _lines(
        self, ones: Sequence[Estimate], values: Sequence[str], indent: str
    ) -> Iterator[list[Cell]]:
        percent = in_percent(self.suites)
        found = {(one.group.get(SYSTEM, ""), one.group[self.field]): one for one in ones}
        for system in dict.fromkeys(system for system, _ in found):
            name = [cell(indent + folded(system, SYSTEM_WIDTH))] if self.several else []
            yield [
                *name,
                *(
                    part
                    for value in values
                    for part in _figures(found.get((system, value)), percent)
                ),
            ]


def _figures(one: Estimate | None, percent: bool) -> list[Cell]:
    if one is None or not one.total:
        return [cell("–", DIM), cell()]
    if one.value is not None:
        return [cell(number(one.value, percent=percent)), cell(f"{one.n:,}", DIM)]
    if one.n_missing:
        return [cell("missing", MISSING), cell("0", DIM)]
    return [cell("undef.", UNDEFINED), cell("0", DIM)]


def _stacked(value: str) -> str:
    """A value over several short lines, none of them standing in."""
    return "\n".join(line.strip() for line in folded(value, HEAD_WIDTH).split("\n"))
