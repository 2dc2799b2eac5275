"""Aligner: propositions matched with contexts, and answers with statements, by token vectors.

An encoder reads statement and answer after the question, so that `1859` is read as the year asked
for. Each word of the statement that is not in the question is matched with the answer's most
similar word, and the answer's words with the statement's.
"""

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ragstone.models import CachedEncoder, Encoder, TokenVectors, Vectors

from .claim_support import (
    ALIGNMENT_VERSION,
    DECIMALS,
    WORD_PARTS,
    Alignment,
    Reading,
    align,
    pieces,
    read,
    rounded_cosine,
)
from .claims_and_evidence import Passages
from .languages import is_latin
from .text_terms import WORDS_VERSION, stem_or_none, terms, tokens

LIKENESS_VERSION = f"ragstone-likeness/1({WORDS_VERSION})"

# The weight of a stop word, and of a word that the question gives; other words weigh 1.
SMALL_WORD = 0.1
GIVEN_WORD = 0.3


class Likeness(NamedTuple):
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


def behind(question: str | None, text: str) -> str:
    """The text after the question, as passed to the encoder."""
    return f"{(question or '').strip()} {text.strip()}".strip()


def likeness(question: str | None, statement: str, answer: str, answer_tokens: TokenVectors,
             statement_tokens: TokenVectors) -> Likeness | None:  # fmt: skip
    """Match statement and answer in both directions; None if one of the two has no token.

    The token vectors are the encoder's for each text after the question.
    """
    question_terms = frozenset(terms(question or ""))
    first = _weigh(question, statement, statement_tokens, question_terms)
    second = _weigh(question, answer, answer_tokens, question_terms)
    if first is None or second is None:
        return None
    (vectors, weights), (answer_vectors, answer_weights) = first, second
    cosines = vectors @ answer_vectors.T
    best = cosines.max(axis=1)
    return Likeness(
        aligned=rounded_cosine(weights @ best / weights.sum()),
        weakest=rounded_cosine(best[weights == weights.max()].min()),
        returned=rounded_cosine(answer_weights @ cosines.max(axis=0) / answer_weights.sum()),
        whole=rounded_cosine(float(_mean(statement_tokens) @ _mean(answer_tokens))),
    )


def _weigh(
    question: str | None, text: str, seen: TokenVectors, question_terms: frozenset[str]
) -> tuple[Vectors, NDArray[np.float32]] | None:
    whole = behind(question, text)
    begin = len(whole) - len(text.strip())
    starts: list[int] = []
    weights: list[float] = []
    for word in WORD_PARTS.finditer(whole, begin):
        stems = [stem for token in tokens(word.group()) if (stem := stem_or_none(token))]
        starts.append(word.start())
        if not stems:
            weights.append(SMALL_WORD)
        else:
            weights.append(GIVEN_WORD if question_terms.issuperset(stems) else 1.0)
    proper = (seen.spans[:, 1] > seen.spans[:, 0]) & (seen.spans[:, 0] >= begin)
    if not proper.any():
        return None
    vectors = seen.vectors[proper]
    vectors = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
    if not starts:
        return vectors, np.ones(len(vectors), np.float32)
    word_of = np.searchsorted(starts, seen.spans[proper, 0], side="right") - 1
    token_weights = np.where(word_of >= 0, np.asarray(weights, np.float32)[word_of], 0)
    token_weights = token_weights.astype(np.float32)
    if not token_weights.any():
        token_weights = np.ones(len(vectors), np.float32)
    return vectors, token_weights


def _mean(seen: TokenVectors) -> Vectors:
    mean = seen.vectors.mean(axis=0)
    unit: Vectors = mean / max(float(np.linalg.norm(mean)), 1e-12)
    return unit


# Of contexts that are read at a time, so that memory stays flat.
CHARACTERS = 100_000

# Contexts of so many examples are kept as unit vectors.
READINGS = 8


@dataclass(frozen=True)
class AlignmentInput:
    """The propositions of one example, with the contexts to align them with."""

    contexts: tuple[str, ...]
    passages: Passages
    propositions: tuple[str, ...]

    @cached_property
    def readable(self) -> tuple[str, ...]:
        """The propositions in Latin letters; none if the contexts are in others."""
        return (
            tuple(filter(is_latin, self.propositions)) if is_latin(" ".join(self.contexts)) else ()
        )

    @cached_property
    def digest(self) -> bytes:
        return digest_of(*self.contexts)


