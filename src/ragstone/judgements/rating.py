"""Rating: an answer scored on one stated criterion, the reasoning first."""

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
