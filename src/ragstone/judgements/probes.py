"""Probes: which question would this answer be the answer to?"""

import polars as pl

from .column import Column
from .kind import Ask, Kind
from .view import Fact, View

# How many questions are generated, unless a metric asks for more.
PROBES = 3

MOST_PROBES = 20


class Probe(Kind):
    """One row per question generated from the answer."""

    name = "probes"
    shows = ("answer",)
    asks = (Ask(requires=("answer",), by=("model",)),)
    made = True
    tokens = 90

    index = Column(pl.UInt32, "position, from 0", role="unit", phrase="")
    text = Column(pl.String, "the generated question", role="words")
    noncommittal = Column(
        pl.Boolean,
        "ANSWER as a whole gives nothing: it evades, declines, asks back or only says that it does "
        "not know",
        role="verdict",
        phrase={True: "noncommittal"},
    )


class Probes(View):
    """One row per question generated from the answer."""

    made_by = ("probes",)

    unit = "probe"
    keys = ("index",)

    index = Fact(pl.UInt32, "position, from 0")
    text = Fact(pl.String, "the generated question")
    noncommittal = Fact(pl.Boolean, "the answer evades")
