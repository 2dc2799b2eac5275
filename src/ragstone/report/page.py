"""Page: what is shown, as data: sections of sentences, facts, tables with typed cells, charts.

A page is built once from a typed result, and every renderer in ``render`` shows it in its way: a
terminal draws an interval as ``├─●─┤``, HTML as SVG, Markdown writes it in figures, JSON gives
the result's own record. Cells are facts; how they look is the renderer's.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from typing import Any, Literal

Tone = Literal[
    "", "good", "bad", "caution", "undefined", "missing", "equal", "quiet", "name", "text"
]
"""What words are, so that a renderer can colour them; ``name`` is an id, ``text`` is under
judgement and not ours."""

Outcome = Literal["undefined", "missing", "unknown"]
"""Why there is no value: the definition gives none, a judge owes it, or it cannot be told."""

Record = Mapping[str, Any] | Sequence[Any]


@dataclass(frozen=True, slots=True)
class Phrase:
    """A few words of one tone."""

    text: str
    tone: Tone = ""
    strong: bool = False


Words = str | Phrase | Sequence[str | Phrase]


def strong(text: str, tone: Tone = "") -> Phrase:
    """Words that stand out."""
    return Phrase(text, tone, strong=True)


def quiet(text: str) -> Phrase:
    """Words that stand back."""
    return Phrase(text, "quiet")


def parts(words: Words) -> tuple[Phrase, ...]:
    """The words one by one."""
    several = [words] if isinstance(words, str | Phrase) else words
    return tuple(Phrase(one) if isinstance(one, str) else one for one in several)


def plain(words: Words) -> str:
    """The words without their tones."""
    return "".join(one.text for one in parts(words))


@dataclass(frozen=True, slots=True)
class Mark:
    """A place on a scale: the bar to clear, zero, the margin's ends, what chance gives."""

    at: float
    what: Literal["bar", "zero", "margin", "chance"]


@dataclass(frozen=True, slots=True)
class Scale:
    """What an interval is drawn on."""

    low: float
    high: float
    marks: tuple[Mark, ...] = ()

    @property
    def drawable(self) -> bool:
        """Whether it has two ends."""
        return isfinite(self.high - self.low) and self.high > self.low

    @property
    def about_bar(self) -> bool:
        """Whether it is there to show on which side of a bar something lies."""
        return {mark.what for mark in self.marks} == {"bar"}


@dataclass(frozen=True, slots=True)
class RowName:
    """What a row is about; ``better`` is the direction of a metric, ``about`` says more."""

    text: str
    better: Literal["+", "-", "0", ""] = ""
    about: str = ""
    strong: bool = False


@dataclass(frozen=True, slots=True)
class Number:
    """A number; a dash where there is none. ``n`` is how many rows it rests on."""

    value: float | None
    places: int = 3
    percent: bool = False
    sign: Literal["", "+", "±"] = ""
    unit: str = ""
    n: int | None = None
    tone: Tone = ""
    strong: bool = False


@dataclass(frozen=True, slots=True)
class Count:
    """How many; of a tone only where there are any."""

    value: int | None
    tone: Tone = ""
    note: str = ""
    strong: bool = False


@dataclass(frozen=True, slots=True)
class Share:
    """So many of so many."""

    count: int
    total: int


@dataclass(frozen=True, slots=True)
class P:
    """A p-value; nothing where there is none."""

    value: float | None


@dataclass(frozen=True, slots=True)
class IntervalCell:
    """A value with its interval, drawn where the scale has ends.

    ``word`` reads the value in words, ``core`` is the interval that equivalence is read from.
    """

    value: float | None
    low: float | None
    high: float | None
    scale: Scale | None = None
    core: tuple[float, float] | None = None
    percent: bool = False
    signed: bool = False
    tone: Tone = ""
    word: str = ""
    strong: bool = True


@dataclass(frozen=True, slots=True)
class BarPart:
    """A stretch of a bar; ``level`` from 0, the best, picks its look."""

    size: float
    level: int
    word: str = ""


@dataclass(frozen=True, slots=True)
class Bar:
    """Parts beside each other, out of ``whole``."""

    parts: tuple[BarPart, ...]
    whole: float


@dataclass(frozen=True, slots=True)
class Verdict:
    """What was decided: its code for programs, its word for people, and what is to be noted."""

    code: str
    word: str
    tone: Tone
    note: str = ""


@dataclass(frozen=True, slots=True)
class Why:
    """Why there is no value. Undefined, missing and not known are three things; none is zero."""

    outcome: Outcome
    words: str = ""


Cell = (
    RowName | Number | Count | Share | P | IntervalCell | Bar | Verdict | Why | Phrase | str | None
)
"""What stands in a table. Words are themselves; None belongs to the ``Why`` before it."""


@dataclass(frozen=True, slots=True)
class OutlineItem:
    """A line of an outline behind its mark, with what stands below it."""

    words: Words
    inner: tuple["OutlineItem", ...] = ()
    lead: str = ""


