"""View: all that is known about one sort of unit, a row a unit; the table that a metric reads.

The columns of a kind are added to a view automatically: each ask names the view that it is about,
see ``Ask.over``. Each column knows the asks it comes from, so the judgements that a metric needs
follow from the columns it names. Requirements say what an example must have to be judged at all.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal, NamedTuple, Protocol

import polars as pl

from ragstone.core.user_code import registry
from ragstone.data.record_labels import Unit

from .column import Column

# What a judgement is about, more coarsely than by unit: claims, statements, criteria and gold
# evidence are all propositions; a pair is an answer together with that of another system.
About = Literal["answer", "context", "proposition", "pair"]

ABOUT: Mapping[Unit, About] = {
    "answer": "answer", "context": "context", "claim": "proposition", "statement": "proposition",
    "criterion": "proposition", "evidence": "proposition", "reference": "answer",
    "probe": "answer", "record": "answer",
}  # fmt: skip


class JudgementRows(Protocol):
    """The input of views: the examples, and the rows of each ask."""

    @property
    def examples(self) -> pl.DataFrame:
        """One row an example."""

    def of(self, ask: str) -> pl.DataFrame:
        """The rows of an ask; ``row`` is the number of the example."""


class Fact(Column):
    """A column of a view, with the asks it comes from and the columns it is computed from."""

    def __init__(self, dtype: pl.DataType | type[pl.DataType], doc: str = "", *,
                 needs: tuple[str, ...] = (), made_of: tuple[str, ...] = ()) -> None:  # fmt: skip
        super().__init__(dtype, doc)
        self.needs = needs
        self.made_of = made_of


class _Columns(type):
    """Makes every column of a view an expression, including those that kinds added to it."""

    columns: dict[str, Fact]

    def __getattr__(cls, name: str) -> pl.Expr:
        if name in cls.__dict__.get("columns", {}):
            return pl.col(name)
        raise AttributeError(f"{cls.__name__} has no column {name!r}.")


class TakenColumn(NamedTuple):
    """The ask, the column in its rows, and the names that a view's key columns have there."""

    ask: str
    column: str
    on: Mapping[str, str]


class View(metaclass=_Columns):
    """A table with one row per unit; ``row`` is the number of the example it belongs to."""

    name: ClassVar[str]
    unit: ClassVar[Unit] = "answer"
    """Which part of an example a row is about."""
    keys: ClassVar[tuple[str, ...]] = ()
    """The columns that identify a unit within an example."""
    made_by: ClassVar[tuple[str, ...]] = ()
    """The asks whose rows define the units; empty if the example itself defines them."""
    requires: ClassVar[tuple[str, ...]] = ()
    """What an example must have to have such units at all."""
    alone: ClassVar[bool] = False
    """True if an example has one row at the most, so that a rule need not aggregate."""
    columns: ClassVar[dict[str, Fact]]
    taken: ClassVar[dict[str, TakenColumn]]
    """The columns that are copied unchanged from the rows of an ask, by name."""

    def __init_subclass__(cls) -> None:
        cls.name = cls.__name__.lower()
        facts = {key: value for key, value in vars(cls).items() if isinstance(value, Fact)}
        cls.columns = registry(facts)
        cls.taken = registry({})
        VIEWS[cls.name] = cls

    @classmethod
    def frame(cls, tables: JudgementRows, needed: Collection[str]) -> pl.DataFrame:
        """Return the view's rows, ordered by example and unit, with at least the wanted columns."""
        names = [name for name in cls.columns if name not in cls.taken]
        return cls.joined(tables.of(cls.made_by[0]).select("row", *names), tables, needed)

    @classmethod
    def needs(cls, needed: Collection[str]) -> frozenset[str]:
        """The asks that these columns, and the units themselves, come from."""
        asks = set(cls.made_by)
        for column in needed:
            asks.update(cls.columns[column].needs)
        return frozenset(asks)

    @classmethod
    def reads(cls, needed: Collection[str]) -> frozenset[str]:  # noqa: ARG003
        """Fields of an example that the units and columns show, beside those of their asks."""
        return frozenset(cls.requires)

    @classmethod
    def has(cls, name: str) -> bool:
        """True if it has a column, or another attribute, of that name."""
        return name in cls.columns or hasattr(View, name)

    @classmethod
    def take(
        cls, ask: str, column: Column, name: str, doc: str = "", on: Mapping[str, str] | None = None
    ) -> None:
        """Add a column of an ask's rows to the view, under this name and with its doc or another.

        ``on`` are the names of the view's key columns in the ask's rows; None: the same names.

        Raises:
            TypeError: The view already has a column, or another attribute, of that name.
        """
        if cls.has(name):
            raise TypeError(f"{cls.__name__} has a column {name!r} already.")
        cls.columns[name] = Fact(column.dtype, doc or column.doc, needs=(ask,))
        cls.taken[name] = TakenColumn(ask, column.name, on or {key: key for key in cls.keys})

    @classmethod
    def joined(
        cls, frame: pl.DataFrame, tables: JudgementRows, needed: Collection[str]
    ) -> pl.DataFrame:
        """The units, with those of the wanted columns that are copied unchanged; null where an ask
        has no row for a unit."""
        by_ask: dict[str, dict[str, str]] = {}
        for name in sorted(cls.taken.keys() & set(needed)):
            ask, column, on = cls.taken[name]
            by_ask.setdefault(ask, dict(on))[name] = column
        for ask, columns in by_ask.items():
            renamed = {name: pl.col(column) for name, column in columns.items()}
            rows = tables.of(ask).select("row", **renamed)
            frame = frame.join(rows, on=["row", *cls.keys], how="left", maintain_order="left")
        return frame


VIEWS: dict[str, type[View]] = registry({})


@dataclass(frozen=True, slots=True)
class Requirement:
    """A requirement: without it in the example, what rests on it is undefined."""

    reason: str
    holds: pl.Expr
    """Over the table of examples."""
    by_system: bool = False
    """True if the system gives it, not the data set that the system is asked about."""


# Why a null answer has no score: undefined if the system never answers, missing if it does.
NO_ANSWER = "no_answer"

REQUIREMENTS = {
    "question": Requirement("no_question", pl.col("question").is_not_null()),
    "contexts": Requirement("no_retrieval", pl.col("contexts").is_not_null(), by_system=True),
    "grounds": Requirement(
        "no_retrieval",
        pl.col("contexts").is_not_null() | (pl.col("history").list.len() > 0),
        by_system=True,
    ),
    "answer": Requirement(NO_ANSWER, pl.col("answer").is_not_null(), by_system=True),
    "answer_text": Requirement(
        "empty_answer", pl.col("answer").str.strip_chars().str.len_bytes().fill_null(1) > 0
    ),
    "reference": Requirement("no_reference", pl.col("reference").list.len() > 0),
    "evidence": Requirement("no_evidence", pl.col("evidence").list.len() > 0),
    "criteria": Requirement("no_criteria", pl.col("criteria").list.len() > 0),
    "known_contexts": Requirement(
        "no_reference_contexts", pl.col("reference_contexts").is_not_null()
    ),
}
