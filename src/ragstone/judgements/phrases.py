"""Phrases: does the answer hold one of the stock phrases of uncertainty?

The naive way to find an abstention, kept because published reports count so.
"""

import polars as pl

from .kind import Column, Kind


class Phrases(Kind):
    """One row per answer."""

    name = "phrases"

    phrases_8 = Column(pl.Boolean, "one of the eight phrases occurs", role="verdict")
    phrases_12 = Column(pl.Boolean, "one of the twelve phrases occurs", role="verdict")
