"""Critique: does the answer show one stated aspect, yes or no?

Asked several times, each a vote.
"""

import polars as pl

from .kind import Column, Kind


class Critique(Kind):
    """One row per answer, aspect and vote."""

    name = "critique"
    tokens = 50

    aspect = Column(pl.String, "what is asked", role="topic")
    index = Column(pl.UInt32, "which vote, from 0", role="vote")
    verdict = Column(pl.Boolean, "yes or no; null where the vote could not be read", role="verdict")
