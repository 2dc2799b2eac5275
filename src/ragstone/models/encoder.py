"""Encoder: the interface of every embedding model, and tokenizing, batches, threads and pooling.

Each thread runs a batch by itself, instead of all threads sharing a batch, so that the
single-threaded steps between the matrix products run in parallel too.
"""

import os
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from ragstone.core.errors import ModelError, needing

from .model_folder import SHORTEST, ModelFolder, Pooling

Vectors = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class TokenVectors:
    """The tokens of one text, special tokens included.

    Args:
        spans: Shape (t, 2), start and end of each token in the text; (0, 0) for a special token.
        embedding: Shape (d,), what ``embed`` returns for this text; None if a layer or limit
            other than the model's own was requested.
    """

    ids: NDArray[np.int32]
    spans: NDArray[np.int32]
    vectors: Vectors
    embedding: Vectors | None
    cut: bool


class Encoder(Protocol):
    """An embedding model.

    Texts are passed to the model unchanged, except that lone surrogates are replaced by U+FFFD.
    An empty text has a vector too; the caller decides whether to use it.
    """

    @property
    def name(self) -> str:
        """The name that the user wrote: ``builtin:minilm``, a folder, ``org/name``,
        ``openai:MODEL``.
        """

    @property
    def about(self) -> str:
        """One line for reports: model, dimensions, token limit, back end."""

    @property
    def fingerprint(self) -> str:
        """A hash in 32 hex digits of weights, tokenizer, pooling, limit, back end and precision.

        Two encoders with the same fingerprint return the same vectors; it is part of cache keys
        and of signatures.
        """

    @property
    def dimensions(self) -> int:
        """The length of a vector."""

    @property
    def max_tokens(self) -> int:
        """The most tokens of a text that ``embed`` reads, special tokens included.

        0 if the limit is not known; then it is not known either whether a text was truncated.
        """

    @property
    def longest(self) -> int:
        """The most tokens that the model can read; 0 if it gives no token vectors."""

    @property
    def layers(self) -> int:
        """The number of hidden layers; 0 if it gives no token vectors."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return shape (n, d), in the order of the texts.

        Raises:
            ModelFailure: The model failed: a server is down, say, or sent an invalid reply.
        """

    def tokens(
        self, texts: Sequence[str], *, layer: int | None = None, limit: int | None = None
    ) -> list[TokenVectors]:
        """Return the vectors of every token.

        Args:
            layer: Return the hidden states of this layer: 1 is the first, 0 the word embeddings;
                None: the last.
            limit: Most tokens to read, special tokens included, up to ``longest``; None:
                ``max_tokens``.

        Raises:
            ModelError: The model gives no token vectors, or has no such layer.
        """

    def lengths(self, texts: Sequence[str]) -> NDArray[np.int32]:
        """Return shape (n,), the tokens of each text before truncation, special tokens included.

        0 if the model does not report it.
        """


class TokenMemory:
    """Token vectors by key, up to a number of bytes; the least recently used are evicted.

    Callers share the arrays, so these are made read-only.
    """

    def __init__(self, limit: int) -> None:
        self._limit, self._size = limit, 0
        self._mutex = threading.Lock()
        self._kept: OrderedDict[object, tuple[TokenVectors, int]] = OrderedDict()

    def get(self, key: object) -> TokenVectors | None:
        with self._mutex:
            if key not in self._kept:
                return None
            self._kept.move_to_end(key)
            return self._kept[key][0]

    def put(self, key: object, text: TokenVectors) -> None:
        size = 0
        for array in (text.ids, text.spans, text.vectors, text.embedding):
            if array is not None:
                array.flags.writeable = False
                size += array.nbytes
        with self._mutex:
            if key in self._kept:
                self._size -= self._kept.pop(key)[1]
            self._kept[key] = text, size
            self._size += size
            while self._size > self._limit:
                _, (_, dropped) = self._kept.popitem(last=False)
                self._size -= dropped


BATCH_TOKENS = 1024
Text = TypeVar("Text", bound=Hashable)


def distinct(texts: Sequence[Text]) -> tuple[list[Text], NDArray[np.intp]]:
    """Return each distinct text once, in order of first occurrence, and each input's index among
    them.

    distinct(["a", "b", "a"]) = ["a", "b"], [0, 1, 0]
    """
    numbers: dict[Text, int] = {}
    places = [numbers.setdefault(text, len(numbers)) for text in texts]
    return list(numbers), np.array(places, np.intp)


