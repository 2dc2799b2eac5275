"""Phrases: does the answer hold one of the stock phrases of uncertainty?

The naive way to find an abstention, kept because published reports count so.
"""

import polars as pl

from .ask import Ask
from .column import Column
from .kind import Kind
from .views import Answers


class Phrases(Kind):
    """One row per answer."""

    name = "phrases"
    asks = (Ask(over=Answers, requires=("answer",), by=("counting",)),)

    phrases_8 = Column(
        pl.Boolean,
        "one of the eight phrases occurs",
        role="verdict",
        phrase={True: "one of the eight", False: "none of the eight"},
    )
    phrases_12 = Column(
        pl.Boolean,
        "one of the twelve phrases occurs",
        role="verdict",
        phrase={True: "one of the twelve", False: "none of the twelve"},
    )
