"""Grades: how relevant the contexts are, more finely than yes or no."""

from dataclasses import dataclass
from typing import ClassVar

import polars as pl

from ragstone.core.errors import InputError
from ragstone.judgements import Contexts, View

from .core import Metric
from .outcome import Undefined
from .ranking import RankingMetric


@dataclass(frozen=True)
class GradedRelevance(RankingMetric):
    """Mean grade of the contexts, as a share of the best grade.

        graded_relevance = mean of grade / max_grade

    ``max_grade=3`` uses grades 0 to 3; ``max_grade=2`` the levels irrelevant, relevant and
    sufficient, which human labels give.
    """

    name: ClassVar[str] = "graded_relevance"

    max_grade: int = 3

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.max_grade not in (2, 3):
            raise InputError(f"graded_relevance: max_grade must be 2 or 3, not {self.max_grade!r}.")

    def fact(self) -> pl.Expr:
        """The grade."""
        return Contexts.weight if self.max_grade == 2 else Contexts.grade

    def rule(self) -> pl.Expr:
        """The mean over the top k or the whole list; 0 if ``condense`` leaves no context."""
        grade = self.fact().fill_null(0) if self.gaps == "zero" else self.known(self.fact())
        top = grade if self.k is None else grade.filter(self.rank(self.fact()) <= self.k)
        return top.mean().fill_null(0.0) / self.max_grade

    def settled(self) -> pl.Expr | None:
        """There is no gap in the top k."""
        if self.gaps != "strict":
            return pl.lit(value=True)
        return self.gap_in_top(self.fact()).any().not_()


@dataclass(frozen=True)
class SentenceRelevance(Metric):
    """Share of the contexts' sentences that help to answer the question.

        sentence_relevance = relevant sentences / all sentences of the contexts

    Source: the context relevancy of early Ragas releases.
    """

    name: ClassVar[str] = "sentence_relevance"
    family: ClassVar[str] = "retrieval"
    over: ClassVar[type[View]] = Contexts
    empty: ClassVar[float | Undefined] = 0.0
    empty_flag: ClassVar[str | None] = "empty_retrieval"
    undefined: ClassVar[str] = "no_sentences"

    def rule(self) -> pl.Expr:
        """The share over the sentences of all contexts together."""
        return Contexts.relevant_sentences.list.len().sum() / Contexts.sentences.sum()
