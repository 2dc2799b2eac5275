"""Rating: an answer scored on one stated criterion, the reasoning first.

The criterion's rubric says what each point of its scale means, and what it is worth,
from 0 to 1.
"""

import polars as pl

from .kind import Column, Kind


class Rating(Kind):
    """One row per answer and criterion."""

    name = "rating"
    tokens = 130

    criterion = Column(pl.String, "what is rated", role="topic")
    score = Column(pl.Float64, "0 to 1", role="number")
