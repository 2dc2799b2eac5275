"""Aligner: propositions matched with contexts, and answers with statements, by token vectors.

An encoder reads statement and answer after the question, so that `1859` is read as the year asked
for. Each word of the statement that is not in the question is matched with the answer's most
similar word, and the answer's words with the statement's.
"""

import re
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ragstone.models import CachedEncoder, Encoder, TokenVectors, Vectors

from .claim_support import ALIGNMENT_VERSION, DECIMALS, Alignment, Reading, align, pieces, read
from .claims_and_evidence import Passages
from .languages import is_latin
from .text_terms import WORDS_VERSION, stem_or_none, terms, tokens

LIKENESS_VERSION = f"ragstone-likeness/1({WORDS_VERSION})"

SMALL_WORD = 0.1
GIVEN_WORD = 0.3
"""What stop words, and words that the question gives, weigh beside the others."""


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


CHARACTERS = 100_000
"""Of contexts that are read at a time, so that memory stays flat."""

READINGS = 8
"""Contexts of so many examples are kept as unit vectors."""


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
        """The digest of the contexts."""
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

    def align(self, asked: Sequence[AlignmentInput]) -> list[list[Alignment | None]]:
        """For each example the alignment of each proposition; None if nothing can be matched.

        Texts in scripts other than Latin are never matched: the encoder cannot read them.

        Raises:
            ModelFailure: The encoder failed.
        """
        keys = [[self._key(one, text) for text in one.readable] for one in asked]
        known = self._cache.recall([key for mine in keys for key in mine]) if self._cache else {}
        todo = [number for number, mine in enumerate(keys) if any(key not in known for key in mine)]
        for group in _groups(asked, todo):
            fresh: dict[bytes, Vectors] = {}
            for number, found in zip(group, self._compute([asked[i] for i in group]), strict=True):
                fresh |= dict(zip(keys[number], map(_packed, found), strict=True))
            if self._cache:
                self._cache.remember(fresh)
            known |= fresh
        by_text = [
            {text: _unpacked(known[key]) for text, key in zip(one.readable, mine, strict=True)}
            for one, mine in zip(asked, keys, strict=True)
        ]
        return [
            [aligned.get(text) for text in one.propositions]
            for one, aligned in zip(asked, by_text, strict=True)
        ]

    def _compute(self, asked: Sequence[AlignmentInput]) -> Iterator[list[Alignment | None]]:
        readings = {one.digest: self._readings.get(one.digest) for one in asked}
        unread = {one.digest: one for one in asked if readings[one.digest] is None}
        cuts = {
            digest: [pieces(text, self.encoder) for text in one.contexts]
            for digest, one in unread.items()
        }
        parts = {
            digest: [
                text[start:end]
                for text, cut in zip(one.contexts, cuts[digest], strict=True)
                for start, end in cut
            ]
            for digest, one in unread.items()
        }
        texts = dict.fromkeys(text for mine in parts.values() for text in mine)
        texts |= dict.fromkeys(text for one in asked for text in one.readable)
        vectors = dict(zip(texts, self.encoder.tokens(list(texts)), strict=True))
        for one in asked:
            reading = readings[one.digest]
            if reading is None:
                seen = [vectors[text] for text in parts[one.digest]]
                reading = readings[one.digest] = read(one.passages, cuts[one.digest], seen)
            self._keep(one.digest, reading)
            rows = [vectors[text] for text in one.readable]
            yield align(one.readable, rows, one.passages, reading)

    def _keep(self, digest: bytes, reading: Reading) -> None:
        self._readings[digest] = reading
        self._readings.move_to_end(digest)
        while len(self._readings) > READINGS:
            self._readings.popitem(last=False)

    def _key(self, one: AlignmentInput, proposition: str) -> bytes:
        return digest_of(ALIGNMENT_VERSION, self.encoder.fingerprint, one.digest.hex(), proposition)


def _groups(asked: Sequence[AlignmentInput], chosen: Sequence[int]) -> Iterator[list[int]]:
    group: list[int] = []
    size = 0
    seen: set[bytes] = set()
    for number in chosen:
        one = asked[number]
        if one.digest not in seen:
            size += sum(map(len, one.contexts))
        if group and size > CHARACTERS:
            yield group
            group, size, seen = [], sum(map(len, one.contexts)), set()
        group.append(number)
        seen.add(one.digest)
    if group:
        yield group


def _packed(alignment: Alignment | None) -> Vectors:
    return np.array([np.nan] if alignment is None else alignment, np.float32)


def _unpacked(row: Vectors) -> Alignment | None:
    if len(row) < 4:
        return None
    aligned, weakest, unheld, sentence = (round(value, DECIMALS) for value in row.tolist())
    return Alignment(aligned, weakest, unheld, int(sentence))


Statement = tuple[str | None, str, str]
"""A question, a statement of the reference, and the answer."""


def like(encoder: Encoder, asked: Sequence[Statement]) -> dict[Statement, Likeness]:
    """The likeness of each answer to its statement; left out if one of them has no token.

    As in ``Aligner.align``, texts in other scripts than Latin are left out too.

    Raises:
        ModelFailure: The encoder failed.
    """
    cache = encoder if isinstance(encoder, CachedEncoder) else None
    readable = (one for one in asked if all(is_latin(text or "") for text in one))
    keys = {one: _likeness_key(encoder, one) for one in dict.fromkeys(readable)}
    known = cache.recall(list(keys.values())) if cache else {}
    todo = [one for one, key in keys.items() if key not in known]
    for start in range(0, len(todo), STATEMENTS):
        group = todo[start : start + STATEMENTS]
        texts = dict.fromkeys(behind(question, text) for question, *both in group for text in both)
        vectors = dict(zip(texts, encoder.tokens(list(texts)), strict=True))
        fresh: dict[bytes, Vectors] = {}
        for one in group:
            question, statement, answer = one
            said, wanted = vectors[behind(question, answer)], vectors[behind(question, statement)]
            match = likeness(question, statement, answer, said, wanted)
            fresh[keys[one]] = np.array([np.nan] if match is None else match, np.float32)
        if cache:
            cache.remember(fresh)
        known |= fresh
    rows = {one: known[key].tolist() for one, key in keys.items()}
    return {
        one: Likeness(*(round(value, DECIMALS) for value in row))
        for one, row in rows.items()
        if len(row) > 1
    }


STATEMENTS = 256
"""Looked at together."""


def _likeness_key(encoder: Encoder, one: Statement) -> bytes:
    return digest_of(LIKENESS_VERSION, encoder.fingerprint, *(part or "" for part in one))


def digest_of(*parts: str) -> bytes:
    """A digest of the parts, including where each ends."""
    seen = blake2b(digest_size=16)
    for part in parts:
        text = part.encode("utf-8", "surrogatepass")
        seen.update(len(text).to_bytes(8, "big") + text)
    return seen.digest()
