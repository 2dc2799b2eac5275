"""Critique: does the answer show one stated aspect, yes or no?

Asked several times, each a vote.
"""

import polars as pl

from .kind import Column, Kind


class Critique(Kind):
    """One row per answer, aspect and vote."""

    name = "critique"
    key = ("aspect", "index")

    aspect = Column(pl.String, "what is asked")
    index = Column(pl.UInt32, "which vote, from 0")
    verdict = Column(pl.Boolean, "yes or no; null where the vote could not be read")
