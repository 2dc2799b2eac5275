"""Gate page: the verdict first, then a line for each requirement and system, then what fails."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.text import Text

from ragstone.decisions.gating.gate import Decided, Decision, GateResult

from .facts import DIM, HEAD, Facts, Paragraph, plain_line
from .failing import Failing, FailingExample
from .figures import drawn, ends, number, p_word, percent
from .gate_words import (
    GAIN,
    VERDICTS,
    WORDS,
    advice,
    gain_head,
    headline,
    is_gain,
    none_needed,
    tails,
    tested,
    value_figure,
)
from .grid import Cell, Column, Grid, Row, cell, folded
from .page import Reported
from .worst import ANSWER, QUESTION, shortened

STYLES: dict[Decision, str] = {
    "pass": "green",
    "fail": "red",
    "cannot_tell": "yellow",
    "missing": "magenta",
}
STRIP, NAME = 23, 34
LAYOUTS = ((STRIP, True), (17, True), (11, True), (7, True), (0, True), (0, False))
"""Width of the strips, and whether p is shown; the first that fits is used."""

MOST_SHOWN = 6
"""Requirements whose worst examples stand on the page."""


def gate_page(run: Reported, result: GateResult, examples: Failing) -> RenderableType:
    """What came of a gate.

    Args:
        run: The run that was decided on.
        result: What came of it.
        examples: The worst examples of what does not pass, as ``failing`` finds them.
    """
    parts: list[RenderableType] = [_Verdict(result), Text(), _about(run), Text()]
    table = _Table(result.requirements)
    parts += [table, Text()]
    parts += _worst(result, examples)
    return Group(*parts, _SmallPrint(result, table))


def bar_strip(one: Decided, width: int = STRIP) -> Text:
    """The interval about its bar, which stands in the middle.

    ``┃`` is the bar, ``├──┤`` the interval, ``●`` the value; whatever lies past the bar is drawn
    past it. The furthest end touches the edge, so each strip has its own scale.
    """
    middle = width // 2
    if one.value is None:
        return Text(f"{'·' * middle}┃{'·' * (width - middle - 1)}", DIM)
    shown = [value for value in (one.low, one.value, one.high) if value is not None]
    reach = max(abs(value - one.bar) for value in shown) or 1.0

    def place(value: float) -> int:
        off = (value - one.bar) / reach * middle
        if off == 0:
            return middle
        return middle + (max(1, round(off)) if off > 0 else min(-1, round(off)))

    at = place(one.value)
    low, high = (at if end is None else place(end) for end in (one.low, one.high))
    letters = drawn(at, low, high, start=0, end=width - 1, width=width)
    letters[middle] = "◉" if at == middle else "┃"
    text = Text("".join(letters), DIM)
    text.stylize(STYLES[one.decision], low, high + 1)
    text.stylize(HEAD, at, at + 1)
    text.stylize("not dim bold default", middle, middle + 1) if at != middle else None
    return text


@dataclass(frozen=True)
class _Verdict:
    """The verdict beside a bar of its colour, with what came out how and what to do next."""

    result: GateResult

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        style, word = STYLES[self.result.decision], VERDICTS[self.result.decision]
        said = [Text(headline(self.result), HEAD), Text(advice(self.result))]
        width = max(options.max_width - len(word) - 5, 20)
        lines = [line for text in said if text for line in text.wrap(console, width)]
        yield Text("█", style)
        for at, line in enumerate(lines):
            line.rstrip()
            lead = (word if at == 0 else "").ljust(len(word) + 2)
            yield plain_line(Text.assemble(("█  ", style), (lead, f"bold {style}"), line))
        yield Text("█", style)


def _about(run: Reported) -> RenderableType:
    data = run.manifest.get("data", {})
    rows = [("run", Text.assemble((str(run.path), HEAD), (f"  {data.get('source', '')}", DIM)))]
    return Facts(rows)


@dataclass(frozen=True)
class _Table:
    """A line for each requirement and system, as wide as the console lets it be."""

    requirements: Sequence[Decided]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        strip, p = self.layout(options.max_width)
        yield self.grid(strip, p=p)

    def layout(self, width: int) -> tuple[int, bool]:
        """The layout in which it is drawn on a console so wide."""
        known = any(one.p_adjusted is not None for one in self.requirements)
        layouts = dict.fromkeys((strip, p and known) for strip, p in LAYOUTS)
        fitting = (one for one in layouts if self.grid(one[0], p=one[1]).width <= width)
        return next(fitting, LAYOUTS[-1])

    @property
    def several(self) -> bool:
        """Whether systems stand below their requirement."""
        return len({one.group["system"] for one in self.requirements}) > 1

    @property
    def owing(self) -> bool:
        return any(one.n_missing for one in self.requirements)

    def grid(self, strip: int, *, p: bool) -> Grid:
        right = Column("right")
        optional = [*([right] if self.owing else []), *([right] if p else [])]
        drawn = [Column()] if strip else []
        columns = [Column(), Column(), right, right, *drawn, right, *optional, Column()]
        level = percent(self.requirements[0].level)
        heads = ["system" if self.several else "requirement", "", gain_head(self.requirements)]
        heads += [f"{level} interval", *(["bar".center(strip)] if strip else [])]
        heads += ["n", *(["missing"] if self.owing else [])]
        heads += ["p broken"] if p else []
        rows: list[Row] = [[cell(head, DIM) for head in heads]]
        for text, group in groupby(self.requirements, key=lambda one: one.text):
            if self.several:
                rows.append([Cell(Text(text, HEAD), span=len(columns))])
            for one in group:
                rows.append(self.line(one, strip, p=p))
                rows += [
                    [cell(), Cell(Text(f"↳ {said}", STYLES[one.decision]), span=len(columns) - 1)]
                    for said in _said(one)
                ]
        return Grid(columns, rows)

    def line(self, one: Decided, strip: int, *, p: bool) -> Row:
        name = f"  {one.group['system']}" if self.several else folded(one.text, NAME)
        owed = cell(f"{one.n_missing:,}", STYLES["missing"] if one.n_missing else DIM)
        return [
            cell(name),
            cell(WORDS[one.decision], f"bold {STYLES[one.decision]}"),
            cell(value_figure(one), HEAD),
            cell(ends(one.low, one.high)),
            *([Cell(bar_strip(one, strip))] if strip else []),
            cell(f"{one.n:,}"),
            *([owed] if self.owing else []),
            *([cell(p_word(one.p_adjusted), DIM)] if p else []),
            cell(_needed(one), "yellow"),
        ]


def _needed(one: Decided) -> str:
    if one.same:
        return "the same inputs"
    if one.n_needed is None:
        return ""
    return f"needs {one.n_needed:,}{'' if one.counted == 'examples' else f' {one.counted}'}"


def _said(one: Decided) -> list[str]:
    """What the figures do not show by themselves."""
    if one.decision in ("pass", "fail"):
        return []
    inside = one.decision == "cannot_tell" and (one.n_needed is not None or bool(one.notes))
    return [*([] if inside else [one.reason]), *none_needed(one), *one.notes]


def _worst(result: GateResult, examples: Failing) -> Iterator[RenderableType]:
    """Of what is broken; where nothing is, of what is open."""
    wanted = "fail" if result.decision == "fail" else "cannot_tell"
    places = [place for place, one in enumerate(result.requirements)
              if one.decision == wanted and examples.get(place)]  # fmt: skip
    for place in places[:MOST_SHOWN]:
        one = result.requirements[place]
        yield Text.assemble(
            ("Worst examples  ", DIM), (one.text, HEAD), (f"  {one.group['system']}", DIM)
        )
        for example in examples[place]:
            yield from _example(example)
        yield Text()
    if len(places) > MOST_SHOWN:
        yield Text(f"and of {len(places) - MOST_SHOWN} more requirements: --json has them", DIM)
        yield Text()


def _example(one: FailingExample) -> Iterator[RenderableType]:
    yield Paragraph(Text.assemble((number(one.value), HEAD), "  ", (one.example_id, "cyan")), 2)
    yield Paragraph(Text(f"Q  {shortened(one.question, QUESTION)}"), 4, 3)
    yield Paragraph(Text(f"A  {shortened(one.answer, ANSWER)}"), 4, 3)
    for reason in one.reasons:
        yield Paragraph(Text(f"–  {reason}", "yellow"), 4, 3)


@dataclass(frozen=True)
class _SmallPrint:
    """What the words and columns mean that the table has at this width."""

    result: GateResult
    table: _Table

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        strip, p = self.table.layout(options.max_width)
        yield _small_print(self.result, strip=bool(strip), p=p)


def _when_broken(result: GateResult, *, p: bool) -> list[tuple[str, str]]:
    """Nothing can be broken where nothing was tested."""
    if not tested(result):
        return []
    what = "p broken" if p else "its p"
    of = f"the {tested(result):,} requirements and systems"
    return [
        ("broken", f"the opposite is shown: {what} at most {result.level:g}, by Holm over {of}")
    ]


def _small_print(result: GateResult, *, strip: bool, p: bool) -> Facts:
    level = percent(1 - 2 * result.level)
    gains = any(map(is_gain, result.requirements))
    labelled = any(one.counted == "labels" for one in result.requirements)
    rows = []
    if result.on == "interval":
        rows += [
            ("holds", f"the whole {level} interval clears the bar (one-sided level "
                      f"{result.level:g}, not adjusted, for all must hold)"),
            *_when_broken(result, p=p),
            ("open", "neither; needs: so many examples of a system in all, if its value stays"),
            *tails(result),
        ]  # fmt: skip
    else:
        rows += [("decided", "on the values alone; another sample could turn them")]
    rows += [
        ("missing", f"more than {percent(result.max_missing)} of the scores, or few that could "
                    "turn the decision at their worst or best"),
        *([("gain", GAIN.removeprefix("gain: "))] if gains else []),
        *([("n", "so many labels of people correct the estimate")] if labelled else []),
        *([("strip", "┃ the bar, ├─●─┤ interval and value, each line on a scale of its own")]
          if strip else []),
    ]  # fmt: skip
    return Facts([(name, Text(said, DIM)) for name, said in rows])
