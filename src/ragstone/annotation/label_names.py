"""Label names: the judgement that a column of a label file holds, its valid labels and its scale.

A judgement is named by its taxonomy label (``helpful``, ``misleading``), by kind and column with
a dot between them (``relevance.grade``, ``critique.harmfulness``), or, if it is the value of a
metric, by the metric (``faithfulness``, ``ndcg(k=10)``). Every other column is user-defined.

Ratings on another scale, such as 1 to 5, are converted to values of the metric::

    value = low + (rating - first) / (last - first) · (high - low)

``first`` and ``last`` are the ends of the rating scale, ``low`` and ``high`` those of the metric.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import lru_cache
from math import inf, isfinite
from typing import Literal, get_args

import polars as pl

from ragstone.core.errors import InputError, RagstoneError
from ragstone.core.messages import reason
from ragstone.data.fields import squash
from ragstone.data.json_text import shown
from ragstone.data.record_labels import PROPOSITIONS
from ragstone.judgements import KINDS, values_of
from ragstone.metrics import ALIASES, EVERYDAY, Metric, alias_note, parse_metric, read_metric
from ragstone.metrics.correctness import OUTCOMES

from .raw_rows import (
    LabelValue,
    in_words,
    kinds_of_labels,
    named_by_user,
    number_in_words,
    number_of,
    unit_kind,
    yes_or_no,
)

About = Literal["answer", "context", "proposition", "anything"]

YES_OR_NO = "yes, no, 0, 1, true or false"
# How alike two names are of which one may be a misspelling of the other, from 0 to 1.
CLOSE = 0.88
# The code for a column that has a metric's name but not its values.
NOT_THE_METRIC = "not_the_metric"

OWN_AS_OUTCOME = {"true": "correct", "false": "wrong", "1": "correct", "0.5": "partial",
                  "0": "wrong", "yes": "correct", "no": "wrong", "incorrect": "wrong",
                  "i_dont_know": "dont_know"}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Name:
    """A judgement's kind and column, and the sort of unit it is about."""

    kind: str
    column: str
    about: About = "anything"

    def __str__(self) -> str:
        """Return the name of the column in a label file.

        >>> str(Name("relevance", "relevant")), str(Name("support", "verdict"))
        ('topically_relevant', 'support')
        """
        dotted = self.column if self.kind == "metric" else f"{self.kind}.{self.column}"
        return label_of(self.kind, self.column) or dotted

    @property
    def shown(self) -> str:
        """The name for display, without the prefix of user-defined columns."""
        return self.column if self.kind == "own" else str(self)


class NoLabel(Exception):
    """A value that is not a label of this column; ``expected`` describes valid labels."""

    def __init__(self, expected: str, got: str) -> None:
        self.expected, self.got = expected, got
        super().__init__(expected)


def label_of(kind: str, column: str) -> str:
    """Return the taxonomy label of a judgement; empty if it has none."""
    definition = KINDS[kind].columns.get(column) if kind in KINDS else None
    return definition.label if definition else ""


def known_labels() -> dict[str, tuple[str, str]]:
    """Return kind and column of every judgement with a taxonomy label, by that label."""
    return {
        label: (name, column)
        for name, kind in KINDS.items()
        for column, label in kind.labels().items()
    }


@lru_cache(maxsize=8)
def _meant(kinds: tuple[str, ...]) -> dict[str, tuple[str, str]]:  # noqa: ARG001
    """Kind and column by normalised column name; cached until another kind is registered."""
    known = known_labels()
    dotted = {squash(f"{kind}.{column}"): (kind, column) for kind, column in known.values()}
    return {squash(label): key for label, key in known.items()} | dotted


