"""Embedding: cosines of questions, contexts, answers and references, from an encoder.

Texts are cut at the encoder's limit; with ``windows=True`` a longer context is read in
overlapping windows, of which the best counts. The default thresholds are for all-MiniLM-L6-v2;
other encoders need their own.
"""

from dataclasses import dataclass
from typing import Literal

import polars as pl

from ragstone.judgements import Answers, AnswerSentences, Contexts

from .metric import Metric, Range, Undefined, reaches

Scale = Literal["cosine", "clamped", "shifted"]


def scaled(cosine: pl.Expr, scale: Scale) -> pl.Expr:
    """A cosine unchanged, ``clamped`` to ``max(0, c)``, or ``shifted`` to ``(c + 1) / 2``.

    Unrelated texts have about 0 unchanged or clamped, and about .5 shifted.
    """
    match scale:
        case "clamped":
            return cosine.clip(lower_bound=0)
        case "shifted":
            return (cosine + 1) / 2
        case "cosine":
            return cosine


@dataclass(frozen=True)
class ScaledCosine(Metric):
    """The base of the metrics whose cosine can be shown on another scale, from 0 to 1."""

    range = Range(-1, 1)

    scale: Scale = "cosine"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.scale != "cosine":
            object.__setattr__(self, "range", Range(0, 1))


# The model for which the default thresholds were set.
THRESHOLDS_OF = "all-MiniLM-L6-v2"


@dataclass(frozen=True)
class EmbeddingContextRelevance(Metric):
    """Mean cosine of the question and each context."""

    name = "embedding_context_relevance"
    family = "retrieval"
    over = Contexts
    range = Range(-1, 1)
    empty = Undefined("no_contexts")

    windows: bool = False

    def rule(self) -> pl.Expr:
        return _of_question(windows=self.windows).mean()


@dataclass(frozen=True)
class EmbeddingContextSufficiency(Metric):
    """Share of the contexts whose cosine with the question is at least a threshold.

    0 if nothing was retrieved, flagged.
    """

    name = "embedding_context_sufficiency"
    family = "retrieval"
    over = Contexts
    empty = 0.0
    empty_flag = "empty_retrieval"

    threshold: float = 0.5
    windows: bool = False

    def rule(self) -> pl.Expr:
        return reaches(_of_question(windows=self.windows), self.threshold).mean()


@dataclass(frozen=True)
class ReferenceSimilarityMax(Metric):
    """Highest cosine of any context and reference."""

    name = "reference_similarity_max"
    family = "retrieval"
    over = Contexts
    range = Range(-1, 1)
    empty = Undefined("no_contexts")

    windows: bool = False

    def rule(self) -> pl.Expr:
        if self.windows:
            return Contexts.reference_similarity_windows.max()
        return Contexts.reference_similarity.max()


class EmbeddingAnswerRelevance(ScaledCosine):
    """Cosine of the question and the answer; 0 for an empty answer.

    Measures whether both are on the same topic, not whether the question is answered: repeating
    the question scores best. Compare ``answer_relevance`` (with generated questions) and
    ``answer_relevance_rated``. ``scale`` is as in ``semantic_similarity``.
    """

    name = "embedding_answer_relevance"
    family = "answer"
    over = Answers
    empty = Undefined("no_answer")

    def rule(self) -> pl.Expr:
        return scaled(Answers.question_similarity.first(), self.scale)


@dataclass(frozen=True)
class EmbeddingHallucination(Metric):
    """Share of the answer's sentences that resemble no context.

        embedding_hallucination = sentences whose best cosine with a context
                                  is below the threshold / sentences

    1 if nothing was retrieved. Embeddings capture the topic, not the facts: most sentences of a
    wrong answer pass. docs/local-judge.md shows what string evidence does better.
    """

    name = "embedding_hallucination"
    family = "grounding"
    over = AnswerSentences
    range = Range(0, 1, "-")
    empty = Undefined("no_sentences")

    threshold: float = 0.4
    windows: bool = False

    def rule(self) -> pl.Expr:
        sentences = AnswerSentences
        best = sentences.similarity_windows if self.windows else sentences.similarity
        return reaches(best, self.threshold).not_().mean()


def _of_question(*, windows: bool) -> pl.Expr:
    return Contexts.question_similarity_windows if windows else Contexts.question_similarity
