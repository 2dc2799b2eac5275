"""Embedding: cosines of questions, contexts and references. They need an embedding model."""

from dataclasses import dataclass
from typing import ClassVar

import polars as pl

from ragstone.judgements import AnswerSentences, Contexts, View

from .core import Metric
from .outcome import Range, Undefined


@dataclass(frozen=True)
class EmbeddingContextRelevance(Metric):
    """Mean cosine of the question and each context, from -1 to 1."""

    name: ClassVar[str] = "embedding_context_relevance"
    family: ClassVar[str] = "retrieval"
    over: ClassVar[type[View]] = Contexts
    range: ClassVar[Range] = Range(-1, 1)
    empty: ClassVar[float | Undefined] = Undefined("no_contexts")

    def rule(self) -> pl.Expr:
        """Negative cosines stay negative."""
        return Contexts.question_similarity.mean()


@dataclass(frozen=True)
class EmbeddingContextSufficiency(Metric):
    """Share of the contexts whose cosine with the question reaches a threshold.

    Equality counts. 0 where nothing was retrieved, flagged.
    """

    name: ClassVar[str] = "embedding_context_sufficiency"
    family: ClassVar[str] = "retrieval"
    over: ClassVar[type[View]] = Contexts
    empty: ClassVar[float | Undefined] = 0.0
    empty_flag: ClassVar[str | None] = "empty_retrieval"

    threshold: float = 0.5

    def rule(self) -> pl.Expr:
        """Over the contexts."""
        return (Contexts.question_similarity >= self.threshold).mean()


@dataclass(frozen=True)
class ReferenceSimilarityMax(Metric):
    """Best cosine of a context and a reference, from -1 to 1."""

    name: ClassVar[str] = "reference_similarity_max"
    family: ClassVar[str] = "retrieval"
    over: ClassVar[type[View]] = Contexts
    range: ClassVar[Range] = Range(-1, 1)
    empty: ClassVar[float | Undefined] = Undefined("no_contexts")

    def rule(self) -> pl.Expr:
        """Over the contexts."""
        return Contexts.reference_similarity.max()


@dataclass(frozen=True)
class EmbeddingHallucination(Metric):
    """Share of the answer's sentences that resemble no context. Lower is better.

        embedding_hallucination = sentences whose best cosine with a context
                                  is below the threshold / sentences

    An embedding sees the topic, not the fact: most sentences of a wrong answer
    pass. See docs/local-judge.md for what string evidence does better.
    """

    name: ClassVar[str] = "embedding_hallucination"
    family: ClassVar[str] = "grounding"
    over: ClassVar[type[View]] = AnswerSentences
    range: ClassVar[Range] = Range(0, 1, "-")
    empty: ClassVar[float | Undefined] = Undefined("no_sentences")

    threshold: float = 0.4

    def rule(self) -> pl.Expr:
        """Over the sentences."""
        return (AnswerSentences.similarity < self.threshold).mean()
