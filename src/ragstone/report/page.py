"""Page: what is shown, as data: sections of sentences, facts, tables with typed cells, charts.

A page is built once from a typed result, and every renderer in ``render`` shows it in its own way:
a terminal draws an interval as ``├─●─┤``, HTML draws it as SVG, Markdown writes it as numbers, and
JSON gives the record of the result. Cells hold facts; the renderer decides how they look.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from typing import Any, Literal

# What kind of words these are, so that a renderer can colour them. ``name`` is an id; ``text`` is
# a text under judgement, not written by us.
Tone = Literal[
    "", "good", "bad", "caution", "undefined", "missing", "equal", "quiet", "name", "text"
]

# Why there is no value: not defined here, a judgement is missing, or it cannot be determined.
Outcome = Literal["undefined", "missing", "unknown"]

Record = Mapping[str, Any] | Sequence[Any]


@dataclass(frozen=True, slots=True)
class Phrase:
    """A few words in one tone."""

    text: str
    tone: Tone = ""
    strong: bool = False


Words = str | Phrase | Sequence[str | Phrase]


def strong(text: str, tone: Tone = "") -> Phrase:
    """Emphasised words."""
    return Phrase(text, tone, strong=True)


def quiet(text: str) -> Phrase:
    """De-emphasised words."""
    return Phrase(text, "quiet")


def parts(words: Words) -> tuple[Phrase, ...]:
    """The phrases of the words, one by one."""
    several = [words] if isinstance(words, str | Phrase) else words
    return tuple(Phrase(item) if isinstance(item, str) else item for item in several)


def plain(words: Words) -> str:
    """The words without their tones."""
    return "".join(part.text for part in parts(words))


@dataclass(frozen=True, slots=True)
class Mark:
    """A marked position on a scale: the threshold, zero, the ends of the margin, or chance."""

    at: float
    what: Literal["bar", "zero", "margin", "chance"]


@dataclass(frozen=True, slots=True)
class Scale:
    """The scale on which an interval is drawn."""

    low: float
    high: float
    marks: tuple[Mark, ...] = ()

    @property
    def drawable(self) -> bool:
        """The scale has two finite ends."""
        return isfinite(self.high - self.low) and self.high > self.low

    @property
    def about_bar(self) -> bool:
        """The scale shows on which side of a threshold a value lies."""
        return {mark.what for mark in self.marks} == {"bar"}


@dataclass(frozen=True, slots=True)
class RowName:
    """The name of a row; ``better`` is the direction of its metric, ``about`` describes it."""

    text: str
    better: Literal["+", "-", "0", ""] = ""
    about: str = ""
    strong: bool = False


@dataclass(frozen=True, slots=True)
class Number:
    """A number, shown as a dash if there is none. ``n`` is the number of rows behind it."""

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
    """A count; it takes its tone only if it is not zero."""

    value: int | None
    tone: Tone = ""
    note: str = ""
    strong: bool = False


@dataclass(frozen=True, slots=True)
class Share:
    """A count out of a total."""

    count: int
    total: int


@dataclass(frozen=True, slots=True)
class P:
    """A p-value, shown as an empty cell if there is none."""

    value: float | None


@dataclass(frozen=True, slots=True)
class IntervalCell:
    """A value with its interval, drawn if the scale has two ends.

    ``word`` describes the value in words; ``core`` is the interval used to decide equivalence.
    ``n`` is the number of rows behind the value, if it needs saying; ``missing`` is how many more
    there would be if nothing were missing. ``leads`` marks a value that is better than others.
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
    n: int | None = None
    missing: int = 0
    leads: bool = False


@dataclass(frozen=True, slots=True)
class BarPart:
    """A segment of a bar; ``level``, from 0 for the best, selects its fill."""

    size: float
    level: int
    word: str = ""


@dataclass(frozen=True, slots=True)
class Bar:
    """A stacked bar: its parts side by side, as shares of ``whole``."""

    parts: tuple[BarPart, ...]
    whole: float


