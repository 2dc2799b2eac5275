"""Relevance: how much of the question's wording is in each retrieved context.

Question words are weighted by their rarity in the list: a word in every context says
little about which is relevant. With an encoder, the cosine of question and context counts
too. A logistic curve turns them into the probability that the context is relevant, which gives
the grade. Answers and references are not read, and misleading contexts are not recognised.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Any

from ragstone.core.messages import reason

from .claim_support import curve, on_curve
from .sentences import sentences
from .text_terms import as_written, terms

RELEVANCE_VERSION = "ragstone-relevance/2"

STRINGS = "relevance/strings"
ENCODER = "relevance/encoder"

# The least probability of the grades 1, 2 and 3.
RELATED, RELEVANT, SUFFICIENT = 0.15, 0.35, 0.6

SENTENCE = 0.5
LEAST_SENTENCE = 0.3


@dataclass(frozen=True, slots=True)
class Wanted:
    """The features of one context, before they are weighted.

    Args:
        share: Weighted share of the question's words that the context holds.
        together: The same share in its best two neighbouring sentences.
        beside_best: Mean of the two, relative to that of the best context of the list.
        held: The question's words that it holds; ``lost`` are the others.
        sentences: The weighted share of the question's words in each of its sentences.
    """

    share: float
    together: float
    beside_best: float
    held: tuple[str, ...]
    lost: tuple[str, ...]
    sentences: tuple[float, ...]

    def features(self) -> dict[str, float]:
        return {"share": self.share, "together": self.together, "beside_best": self.beside_best}


def relevance(
    question: str, contexts: Sequence[str], cosines: Sequence[float] | None = None
) -> list[dict[str, Any]]:
    """Judge every context of a list, in its order: the columns of its row but for the rank.

    ``grade`` 0 not, 1 related, 2 relevant, 3 sufficient. ``probability`` from 0 to 1 is finer and
    ranks. ``relevant_sentences`` are positions in the context, counted from 0 over ``sentences``.

    ``cosines`` are those of the question with each context, by the encoder that the curve was
    fitted with.
    """
    counted = wanted(question, contexts)
    if cosines is None:
        return [_judge(question, features, on_curve(curve(STRINGS), features.features()))
                for features in counted]  # fmt: skip
    return [
        _judge(question, features, on_curve(curve(ENCODER), features.features() | likeness))
        for features, likeness in zip(counted, cosine_features(cosines), strict=True)
    ]


def cosine_features(cosines: Sequence[float]) -> list[dict[str, float]]:
    """Each cosine, and its distance from the best of the list."""
    best = max(cosines, default=0.0)
    return [{"cosine": cosine, "under_best": best - cosine} for cosine in cosines]


def wanted(question: str, contexts: Sequence[str]) -> list[Wanted]:
    question_terms = list(dict.fromkeys(terms(question)))
    read = [[set(terms(sentence.text)) for sentence in sentences(text)] for text in contexts]
    whole = [set().union(*parts) for parts in read]
    weights = _weights(question_terms, whole)
    counted = [_count(question_terms, weights, parts, words)
               for parts, words in zip(read, whole, strict=True)]  # fmt: skip
    best = max((context.share + context.together for context in counted), default=0.0)
    return [replace(context, beside_best=(context.share + context.together) / best if best else 0.0)
            for context in counted]  # fmt: skip


def _weights(question_terms: list[str], whole: list[set[str]]) -> dict[str, float]:
    """ln(1 + (n + 1) / (df + 1)): more for question words that few contexts hold."""
    n = len(whole)
    return {word: math.log(1 + (n + 1) / (sum(word in words for words in whole) + 1))
            for word in question_terms}  # fmt: skip


def _count(
    question_terms: list[str], weights: dict[str, float], parts: list[set[str]], words: set[str]
) -> Wanted:
    total = sum(weights.values()) or 1.0

    def share(held: set[str]) -> float:
        return sum(weights[word] for word in question_terms if word in held) / total

    nothing: set[str] = set()
    pairs = [
        share(part | other) for part, other in zip_longest(parts, parts[1:], fillvalue=nothing)
    ]
    return Wanted(share=share(words), together=max(pairs, default=0.0), beside_best=0.0,
                  held=tuple(word for word in question_terms if word in words),
                  lost=tuple(word for word in question_terms if word not in words),
                  sentences=tuple(map(share, parts)))  # fmt: skip


def _judge(question: str, seen: Wanted, probability: float) -> dict[str, Any]:
    if not (seen.held or seen.lost):
        return _row(0, 0.0, [], seen, "question_without_words")
    grade = sum(probability >= bound for bound in (RELATED, RELEVANT, SUFFICIENT))
    best = max(seen.sentences, default=0.0)
    picked = [position for position, value in enumerate(seen.sentences)
              if grade and value >= SENTENCE * best and value >= LEAST_SENTENCE]  # fmt: skip
    words, lost = len(seen.held) + len(seen.lost), as_written(seen.lost[:4], question)
    why = reason("question_words", n=len(seen.held), words=words, lost=lost)
    return _row(grade, probability, picked, seen, why)


def _row(
    grade: int, probability: float, picked: list[int], seen: Wanted, why: str
) -> dict[str, Any]:
    return {"grade": grade, "probability": probability, "relevant": grade >= 1,
            "sufficient": grade == 3, "sentences": len(seen.sentences),
            "relevant_sentences": picked, "reason": why}  # fmt: skip
