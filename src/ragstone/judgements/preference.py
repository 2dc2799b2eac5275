"""Preference: which of two answers to the same question is better?"""

from collections.abc import Collection

import polars as pl

from .column import Column
from .kind import Ask, Kind
from .view import Fact, JudgementRows, View

VERDICTS = {
    "win": "this answer is better.",
    "loss": "the other is.",
    "tie": "neither is better in a way that would matter to the asker.",
}
PREFERENCES = tuple(VERDICTS)


class Preference(Kind):
    """One row per pair of answers and order."""

    name = "preference"
    shows = ("question", "reference")
    about = "pair"
    asks = (Ask(requires=("answer",), by=("model",), beside=("rivals",)),)
    tokens = 70

    rival = Column(pl.String, "the system compared with", role="topic", phrase="against {}")
    order = Column(
        pl.UInt32,
        "0 if this answer was shown first, 1 if second",
        role="vote",
        phrase={0: "shown first", 1: "shown second"},
    )
    verdict = Column(None, "for this answer", role="verdict", values=VERDICTS, label="preference")


class Preferences(View):
    """One row per rival."""

    made_by = ("preference",)

    rival = Fact(pl.String, "the system compared with")
    first = Fact(pl.Enum(PREFERENCES), "for this answer, shown first")
    second = Fact(pl.Enum(PREFERENCES), "for this answer, shown second")

    @classmethod
    def frame(cls, tables: JudgementRows, wanted: Collection[str]) -> pl.DataFrame:  # noqa: ARG003
        return (
            tables.of("preference")
            .group_by("row", "rival", maintain_order=True)
            .agg(
                first=pl.col("verdict").filter(pl.col("order") == 0).first(),
                second=pl.col("verdict").filter(pl.col("order") == 1).first(),
            )
        )
