"""Probes: which question would this answer be the answer to?

Questions written from the answer alone. If they resemble the question that was
asked, the answer was to the point. *Noncommittal*: the answer evades.
"""

import polars as pl

from .kind import Column, Kind


class Probe(Kind):
    """One row per question generated from the answer."""

    name = "probes"
    key = ("index",)

    index = Column(pl.UInt32, "position, from 0")
    text = Column(pl.String, "the generated question")
    noncommittal = Column(pl.Boolean, "the answer evades the question")
