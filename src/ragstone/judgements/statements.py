"""Statements: what does a good answer have to say?"""

import polars as pl

from .column import Column
from .kind import Ask, Kind


class Statement(Kind):
    """One row per statement of a reference answer."""

    name = "statements"
    shows = ("question", "reference")
    asks = (Ask(requires=("reference",), by=("local", "people", "model")),)
    made = True

    reference = Column(pl.UInt32, "which of the references, from 0", role="unit")
    index = Column(pl.UInt32, "position among that reference's statements, from 0", role="unit")
    text = Column(pl.String, "the requirement, self-contained", role="words")
