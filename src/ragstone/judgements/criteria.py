"""Criteria: does the answer meet what this example in particular asks of it?"""

import polars as pl

from .column import Column
from .kind import Ask, Kind
from .views import Criteria


class Criterion(Kind):
    """One row per criterion of the example."""

    name = "criteria"
    shows = ("question", "answer")
    asks = (Ask(over=Criteria, requires=("answer", "criteria"), says=""),)
    tokens = 40

    met = Column(
        pl.Boolean, "the answer does what the criterion says", role="verdict", label="met",
        phrase={True: "met", False: "not met"}, tones={True: "good", False: "bad"},
    )  # fmt: skip
