"""Statements: what does a good answer have to say?

A statement is an atomic requirement of the reference answer, self-contained
like a claim. Statements are made once per question and serve every system.
"""

import polars as pl

from .ask import Ask
from .column import Column
from .kind import Kind


class Statement(Kind):
    """One row per statement of a reference answer."""

    name = "statements"
    asks = (Ask(requires=("reference",)),)
    made = True

    reference = Column(pl.UInt32, "which of the references, from 0", role="unit")
    index = Column(pl.UInt32, "position among that reference's statements, from 0", role="unit")
    text = Column(pl.String, "the requirement, self-contained", role="words")
