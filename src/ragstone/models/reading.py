"""Reading: tokenizing, pooling and normalising for encoders from a folder, on any back end."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ragstone.core.errors import ModelError

from .batches import distinct
from .encoder import Encoder, TokenVectors, Vectors
from .folder import SHORTEST, ModelFolder, Pooling

TOO_SHORT = 1e-12

Ids = NDArray[np.int32]

Take = Callable[[NDArray[np.intp], Sequence[Vectors]], None]
"""Callback for one batch: the indices of its texts, and the token states of each text.

The states are valid until it returns. It may be called from several threads.
"""


class States(Protocol):
    """A back end that computes the hidden states of tokens.

    Attributes:
        back_end: Its name for reports, such as ``NumPy``.
        dimensions: The length of a vector.
        layers: The number of hidden layers; 0 if it returns one vector per text, passed on as if
            the text had that one token.
    """

    back_end: str
    dimensions: int
    layers: int

    def check(self, layer: int, name: str) -> None:
        """Raise ``ModelError`` if this layer is not available."""

    def compute(self, texts: Sequence[Ids], layer: int, take: Take) -> None:
        """Compute the states of all texts and pass them to ``take``, batch by batch."""


class FolderEncoder:
    """An embedding model from a folder; ``Encoder`` documents its methods.

    May be used from several threads.
    """

    def __init__(
        self, name: str, model: ModelFolder, states: States, weights: Iterable[Path]
    ) -> None:
        """``weights`` are the files that ``states`` computes from; they enter the fingerprint."""
        self._name = name
        self._model = model
        self._states = states
        self._fingerprint = model.fingerprint(weights, states.back_end.lower(), "float32")

    @property
    def name(self) -> str:
        return self._name

    @property
    def about(self) -> str:
        return (
            f"{self.name}: {self.dimensions} dimensions, {self._model.pooling} of up to "
            f"{self.max_tokens} tokens, {self._states.back_end} float32"
        )

    @property
    def fingerprint(self) -> str:
        return self._fingerprint

    @property
    def dimensions(self) -> int:
        return self._states.dimensions

    @property
    def max_tokens(self) -> int:
        return self._model.max_tokens

    @property
    def longest(self) -> int:
        return self._model.longest if self.layers else 0

    @property
    def layers(self) -> int:
        return self._states.layers

    def embed(self, texts: Sequence[str]) -> Vectors:
        once, places = distinct(texts)
        ids = self._model.tokenizer.ids(once, self.max_tokens)
        vectors = np.empty((len(once), self.dimensions), np.float32)

        def take(batch: NDArray[np.intp], states: Sequence[Vectors]) -> None:
            vectors[batch] = self._embeddings(states)

        self._states.compute(ids, self.layers, take)
        return vectors[places]

    def tokens(
        self, texts: Sequence[str], *, layer: int | None = None, limit: int | None = None
    ) -> list[TokenVectors]:
        layer = token_layer(self, layer)
        self._states.check(layer, self.name)
        limit = token_limit(self, limit)
        whole = layer == self.layers and limit == self.max_tokens
        once, places = distinct(texts)
        tokenized = self._model.tokenizer.tokens(once, limit)
        found: dict[int, TokenVectors] = {}

        def take(batch: NDArray[np.intp], states: Sequence[Vectors]) -> None:
            embeddings = self._embeddings(states) if whole else None
            for row, number in enumerate(batch.tolist()):
                text = tokenized[number]
                found[number] = TokenVectors(
                    ids=text.ids,
                    spans=text.spans,
                    vectors=states[row].copy(),  # the back end reuses its buffers
                    embedding=None if embeddings is None else embeddings[row],
                    cut=text.cut,
                )

        self._states.compute([text.ids for text in tokenized], layer, take)
        return [found[place] for place in places.tolist()]

    def lengths(self, texts: Sequence[str]) -> NDArray[np.int32]:
        once, places = distinct(texts)
        return self._model.tokenizer.lengths(once)[places]

    def _embeddings(self, states: Sequence[Vectors]) -> Vectors:
        vectors = np.stack([_pooled(one, self._model.pooling) for one in states])
        if self._model.normalize:
            norms = np.sqrt(np.einsum("nd,nd->n", vectors, vectors))
            vectors /= np.maximum(norms, np.float32(TOO_SHORT))[:, None]
        return vectors


def token_counts(texts: Sequence[Ids]) -> NDArray[np.int32]:
    """The number of tokens of each text, shape (n,)."""
    return np.array([len(text) for text in texts], np.int32)


def check_layer(layer: int, layers: int, name: str) -> None:
    """Check a layer's number.

    Raises:
        ModelError: The model has no such layer.
    """
    if not 0 <= layer <= layers:
        raise ModelError(f"{name} has layers 0 to {layers}, not {layer}.")


def _pooled(states: Vectors, pooling: Pooling) -> Vectors:
    """One vector for a text, from the states of its tokens."""
    pooled: Vectors
    if pooling == "cls":
        pooled = states[0]
    elif pooling == "max":
        pooled = states.max(axis=0)
    else:
        pooled = states.mean(axis=0)
    return pooled


def token_layer(encoder: Encoder, layer: int | None) -> int:
    """The layer to read token vectors from: the given one, else the last.

    Raises:
        ModelError: The encoder gives no token vectors.
    """
    if not encoder.layers:
        raise ModelError(f"{encoder.name} gives one vector per text and no token vectors.")
    return encoder.layers if layer is None else layer


def token_limit(encoder: Encoder, limit: int | None) -> int:
    """The most tokens to read of a text: as many as given and possible, else as ``embed`` reads.

    Raises:
        ModelError: Too few for any text.
    """
    found = encoder.max_tokens if limit is None else min(limit, encoder.longest)
    if found < SHORTEST:
        raise ModelError(f"Expected a limit of at least {SHORTEST} tokens, got {found}.")
    return found