@dataclass(frozen=True, slots=True)
class Verdict:
    """A decision: its code for programs, its word for people, and a note."""

    code: str
    word: str
    tone: Tone
    note: str = ""


@dataclass(frozen=True, slots=True)
class Why:
    """Why there is no value. Undefined, missing and unknown are kept apart; none is zero."""

    outcome: Outcome
    words: str = ""


# A cell of a table. A string is shown as it is; None continues the ``Why`` cell before it.
Cell = (
    RowName | Number | Count | Share | P | IntervalCell | Bar | Verdict | Why | Phrase | str | None
)


@dataclass(frozen=True, slots=True)
class OutlineItem:
    """A line of an outline after its marker ``lead``, with the items nested below it."""

    words: Words
    inner: tuple["OutlineItem", ...] = ()
    lead: str = ""


@dataclass(frozen=True, slots=True)
class Heading:
    """A column of a table.

    Attributes:
        level: The confidence level of the intervals in the column.
        drop: Order in which columns are dropped on narrow screens, lowest first; 0 means never.
        key: A name shared by several consecutive rows is shown only once.
        several: The column is left out if all rows have the same name in it.
        peer: One of several columns of one sort, written tightly; on narrow screens it may move
            to another table below.
    """

    head: str = ""
    level: float | None = None
    drop: int = 0
    key: bool = False
    several: bool = False
    peer: bool = False
    fill: int | None = None
    """The level of the bar parts that this column counts, if it counts any."""


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a table.

    Attributes:
        cells: One for each column.
        below: Notes shown below the row that its numbers alone do not tell.
        why: A sentence that explains the outcome, for renderers that show no table.
        detail: Details of the row, collapsed where the renderer can do so.
    """

    cells: tuple[Cell, ...]
    below: tuple[Words, ...] = ()
    why: str = ""
    detail: tuple[OutlineItem, ...] = ()

    @property
    def names(self) -> list[str]:
        """The names in the row: what it is about."""
        return [cell.text for cell in self.cells if isinstance(cell, RowName)]

    @property
    def verdict(self) -> Verdict | None:
        """The decision about the row, if it has one."""
        return next((cell for cell in self.cells if isinstance(cell, Verdict)), None)


@dataclass(frozen=True, slots=True)
class Group:
    """Rows under their own title."""

    rows: tuple[Row, ...]
    title: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """Columns and groups of rows.

    Attributes:
        details: The label of the rows' details.
        folded: Rows that a sentence beside the table stands for; only a build server lists them.
    """

    columns: tuple[Heading, ...]
    groups: tuple[Group, ...]
    details: str = ""
    folded: tuple[Row, ...] = ()

    @property
    def rows(self) -> list[Row]:
        """All rows in order."""
        return [row for group in self.groups for row in group.rows]

    def holds(self, at: int, *kinds: type) -> bool:
        """Tell whether a column has a cell of one of these kinds."""
        return any(isinstance(row.cells[at], kinds) for row in self.rows)

    def draws(self, at: int) -> bool:
        """Tell whether a column has anything that can be drawn."""
        cells = (row.cells[at] for row in self.rows)
        return any(
            isinstance(cell, Bar)
            or (isinstance(cell, IntervalCell) and cell.scale is not None and cell.scale.drawable)
            for cell in cells
        )

    def tells(self, at: int) -> bool:
        """Tell whether a column adds information: ``several`` times one name do not."""
        return not self.columns[at].several or len({str(row.cells[at]) for row in self.rows}) > 1


def table(
    columns: Iterable[Heading | str], rows: Iterable[Row | Iterable[Cell]], title: str = ""
) -> Table:
    """Return a table of one group; a string is a plain heading, cells alone are a row of them."""
    heads = tuple(Heading(head) if isinstance(head, str) else head for head in columns)
    filled = tuple(row if isinstance(row, Row) else Row(tuple(row)) for row in rows)
    return Table(heads, (Group(filled, title),))


@dataclass(frozen=True, slots=True)
class Banner:
    """The verdict of the page: its word, the explanation, and what to do next."""

    word: str
    tone: Tone
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Paragraphs:
    """A sequence of paragraphs."""

    lines: tuple[Words, ...]


@dataclass(frozen=True, slots=True)
class Verbatim:
    """Lines to be copied verbatim."""

    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Note:
    """A name and its text; ``needs`` is the heading of the column that the note explains."""

    name: str
    words: Words
    needs: str = ""


@dataclass(frozen=True, slots=True)
class Facts:
    """Names with their texts; ``small`` marks the small print that explains the page."""

    rows: tuple[Note, ...]
    small: bool = False


@dataclass(frozen=True, slots=True)
class Outline:
    """Nested lines under a de-emphasised title."""

    items: tuple[OutlineItem, ...]
    title: str = ""


@dataclass(frozen=True, slots=True)
class Bin:
    """Rows to which a judge gave similar probabilities, and how often people said yes to them."""

    said: float
    seen: float
    low: float
    high: float
    n: int


@dataclass(frozen=True, slots=True)
class Reliability:
    """A reliability diagram: the judge's probability against the share of yes from people."""

    bins: tuple[Bin, ...]
    title: str