def batches(lengths: NDArray[np.int32], tokens: int = BATCH_TOKENS) -> Iterator[NDArray[np.intp]]:
    """Indices of the texts in each batch: longest texts first, similar lengths together.

    A batch holds at most ``tokens`` tokens, counted as if every text were as long as the longest
    in the batch. A text longer than that is a batch by itself.
    """
    order = np.argsort(-lengths, kind="stable")
    start = 0
    while start < order.size:
        size = max(1, tokens // int(lengths[order[start]]))
        yield order[start : start + size]
        start += size


T = TypeVar("T")
R = TypeVar("R")


def side_by_side(work: Callable[[T], R], batches: Iterable[T]) -> list[R]:
    """Return the result of each batch, in order; up to ``threads()`` batches run concurrently."""
    waiting = list(batches)
    workers = min(threads(), len(waiting))
    if workers < 2:
        return list(map(work, waiting))
    with ThreadPoolExecutor(workers) as pool:
        return list(pool.map(work, waiting))


def threads() -> int:
    """OMP_NUM_THREADS, or the number of processors that this process may use."""
    setting = os.environ.get("OMP_NUM_THREADS", "").partition(",")[0].strip()
    if setting.isdecimal() and int(setting):
        return int(setting)
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Limit NumPy's matrix products to one thread, process-wide, until the last user leaves."""
    # The limit is process-wide, so only the first to enter sets it and the last to leave undoes it.
    with _BLAS:
        limit = _LIMITS[0] if _LIMITS else _pools().limit(limits=1, user_api="blas")
        _LIMITS.append(limit)
    try:
        yield
    finally:
        with _BLAS:
            _LIMITS.pop()
            if not _LIMITS:
                limit.restore_original_limits()


_BLAS = threading.Lock()
# The limit on BLAS threads, once for each caller that holds it at present.
_LIMITS: list[Any] = []


@cache
def _pools() -> Any:
    with needing("The NumPy back end", "local"):
        from threadpoolctl import ThreadpoolController
    return ThreadpoolController()


TOO_SHORT = 1e-12

Ids = NDArray[np.int32]

# Callback for one batch: the indices of its texts, and the token states of each text.
#
# The states are valid until it returns. It may be called from several threads.
Take = Callable[[NDArray[np.intp], Sequence[Vectors]], None]


# Computes the states of all texts at a layer and passes them to ``take``, batch by batch.
Compute = Callable[[Sequence[Ids], int, Take], None]


class FolderEncoder:
    """An embedding model from a folder; ``Encoder`` documents its methods.

    May be used from several threads.
    """

    def __init__(
        self,
        name: str,
        model: ModelFolder,
        back_end: str,
        *,
        dimensions: int,
        layers: int,
        check: Callable[[int], None],
        compute: Compute,
        weights: Iterable[Path],
    ) -> None:
        """Open a model that a back end computes.

        Args:
            back_end: Its name for reports, such as ``NumPy``.
            layers: The number of hidden layers; 0 if it returns one vector per text, passed on as
                if the text had that one token.
            check: Raises ``ModelError`` if a layer is not available.
            weights: The files that it computes from; they enter the fingerprint.
        """
        self.name = name
        self.fingerprint = model.fingerprint(weights, back_end.lower(), "float32")
        self.dimensions, self.layers = dimensions, layers
        self.max_tokens = model.max_tokens
        self.longest = model.longest if layers else 0
        self.about = (
            f"{name}: {dimensions} dimensions, {model.pooling} of up to {self.max_tokens} tokens, "
            f"{back_end} float32"
        )
        self._model = model
        self._check = check
        self._compute = compute

    def embed(self, texts: Sequence[str]) -> Vectors:
        once, places = distinct(texts)
        ids = self._model.tokenizer.ids(once, self.max_tokens)
        vectors = np.empty((len(once), self.dimensions), np.float32)

        def take(batch: NDArray[np.intp], states: Sequence[Vectors]) -> None:
            vectors[batch] = self._embeddings(states)

        self._compute(ids, self.layers, take)
        return vectors[places]

    def tokens(
        self, texts: Sequence[str], *, layer: int | None = None, limit: int | None = None
    ) -> list[TokenVectors]:
        layer = token_layer(self, layer)
        self._check(layer)
        limit = token_limit(self, limit)
        whole = layer == self.layers and limit == self.max_tokens
        once, places = distinct(texts)
        tokenized = self._model.tokenizer.tokens(once, limit)
        vectors: dict[int, TokenVectors] = {}

        def take(batch: NDArray[np.intp], states: Sequence[Vectors]) -> None:
            embeddings = self._embeddings(states) if whole else None
            for row, number in enumerate(batch.tolist()):
                ids, spans, cut = tokenized[number]
                vectors[number] = TokenVectors(
                    ids=ids,
                    spans=spans,
                    vectors=states[row].copy(),  # the back end reuses its buffers
                    embedding=None if embeddings is None else embeddings[row],
                    cut=cut,
                )

        self._compute([ids for ids, *_ in tokenized], layer, take)
        return [vectors[number] for number in places.tolist()]

    def lengths(self, texts: Sequence[str]) -> NDArray[np.int32]:
        once, places = distinct(texts)
        return self._model.tokenizer.lengths(once)[places]

    def _embeddings(self, states: Sequence[Vectors]) -> Vectors:
        vectors = np.stack([_pooled(text_states, self._model.pooling) for text_states in states])
        if self._model.normalize:
            norms = np.sqrt(np.einsum("nd,nd->n", vectors, vectors))
            vectors /= np.maximum(norms, np.float32(TOO_SHORT))[:, None]
        return vectors


def token_counts(texts: Sequence[Ids]) -> NDArray[np.int32]:
    """Return the number of tokens of each text, shape (n,)."""
    return np.array([len(text) for text in texts], np.int32)


def check_layer(layer: int, layers: int, name: str) -> None:
    """Check a layer's number."""
    if not 0 <= layer <= layers:
        raise ModelError(f"{name} has layers 0 to {layers}, not {layer}.")


def _pooled(states: Vectors, pooling: Pooling) -> Vectors:
    if pooling == "cls":
        pooled: Vectors = states[0]
    else:
        pooled = states.max(axis=0) if pooling == "max" else states.mean(axis=0)
    return pooled


def token_layer(encoder: Encoder, layer: int | None) -> int:
    """Return the layer to read token vectors from: the given one, else the last."""
    if not encoder.layers:
        raise ModelError(f"{encoder.name} gives one vector per text and no token vectors.")
    return encoder.layers if layer is None else layer


def token_limit(encoder: Encoder, limit: int | None) -> int:
    """Return the most tokens to read of a text: as many as given and possible, else as ``embed``
    reads."""
    tokens = encoder.max_tokens if limit is None else min(limit, encoder.longest)
    if tokens < SHORTEST:
        raise ModelError(f"Expected a limit of at least {SHORTEST} tokens, got {tokens}.")
    return tokens
