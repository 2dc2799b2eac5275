"""Entities: which names, numbers and dates of a reference do the contexts hold?

Found by rule, the same for every judge.
"""

from collections.abc import Collection

import polars as pl

from .ask import Ask
from .column import Column
from .kind import Kind
from .view import Fact, Said, View


class Entity(Kind):
    """One row per entity of a reference."""

    name = "entities"
    asks = (Ask(requires=("reference", "contexts"), by=("counting",)),)

    reference = Column(pl.UInt32, "which of the references, from 0", role="unit")
    index = Column(pl.UInt32, "position among its entities, from 0", role="unit", phrase="")
    text = Column(pl.String, "the name, number or date", role="words")
    found = Column(
        pl.Boolean,
        "a context holds it",
        role="verdict",
        phrase={True: "found", False: "not found"},
    )


class Entities(View):
    """One row per name, number or date of a reference."""

    made_by = ("entities",)

    unit = "reference"
    keys = ("reference", "index")

    reference = Fact(pl.UInt32, "which reference")
    index = Fact(pl.UInt32, "position among its entities")
    text = Fact(pl.String, "the name, number or date")
    found = Fact(pl.Boolean, "a context holds it")

    @classmethod
    def frame(cls, tables: Said, wanted: Collection[str]) -> pl.DataFrame:  # noqa: ARG003
        return tables.of("entities").select("row", "reference", "index", "text", "found")
