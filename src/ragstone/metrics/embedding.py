"""Embedding: cosines of questions, contexts, answers and references. They need an encoder.

A text is read up to the encoder's limit; with `windows=True` a longer context is read in
overlapping windows, of which the best counts. The thresholds were set for all-MiniLM-L6-v2: the
cosines of another encoder lie elsewhere, so set your own.
"""

from dataclasses import dataclass
from typing import ClassVar

import polars as pl

from ragstone.judgements import Answers, AnswerSentences, Contexts, View

from .core import Metric
from .outcome import Range, Undefined
from .scale import Scale, scaled

THRESHOLDS_OF = "all-MiniLM-L6-v2"
"""The model for which the default thresholds were set."""


@dataclass(frozen=True)
class EmbeddingContextRelevance(Metric):
    """Mean cosine of the question and each context, from -1 to 1."""

    name: ClassVar[str] = "embedding_context_relevance"
    family: ClassVar[str] = "retrieval"
    over: ClassVar[type[View]] = Contexts
    range: ClassVar[Range] = Range(-1, 1)
    empty: ClassVar[float | Undefined] = Undefined("no_contexts")

    windows: bool = False

    def rule(self) -> pl.Expr:
        """Negative cosines stay negative."""
        return _of_question(windows=self.windows).mean()


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
    windows: bool = False

    def rule(self) -> pl.Expr:
        """Over the contexts."""
        return (_of_question(windows=self.windows) >= self.threshold).mean()


@dataclass(frozen=True)
class ReferenceSimilarityMax(Metric):
    """Best cosine of a context and a reference, from -1 to 1."""

    name: ClassVar[str] = "reference_similarity_max"
    family: ClassVar[str] = "retrieval"
    over: ClassVar[type[View]] = Contexts
    range: ClassVar[Range] = Range(-1, 1)
    empty: ClassVar[float | Undefined] = Undefined("no_contexts")

    windows: bool = False

    def rule(self) -> pl.Expr:
        """Over the contexts."""
        if self.windows:
            return Contexts.reference_similarity_windows.max()
        return Contexts.reference_similarity.max()


@dataclass(frozen=True)
class EmbeddingAnswerRelevance(Metric):
    """Cosine of the question and the answer, from -1 to 1. An empty answer has 0.

    It sees whether both are about the same, not whether the question is
    answered: repeating the question scores best. `answer_relevance` compares
    with questions generated from the answer, `answer_relevance_rated` rates.
    ``scale`` is as for `semantic_similarity`.
    """

    name: ClassVar[str] = "embedding_answer_relevance"
    family: ClassVar[str] = "answer"
    over: ClassVar[type[View]] = Answers
    range: ClassVar[Range] = Range(-1, 1)
    empty: ClassVar[float | Undefined] = Undefined("no_answer")

    scale: Scale = "cosine"

    def rule(self) -> pl.Expr:
        """Of the one answer."""
        return scaled(Answers.question_similarity.first(), self.scale)


@dataclass(frozen=True)
class EmbeddingHallucination(Metric):
    """Share of the answer's sentences that resemble no context. Lower is better.

        embedding_hallucination = sentences whose best cosine with a context
                                  is below the threshold / sentences

    1 where nothing was retrieved. An embedding sees the topic, not the fact:
    most sentences of a wrong answer pass. See docs/local-judge.md for what
    string evidence does better.
    """

    name: ClassVar[str] = "embedding_hallucination"
    family: ClassVar[str] = "grounding"
    over: ClassVar[type[View]] = AnswerSentences
    range: ClassVar[Range] = Range(0, 1, "-")
    empty: ClassVar[float | Undefined] = Undefined("no_sentences")

    threshold: float = 0.4
    windows: bool = False

    def rule(self) -> pl.Expr:
        """Over the sentences."""
        sentences = AnswerSentences
        best = sentences.similarity_windows if self.windows else sentences.similarity
        return (best < self.threshold).mean()


def _of_question(*, windows: bool) -> pl.Expr:
    return Contexts.question_similarity_windows if windows else Contexts.question_similarity
