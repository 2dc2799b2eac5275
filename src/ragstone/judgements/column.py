"""Column: a typed column of a table of judgements, and what it says."""

from typing import Literal, overload

import polars as pl

Role = Literal[
    "unit", "topic", "vote", "verdict", "grade", "number", "count", "evidence", "words", "about"
]
"""What a column says.

- ``unit``: which unit of the example is judged.
- ``topic``: what is asked about it, in the words of a metric, such as a criterion.
- ``vote``: which of the votes that one judge has on the unit.
- ``verdict``: what is decided. Of several judges the majority decides.
- ``grade``: a whole number on a scale, decided likewise.
- ``number``: how much or how likely. Of several judges it is the mean.
- ``count``, ``evidence``, ``words``: what the verdict rests on. It is taken from one of the judges
  who gave the majority's verdict, because these columns belong together.
- ``about``: what else is known of the unit, the same for every judge.
"""

SAID: tuple[Role, ...] = ("verdict", "grade", "number", "count", "evidence", "about")
"""What can be counted of a unit: it enters the unit's view."""


class Column:
    """A typed column of a table; read on the class, it is the Polars expression of that column.

    Args:
        dtype: Its type.
        doc: What it says, in a few words.
        role: See ``Role``.
        label: The name that people know it by, in label files and on sheets; empty where nobody
            labels it.
        of: Of a number that is a probability: the column that it is the probability of.
        fact: Its name in the views of units; empty where that is its own.
    """

    def __init__(
        self,
        dtype: pl.DataType | type[pl.DataType],
        doc: str = "",
        *,
        role: Role = "about",
        label: str = "",
        of: str = "",
        fact: str = "",
    ) -> None:
        self.dtype = dtype
        self.doc = doc
        self.role = role
        self.label = label
        self.of = of
        self.fact = fact

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @overload
    def __get__(self, instance: None, owner: type) -> pl.Expr: ...
    @overload
    def __get__(self, instance: object, owner: type) -> pl.Expr: ...
    def __get__(self, instance: object, owner: type) -> pl.Expr:
        return pl.col(self.name)
