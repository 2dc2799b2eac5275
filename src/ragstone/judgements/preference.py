"""Preference: which of two answers to the same question is better?

Judged in both orders, so that a liking for the first place shows.
"""

import polars as pl

from .kind import Column, Kind

PREFERENCES = ("win", "loss", "tie")


class Preference(Kind):
    """One row per pair of answers and order."""

    name = "preference"
    about = "pair"
    tokens = 70

    rival = Column(pl.String, "the system compared with", role="topic")
    order = Column(pl.UInt32, "0 if this answer was shown first, 1 if second", role="vote")
    verdict = Column(pl.Enum(PREFERENCES), "for this answer", role="verdict", label="preference")
