"""Rating: an answer scored on one criterion of a rubric."""

from dataclasses import dataclass
from typing import ClassVar

import polars as pl

from ragstone.judgements import Ratings, Topic, View

from .core import Metric
from .outcome import Undefined


@dataclass(frozen=True)
class RubricScore(Metric):
    """The score on one criterion of a rubric, scaled to 0 to 1.

    Undefined if the answer was not rated on it, for instance because a text the rubric needs
    is absent.
    """

    name: ClassVar[str] = "rating"
    family: ClassVar[str] = "answer"
    over: ClassVar[type[View]] = Ratings
    empty: ClassVar[float | Undefined] = Undefined("not_rated")
    undefined: ClassVar[str] = "not_rated"

    criterion: str = "helpfulness"

    @property
    def topics(self) -> frozenset[Topic]:
        """The criterion."""
        return frozenset({Topic("rating", self.criterion)})

    def rule(self) -> pl.Expr:
        """The mean of the scores, if it was rated more than once."""
        return score_of(self.criterion).mean()

    def settled(self) -> pl.Expr | None:
        """Every rating of this criterion has a score."""
        return score_of(self.criterion).is_not_null().all()


def score_of(criterion: str) -> pl.Expr:
    """The scores that an answer was given on a criterion."""
    return Ratings.score.filter(Ratings.criterion == criterion)
