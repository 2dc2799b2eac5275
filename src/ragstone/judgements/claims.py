"""Claims and statements: what does the answer assert, and what does a good one have to say?"""

import polars as pl

from .column import Column
from .kind import Ask, Kind


class Claim(Kind):
    """One row per claim of the answer."""

    name = "claims"
    shows = ("question", "sentences")
    asks = (Ask(requires=("answer",), after=("response",), by=("local", "people", "model"),
                beside=("contexts",)),)  # fmt: skip
    made = True

    index = Column(pl.UInt32, "position among the answer's claims, from 0", role="unit")
    text = Column(pl.String, "the assertion, self-contained", role="words")
    sentence = Column(pl.UInt32, "the answer's sentence it comes from, from 0")
    factual = Column(pl.Boolean, "it can be true or false, so it is no opinion")
    start = Column(pl.UInt32, "first character in the answer, where it is a span of it")
    end = Column(pl.UInt32, "character after the last")
    citations = Column(
        pl.List(pl.String),
        "ids of the contexts that its markers name, null for one that names none; null where the "
        "judge does not say",
    )


class Statement(Kind):
    """One row per statement of a reference answer."""

    name = "statements"
    shows = ("question", "reference")
    asks = (Ask(requires=("reference",), by=("local", "people", "model")),)
    made = True

    reference = Column(pl.UInt32, "which of the references, from 0", role="unit")
    index = Column(pl.UInt32, "position among that reference's statements, from 0", role="unit")
    text = Column(pl.String, "the requirement, self-contained", role="words")