def name_of(
    column: str, cells: Sequence[object], units: frozenset[str], *, meant: bool = False
) -> tuple[Name, str]:
    """Find the judgement that a column holds, with a reason if that may surprise.

    A column with the name of a metric is that metric if more than half of its cells are values
    of it, so that a misspelt value is a fault; but scores from 1 to 5 in a column
    ``faithfulness`` are a user-defined column.

    Args:
        cells: Its values that are not null.
        units: The units that rows of the file name: ``context``, ``claim``, ``statement``.
        meant: True if the user mapped the column to this name.
    """
    prefix, dot, rest = column.partition(".")
    if dot and squash(prefix) in kinds_of_labels():
        return named(squash(prefix), rest), ""
    key = _meant(tuple(KINDS)).get(squash(column))
    if key is not None and _is_meant(key, cells, units):
        return named(*key), ""
    metric = metric_named(column)
    if metric is None:
        return Name("own", column), "" if meant else _like_a_label(column)
    name = Name("metric", str(metric), "answer")
    if meant or 2 * sum(fits(name, cell) for cell in cells) > len(cells):
        return name, alias_note(column) or ""
    return Name("own", column), NOT_THE_METRIC


def named(kind: str, column: str) -> Name:
    """Return the name of a kind and column.

    >>> named("support", "verdict").about, named("metric", "em").column
    ('proposition', 'exact_match')
    """
    if kind == "metric":
        metric = metric_named(column)
        return Name(kind, column if metric is None else str(metric), "answer")
    if kind not in KINDS:
        return Name(kind, column, "anything")
    about = KINDS[kind].about
    return Name(kind, column, "answer" if about == "pair" else about)


def is_known(name: Name) -> bool:
    """Return True if the kind exists and has this column."""
    if name.kind in named_by_user():
        return bool(name.column.strip())
    return bool(label_of(name.kind, name.column))


def is_about_contexts(kind: str | None, unit: str) -> bool:
    """Return True if a row's unit is a context, known by its id or rank.

    >>> is_about_contexts("relevance", "claim 1"), is_about_contexts("own", "d7")
    (True, True)
    """
    of_contexts = kind in KINDS and KINDS[kind].about == "context"
    return of_contexts or unit_kind(unit) == "context"


def label(name: Name, cell: object, unit: str | None) -> LabelValue | None:
    """Read the label that a cell holds; None if the cell is empty."""
    of = None if unit is None else unit_kind(unit)
    return (_label_of_text if isinstance(cell, str) else _label)(name, cell, of)


def _label(name: Name, cell: object, of: str | None) -> LabelValue | None:
    if isinstance(cell, str) and not cell.strip():
        return None
    word = in_words(cell)
    if name.kind == "own":
        if word is None:
            raise NoLabel("a word, a number, true or false", shown(cell))
        return word
    if name.kind == "metric":
        return _of_metric(name, cell, word)
    kind = KINDS[name.kind]
    column = kind.columns[kind.decides if kind.having("topic") else name.column]
    if column.role == "number":
        if word is None or number_of(cell) is None:
            raise NoLabel("a number", shown(cell))
        return word
    if column.dtype == pl.Boolean:
        return _truth(cell, word)
    asks = [ask for ask in kind.asks if ask.over is not None and ask.over.unit == of]
    words = [str(value) for value in values_of((asks or list(kind.asks))[-1], column)]
    if column.role == "grade":
        if word is None or word.value not in words:
            raise NoLabel(f"a grade: {', '.join(words[:-1])} or {words[-1]}", shown(cell))
        return word
    if word is None or word.value.lower() not in words:
        raise NoLabel(f"one of {', '.join(words)}", shown(cell))
    return LabelValue(word.value.lower(), None)


_label_of_text = lru_cache(maxsize=65_536)(_label)


def _truth(cell: object, value: LabelValue | None) -> LabelValue:
    number = yes_or_no(value)
    if number not in (0, 1):
        raise NoLabel(YES_OR_NO, shown(cell))
    return LabelValue("true" if number else "false", number)


