"""Alignment: matches each word of a claim with the most similar word of the contexts.

Every token of the proposition is matched with the token of the contexts whose vector is most
similar to its own, as in BERTScore. This captures what strings cannot: the same word in another
sense is less similar, another word with the same sense more.

Source: Zhang et al. (2020), "BERTScore", for greedy matching.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragstone.models import Encoder, TokenVectors, Vectors

from .evidence import without_citations
from .frames import VERSION as FRAMES
from .frames import frame_end
from .passages import WINDOW, Passages
from .sentences import VERSION as SENTENCES
from .sentences import sentences
from .words import VERSION as WORDS
from .words import stem_or_none, tokens

VERSION = f"ragstone-alignment/1({SENTENCES},{WORDS},{FRAMES})"

DECIMALS = 4
"""Cosines hang on the size of the batch from the seventh on; a score should not."""

SMALL_WORD = 0.15
"""How much a stop word weighs beside a content word."""


@dataclass(frozen=True, slots=True)
class Alignment:
    """How well a proposition is matched, in cosines.

    Args:
        aligned: Weighted mean over its tokens of the best match within a window of three sentences.
        weakest: The best match, anywhere, of the content token with the worst match.
        unheld: 1 - best match anywhere, summed over the content tokens whose word no context
            holds as a string, over all content tokens.
        sentence: The sentence of that window that matches it best by itself.
    """

    aligned: float
    weakest: float
    unheld: float
    sentence: int

    def features(self) -> dict[str, float]:
        """The features of the support curve, by name."""
        return {"aligned": self.aligned, "weakest": self.weakest, "unheld": self.unheld}


@dataclass(frozen=True, slots=True)
class Reading:
    """The token vectors of the contexts of one example.

    Args:
        vectors: Shape (t, d), unit vectors of all tokens in order.
        starts: Index in ``vectors`` of the first token of each sentence with tokens.
        numbers: The index of each such sentence among all sentences.
        sentences: The number of sentences in all contexts.
    """

    vectors: Vectors
    starts: NDArray[np.int64]
    numbers: NDArray[np.int64]
    sentences: int


def pieces(text: str, encoder: Encoder) -> list[tuple[int, int]]:
    """Split a text between sentences to fit the model's limit: ``text[start:end]``.

    A single sentence above the limit is a piece by itself, which the model truncates.
    """
    room = encoder.max_tokens - SPECIAL
    if len(text) <= room:
        return [(0, len(text))]
    parts = sentences(text)
    lengths = encoder.lengths([text, *(part.text for part in parts)])
    if lengths[0] <= encoder.max_tokens or not parts:
        return [(0, len(text))]
    found: list[tuple[int, int]] = []
    start, end, used = parts[0].start, parts[0].end, 0
    for part, length in zip(parts, lengths[1:], strict=True):
        if used and used + int(length) - SPECIAL > room:
            found.append((start, end))
            start, used = part.start, 0
        end, used = part.end, used + int(length) - SPECIAL
    return [*found, (start, end)]


SPECIAL = 2


def read(
    passages: Passages, cuts: Sequence[Sequence[tuple[int, int]]], seen: Sequence[TokenVectors]
) -> Reading:
    """Combine the pieces of all contexts, sentence by sentence.

    Args:
        passages: The contexts.
        cuts: The pieces of each context.
        seen: The vectors of all pieces, in order.
    """
    blocks: list[Vectors] = []
    numbers: list[NDArray[np.int64]] = []
    bounds: dict[int, tuple[list[int], list[int]]] = {}
    for number, place in enumerate(passages.places):
        ends, known = bounds.setdefault(place.context, ([], []))
        ends.append(place.end)
        known.append(number)
    left = iter(seen)
    for context, cut in enumerate(cuts):
        for start, _ in cut:
            one = next(left)
            if context not in bounds:
                continue
            ends, known = bounds[context]
            proper = one.spans[:, 1] > one.spans[:, 0]
            sentence = np.searchsorted(ends, one.spans[proper, 0] + start, side="right")
            blocks.append(one.vectors[proper])
            numbers.append(np.asarray(known)[np.minimum(sentence, len(ends) - 1)])
    if not blocks:
        return Reading(np.zeros((0, 1), np.float32), _NONE, _NONE, len(passages.places))
    of_token = np.concatenate(numbers)
    starts = np.flatnonzero(np.diff(of_token, prepend=-1))
    return Reading(_unit(np.concatenate(blocks)), starts, of_token[starts], len(passages.places))


def align(
    propositions: Sequence[str],
    seen: Sequence[TokenVectors],
    passages: Passages,
    reading: Reading,
) -> list[Alignment | None]:
    """Align each proposition; None if it or the contexts have no content word."""
    weighed = [
        _weigh(text, one.spans, passages) for text, one in zip(propositions, seen, strict=True)
    ]
    if not len(reading.starts):
        return [None] * len(weighed)
    kept = [
        one.vectors[words.counts]
        for one, words in zip(seen, weighed, strict=True)
        if words is not None
    ]
    if not kept:
        return [None] * len(weighed)
    cosines = _unit(np.concatenate(kept)) @ reading.vectors.T
    best = np.full((len(cosines), reading.sentences + WINDOW - 1), -1.0, np.float32)
    best[:, reading.numbers] = np.maximum.reduceat(cosines, reading.starts, axis=1)
    # A window is neighbouring columns: the best in each is the maximum of shifted copies, where the
    # added columns of -1 stand behind the last sentence.
    within = best[:, : reading.sentences].copy()
    for step in range(1, WINDOW):
        np.maximum(within, best[:, step : reading.sentences + step], out=within)
    anywhere = best.max(axis=1)
    found: list[Alignment | None] = []
    at = 0
    for words in weighed:
        if words is None:
            found.append(None)
            continue
        mine = slice(at, at + len(words.weights))
        at = mine.stop
        content = words.weights == 1
        matched = anywhere[mine][content]
        lost = (1 - matched)[~words.held[content]]
        total = words.weights.sum()
        together = words.weights @ within[mine] / total
        window = _first_best(together)
        alone = words.weights @ best[mine, window : window + WINDOW] / total
        found.append(
            Alignment(
                aligned=_rounded(together.max()),
                weakest=_rounded(matched.min()),
                unheld=_rounded(lost.sum() / len(matched)),
                sentence=window + _first_best(alone),
            )
        )
    return found


@dataclass(frozen=True, slots=True)
class _Words:
    """The tokens of a proposition that count, their weights, and which are found as strings."""

    counts: NDArray[np.bool_]
    weights: NDArray[np.float32]
    held: NDArray[np.bool_]


def _weigh(text: str, spans: NDArray[np.int32], passages: Passages) -> _Words | None:
    plain = without_citations(text)
    starts: list[int] = []
    ends: list[int] = []
    weights: list[float] = []
    held: list[bool] = []
    for word in _WORD.finditer(plain, frame_end(plain)):
        read = tokens(word.group())
        starts.append(word.start())
        ends.append(word.end())
        weights.append(1.0 if any(map(stem_or_none, read)) else SMALL_WORD)
        held.append(all(map(passages.holds, read)))
    if 1.0 not in weights:
        return None
    place = np.searchsorted(starts, spans[:, 0], side="right") - 1
    counts = (place >= 0) & (spans[:, 0] < np.asarray(ends)[place]) & (spans[:, 1] > spans[:, 0])
    chosen = place[counts]
    token_weights = np.asarray(weights, np.float32)[chosen]
    if not (token_weights == 1).any():
        return None
    return _Words(counts, token_weights, np.asarray(held)[chosen])


def _first_best(means: Vectors) -> int:
    # Equal sentences differ by where they stand in a matrix product, by up to 4e-7 for 200 tokens.
    return int((means >= means.max() - np.float32(1e-6)).argmax())


def _rounded(value: float | np.floating[Any]) -> float:
    return round(float(value), DECIMALS)


def _unit(vectors: Vectors) -> Vectors:
    lengths = np.sqrt(np.einsum("td,td->t", vectors, vectors))[:, None]
    unit: Vectors = vectors / np.maximum(lengths, np.float32(1e-12))
    return unit


_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_NONE = np.zeros(0, np.int64)
