"""Kind: a table of judgements of one sort, with the guideline its judges follow."""

import sys
from typing import ClassVar, overload

import polars as pl

KINDS: "dict[str, type[Kind]]" = {}


class Column:
    """A typed column of a table; read on the class, it is the Polars expression of that column."""

    def __init__(self, dtype: pl.DataType | type[pl.DataType], doc: str = "") -> None:
        self.dtype = dtype
        self.doc = doc

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
    key: ClassVar[tuple[str, ...] | None] = ()
    """Columns that tell the rows about a subject apart; None where rows may be the same."""
    columns: ClassVar[dict[str, Column]]
    guideline: ClassVar[str]

    judge = Column(pl.String, "who said so")
    reason = Column(pl.String, "why, in one sentence")

    def __init_subclass__(cls) -> None:
        own = {key: value for key, value in vars(cls).items() if isinstance(value, Column)}
        cls.columns = {**own, "reason": vars(Kind)["reason"], "judge": vars(Kind)["judge"]}
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
