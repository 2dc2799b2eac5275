"""Answer relevance: does the answer address the question, and all of it?"""

from dataclasses import dataclass

import polars as pl

from ragstone.core.errors import InputError
from ragstone.judgements import Answers, Probes, Topic
from ragstone.judgements.probes import MOST_PROBES, PROBES

from .answer_rates import AnswerRate
from .embedding import ScaledCosine, scaled
from .metric import Range, share


@dataclass(frozen=True)
class AnswerRelevance(ScaledCosine):
    """Mean similarity of the question and questions generated from the answer.

        answer_relevance = mean cosine(question, generated question) · (0 if noncommittal)

    Over ``n`` generated questions; undefined if there are fewer, for instance because a finished
    run is scored anew. 0 for an empty answer. ``scale`` is as in ``semantic_similarity``. The plain
    cosine of question and answer is ``embedding_answer_relevance``.

    Source: Es et al. (2024), "RAGAS", section 3.
    """

    name = "answer_relevance"
    family = "answer"
    over = Probes
    empty = 0.0
    undefined = "too_few_questions"

    n: int = PROBES

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 1 <= self.n <= MOST_PROBES:
            raise InputError(f"{self.name}: n must be 1 to {MOST_PROBES}, not {self.n!r}.")

    @property
    def topics(self) -> frozenset[Topic]:
        return frozenset({Topic("probes", "n", votes=self.n)} if self.n > PROBES else ())

    def rule(self) -> pl.Expr:
        """The answer counts as noncommittal if it is marked so for any generated question."""
        evades = Probes.noncommittal.any().cast(pl.Float64)
        first = Probes.similarity.filter(Probes.index < self.n)
        value = scaled(first.mean(), self.scale) * (1 - evades)
        return value if self.n <= PROBES else pl.when(first.len() >= self.n).then(value)


class AnswerRelevanceRated(AnswerRate):
    """Mean of directness, completeness and focus, each from 0 to 1.

    answer_relevance_rated = (directness + parts answered / parts + focus) / 3
    """

    name = "answer_relevance_rated"
    range = Range(0, 1)
    undefined = "no_parts"

    def fact(self) -> pl.Expr:
        completeness = share(Answers.parts_answered, Answers.parts)
        return (Answers.directness + completeness + Answers.focus) / 3


class ResponseCompleteness(AnswerRate):
    """Share of the question's parts that are answered.

    response_completeness = parts answered / parts
    """

    name = "response_completeness"
    range = Range(0, 1)
    undefined = "no_parts"

    def fact(self) -> pl.Expr:
        return share(Answers.parts_answered, Answers.parts)
