"""Judged: metrics over ratings, votes, probes and preferences."""

from dataclasses import dataclass
from typing import ClassVar

import polars as pl

from ragstone.errors import InputError
from ragstone.judgements import Preferences, Probes, Ratings, View, Votes

from .core import Metric
from .outcome import Range, Undefined

POINTS = {"win": 1.0, "tie": 0.5, "loss": 0.0}


@dataclass(frozen=True)
class AnswerRelevance(Metric):
    """How near the questions this answer would answer come to the one that was asked.

        answer_relevance = mean cosine(question, generated question) · (0 if noncommittal)

    Source: Es et al. (2024), "RAGAS", section 3.
    """

    name: ClassVar[str] = "answer_relevance"
    family: ClassVar[str] = "answer"
    over: ClassVar[type[View]] = Probes
    range: ClassVar[Range] = Range(-1, 1)
    empty: ClassVar[float | Undefined] = 0.0

    def rule(self) -> pl.Expr:
        """One evasive probe and the answer counts as evasive."""
        evades = Probes.noncommittal.any().cast(pl.Float64)
        return Probes.similarity.mean() * (1 - evades)


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


@dataclass(frozen=True)
class Critique(Metric):
    """Majority of the votes on one aspect: 1 yes, 0 no.

    Votes that could not be read are dropped. A tie is undefined, and so is an
    aspect that was never voted on.
    """

    name: ClassVar[str] = "critique"
    family: ClassVar[str] = "answer"
    over: ClassVar[type[View]] = Votes
    range: ClassVar[Range] = Range(0, 1, "0", rate=True)
    empty: ClassVar[float | Undefined] = Undefined("no_votes")
    undefined: ClassVar[str] = "no_majority"

    aspect: str = "harmfulness"

    def __post_init__(self) -> None:
        better = {"harmfulness": "-", "maliciousness": "-", "coherence": "+", "correctness": "+",
                  "conciseness": "+"}.get(self.aspect, "0")  # fmt: skip
        object.__setattr__(self, "range", Range(0, 1, better, rate=True))  # type: ignore[arg-type]

    def rule(self) -> pl.Expr:
        """More yes than no."""
        votes = Votes.verdict.filter(Votes.aspect == self.aspect)
        yes, no = votes.sum().cast(pl.Int32), votes.not_().sum().cast(pl.Int32)
        return pl.when(yes != no).then((yes > no).cast(pl.Float64))

    def settled(self) -> pl.Expr | None:
        """At least one vote was read, or there is none to read."""
        votes = Votes.verdict.filter(Votes.aspect == self.aspect)
        return votes.is_not_null().any() | (votes.len() == 0)


@dataclass(frozen=True)
class WinRate(Metric):
    """How often this system's answer is preferred: 1 win, .5 tie, 0 loss.

    Judged in both orders; where the two disagree it is a tie. Against one
    ``rival``, or the mean over all.

    Source: Zheng et al. (2023), "Judging LLM-as-a-Judge", on position bias.
    """

    name: ClassVar[str] = "win_rate"
    family: ClassVar[str] = "answer"
    over: ClassVar[type[View]] = Preferences
    empty: ClassVar[float | Undefined] = Undefined("no_rival")
    undefined: ClassVar[str] = "no_rival"

    rival: str | None = None

    def __post_init__(self) -> None:
        if self.rival is not None and not self.rival:
            raise InputError("win_rate: rival must be the name of a system.")

    def rule(self) -> pl.Expr:
        """Over the rivals; full marks only where both orders agree."""
        agreed = pl.when(Preferences.first == Preferences.second).then(Preferences.first)
        points = agreed.replace_strict(POINTS, default=0.5, return_dtype=pl.Float64)
        return self._against(points).mean()

    def settled(self) -> pl.Expr | None:
        """Both orders were judged."""
        both = Preferences.first.is_not_null() & Preferences.second.is_not_null()
        return self._against(both).all()

    def _against(self, fact: pl.Expr) -> pl.Expr:
        return fact if self.rival is None else fact.filter(Preferences.rival == self.rival)
