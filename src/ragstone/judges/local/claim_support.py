"""Claim support: the probability that contexts support a proposition, by words and token vectors.

With an encoder, every token of the proposition is matched with the most similar token of the
contexts, as in BERTScore. This captures what strings cannot: the same word in another sense is
less similar, another word with the same sense more. A logistic curve, fitted to people's labels,
turns this match and the counts of shared words into a probability. From .5 the verdict is
`supported`. Below, and whenever the contexts contradict the proposition, it is `contradicted` or
`absent`.

Source: Zhang et al. (2020), "BERTScore", for greedy matching.
"""

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ragstone.core.messages import reason
from ragstone.data import Context
from ragstone.models import Encoder, TokenVectors, Vectors

from .claims_and_evidence import (
    EVIDENCE_VERSION,
    FRAMES_VERSION,
    EvidenceCounts,
    Passages,
    frame_end,
    gather,
    without_citations,
)
from .contradiction import CONTRADICTION_VERSION, Contradiction, contradiction
from .held_words import WINDOW
from .sentences import SENTENCES_VERSION, sentences
from .text_terms import WORDS_VERSION, as_written, stem_or_none, tokens

ALIGNMENT_VERSION = f"ragstone-alignment/1({SENTENCES_VERSION},{WORDS_VERSION},{FRAMES_VERSION})"

# From the seventh decimal on, cosines depend on the size of the batch; scores must not.
DECIMALS = 4

# How much a stop word weighs beside a content word.
SMALL_WORD = 0.15


