"""Rating and critique: an answer scored on a stated criterion, or asked for a stated aspect."""

from collections.abc import Collection

import polars as pl

from .column import Column
from .kind import Ask, Kind
from .view import Fact, JudgementRows, View


class Rating(Kind):
    """One row per answer and criterion."""

    name = "rating"
    asks = (Ask(requires=("answer",), by=("model",), beside=("contexts",)),)
    tokens = 130

    criterion = Column(pl.String, "what is rated", role="topic")
    score = Column(pl.Float64, "0 to 1", role="number")


class Ratings(View):
    """One row per criterion an answer was rated on."""

    made_by = ("rating",)

    criterion = Fact(pl.String, "what is rated")
    score = Fact(pl.Float64, "0 to 1")

    @classmethod
    def frame(cls, tables: JudgementRows, wanted: Collection[str]) -> pl.DataFrame:  # noqa: ARG003
        return tables.of("rating").select("row", "criterion", "score")


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