def _of_metric(name: Name, cell: object, value: LabelValue | None) -> LabelValue:
    metric = metric_named(name.column)
    if value is None or (metric is None and value.number is None):
        raise NoLabel("a value of the metric", shown(cell))
    if metric is None:
        return value
    if metric.name == "answer_outcome":
        word = value.value.lower().replace("'", "").replace("’", "").replace(" ", "_")
        word = OWN_AS_OUTCOME.get(word, word)
        if word not in OUTCOMES:
            raise NoLabel(f"one of {', '.join(OUTCOMES)}, true or false", shown(cell))
        return LabelValue(word, OUTCOMES[word])
    low, high = metric.range.low, metric.range.high
    if metric.range.rate:
        return _truth(cell, value)
    number = yes_or_no(value) if (low, high) == (0, 1) else value.number
    if number is None or not low <= number <= high:
        raise NoLabel(_between(low, high), shown(cell) if number is None else value.value)
    return value if number == value.number else LabelValue(number_in_words(number), number)


def _between(low: float, high: float) -> str:
    """A range of numbers in words.

    >>> _between(0, 1), _between(0, inf), _between(-inf, inf)
    ('a number from 0 to 1', 'a number from 0 on', 'a number')
    """
    if low == -inf:
        return "a number" if high == inf else f"a number up to {high:g}"
    return f"a number from {low:g} " + ("on" if high == inf else f"to {high:g}")


def fits(name: Name, cell: object) -> bool:
    """Return True if a cell holds a label of this name."""
    try:
        label(name, cell, None)
    except NoLabel:
        return False
    return True


def _is_meant(key: tuple[str, str], cells: Sequence[object], units: frozenset[str]) -> bool:
    kind = KINDS[key[0]]
    if kind.having("topic"):
        return any(fits(named(*key), cell) for cell in cells)
    if kind.about == "proposition":
        return bool(units & set(PROPOSITIONS))
    return kind.columns[key[1]].role != "grade" or kind.about in units


def _like_a_label(column: str) -> str:
    known = {squash(label): label for label in known_labels()}
    near = get_close_matches(squash(column), known, n=1, cutoff=CLOSE)
    if not near or near[0] == squash(column):
        return ""
    return reason("like_a_label", label=known[near[0]], column=column)


@lru_cache(maxsize=4096)
def metric_named(column: str) -> Metric | None:
    """Return the metric of this name or alias; None if none, or if people may mean otherwise."""
    head = column.partition("(")[0].strip()
    if head in EVERYDAY:
        return None
    try:
        return parse_metric(column) if head in ALIASES else read_metric(column)
    except RagstoneError:
        return None


TWO_LABELS = "two_labels"
SAME_TWICE = "same_twice"
NO_EXAMPLE = "no_example"
NO_CONTEXT = "no_context"

# The reasons that Ragstone gives; any other reason was given by a person in the file.
SET_ASIDE = (TWO_LABELS, SAME_TWICE, NO_EXAMPLE, NO_CONTEXT)


Scale = Literal["nominal", "ordinal", "interval"]
SCALES: tuple[Scale, ...] = get_args(Scale)

# Numbers with more distinct values than this are on an interval scale.
MOST_RANKS = 10


def scale_of(kind: str, column: str, numbers: pl.Series) -> Scale:
    """Return the scale of a column.

    Nominal: words, yes and no, and columns with no more than two distinct numbers; for a metric,
    only 0 and 1. Ordinal: grades of a context, and whole numbers with at most ten distinct
    values, such as 1 to 5. Interval: other numbers, such as values of a metric. ``numbers`` has
    null for each label that is not a number.
    """
    known = KINDS.get(kind)
    if known is not None and not known.having("topic") and known.columns[column].role == "grade":
        return "ordinal"
    rated = known is not None and known.columns[known.decides].role == "number"
    if not (rated or kind in ("own", "metric")) or numbers.null_count() or numbers.is_empty():
        return "nominal"
    if kind == "metric" and column == "answer_outcome":
        return "nominal"
    distinct = numbers.unique()
    if kind == "metric":
        return "nominal" if distinct.is_in([0.0, 1.0]).all() else "interval"
    if kind == "own" and len(distinct) <= 2:
        return "nominal"
    whole = bool((distinct == distinct.round()).all())
    return "ordinal" if whole and len(distinct) <= MOST_RANKS else "interval"