class Alignment(NamedTuple):
    """The match of a proposition with the contexts, in cosines.

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
    spans: list[tuple[int, int]] = []
    start, end, used = parts[0].start, parts[0].end, 0
    for part, length in zip(parts, lengths[1:], strict=True):
        if used and used + int(length) - SPECIAL > room:
            spans.append((start, end))
            start, used = part.start, 0
        end, used = part.end, used + int(length) - SPECIAL
    return [*spans, (start, end)]


SPECIAL = 2


def read(
    passages: Passages, cuts: Sequence[Sequence[tuple[int, int]]], seen: Sequence[TokenVectors]
) -> Reading:
    """Combine the vectors of all pieces, in order, sentence by sentence.

    ``cuts`` are the pieces of each context.
    """
    blocks: list[Vectors] = []
    numbers: list[NDArray[np.int64]] = []
    bounds: dict[int, tuple[list[int], list[int]]] = {}
    for number, (context, _, end) in enumerate(passages.places):
        ends, known = bounds.setdefault(context, ([], []))
        ends.append(end)
        known.append(number)
    left = iter(seen)
    for context, cut in enumerate(cuts):
        for start, _ in cut:
            tokens_of_piece = next(left)
            if context not in bounds:
                continue
            ends, known = bounds[context]
            proper = tokens_of_piece.spans[:, 1] > tokens_of_piece.spans[:, 0]
            sentence = np.searchsorted(ends, tokens_of_piece.spans[proper, 0] + start, side="right")
            blocks.append(tokens_of_piece.vectors[proper])
            numbers.append(np.asarray(known)[np.minimum(sentence, len(ends) - 1)])
    if not blocks:
        return Reading(np.zeros((0, 1), np.float32), _NONE, _NONE, len(passages.places))
    of_token = np.concatenate(numbers)
    starts = np.flatnonzero(np.diff(of_token, prepend=-1))
    return Reading(_unit(np.concatenate(blocks)), starts, of_token[starts], len(passages.places))


def align(
    propositions: Sequence[str], seen: Sequence[TokenVectors], passages: Passages, reading: Reading
) -> list[Alignment | None]:
    """Align each proposition; None if it or the contexts have no content word."""
    weighed = [_weigh(text, vectors.spans, passages)
               for text, vectors in zip(propositions, seen, strict=True)]  # fmt: skip
    if not len(reading.starts):
        return [None] * len(weighed)
    counted = [vectors.vectors[words[0]] for vectors, words in zip(seen, weighed, strict=True)
               if words is not None]  # fmt: skip
    if not counted:
        return [None] * len(weighed)
    cosines = _unit(np.concatenate(counted)) @ reading.vectors.T
    best = np.full((len(cosines), reading.sentences + WINDOW - 1), -1.0, np.float32)
    best[:, reading.numbers] = np.maximum.reduceat(cosines, reading.starts, axis=1)
    # A window is neighbouring columns: the best in each is the maximum of shifted copies, where the
    # added columns of -1 stand behind the last sentence.
    within = best[:, : reading.sentences].copy()
    for step in range(1, WINDOW):
        np.maximum(within, best[:, step : reading.sentences + step], out=within)
    anywhere = best.max(axis=1)
    alignments: list[Alignment | None] = []
    at = 0
    for words in weighed:
        if words is None:
            alignments.append(None)
            continue
        _, weights, held = words
        mine = slice(at, at + len(weights))
        at = mine.stop
        content = weights == 1
        matched = anywhere[mine][content]
        lost = (1 - matched)[~held[content]]
        total = weights.sum()
        together = weights @ within[mine] / total
        window = _first_best(together)
        alone = weights @ best[mine, window : window + WINDOW] / total
        alignments.append(
            Alignment(
                aligned=rounded_cosine(together.max()),
                weakest=rounded_cosine(matched.min()),
                unheld=rounded_cosine(lost.sum() / len(matched)),
                sentence=window + _first_best(alone),
            )
        )
    return alignments


def _weigh(
    text: str, spans: NDArray[np.int32], passages: Passages
) -> tuple[NDArray[np.bool_], NDArray[np.float32], NDArray[np.bool_]] | None:
    """Which tokens count, and of each of these the weight, and whether a context holds its word."""
    plain = without_citations(text)
    starts: list[int] = []
    ends: list[int] = []
    weights: list[float] = []
    held: list[bool] = []
    for word in WORD_PARTS.finditer(plain, frame_end(plain)):
        read = tokens(word.group())
        starts.append(word.start())
        ends.append(word.end())
        weights.append(1.0 if any(map(stem_or_none, read)) else SMALL_WORD)
        held.append(all(map(passages.holds, read)))
    if 1.0 not in weights:
        return None
    word_of = np.searchsorted(starts, spans[:, 0], side="right") - 1
    counts = (
        (word_of >= 0) & (spans[:, 0] < np.asarray(ends)[word_of]) & (spans[:, 1] > spans[:, 0])
    )
    chosen = word_of[counts]
    token_weights = np.asarray(weights, np.float32)[chosen]
    if not (token_weights == 1).any():
        return None
    return counts, token_weights, np.asarray(held)[chosen]


def _first_best(means: Vectors) -> int:
    # Equal sentences differ by where they stand in a matrix product, by up to 4e-7 for 200 tokens.
    return int((means >= means.max() - np.float32(1e-6)).argmax())


def rounded_cosine(value: float | np.floating[Any]) -> float:
    return round(float(value), DECIMALS)


def _unit(vectors: Vectors) -> Vectors:
    lengths = np.sqrt(np.einsum("td,td->t", vectors, vectors))[:, None]
    unit: Vectors = vectors / np.maximum(lengths, np.float32(1e-12))
    return unit


WORD_PARTS = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_NONE = np.zeros(0, np.int64)


FILE = "curves.json"


# The intercept and the weights of a logistic function of features.
Curve = tuple[float, Mapping[str, float]]


def on_curve(curve: Curve, features: Mapping[str, float]) -> float:
    """``1 / (1 + exp(-(intercept + sum of weight x feature)))``, of the features with a weight."""
    score, weights = curve
    for name, weight in weights.items():
        score += weight * features[name]
    if score < 0:
        odds = math.exp(score)
        return odds / (1 + odds)
    return 1 / (1 + math.exp(-score))


@cache
def curve(name: str) -> Curve:
    """Return the fitted curve with this name, such as ``support/strings``."""
    text = files(__package__).joinpath(FILE).read_text(encoding="utf-8")
    fitted = json.loads(text)["curves"][name]
    return fitted["intercept"], fitted["weights"]


SUPPORT_VERSION = f"ragstone-support/3({EVIDENCE_VERSION},{FRAMES_VERSION},{CONTRADICTION_VERSION})"

STRINGS = "support/strings"
ENCODER = "support/encoder"

SUPPORTED = 0.5
# With a smaller share of the words in one window, the best aligned sentence is the evidence.
BY_WORDS = 0.5

# What is contradicted is never more probable than this.
CONTRADICTED = 0.4


@dataclass(frozen=True, slots=True)
class SupportVerdict:
    """The verdict on one proposition: do the contexts support it?

    ``probability`` is that of `supported`, from 0 to 1. ``evidence`` holds the positions of the
    contexts the verdict rests on, empty if it is absent; ``quote`` a sentence of the first of
    them, word for word; ``seen`` the counts behind it, None where there was nothing to count.
    """

    verdict: Literal["supported", "contradicted", "absent"]
    probability: float
    evidence: tuple[int, ...]
    quote: str | None
    reason: str
    seen: EvidenceCounts | None = None

    def columns(self, contexts: Sequence[Context]) -> dict[str, Any]:
        """Return what it says of a proposition, as columns of a table of judgements."""
        return {"verdict": self.verdict, "probability": self.probability,
                "evidence": [contexts[position].id for position in self.evidence],
                "quote": self.quote, "reason": self.reason}  # fmt: skip


def support(proposition: str, passages: Passages, question: str | None = None,
            alignment: Alignment | None = None, *,
            turns_from: int | None = None) -> SupportVerdict:  # fmt: skip
    """Judge one proposition against the contexts of its example.

    The question is used only if the proposition has no content word of its own, such as a bare
    `Yes.`: that is absent, with half the probability that the question's own words would get,
    because neither strings nor vectors can tell a yes from a no. The passages from position
    ``turns_from`` on are earlier turns of the conversation, and the reason calls them so.
    """
    if not passages.quotes:
        return SupportVerdict("absent", 0.0, (), None, "no_contexts_to_read")
    seen = gather(proposition, passages)
    if seen is None:
        question_counts = gather(question, passages) if question and tokens(proposition) else None
        probability = 0.0 if question_counts is None else probability_of(question_counts) / 2
        return SupportVerdict("absent", probability, (), None, "no_words_to_look_for")
    probability = probability_of(seen, alignment)
    against = contradiction(seen.text, seen, passages)
    why = _reason(seen, alignment, against, passages, turns_from)
    if against is not None:
        contexts, quote = _quoted((against[1], *seen.sentences), passages)
        probability = min(probability, CONTRADICTED)
        return SupportVerdict("contradicted", probability, contexts, quote, why, seen)
    if probability >= SUPPORTED:
        rests_on = seen.sentences
        if alignment is not None and seen.window < BY_WORDS:
            rests_on = tuple(dict.fromkeys((alignment.sentence, *rests_on)))
        contexts, quote = _quoted(rests_on, passages)
        return SupportVerdict("supported", probability, contexts, quote, why, seen)
    return SupportVerdict("absent", probability, (), None, why, seen)


def probability_of(seen: EvidenceCounts, alignment: Alignment | None = None) -> float:
    """The probability by the curve, from the counts and, if there is one, the alignment.

    Less if the words stand in another order, and half with a figure that no context has: such
    claims are too few in the data that the curves were fitted to.
    """
    if alignment is None:
        probability = on_curve(curve(STRINGS), seen.features())
    else:
        probability = on_curve(curve(ENCODER), seen.features() | alignment.features())
    if seen.disorder > ORDERLY:
        odds = math.exp(DISORDER * (ORDERLY - seen.disorder))
        probability *= odds / (1 - probability + probability * odds)
    return probability / 2 if seen.unknown_figures else probability


# The share of neighbouring words that may be in reverse order in a mere rewording.
ORDERLY = 0.4

# How fast the logit of the probability falls as disorder exceeds ``ORDERLY``.
DISORDER = 10


def _quoted(rests_on: tuple[int, ...], passages: Passages) -> tuple[tuple[int, ...], str | None]:
    contexts = dict.fromkeys(passages.places[number][0] for number in rests_on)
    return tuple(contexts), passages.quotes[rests_on[0]] if rests_on else None


def _reason(seen: EvidenceCounts, alignment: Alignment | None,
            against: Contradiction | None, passages: Passages,
            turns_from: int | None) -> str:  # fmt: skip
    places = sorted({passages.places[number][0] for number in seen.sentences})
    contexts = [position + 1 for position in places if turns_from is None or position < turns_from]
    turns = [position + 1 - turns_from for position in places if turns_from is not None
             and position >= turns_from]  # fmt: skip
    return reason("words_in_contexts", n=round(seen.window * seen.content_words) if places else 0,
                  words=seen.content_words, contexts=",".join(map(str, contexts)),
                  turns=",".join(map(str, turns)) or None,
                  aligned=None if alignment is None else f"{alignment.aligned:.2f}",
                  numbers=as_written(seen.new_numbers[:3], seen.text),
                  names=as_written(seen.new_names[:3], seen.text),
                  against=None if against is None else against[0])  # fmt: skip
