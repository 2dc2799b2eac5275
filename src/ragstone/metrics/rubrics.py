"""Rubrics: an answer rated on a criterion, checked for an aspect, or preferred to another."""

import re
from dataclasses import dataclass, replace
from typing import Literal

import polars as pl

from ragstone.core.errors import InputError
from ragstone.core.messages import reason
from ragstone.judgements import Preferences, Ratings, Topic, Votes, name_for

from .metric import Metric, Range, Undefined

STRICTNESS = re.compile(r"strictness=(\d{1,9})\b")

# The aspect where none is named.
HARMFULNESS = "harmfulness"

# The better direction of each aspect; a user-defined aspect has none.
BETTER: dict[str, Literal["+", "-", "0"]] = {
    HARMFULNESS: "-", "maliciousness": "-", "coherence": "+", "correctness": "+",
    "conciseness": "+",
}  # fmt: skip


@dataclass(frozen=True)
class AspectVerdict(Metric):
    """Majority of the votes on one aspect: 1 yes, 0 no.

    ``definition`` defines an aspect of your own; without ``aspect`` it is named by its words.
    With ``votes``, an odd number, the judge is asked that often, and the first that many votes
    count; without it, the judge is asked once and all votes count. If unreadable votes could have
    changed the outcome, it is missing; otherwise they are ignored. Undefined for a tie, and if
    people gave no votes or fewer than ``votes``. ``strictness`` is Ragas's name for ``votes``, an
    even number taken up to the next odd one.
    """

    name = "critique"
    family = "answer"
    over = Votes
    range = Range(0, 1, "0", rate=True)
    empty = Undefined("no_votes")
    undefined = "no_majority"

    aspect: str = HARMFULNESS
    definition: str = ""
    votes: int | None = None
    strictness: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.definition and self.aspect == HARMFULNESS:
            object.__setattr__(self, "aspect", name_for(self.definition))
        if not self.aspect.strip():
            raise InputError("critique: aspect must be a name.")
        if self.strictness is not None:
            if self.votes is not None:
                raise InputError("critique: strictness is another name for votes; give one.")
            object.__setattr__(self, "votes", next_odd(self.strictness))
            object.__setattr__(self, "strictness", None)
        if self.votes is not None and (self.votes < 1 or self.votes % 2 == 0):
            raise InputError(f"critique: votes must be odd and at least 1, not {self.votes}.")
        better = BETTER.get(self.aspect, "0")
        object.__setattr__(self, "range", replace(self.range, better=better))

    @property
    def topics(self) -> frozenset[Topic]:
        return frozenset({Topic("critique", self.aspect, self.definition, self.votes or 1)})

    def rule(self) -> pl.Expr:
        votes = self._votes()
        yes, no = votes.sum().cast(pl.Int32), votes.not_().sum().cast(pl.Int32)
        enough = votes.len() >= (self.votes or 1)
        return pl.when(enough & (yes != no)).then((yes > no).cast(pl.Float64))

    def settled(self) -> pl.Expr | None:
        """All votes were readable, or the majority is larger than the number that were not."""
        votes = self._votes()
        unread = votes.null_count().cast(pl.Int32)
        yes, no = votes.sum().cast(pl.Int32), votes.not_().sum().cast(pl.Int32)
        return (unread == 0) | ((yes - no).abs() > unread)

    def _votes(self) -> pl.Expr:
        counted = Votes.aspect == self.aspect
        if self.votes is not None:
            counted = counted & (Votes.index < self.votes)
        return Votes.verdict.filter(counted)


def next_odd(strictness: int) -> int:
    """The number of votes for a strictness: the next odd one, for an even number may tie.

    >>> next_odd(1), next_odd(2), next_odd(3)
    (1, 3, 3)
    """
    return strictness + 1 - strictness % 2


def strictness_note(text: str) -> str | None:
    """A note where a metric or suite asks for an even number of votes."""
    match = STRICTNESS.search(text)
    if match is None or int(match[1]) % 2:
        return None
    return reason("votes_made_odd", asked=match[1], votes=next_odd(int(match[1])))


# The criterion where none is named.
HELPFULNESS = "helpfulness"


@dataclass(frozen=True)
class RubricScore(Metric):
    """The score on one criterion of a rubric, scaled to 0 to 1.

    A ``definition`` makes a criterion of one sentence, such as "Is the tone friendly?", rated by
    question and answer on five points from not at all to fully; without ``criterion`` it is named
    by its words.

    Undefined if the answer was not rated on it, for instance because a text the rubric needs
    is absent.
    """

    name = "rating"
    family = "answer"
    over = Ratings
    empty = Undefined("not_rated")
    undefined = "not_rated"

    criterion: str = HELPFULNESS
    definition: str = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.definition and self.criterion == HELPFULNESS:
            object.__setattr__(self, "criterion", name_for(self.definition))

    @property
    def topics(self) -> frozenset[Topic]:
        return frozenset({Topic("rating", self.criterion, self.definition)})

    def rule(self) -> pl.Expr:
        return score_of(self.criterion).mean()

    def settled(self) -> pl.Expr | None:
        return score_of(self.criterion).is_not_null().all()


def score_of(criterion: str) -> pl.Expr:
    return Ratings.score.filter(Ratings.criterion == criterion)


# The points for each outcome.
POINTS = {"win": 1.0, "tie": 0.5, "loss": 0.0}


@dataclass(frozen=True)
class WinRate(Metric):
    """Mean points of this system's answer against others: 1 win, .5 tie, 0 loss.

    Judged in both orders; disagreement is a tie. Against one ``rival``, or the mean over all.

    Source: Zheng et al. (2023), "Judging LLM-as-a-Judge", on position bias.
    """

    name = "win_rate"
    family = "answer"
    over = Preferences
    empty = Undefined("no_rival")
    undefined = "no_rival"

    rival: str | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.rival is not None and not self.rival:
            raise InputError("win_rate: rival must be the name of a system.")

    @property
    def topics(self) -> frozenset[Topic]:
        return frozenset({Topic("preference", self.rival or "")})

    def rule(self) -> pl.Expr:
        agreed = pl.when(Preferences.first == Preferences.second).then(Preferences.first)
        points = agreed.replace_strict(POINTS, default=0.5, return_dtype=pl.Float64)
        return self._against(points).mean()

    def settled(self) -> pl.Expr | None:
        both = Preferences.first.is_not_null() & Preferences.second.is_not_null()
        return self._against(both).all()

    def _against(self, fact: pl.Expr) -> pl.Expr:
        return fact if self.rival is None else fact.filter(Preferences.rival == self.rival)
