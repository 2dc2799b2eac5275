"""Column: a typed column of a table of judgements, and what it says."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import polars as pl

# What a column says.
#
# - ``unit``: which unit of the example is judged.
# - ``topic``: what is asked about it, in the words of a metric, such as a criterion.
# - ``vote``: which of the votes that one judge has on the unit.
# - ``verdict``: what is decided. Of several judges the majority decides.
# - ``grade``: a whole number on a scale, decided likewise.
# - ``number``: how much or how likely. Of several judges it is the mean.
# - ``count``, ``evidence``, ``words``: what the verdict rests on. It is taken from one of the
#   judges who gave the majority's verdict, because these columns belong together.
# - ``about``: what else is known of the unit, the same for every judge.
Role = Literal[
    "unit", "topic", "vote", "verdict", "grade", "number", "count", "evidence", "words", "about"
]

# How a value is shown.
Tone = Literal["good", "caution", "bad", "quiet"]

# The roles whose columns become columns of the unit's view.
SAID: tuple[Role, ...] = ("verdict", "grade", "number", "count", "evidence", "about")


class Column:
    """A typed column of a table; read on the class, it is the Polars expression of that column.

    Args:
        dtype: Type of the column; None if its ``values`` are words.
        doc: A few words on what it says; for a truth value, when it is true.
        role: See ``Role``.
        values: Possible values, strongest first, and when each applies: words, or the whole
            numbers of a scale. A number in [0, 1] whose values are the steps 0 to n is stored as
            step / n.
        positive: Values that count as yes if there are more than two.
        label: Its name in label files and on sheets; empty if people do not label it.
        reply: Its name in a model's reply; empty if the same.
        counts: For a count in a model's reply: the entries that are counted.
        only_with: A text of the example without which it has no value: null, or 0 for a count.
        of: For a probability: the column it is the probability of.
        certain: True if that probability is 1 or 0 if a judge gives only the verdict.
        at_least: For a truth value: the grade from which it is true if a judge gives only the
            grade; 0 if it does not follow from the grade.
        fact: Its name in the views of units; empty if the same.
        phrase: The wording when a single judgement is shown: a template with ``{}`` for the value,
            or one wording for each value, null included. Empty: it is not shown. None: a verdict is
            shown by its value, a truth value by its name, and everything else by name and value.
        tones: The tone in which each value is shown; any tone but ``good`` counts against the unit.
            None: positive values are ``good``, the others ``caution``.
    """

    def __init__(self, dtype: pl.DataType | type[pl.DataType] | None, doc: str = "", *,
                 role: Role = "about", values: Mapping[str, str] | Mapping[int, str] | None = None,
                 positive: Sequence[str] = (), label: str = "", reply: str = "",
                 counts: Sequence[str] = (), only_with: str = "", of: str = "",
                 certain: bool = False, at_least: int = 0, fact: str = "",
                 phrase: str | Mapping[Any, str] | None = None,
                 tones: Mapping[Any, Tone] | None = None) -> None:  # fmt: skip
        self.values: Mapping[str, str] | Mapping[int, str] = values or {}
        self.dtype = pl.Enum([str(value) for value in self.values]) if dtype is None else dtype
        self.doc = doc
        self.role = role
        self.positive = tuple(positive)
        self.label = label
        self.reply = reply
        self.counts = tuple(counts)
        self.only_with = only_with
        self.of = of
        self.certain = certain
        self.at_least = at_least
        self.fact = fact
        self.phrase = phrase
        by_positive: dict[Any, Tone] = {value: "good" if value in self.positive else "caution"
                                        for value in self.values if self.positive}  # fmt: skip
        self.tones: Mapping[Any, Tone] = by_positive if tones is None else tones

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, instance: object, owner: type) -> pl.Expr:
        return pl.col(self.name)
