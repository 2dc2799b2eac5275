"""Likeness: how similar an answer is to a statement of the reference, by token vectors.

The encoder reads both after the question, so that `1859` is read as the year asked for. Each word
of the statement that is not in the question is matched with the answer's most similar one, and
the answer's with the statement's.
"""

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragstone.models import TokenVectors, Vectors

from .alignment import DECIMALS
from .words import VERSION as WORDS
from .words import stem_or_none, terms, tokens

VERSION = f"ragstone-likeness/1({WORDS})"

SMALL_WORD = 0.1
GIVEN_WORD = 0.3
"""What stop words, and words that the question gives, weigh beside the others."""


@dataclass(frozen=True, slots=True)
class Likeness:
    """The similarity of statement and answer, in cosines and means of cosines.

    Args:
        aligned: Weighted mean over the statement's tokens of the best match in the answer.
        weakest: The best match of the content token with the worst match.
        returned: Weighted mean over the answer's tokens of the best match in the statement.
        whole: Cosine of the mean vectors of both, question included.
    """

    aligned: float
    weakest: float
    returned: float
    whole: float

    def features(self) -> dict[str, float]:
        """What the curve of agreement weighs, by the same names."""
        return {
            "aligned": self.aligned,
            "weakest": self.weakest,
            "returned": self.returned,
            "whole": self.whole,
        }


def behind(question: str | None, text: str) -> str:
    """The text after the question, as passed to the encoder."""
    return f"{(question or '').strip()} {text.strip()}".strip()


def likeness(
    question: str | None, statement: str, answer: str, said: TokenVectors, wanted: TokenVectors
) -> Likeness | None:
    """Match in both directions; None if one of the two has no token.

    Args:
        question: What was asked.
        statement: Of the reference.
        answer: To be judged.
        said: The encoder's token vectors of the answer after the question.
        wanted: The encoder's token vectors of the statement after the question.
    """
    given = frozenset(terms(question or ""))
    one = _weigh(question, statement, wanted, given)
    other = _weigh(question, answer, said, given)
    if one is None or other is None:
        return None
    cosines = one.vectors @ other.vectors.T
    best = cosines.max(axis=1)
    return Likeness(
        aligned=_rounded(one.weights @ best / one.weights.sum()),
        weakest=_rounded(best[one.weights == one.weights.max()].min()),
        returned=_rounded(other.weights @ cosines.max(axis=0) / other.weights.sum()),
        whole=_rounded(float(_mean(wanted) @ _mean(said))),
    )


@dataclass(frozen=True, slots=True)
class _Weighed:
    vectors: Vectors
    weights: NDArray[np.float32]


def _weigh(
    question: str | None, text: str, seen: TokenVectors, given: frozenset[str]
) -> _Weighed | None:
    whole = behind(question, text)
    begin = len(whole) - len(text.strip())
    starts: list[int] = []
    weights: list[float] = []
    for word in _WORD.finditer(whole, begin):
        stems = [stem for token in tokens(word.group()) if (stem := stem_or_none(token))]
        starts.append(word.start())
        if not stems:
            weights.append(SMALL_WORD)
        else:
            weights.append(GIVEN_WORD if given.issuperset(stems) else 1.0)
    proper = (seen.spans[:, 1] > seen.spans[:, 0]) & (seen.spans[:, 0] >= begin)
    if not proper.any():
        return None
    vectors = seen.vectors[proper]
    vectors = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
    if not starts:
        return _Weighed(vectors, np.ones(len(vectors), np.float32))
    place = np.searchsorted(starts, seen.spans[proper, 0], side="right") - 1
    token_weights = np.where(place >= 0, np.asarray(weights, np.float32)[place], 0)
    token_weights = token_weights.astype(np.float32)
    if not token_weights.any():
        token_weights = np.ones(len(vectors), np.float32)
    return _Weighed(vectors, token_weights)


def _rounded(value: float | np.floating[Any]) -> float:
    return round(float(value), DECIMALS)


def _mean(seen: TokenVectors) -> Vectors:
    mean = seen.vectors.mean(axis=0)
    unit: Vectors = mean / max(float(np.linalg.norm(mean)), 1e-12)
    return unit


_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
