"""Critique: does the answer show an aspect, by majority of votes?"""

from dataclasses import dataclass
from typing import ClassVar

import polars as pl

from ragstone.judgements import View, Votes

from .core import Metric
from .outcome import Range, Undefined


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