@dataclass(frozen=True, slots=True)
class Step:
    """One stage of a waterfall and how much it takes away."""

    name: str
    size: float
    tone: Tone = ""


@dataclass(frozen=True, slots=True)
class Waterfall:
    """A waterfall chart: each step starts where the previous one ended."""

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
    """Values over time.

    Attributes:
        points: In the order of time.
        scale: Of the values; what is beyond an end is drawn at that end.
        base: A reference value, such as a baseline.
        events: What happened when.
        bar: The value that they must not cross.
        spans: From when until when something was wrong.
        time: What is drawn of time; None: from the first point to the last.
        gap: The longest time between two points that a line joins; None: any.
        levels: Values with a line and a figure of their own, instead of the ends of the scale.
        ticks: Moments that are written below.
    """

    points: tuple[SeriesPoint, ...]
    scale: Scale
    title: str
    base: float | None = None
    events: tuple[tuple[float, str], ...] = ()
    bar: float | None = None
    spans: tuple[tuple[float, float], ...] = ()
    time: Scale | None = None
    gap: float | None = None
    levels: tuple[float, ...] = ()
    ticks: tuple[tuple[float, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Forest:
    """A forest plot: intervals one below the other on a shared scale."""

    rows: tuple[tuple[str, IntervalCell], ...]
    title: str


@dataclass(frozen=True, slots=True)
class Bars:
    """Stacked bars one below the other, each under its name; all have the same parts."""

    rows: tuple[tuple[str, Bar], ...]
    title: str


Chart = Reliability | Waterfall | Series | Forest | Bars
Block = Banner | Paragraphs | Verbatim | Facts | Table | Outline | Chart


@dataclass(frozen=True, slots=True)
class Section:
    """Blocks under a heading, or under none."""

    blocks: tuple[Block, ...]
    title: Words = ""


def section(*blocks: Block | Words, title: Words = "") -> Section:
    """Blocks under a heading, or under none; words alone are a paragraph."""
    listed = (Paragraphs((part,)) if isinstance(part, str | Phrase | Sequence) else part
              for part in blocks)  # fmt: skip
    return Section(tuple(listed), title)


def small_print(notes: Iterable[Note]) -> Section:
    """The notes that explain the page, as a section."""
    return section(Facts(tuple(notes), small=True))


@dataclass(frozen=True, slots=True)
class Page:
    """All that is shown.

    Attributes:
        name: The name of the command, such as ``gate``.
        said: The page summed up in one sentence.
        notes: Remarks that are not part of the page; a command prints them on standard error.
        record: Returns what ``--json`` prints.
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
        return [
            block for part in self.sections for block in part.blocks if isinstance(block, Table)
        ]
