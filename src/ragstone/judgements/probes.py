"""Probes: which question would this answer be the answer to?

Questions written from the answer alone. If they resemble the question that was
asked, the answer was to the point. *Noncommittal*: the answer evades.
"""

import polars as pl

from .kind import Column, Kind


class Probe(Kind):
    """One row per question generated from the answer."""

    name = "probes"
    made = True
    tokens = 90

    index = Column(pl.UInt32, "position, from 0", role="unit")
    text = Column(pl.String, "the generated question", role="words")
    noncommittal = Column(pl.Boolean, "the answer evades the question", role="verdict")
