"""Distribution: how often each word was given, as a bar and as counts: outcomes, grades."""

from collections.abc import Sequence
from dataclasses import dataclass

from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from ragstone.run.estimate import Estimate

from .facts import DIM, HEAD
from .figures import percent
from .groups import SYSTEM, by_metric
from .render.grid import Cell, Column, Grid, Row, cell, folded, roomiest
from .table import MISSING, SYSTEM_WIDTH, UNDEFINED

TITLES = {"answer_outcome": "Outcomes", "factual_accuracy": "Grades"}
ORDERS = {
    "answer_outcome": ("correct", "partial", "wrong", "dont_know"),
    "factual_accuracy": ("A", "B", "C", "D", "E"),
}
FILLS = (("█", "green"), ("▓", "cyan"), ("▒", "yellow"), ("░", "red"), ("▁", "magenta"))
OUTCOME_FILLS = (("█", "green"), ("▓", "yellow"), ("▒", "red"), ("░", "bright_black"))
LAYOUTS = ((30, True), (20, True), (12, True), (0, True), (16, False), (8, False))
"""Width of the bar, and whether shares stand beside the counts."""


@dataclass(frozen=True)
class Distribution:
    """The words of one metric, a line for each system."""

    metric: str
    estimates: Sequence[Estimate]

    @property
    def name(self) -> str:
        """The metric without its parameters."""
        return self.metric.split("(")[0]

    @property
    def words(self) -> list[str]:
        """Best first."""
        found = {word for one in self.estimates for word in one.labels}
        known = ORDERS.get(self.name, ())
        return [*known, *sorted(found - set(known))]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        grids = (self._grid(bar, shares) for bar, shares in LAYOUTS)
        yield roomiest(grids, options.max_width)

    def _grid(self, bar: int, shares: bool) -> Grid:
        fills = OUTCOME_FILLS if self.name == "answer_outcome" else FILLS
        fill = {word: fills[at % len(fills)] for at, word in enumerate(self.words)}
        several = len(self.estimates) > 1
        columns = [Column(), *([Column()] if bar else [])]
        columns += [Column("right") for _ in self.words]
        columns += [Column("right"), Column("right"), Column("right")]
        head = [cell(TITLES.get(self.name, self.name), HEAD), *([cell()] if bar else [])]
        head += [
            Cell(Text.assemble((fill[word][0], fill[word][1]), (f" {_spoken(word)}", DIM)))
            for word in self.words
        ]
        head += [cell("n", DIM), cell("undef.", DIM), cell("missing", DIM)]
        rows: list[Row] = [head]
        for one in self.estimates:
            who = one.group.get(SYSTEM, "all") if several else "all"
            row = [cell(folded(who, SYSTEM_WIDTH))]
            if bar:
                row.append(Cell(_bar([(one.labels.get(w, 0), *fill[w]) for w in self.words], bar)))
            row += [
                Cell(_count(one.labels.get(word, 0), one.n if shares else None))
                for word in self.words
            ]
            row += [
                cell(f"{one.n:,}"),
                cell(f"{one.n_undefined:,}", UNDEFINED if one.n_undefined else DIM),
                cell(f"{one.n_missing:,}", MISSING if one.n_missing else DIM),
            ]
            rows.append(row)
        return Grid(columns, rows)


def distributions(estimates: Sequence[Estimate]) -> list[Distribution]:
    """One for each metric that gives words."""
    found = [
        Distribution(metric, ones)
        for metric, ones in by_metric(estimates).items()
        if any(one.labels for one in ones)
    ]
    order = list(TITLES)
    return sorted(found, key=lambda one: order.index(one.name) if one.name in order else len(order))


def _spoken(word: str) -> str:
    return "don't\n  know" if word == "dont_know" else word


def _count(count: int, total: int | None) -> Text:
    if total is None:
        return Text(f"{count:,}")
    share = percent(count / total, 0) if total else "–"
    return Text.assemble(f"{count:,}", (f" {share:>5}", DIM))


def _bar(parts: Sequence[tuple[int, str, str]], width: int) -> Text:
    """A bar of ``width`` characters by share; the largest remainders are rounded up."""
    total = sum(count for count, _, _ in parts)
    bar = Text()
    if not total:
        return bar
    exact = [count / total * width for count, _, _ in parts]
    lengths = [int(length) for length in exact]
    by_remainder = sorted(range(len(parts)), key=lambda at: lengths[at] - exact[at])
    for at in by_remainder[: width - sum(lengths)]:
        lengths[at] += 1
    for length, (_, fill, style) in zip(lengths, parts, strict=True):
        bar.append(fill * length, style)
    return bar