@dataclass(frozen=True, slots=True)
class Heading:
    """A column of a table.

    Attributes:
        head: What is in it.
        level: Of the intervals in it.
        drop: Where there is no room the columns with the lowest are left out first; 0 never.
        key: Names that several rows share are said once.
        several: Left out where all rows have the same name.
        peer: Where there is no room it may stand in a further table below.
    """

    head: str = ""
    level: float | None = None
    drop: int = 0
    key: bool = False
    several: bool = False
    peer: bool = False
    fill: int | None = None
    """The level of bars' parts that this column counts."""


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a table.

    Attributes:
        cells: One a column.
        below: What the figures do not say by themselves.
        why: A sentence on how it came out, for those who show no table.
        detail: What is folded away behind it.
    """

    cells: tuple[Cell, ...]
    below: tuple[Words, ...] = ()
    why: str = ""
    detail: tuple[OutlineItem, ...] = ()

    @property
    def names(self) -> list[str]:
        """What the row is about."""
        return [one.text for one in self.cells if isinstance(one, RowName)]

    @property
    def verdict(self) -> Verdict | None:
        """What was decided about it."""
        return next((one for one in self.cells if isinstance(one, Verdict)), None)


@dataclass(frozen=True, slots=True)
class Group:
    """Rows under a title of their own."""

    rows: tuple[Row, ...]
    title: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """Columns and rows; ``details`` is what the rows' details are called."""

    columns: tuple[Heading, ...]
    groups: tuple[Group, ...]
    details: str = ""

    @property
    def rows(self) -> list[Row]:
        """All rows in order."""
        return [row for group in self.groups for row in group.rows]

    def holds(self, at: int, *kinds: type) -> bool:
        """Whether a column has a cell of one of these kinds."""
        return any(isinstance(row.cells[at], kinds) for row in self.rows)

    def draws(self, at: int) -> bool:
        """Whether a column has anything that can be drawn."""
        cells = (row.cells[at] for row in self.rows)
        return any(
            isinstance(one, Bar)
            or (isinstance(one, IntervalCell) and one.scale is not None and one.scale.drawable)
            for one in cells
        )

    def tells(self, at: int) -> bool:
        """Whether a column says anything: not where all rows have the name it has for several."""
        return not self.columns[at].several or len({str(row.cells[at]) for row in self.rows}) > 1


def table(columns: Sequence[Heading | str], rows: Sequence[Row], title: str = "") -> Table:
    """A table of one group; a word is a heading of which nothing else is to be said."""
    heads = tuple(Heading(one) if isinstance(one, str) else one for one in columns)
    return Table(heads, (Group(tuple(rows), title),))


@dataclass(frozen=True, slots=True)
class Banner:
    """The verdict of the page: its word, how it came about, what to do next."""

    word: str
    tone: Tone
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Paragraphs:
    """Paragraphs, each a paragraph."""

    lines: tuple[Words, ...]


@dataclass(frozen=True, slots=True)
class Verbatim:
    """Lines to be copied as they are."""

    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Note:
    """A name and what is to be said; ``needs`` is the head of a column that it explains."""

    name: str
    words: Words
    needs: str = ""


@dataclass(frozen=True, slots=True)
class Facts:
    """Names with what is to be said; ``small`` print explains the page."""

    rows: tuple[Note, ...]
    small: bool = False


@dataclass(frozen=True, slots=True)
class Outline:
    """Lines with lines below them, under a quiet title."""

    items: tuple[OutlineItem, ...]
    title: str = ""


@dataclass(frozen=True, slots=True)
class Bin:
    """Rows to which a judge gave about the same probability, and how often people said yes."""

    said: float
    seen: float
    low: float
    high: float
    n: int


@dataclass(frozen=True, slots=True)
class Reliability:
    """What a judge said against what people said; on the diagonal it can be taken at its word."""

    bins: tuple[Bin, ...]
    title: str


@dataclass(frozen=True, slots=True)
class Step:
    """How many an early stage takes away."""

    name: str
    size: float
    tone: Tone = ""


@dataclass(frozen=True, slots=True)
class Waterfall:
    """From a whole down, each step beginning where the last ended."""

    whole: float
    steps: tuple[Step, ...]
    title: str


@dataclass(frozen=True, slots=True)
class SeriesPoint:
    """A value at a time, with its interval."""

    at: float
    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Series:
    """Values over time, with the value one compares with."""

    points: tuple[SeriesPoint, ...]
    scale: Scale
    title: str
    base: float | None = None
    events: tuple[tuple[float, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Forest:
    """Intervals below each other on one scale."""

    rows: tuple[tuple[str, IntervalCell], ...]
    title: str


Chart = Reliability | Waterfall | Series | Forest
Block = Banner | Paragraphs | Verbatim | Facts | Table | Outline | Chart


@dataclass(frozen=True, slots=True)
class Section:
    """Blocks under a heading, or under none."""

    blocks: tuple[Block, ...]
    title: Words = ""


def section(*blocks: Block, title: Words = "") -> Section:
    """Blocks under a heading, or under none."""
    return Section(blocks, title)


def small_print(notes: Iterable[Note]) -> Section:
    """What explains the page."""
    return section(Facts(tuple(notes), small=True))


@dataclass(frozen=True, slots=True)
class Page:
    """All that is shown.

    Attributes:
        name: Of the command, such as ``gate``.
        title: What it is about.
        sections: From top to bottom.
        said: The page in a sentence.
        notes: What to know beside the page; a command says them on standard error.
        record: Gives what ``--json`` prints.
    """

    name: str
    title: str
    sections: tuple[Section, ...]
    said: str = ""
    notes: tuple[str, ...] = ()
    record: Callable[[], Record] = field(default=dict)

    @property
    def tables(self) -> list[Table]:
        """All tables in order."""
        return [block for one in self.sections for block in one.blocks if isinstance(block, Table)]
