"""Critique: does the answer show one stated aspect, yes or no?"""

from collections.abc import Collection

import polars as pl

from .column import Column
from .kind import Ask, Kind
from .view import Fact, JudgementRows, View


class Critique(Kind):
    """One row per answer, aspect and vote."""

    name = "critique"
    shows = ("question", "sentences")
    asks = (Ask(requires=("answer",), by=("model",)),)
    tokens = 50

    aspect = Column(pl.String, "what is asked", role="topic")
    index = Column(pl.UInt32, "which vote, from 0", role="vote")
    verdict = Column(
        pl.Boolean,
        "yes or no; null where the vote could not be read",
        role="verdict",
        phrase={True: "yes", False: "no"},
    )


class Votes(View):
    """One row per aspect and vote."""

    made_by = ("critique",)

    aspect = Fact(pl.String, "what is asked")
    index = Fact(pl.UInt32, "which vote, from 0")
    verdict = Fact(pl.Boolean, "yes or no; null where it could not be read")

    @classmethod
    def frame(cls, tables: JudgementRows, wanted: Collection[str]) -> pl.DataFrame:  # noqa: ARG003
        return tables.of("critique").select("row", "aspect", "index", "verdict")
