"""Facts: how an answer was made, as columns or metadata of the examples record it.

No judge is asked. Where a fact is not recorded, or is not a number of 0 or more, the score is
undefined.
"""

from dataclasses import dataclass
from math import inf
from typing import Literal

import polars as pl

from ragstone.judgements import AnswerFacts

from .metric import Metric, Range, Undefined


class RecordedFact(Metric):
    """A recorded number that is better the smaller it is."""

    family = "facts"
    over = AnswerFacts
    range = Range(0, inf, "-")
    empty = Undefined("not_recorded")
    undefined = "not_recorded"

    def rule(self) -> pl.Expr:
        return pl.col(self.name).first()


class Latency(RecordedFact):
    """Seconds until the answer was complete, from the column ``latency``."""

    name = "latency"


class FirstToken(RecordedFact):
    """Seconds until the answer began, from the column ``first_token``."""

    name = "first_token"


class Cost(RecordedFact):
    """What the answer cost, in US dollars, from the column ``cost``."""

    name = "cost"


@dataclass(frozen=True)
class Tokens(RecordedFact):
    """Tokens that the model read and wrote, from ``input_tokens`` and ``output_tokens``.

    ``only`` counts one of the two: ``input`` or ``output``.
    """

    name = "tokens"

    only: Literal["input", "output"] | None = None

    def rule(self) -> pl.Expr:
        if self.only is not None:
            return pl.col(f"{self.only}_tokens").first()
        return (AnswerFacts.input_tokens + AnswerFacts.output_tokens).first()
