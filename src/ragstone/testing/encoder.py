"""ScriptedEncoder: an encoder without a model, whose vectors are set by a test."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from ragstone.core.errors import ModelError, ModelFailure
from ragstone.models import TokenVectors, Vectors

START, END = 0, 1
"""Ids of the special tokens before and behind the words of a text."""


@dataclass(frozen=True, eq=False)
class ScriptedEncoder:
    """Returns the given vectors, and for other texts and words vectors derived from their letters.

    Its tokens are the words, plus one special token at each end. A text without a given
    vector has the mean of its words' vectors; an empty text has that of the first special
    token.

    Args:
        vectors: Maps a text or word to its vector.
        name: Name of the encoder.
        dimensions: Length of a vector.
        max_tokens: Number of tokens read from a text, including the two special ones.
        longest: The same for token vectors; 0: no token vectors.
        layers: Number of hidden layers, each with its own vectors.
        silent_on: Texts on which it fails, like a server that is down.
        asked: Records the texts it was asked to embed, in order.
    """

    vectors: Mapping[str, Sequence[float]] = field(default_factory=dict)
    name: str = "scripted"
    dimensions: int = 8
    max_tokens: int = 64
    longest: int = 128
    layers: int = 2
    silent_on: Collection[str] = ()
    asked: list[str] = field(default_factory=list)

    @property
    def about(self) -> str:
        """One line for reports."""
        return f"vectors of a test, {self.dimensions} dimensions, {self.max_tokens} tokens"

    @property
    def fingerprint(self) -> str:
        """32 hex digits of what it was given."""
        facts = repr((sorted(self.vectors.items()), self.dimensions, self.max_tokens, self.longest))
        return blake2b(facts.encode(), digest_size=16).hexdigest()

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Shape (n, d)."""
        self.asked.extend(texts)
        self._answer(texts)
        vectors = [self._embedded(text) for text in texts]
        return np.array(vectors, dtype=np.float32).reshape(len(texts), self.dimensions)

    def tokens(
        self, texts: Sequence[str], *, layer: int | None = None, limit: int | None = None
    ) -> list[TokenVectors]:
        """The vectors of the words and the two special tokens."""
        layer = self.layers if layer is None else layer
        if not self.longest or not 0 <= layer <= self.layers:
            raise ModelError(f"{self.name} has no token vectors of layer {layer}.")
        self._answer(texts)
        room = (self.max_tokens if limit is None else limit) - 2
        return [self._read(text, layer, room) for text in texts]

    def lengths(self, texts: Sequence[str]) -> NDArray[np.int32]:
        """The number of words plus two."""
        return np.array([len(text.split()) + 2 for text in texts], dtype=np.int32)

    def _answer(self, texts: Sequence[str]) -> None:
        if any(text in self.silent_on for text in texts):
            raise ModelFailure(f"{self.name} did not answer.")

    def _embedded(self, text: str) -> Vectors:
        if text in self.vectors:
            return np.asarray(self.vectors[text], dtype=np.float32)
        words = text.split()[: self.max_tokens - 2] or ["\0"]
        mean: Vectors = np.mean([self._vector(word, self.layers) for word in words], axis=0)
        return mean

    def _read(self, text: str, layer: int, room: int) -> TokenVectors:
        words = list(re.finditer(r"\S+", text))
        kept = words[:room]
        names = ["\0", *(word.group() for word in kept), "\1"]
        return TokenVectors(
            ids=np.array([START, *(_number(name) for name in names[1:-1]), END], dtype=np.int32),
            spans=np.array([(0, 0), *(word.span() for word in kept), (0, 0)], dtype=np.int32),
            vectors=np.array([self._vector(name, layer) for name in names], dtype=np.float32),
            embedding=None,
            cut=len(words) > room,
        )

    def _vector(self, word: str, layer: int) -> Vectors:
        if word in self.vectors:
            return np.asarray(self.vectors[word], dtype=np.float32)
        chance = np.random.default_rng([_number(word), layer])
        return chance.normal(size=self.dimensions).astype(np.float32)


def _number(word: str) -> int:
    """A token id from 2 on, the same for the same word."""
    digest = blake2b(word.encode("utf-8", "surrogatepass"), digest_size=3).digest()
    return 2 + int.from_bytes(digest, "big")