class Aligner:
    """Aligns propositions with contexts by an encoder's token vectors.

    A cached encoder stores the alignments on disk with its embeddings, by the encoder's
    fingerprint, the contexts and the proposition.
    """

    def __init__(self, encoder: Encoder) -> None:
        self.encoder = encoder
        self._cache = encoder if isinstance(encoder, CachedEncoder) else None
        self._readings: OrderedDict[bytes, Reading] = OrderedDict()

    def align(self, inputs: Sequence[AlignmentInput]) -> list[list[Alignment | None]]:
        """For each example the alignment of each proposition; None if nothing can be matched.

        Texts in scripts other than Latin are never matched: the encoder cannot read them.
        """
        version = (ALIGNMENT_VERSION, self.encoder.fingerprint)
        keys = [[digest_of(*version, each.digest.hex(), text) for text in each.readable]
                for each in inputs]  # fmt: skip
        known = self._cache.recall([key for mine in keys for key in mine]) if self._cache else {}
        todo = [number for number, mine in enumerate(keys) if any(key not in known for key in mine)]
        for group in _groups(inputs, todo):
            fresh: dict[bytes, Vectors] = {}
            for number, alignments in zip(
                group, self._compute([inputs[i] for i in group]), strict=True
            ):
                fresh |= dict(zip(keys[number], map(_packed, alignments), strict=True))
            if self._cache:
                self._cache.remember(fresh)
            known |= fresh
        by_text = [
            {text: _unpacked(known[key]) for text, key in zip(each.readable, mine, strict=True)}
            for each, mine in zip(inputs, keys, strict=True)
        ]
        return [[aligned.get(text) for text in each.propositions]
                for each, aligned in zip(inputs, by_text, strict=True)]  # fmt: skip

    def _compute(self, inputs: Sequence[AlignmentInput]) -> Iterator[list[Alignment | None]]:
        readings = {each.digest: self._readings.get(each.digest) for each in inputs}
        unread = {each.digest: each for each in inputs if readings[each.digest] is None}
        cuts = {digest: [pieces(text, self.encoder) for text in each.contexts]
                for digest, each in unread.items()}  # fmt: skip
        parts = {digest: [text[start:end]
                          for text, cut in zip(each.contexts, cuts[digest], strict=True)
                          for start, end in cut]
                 for digest, each in unread.items()}  # fmt: skip
        texts = dict.fromkeys(text for mine in parts.values() for text in mine)
        texts |= dict.fromkeys(text for each in inputs for text in each.readable)
        vectors = dict(zip(texts, self.encoder.tokens(list(texts)), strict=True))
        for each in inputs:
            reading = readings[each.digest]
            if reading is None:
                seen = [vectors[text] for text in parts[each.digest]]
                reading = readings[each.digest] = read(each.passages, cuts[each.digest], seen)
            self._readings[each.digest] = reading
            self._readings.move_to_end(each.digest)
            if len(self._readings) > READINGS:
                self._readings.popitem(last=False)
            rows = [vectors[text] for text in each.readable]
            yield align(each.readable, rows, each.passages, reading)


def _groups(inputs: Sequence[AlignmentInput], chosen: Sequence[int]) -> Iterator[list[int]]:
    group: list[int] = []
    size = 0
    seen: set[bytes] = set()
    for number in chosen:
        each = inputs[number]
        if each.digest not in seen:
            size += sum(map(len, each.contexts))
        if group and size > CHARACTERS:
            yield group
            group, size, seen = [], sum(map(len, each.contexts)), set()
        group.append(number)
        seen.add(each.digest)
    if group:
        yield group


def _packed(alignment: Alignment | None) -> Vectors:
    return np.array([np.nan] if alignment is None else alignment, np.float32)


def _unpacked(row: Vectors) -> Alignment | None:
    if len(row) < 4:
        return None
    aligned, weakest, unheld, sentence = (round(value, DECIMALS) for value in row.tolist())
    return Alignment(aligned, weakest, unheld, int(sentence))


# A question, a statement of the reference, and the answer.
Statement = tuple[str | None, str, str]


def like(encoder: Encoder, statements: Sequence[Statement]) -> dict[Statement, Likeness]:
    """Return the likeness of each answer to its statement, where both have a token in Latin
    letters.
    """
    cache = encoder if isinstance(encoder, CachedEncoder) else None
    readable = (triple for triple in statements if all(is_latin(text or "") for text in triple))
    version = (LIKENESS_VERSION, encoder.fingerprint)
    keys = {triple: digest_of(*version, *(part or "" for part in triple))
            for triple in dict.fromkeys(readable)}  # fmt: skip
    known = cache.recall(list(keys.values())) if cache else {}
    todo = [triple for triple, key in keys.items() if key not in known]
    for start in range(0, len(todo), STATEMENTS):
        group = todo[start : start + STATEMENTS]
        texts = dict.fromkeys(behind(question, text) for question, *both in group for text in both)
        vectors = dict(zip(texts, encoder.tokens(list(texts)), strict=True))
        fresh: dict[bytes, Vectors] = {}
        for triple in group:
            question, statement, answer = triple
            answer_tokens, statement_tokens = (
                vectors[behind(question, answer)],
                vectors[behind(question, statement)],
            )
            match = likeness(question, statement, answer, answer_tokens, statement_tokens)
            fresh[keys[triple]] = np.array([np.nan] if match is None else match, np.float32)
        if cache:
            cache.remember(fresh)
        known |= fresh
    rows = {triple: known[key].tolist() for triple, key in keys.items()}
    return {triple: Likeness(*(round(value, DECIMALS) for value in row))
            for triple, row in rows.items() if len(row) > 1}  # fmt: skip


# How many statements are compared at a time.
STATEMENTS = 256


def digest_of(*parts: str) -> bytes:
    """A digest of the parts, including where each ends."""
    seen = blake2b(digest_size=16)
    for part in parts:
        text = part.encode("utf-8", "surrogatepass")
        seen.update(len(text).to_bytes(8, "big") + text)
    return seen.digest()
