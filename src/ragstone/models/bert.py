"""The NumPy back end: encoders of the BERT family without torch."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ragstone.errors import ModelError

from .batches import BATCH_TOKENS, batches, distinct
from .bert_forward import Workspace, hidden_states
from .bert_weights import FILE, Sizes, Weights, faults_of, read_weights, sizes_of
from .encoder import TokenVectors, Vectors
from .folder import SHORTEST, ModelFolder, Pooling

TOO_SHORT = 1e-12


def load(folder: Path, name: str) -> "NumpyEncoder":
    """The encoder in a folder.

    Reads BERT, RoBERTa, XLM-RoBERTa and DistilBERT with weights in ``model.safetensors``, as
    float16 or float32, and computes in float32. Agrees with torch to 1e-5.

    Args:
        folder: As sentence-transformers or transformers writes it; see ``ModelFolder``.
        name: What the user calls it.

    Raises:
        ModelError: Every fault of the folder.
        MissingDependency: ``tokenizers`` or ``safetensors`` is not installed.
    """
    model = ModelFolder.read(folder, faults_of)
    sizes = sizes_of(model.config)
    return NumpyEncoder(name, model, sizes, read_weights(folder, model.inside, sizes))


class NumpyEncoder:
    """An embedding model of the BERT family; see ``Encoder`` for what its parts give.

    May be used from several threads.
    """

    def __init__(self, name: str, model: ModelFolder, sizes: Sizes, weights: Weights) -> None:
        self._name = name
        self._model = model
        self._sizes = sizes
        self._weights = weights
        self._fingerprint = model.fingerprint([model.inside / FILE], "numpy", "float32")

    @property
    def name(self) -> str:
        return self._name

    @property
    def about(self) -> str:
        return (
            f"{self.name}: {self.dimensions} dimensions, {self._model.pooling} of up to "
            f"{self.max_tokens} tokens, NumPy float32"
        )

    @property
    def fingerprint(self) -> str:
        return self._fingerprint

    @property
    def dimensions(self) -> int:
        return self._sizes.hidden

    @property
    def max_tokens(self) -> int:
        return self._model.max_tokens

    @property
    def longest(self) -> int:
        return self._model.longest

    @property
    def layers(self) -> int:
        return self._sizes.layers

    def embed(self, texts: Sequence[str]) -> Vectors:
        once, places = distinct(texts)
        ids = self._model.tokenizer.ids(once, self.max_tokens)
        vectors = np.empty((len(once), self.dimensions), np.float32)
        for batch, states in self._read(ids, self.layers):
            vectors[batch] = self._embeddings(states, [len(ids[number]) for number in batch])
        return vectors[places]

    def tokens(
        self, texts: Sequence[str], *, layer: int | None = None, limit: int | None = None
    ) -> list[TokenVectors]:
        layer = self.layers if layer is None else layer
        if not 0 <= layer <= self.layers:
            raise ModelError(f"{self.name} has layers 0 to {self.layers}, none is {layer}.")
        limit = self.max_tokens if limit is None else min(limit, self.longest)
        if limit < SHORTEST:
            raise ModelError(f"Expected a limit of at least {SHORTEST} tokens, got {limit}.")
        whole = layer == self.layers and limit == self.max_tokens
        once, places = distinct(texts)
        tokenized = self._model.tokenizer.tokens(once, limit)
        found: dict[int, TokenVectors] = {}
        for batch, states in self._read([text.ids for text in tokenized], layer):
            lengths = [len(tokenized[number].ids) for number in batch]
            embeddings = self._embeddings(states, lengths) if whole else None
            ends = np.cumsum(lengths)
            for row, number in enumerate(batch.tolist()):
                text = tokenized[number]
                found[number] = TokenVectors(
                    ids=text.ids,
                    spans=text.spans,
                    vectors=states[ends[row] - lengths[row] : ends[row]].copy(),
                    embedding=None if embeddings is None else embeddings[row],
                    cut=text.cut,
                )
        return [found[place] for place in places.tolist()]

    def lengths(self, texts: Sequence[str]) -> NDArray[np.int32]:
        once, places = distinct(texts)
        return self._model.tokenizer.lengths(once)[places]

    def _read(
        self, ids: Sequence[NDArray[np.int32]], layer: int
    ) -> Iterator[tuple[NDArray[np.intp], Vectors]]:
        """The texts of a batch, and the states of their tokens, valid until the next batch."""
        lengths = np.array([len(text) for text in ids], np.int32)
        space = Workspace(self._sizes, max(BATCH_TOKENS, lengths.max(initial=0)))
        for batch in batches(lengths):
            texts = [ids[number] for number in batch]
            yield batch, hidden_states(self._weights, self._sizes, texts, layer, space)

    def _embeddings(self, states: Vectors, lengths: Sequence[int]) -> Vectors:
        """The vectors of a batch of texts from those of their tokens, one below the other."""
        vectors = _pooled(states, np.array(lengths), self._model.pooling)
        if self._model.normalize:
            norms = np.sqrt(np.einsum("nd,nd->n", vectors, vectors))
            vectors /= np.maximum(norms, np.float32(TOO_SHORT))[:, None]
        return vectors


def _pooled(states: Vectors, lengths: NDArray[np.int64], pooling: Pooling) -> Vectors:
    starts: NDArray[np.int64] = np.cumsum(lengths) - lengths
    if pooling == "cls":
        return states[starts]
    if pooling == "max":
        largest: Vectors = np.maximum.reduceat(states, starts, axis=0)
        return largest
    means: Vectors = np.add.reduceat(states, starts, axis=0)
    means /= lengths[:, None].astype(np.float32)
    return means
