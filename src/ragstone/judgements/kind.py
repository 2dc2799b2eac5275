"""Kind: a table of judgements of one sort, with the guideline its judges follow."""

import sys
from typing import ClassVar, Literal, overload

import polars as pl

KINDS: "dict[str, type[Kind]]" = {}

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

About = Literal["answer", "context", "proposition", "pair"]
"""What of an example a kind is about: its answer, its contexts, its claims and statements, or its
answer beside that of another system."""


class Column:
    """A typed column of a table; read on the class, it is the Polars expression of that column.

    Args:
        dtype: Its type.
        doc: What it says, in a few words.
        role: See ``Role``.
        label: The name that people know it by, in label files and on sheets; empty where nobody
            labels it.
        of: Of a number that is a probability: the column that it is the probability of.
    """

    def __init__(
        self,
        dtype: pl.DataType | type[pl.DataType],
        doc: str = "",
        *,
        role: Role = "about",
        label: str = "",
        of: str = "",
    ) -> None:
        self.dtype = dtype
        self.doc = doc
        self.role = role
        self.label = label
        self.of = of

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @overload
    def __get__(self, instance: None, owner: type) -> pl.Expr: ...
    @overload
    def __get__(self, instance: object, owner: type) -> pl.Expr: ...
    def __get__(self, instance: object, owner: type) -> pl.Expr:
        return pl.col(self.name)


class Kind:
    """A judgement kind: one row per unit, who judged it, and what was said.

    Every table also carries ``subject`` (the fingerprint of what was judged),
    ``judge`` and, where the kind has them, ``reason``. The module that defines
    a kind begins with its guideline, which people and models read alike.
    """

    name: ClassVar[str]
    """The table's name: in a run folder, in ``--json``, in an error."""
    about: ClassVar[About] = "answer"
    """What of the example the unit belongs to."""
    made: ClassVar[bool] = False
    """Whether its rows are made, such as claims, and not judged: one judge makes them for all."""
    tokens: ClassVar[int] = 0
    """What a model writes for one row, in tokens, as far as it can be told beforehand."""
    repeats: ClassVar[bool] = False
    """Whether two rows about a subject may say the same of the same unit."""
    columns: ClassVar[dict[str, Column]]
    key: ClassVar[tuple[str, ...] | None]
    """Columns that tell the rows about a subject apart; None where rows may be the same."""
    guideline: ClassVar[str]

    judge = Column(pl.String, "who said so")
    reason = Column(pl.String, "why, in one sentence", role="words")

    def __init_subclass__(cls) -> None:
        own = {key: value for key, value in vars(cls).items() if isinstance(value, Column)}
        cls.columns = {**own, "reason": vars(Kind)["reason"], "judge": vars(Kind)["judge"]}
        cls.key = None if cls.repeats else tuple(cls.having("unit", "topic", "vote"))
        cls.guideline = (sys.modules[cls.__module__].__doc__ or "").strip()
        KINDS[cls.name] = cls

    @classmethod
    def schema(cls) -> dict[str, pl.DataType | type[pl.DataType]]:
        """Columns of the stored table and their types, ``subject`` first."""
        return {"subject": pl.String, **{name: col.dtype for name, col in cls.columns.items()}}

    @classmethod
    def empty(cls) -> pl.DataFrame:
        """The table with no rows."""
        return pl.DataFrame(schema=cls.schema())

    @classmethod
    def having(cls, *roles: Role) -> list[str]:
        """The names of the columns that have one of these roles."""
        return [name for name, column in cls.columns.items() if column.role in roles]

    @classmethod
    def probabilities(cls) -> dict[str, str]:
        """The columns that hold a probability, and the column that each is the probability of."""
        return {name: column.of for name, column in cls.columns.items() if column.of}

    @classmethod
    def labels(cls) -> dict[str, str]:
        """The columns that people label, with the names they know them by."""
        return {name: column.label for name, column in cls.columns.items() if column.label}
