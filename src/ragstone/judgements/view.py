"""View: the base of the unit views, and what they are joined from."""

from collections.abc import Collection
from typing import ClassVar, Protocol

import polars as pl

from .kind import Column


class Said(Protocol):
    """What a view is joined from: the examples, and the rows of each ask."""

    @property
    def examples(self) -> pl.DataFrame:
        """One row an example."""

    def of(self, ask: str) -> pl.DataFrame:
        """The rows of an ask; ``row`` says which example."""


class Fact(Column):
    """A column of a view, and the asks it comes from."""

    def __init__(
        self,
        dtype: pl.DataType | type[pl.DataType],
        doc: str = "",
        *,
        needs: tuple[str, ...] = (),
    ) -> None:
        super().__init__(dtype, doc)
        self.needs = needs


class View:
    """A table with one row a unit; ``row`` says which example the unit belongs to."""

    name: ClassVar[str]
    made_by: ClassVar[tuple[str, ...]] = ()
    """The asks that make the units; none where the examples themselves do."""
    requires: ClassVar[tuple[str, ...]] = ()
    """What an example must have to have such units at all."""
    columns: ClassVar[dict[str, Fact]]

    def __init_subclass__(cls) -> None:
        cls.name = cls.__name__.lower()
        cls.columns = {key: value for key, value in vars(cls).items() if isinstance(value, Fact)}
        VIEWS[cls.name] = cls

    @classmethod
    def frame(cls, said: Said, wanted: Collection[str]) -> pl.DataFrame:
        """The view's rows, ordered by example and unit, with at least the wanted columns."""
        raise NotImplementedError

    @classmethod
    def needs(cls, wanted: Collection[str]) -> frozenset[str]:
        """The asks that these columns, and the units themselves, come from."""
        asks = set(cls.made_by)
        for column in wanted:
            asks.update(cls.columns[column].needs)
        return frozenset(asks)


VIEWS: dict[str, type[View]] = {}
