"""Sufficiency: contexts that suffice to answer the question, and contexts that mislead."""

from dataclasses import dataclass
from typing import ClassVar

import polars as pl

from ragstone.judgements import Contexts

from .outcome import Range
from .ranking import RankingMetric, ShareInTop


@dataclass(frozen=True)
class SufficiencyRate(ShareInTop):
    """Share of the top k contexts that suffice to answer the question.

    sufficiency_rate(k) = sufficient contexts in the top k / k
    """

    name: ClassVar[str] = "sufficiency_rate"

    def fact(self) -> pl.Expr:
        """Whether the context is sufficient."""
        return Contexts.sufficient


@dataclass(frozen=True)
class SufficiencyHit(RankingMetric):
    """Whether any of the top k contexts suffices to answer the question: 1 or 0."""

    name: ClassVar[str] = "sufficiency_hit"
    range: ClassVar[Range] = Range(0, 1, rate=True)

    def rule(self) -> pl.Expr:
        """One is enough."""
        return self.within(Contexts.sufficient).any().cast(pl.Float64)

    def settled(self) -> pl.Expr | None:
        """One sufficient context settles it, whatever else is unknown."""
        if self.gaps != "strict":
            return pl.lit(value=True)
        gaps = self.gap_in_top(Contexts.sufficient).any()
        return self.within(Contexts.sufficient).any() | gaps.not_()


@dataclass(frozen=True)
class MisleadingRate(ShareInTop):
    """Share of the top k contexts that lead to a wrong answer.

    misleading_rate(k) = misleading contexts in the top k / k
    """

    name: ClassVar[str] = "misleading_rate"
    range: ClassVar[Range] = Range(0, 1, "-")

    def fact(self) -> pl.Expr:
        """Whether the context is misleading."""
        return Contexts.misleading
