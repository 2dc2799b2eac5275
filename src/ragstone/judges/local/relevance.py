"""Relevance: how much of the question's wording does each retrieved context take up?

Question words are weighed by how rare they are in the list: a word that every context holds says
little about which is relevant. Never sees an answer or a reference. Whether a relevant context
misleads cannot be told from words.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest

from .sentences import sentences
from .words import terms

VERSION = "ragstone-relevance/1"

SUFFICIENT = 0.8
RELEVANT = 0.5
RELATED = 0.3
SENTENCE = 0.5


@dataclass(frozen=True, slots=True)
class RelevanceVerdict:
    """How relevant one context is to the question.

    ``grade`` 0 not, 1 related, 2 relevant, 3 sufficient. ``score`` from 0 to 1 is finer and
    ranks. ``relevant_sentences`` are positions in the context, counted from 0 over
    ``n_sentences``.
    """

    grade: int
    score: float
    relevant_sentences: tuple[int, ...]
    n_sentences: int
    reason: str

    @property
    def relevant(self) -> bool:
        """Grade 1 or better."""
        return self.grade >= 1

    @property
    def sufficient(self) -> bool:
        """Grade 3."""
        return self.grade == 3


def relevance(question: str, contexts: Sequence[str]) -> list[RelevanceVerdict]:
    """Judge every context of a list, in its order.

    Score: .5 x the weighted share of question words anywhere in the context + .5 x the same
    share in its best two neighbouring sentences.
    """
    wanted = list(dict.fromkeys(terms(question)))
    read = [[set(terms(sentence.text)) for sentence in sentences(text)] for text in contexts]
    whole = [set().union(*parts) for parts in read]
    weights = _weights(wanted, whole)
    return [_judge(wanted, weights, parts, words) for parts, words in zip(read, whole, strict=True)]


def _weights(wanted: list[str], whole: list[set[str]]) -> dict[str, float]:
    """ln(1 + (n + 1) / (df + 1)): more for question words that few contexts hold."""
    n = len(whole)
    return {
        word: math.log(1 + (n + 1) / (sum(word in words for words in whole) + 1)) for word in wanted
    }


def _judge(
    wanted: list[str], weights: dict[str, float], parts: list[set[str]], words: set[str]
) -> RelevanceVerdict:
    if not wanted:
        return RelevanceVerdict(0, 0.0, (), len(parts), "the question has no content words")
    total = sum(weights.values())
    held = [word for word in wanted if word in words]
    share = sum(weights[word] for word in held) / total
    shares = [sum(weights[word] for word in wanted if word in part) / total for part in parts]
    pairs = [
        sum(weights[word] for word in wanted if word in first or word in second) / total
        for first, second in zip_longest(parts, parts[1:], fillvalue=set[str]())
    ]
    score = 0.5 * share + 0.5 * max(pairs, default=0.0)
    grade = sum(score >= bound for bound in (RELATED, RELEVANT, SUFFICIENT))
    best = max(shares, default=0.0)
    picked = tuple(
        position
        for position, value in enumerate(shares)
        if grade and value > 0 and value >= SENTENCE * best and value >= RELATED
    )
    missing = [word for word in wanted if word not in words]
    reason = f"{len(held)} of {len(wanted)} question words"
    if missing:
        reason += f"; not {', '.join(missing[:4])}"
    return RelevanceVerdict(grade, score, picked, len(parts), reason)
