"""Entities: which names, numbers and dates of a reference do the contexts hold?

Listed by rule, the same for every judge, or by a model. Whether a context holds one is looked up.
"""

import polars as pl

from .column import Column
from .kind import Ask, Kind
from .view import Fact, View

NEEDED = ("reference", "contexts")


class Entity(Kind):
    """One row per entity of a reference."""

    name = "entities"
    shows = ("question", "reference")
    asks = (Ask("rule", requires=NEEDED, by=("counting",)),
            Ask("model", requires=NEEDED, by=("model",)))  # fmt: skip
    made = True

    reference = Column(pl.UInt32, "which of the references, from 0", role="unit")
    index = Column(pl.UInt32, "position among its entities, from 0", role="unit", phrase="")
    text = Column(pl.String, "the name, number or date", role="words")
    found = Column(
        pl.Boolean, "a context holds it", role="verdict", phrase={True: "found", False: "not found"}
    )


class Entities(View):
    """One row per name, number or date of a reference, listed by rule."""

    made_by = ("entities/rule",)

    unit = "reference"
    keys = ("reference", "index")

    reference = Fact(pl.UInt32, "which reference")
    index = Fact(pl.UInt32, "position among its entities")
    text = Fact(pl.String, "the name, number or date")
    found = Fact(pl.Boolean, "a context holds it")


class EntitiesByModel(View):
    """The same, listed by a model."""

    made_by = ("entities/model",)

    unit = "reference"
    keys = ("reference", "index")

    reference, index, text, found = Entities.columns.values()
