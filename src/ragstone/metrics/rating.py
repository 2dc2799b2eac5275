"""Rating: an answer scored on one criterion of a rubric."""

from dataclasses import dataclass
from typing import ClassVar

import polars as pl

from ragstone.judgements import Ratings, View

from .core import Metric
from .outcome import Undefined


@dataclass(frozen=True)
class Rating(Metric):
    """The score an answer was given on one criterion of a rubric, from 0 to 1."""

    name: ClassVar[str] = "rating"
    family: ClassVar[str] = "answer"
    over: ClassVar[type[View]] = Ratings
    empty: ClassVar[float | Undefined] = Undefined("not_rated")
    undefined: ClassVar[str] = "not_rated"

    criterion: str = "helpfulness"

    def rule(self) -> pl.Expr:
        """The mean, where it was rated more than once."""
        return Ratings.score.filter(Ratings.criterion == self.criterion).mean()

    def settled(self) -> pl.Expr | None:
        """Every rating of this criterion has a score."""
        return Ratings.score.filter(Ratings.criterion == self.criterion).is_not_null().all()
