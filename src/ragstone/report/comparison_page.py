"""Comparison page: who is better than whom, as ``ragstone compare`` prints it."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.text import Text

from ragstone.decisions.comparing.compared import NARROW, Comparison, Comparisons
from ragstone.decisions.comparing.ranking import Ranked

from .facts import DIM, HEAD, Facts
from .figures import METHODS, counted, ends, number, percent
from .pair_table import METRIC_WIDTH, VERDICTS, Layout, PairTable, by_metric, needed
from .render.grid import Column, Grid, Row, cell, folded

TESTS = {
    "mcnemar_exact": ("McNemar's exact test", "rates, one pair a cluster"),
    "sign_flip_exact": ("sign flips", "all of them, where clusters are few"),
    "sign_flip": ("sign flips", "{flips:,} at random, seed {seed}"),
}

ADJUSTED = {
    "holm": ("Holm", "no false finding among all, but for {alpha}"),
    "bh": ("BH", "Benjamini-Hochberg: {alpha} of the findings false"),
}

Drawn = tuple[PairTable, Layout]

OF_DIFFERENCES = {
    "t": "a mean difference, one pair a cluster",
    "cluster_t": "a mean difference whose pairs share clusters",
    "bounded_wilson": "all pairs differ alike: the share that may not, as far as scores can differ",
}
"""What some interval methods are, where they enclose a difference."""


def comparison_page(found: Comparisons) -> RenderableType:
    """Header, a table for each pair of systems, the ranking, the small print."""
    parts: list[RenderableType] = [_header(found)]
    tables = []
    for (a, b), ones in found.between().items():
        tables.append(PairTable(ones, ADJUSTED[found.adjust][0]))
        parts += [Text(), _title(a, b, ones), tables[-1]]
    ranked = _ranked(found)
    if ranked:
        about = "  Bradley-Terry: the chance to win against a system of average strength"
        title = Text.assemble(("Ranking", HEAD), (about, DIM))
        parts += [Text(), title, RankingTable(ranked)]
    return Group(*parts, Text(), _Footer(found, tables))


@dataclass(frozen=True)
class RankingTable:
    """Metric by metric the systems; side by side where there is room, else one after another."""

    ranked: Sequence[Sequence[Ranked]]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        systems = list(dict.fromkeys(one.system for ones in self.ranked for one in ones))
        rows: list[Row] = [[cell("metric", DIM), *(cell(name, DIM) for name in systems)]]
        for ones in self.ranked:
            of = {one.system: one for one in ones}
            cells = [cell(_chance(of[name])) for name in systems]
            rows.append([cell(folded(ones[0].metric, METRIC_WIDTH)), *cells])
        grid = Grid([Column() for _ in rows[0]], rows)
        if grid.width <= options.max_width:
            yield grid
            return
        yield Facts(
            [
                (ones[0].metric, Text(" · ".join(f"{one.system} {_chance(one)}" for one in ones)))
                for ones in self.ranked
            ]
        )


def _header(found: Comparisons) -> RenderableType:
    pairs = len(found.between())
    metrics = len(by_metric(found.comparisons))
    size = f"  {counted(pairs, 'pair')} of systems · {counted(metrics, 'metric')}"
    what = Text.assemble((" against ".join(found.runs), HEAD), size)
    rows = [("compared", what)]
    cluster = "" if found.cluster == "question_id" else f"; clusters by {found.cluster}"
    rows.append(("paired", Text(f"question by question{cluster}")))
    if found.margin is None:
        words = Text("not stated, so nothing is equivalent: --margin X", DIM)
    else:
        words = Text(f"±{found.margin:g}, in the unit of each metric")
    return Facts([*rows, ("margin", words)])


def _title(a: str, b: str, ones: Sequence[Comparison]) -> RenderableType:
    counts = Counter[str](one.verdict for one in ones)
    told = Text()
    for verdict, (word, style) in VERDICTS.items():
        if counts[verdict]:
            told.append(" · " if told else "  ", DIM).append(f"{counts[verdict]} {word}", style)
    names = Text.assemble(("a ", DIM), (a, HEAD), ("  against  b ", DIM), (b, HEAD))
    return Text.assemble(names, told)


@dataclass(frozen=True)
class _Footer:
    """The small print, which explains what the tables draw at this width and nothing else."""

    found: Comparisons
    tables: Sequence[PairTable]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        drawn = [(one, one.layout(options.max_width)) for one in self.tables]
        yield _small_print(self.found, drawn)


def _small_print(found: Comparisons, drawn: Sequence[Drawn]) -> RenderableType:
    alpha = percent(1 - found.level)
    rows: list[tuple[str, Text]] = []
    for method in dict.fromkeys(one.method for one in found.comparisons if one.method):
        word, about = METHODS.get(method, (method, ""))
        about = OF_DIFFERENCES.get(method, about)
        rows.append(("intervals", Text.assemble((word, HEAD), f"  {about}")))
    for test in dict.fromkeys(one.test for one in found.comparisons if one.test):
        word, about = TESTS[test]
        told = about.format(flips=found.resamples, seed=found.seed)
        rows.append(("tests", Text.assemble((word, HEAD), f"  {told}")))
    word, about = ADJUSTED[found.adjust]
    told = f"  {about.format(alpha=alpha)}; over {counted(found.family, 'test')}"
    rows.append(("adjusted", Text.assemble((word, HEAD), told)))
    rows += [("reading", Text(line)) for line in _reading(found, drawn, alpha)]
    for reason, metrics in _reasons(found.comparisons).items():
        rows.append(("of note", Text(f"{reason}: {', '.join(metrics)}")))
    for name, text in rows:
        if name != "notes":
            text.stylize_before(DIM)
    return Facts([*rows, *(("notes", Text(note)) for note in found.notes)])


def _reading(found: Comparisons, drawn: Sequence[Drawn], alpha: str) -> list[str]:
    layouts = [layout for _, layout in drawn]
    parts = ["↑ more is better, ↓ less is better, · neither"]
    if any(one.means for one in layouts):
        parts.append("a and b are means over their pairs")
    if any(one.counts for one in layouts):
        parts.append("w/t/l: pairs on which a is ahead, both are equal, b is ahead")
    lines = ["; ".join(parts)]
    if any(one.sizes for one in layouts):
        lines.append(
            "rel.: a - b in percent of b; win: share of pairs on which a is ahead, a tie half; "
            "d: the mean difference over the differences' standard deviation (Cohen's d_z)"
        )
    if found.margin is not None:
        mark = " ┊" if any(table.shows_margin(layout) for table, layout in drawn) else ""
        lines.append(
            f"equivalent: inside the margin{mark} by two one-sided tests, at a p of {alpha} at the "
            f"most by Holm over {counted(found.equivalence_family, 'test')}; else better or worse "
            "at an adjusted p of as much"
        )
    if any(one.verdict == "same" for one in found.comparisons):
        lines.append("same: the same inputs, judge and prompts on every pair, so nothing is tested")
    if any(one.caution for one in found.comparisons):
        lines.append("N pairs only: a verdict from so few is to be taken as rough")
    if any(needed(one) for one in found.comparisons):
        lines.append("cannot tell ~N: half the interval would be the margin at N pairs in all")
    if any(_narrow(one) for one in found.comparisons):
        lines.append(
            "cannot tell without ~N: half the interval is within the margin already, and the "
            "difference too near 0 or the margin"
        )
    return lines


def _reasons(comparisons: Iterable[Comparison], shown: int = 6) -> dict[str, list[str]]:
    """Why something cannot be told, and of which metrics."""
    found: dict[str, dict[str, None]] = {}
    for one in comparisons:
        if one.slice is None:
            for reason in (one.reason or "").split("; "):
                found.setdefault(reason, {})[one.metric] = None
    found.pop("", None)
    told = {}
    for reason, metrics in found.items():
        more = [f"{len(metrics) - shown} more"] if len(metrics) > shown else []
        told[reason] = [*list(metrics)[:shown], *more]
    return told


def _narrow(one: Comparison) -> bool:
    """Whether more pairs would help, although the interval is as narrow as the margin."""
    return one.n_needed_reason == NARROW


def _chance(one: Ranked) -> str:
    if one.win_probability is None:
        return f"won {percent(one.win_share, 0)}"
    return f"{number(one.win_probability)}  {ends(one.win_low, one.win_high)}"


def _ranked(found: Comparisons) -> list[list[Ranked]]:
    """The systems of each metric on which any is ahead."""
    by_name: dict[str, list[Ranked]] = {}
    for one in found.ranking:
        by_name.setdefault(one.metric, []).append(one)
    return [ones for ones in by_name.values() if any(one.win_share != 0.5 for one in ones)]
