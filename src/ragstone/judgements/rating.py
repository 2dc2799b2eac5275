"""Rating, critique and preference: an answer scored on a stated criterion, checked for an aspect,
or set against another answer to the same question.
"""

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


class Critique(Kind):
    """One row per answer, aspect and vote."""

    name = "critique"
    shows = ("question", "sentences")
    asks = (Ask(requires=("answer",), by=("model",)),)
    tokens = 50

    aspect = Column(pl.String, "what is asked", role="topic")
    index = Column(pl.UInt32, "which vote, from 0", role="vote")
    verdict = Column(pl.Boolean, "yes or no; null where the vote could not be read", role="verdict",
                     phrase={True: "yes", False: "no"})  # fmt: skip


class Votes(View):
    """One row per aspect and vote."""

    made_by = ("critique",)

    aspect = Fact(pl.String, "what is asked")
    index = Fact(pl.UInt32, "which vote, from 0")
    verdict = Fact(pl.Boolean, "yes or no; null where it could not be read")


VERDICTS = {"win": "this answer is better.", "loss": "the other is.",
            "tie": "neither is better in a way that would matter to the asker."}  # fmt: skip
PREFERENCES = tuple(VERDICTS)


class Preference(Kind):
    """One row per pair of answers and order."""

    name = "preference"
    shows = ("question", "reference")
    about = "pair"
    asks = (Ask(requires=("answer",), by=("model",), beside=("rivals",)),)
    tokens = 70

    rival = Column(pl.String, "the system compared with", role="topic", phrase="against {}")
    order = Column(pl.UInt32, "0 if this answer was shown first, 1 if second", role="vote",
                   phrase={0: "shown first", 1: "shown second"})  # fmt: skip
    verdict = Column(None, "for this answer", role="verdict", values=VERDICTS, label="preference")


class Preferences(View):
    """One row per rival."""

    made_by = ("preference",)

    rival = Fact(pl.String, "the system compared with")
    first = Fact(pl.Enum(PREFERENCES), "for this answer, shown first")
    second = Fact(pl.Enum(PREFERENCES), "for this answer, shown second")

    @classmethod
    def frame(cls, tables: JudgementRows, needed: Collection[str]) -> pl.DataFrame:  # noqa: ARG003
        by_rival = tables.of("preference").group_by("row", "rival", maintain_order=True)
        first, second = (pl.col("verdict").filter(pl.col("order") == at).first() for at in (0, 1))
        return by_rival.agg(first=first, second=second)