# The ratings that stand for the lowest and for the highest value of a metric.
Ends = tuple[float, float]

# The scales that are recognised; the largest rating must reach this, or the scale is shorter.
USUAL: Mapping[Ends, float] = {(1, 4): 4, (1, 5): 5, (0, 100): 11}


@dataclass(frozen=True, slots=True)
class RatingScale:
    """A scale from ``first``, which stands for the metric's lowest value, to ``last``."""

    metric: Metric
    first: float
    last: float
    guessed: bool = False

    def said(self, cell: object) -> LabelValue:
        """Return the metric value that a rating stands for."""
        number = number_of(cell)
        least, most = sorted((self.first, self.last))
        if number is None or not least <= number <= most:
            raise NoLabel(f"a rating from {least:g} to {most:g}", shown(cell))
        low, high = self.metric.range.low, self.metric.range.high
        value = low + (number - self.first) / (self.last - self.first) * (high - low)
        return LabelValue(number_in_words(value), value)

    @property
    def note(self) -> str:
        ends = {"first": self.first, "last": self.last}
        ends |= {"low": self.metric.range.low, "high": self.metric.range.high}
        written = {name: f"{end:g}" for name, end in ends.items()}
        return reason("ratings", **written, guessed=self.metric if self.guessed else None)


def rating_scales(
    cells: Mapping[str, Sequence[object]], ends_of: Mapping[str, Ends]
) -> dict[str, RatingScale]:
    """Return the scale of each column that holds ratings of a metric; most columns hold none.

    Either the user named the scale in ``ends_of``, or the column has the name of a metric, most of
    its cells cannot be values of that metric, and they fit one usual scale.

    Raises:
        InputError: A scale of length 0, or for something that cannot be scaled; lists every fault.
    """
    faults: list[str] = []
    meant: dict[str, RatingScale] = {}
    for name, ends in ends_of.items():
        metric = metric_named(name)
        if metric is None or (why := _unscaled(metric)) is not None:
            known = "is no metric" if metric is None else why
            faults.append(f"{name} {known}, so ratings cannot be brought to its values.")
        elif not all(map(isfinite, ends)) or ends[0] == ends[1]:
            faults.append(f"The scale of {name} has two ends, such as 1:5, got {ends}.")
        else:
            meant[str(metric)] = RatingScale(metric, *ends)
    scale_by_column: dict[str, RatingScale] = {}
    for column, values in cells.items():
        metric = metric_named(column.removeprefix("metric."))
        if metric is not None:
            scale = meant.pop(str(metric), None) or _guessed(metric, values)
            scale_by_column |= {} if scale is None else {column: scale}
    columns = ", ".join(cells)
    faults += [
        f"No column is of {name}, whose scale is named; there are {columns}." for name in meant
    ]
    if faults:
        raise InputError("\n".join(faults))
    return scale_by_column


def _guessed(metric: Metric, cells: Sequence[object]) -> RatingScale | None:
    if _unscaled(metric) is not None:
        return None
    name = Name("metric", str(metric))
    numbers = [number for cell in cells if (number := number_of(cell)) is not None]
    if len(numbers) < len(cells) or 2 * sum(fits(name, cell) for cell in cells) > len(cells):
        return None
    least, most = min(numbers), max(numbers)
    for (first, last), telling in USUAL.items():
        if first <= least and telling <= most <= last:
            return RatingScale(metric, first, last, guessed=True)
    return None


def _unscaled(metric: Metric) -> str | None:
    """Why ratings cannot be converted to values of a metric; None if they can."""
    if metric.range.rate:
        return "is yes or no"
    if not (isfinite(metric.range.low) and isfinite(metric.range.high)):
        return "has no ends"
    return None
