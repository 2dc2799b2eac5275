"""Rating: an answer scored on one criterion of a rubric."""

from dataclasses import dataclass
from typing import ClassVar

import polars as pl

from ragstone.judgements import Ratings, Topic, View, name_for

from .metric import Metric, Undefined

HELPFULNESS = "helpfulness"
"""The criterion where none is named."""


@dataclass(frozen=True)
class RubricScore(Metric):
    """The score on one criterion of a rubric, scaled to 0 to 1.

    A ``definition`` makes a criterion of one sentence, such as "Is the tone friendly?", rated by
    question and answer on five points from not at all to fully; without ``criterion`` it is named
    by its words.

    Undefined if the answer was not rated on it, for instance because a text the rubric needs
    is absent.
    """

    name: ClassVar[str] = "rating"
    family: ClassVar[str] = "answer"
    over: ClassVar[type[View]] = Ratings
    empty: ClassVar[float | Undefined] = Undefined("not_rated")
    undefined: ClassVar[str] = "not_rated"

    criterion: str = HELPFULNESS
    definition: str = ""

    def __post_init__(self) -> None:
        if self.definition and self.criterion == HELPFULNESS:
            object.__setattr__(self, "criterion", name_for(self.definition))

    @property
    def topics(self) -> frozenset[Topic]:
        """The criterion, with its definition."""
        return frozenset({Topic("rating", self.criterion, self.definition)})

    def rule(self) -> pl.Expr:
        """The mean of the scores, if it was rated more than once."""
        return score_of(self.criterion).mean()

    def settled(self) -> pl.Expr | None:
        """Every rating of this criterion has a score."""
        return score_of(self.criterion).is_not_null().all()


def score_of(criterion: str) -> pl.Expr:
    """The scores that an answer was given on a criterion."""
    return Ratings.score.filter(Ratings.criterion == criterion)
