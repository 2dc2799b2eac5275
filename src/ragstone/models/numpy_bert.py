"""NumPy encoder: embedding models of the BERT family, without torch.

Nothing is padded. The tokens of a batch are the rows of a matrix, and the large matrix products
run over all rows at once; only attention treats texts separately, those of equal length
together. A text's vectors therefore do not depend on the other texts in its batch.
"""

import threading
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from .bert_weights import (
    ACTIVATIONS,
    FILE,
    Layer,
    Norm,
    Sizes,
    Weights,
    faults_of,
    read_weights,
    sizes_of,
    twice_gelu,
)
from .encoder import (
    BATCH_TOKENS,
    FolderEncoder,
    Ids,
    Take,
    Vectors,
    batches,
    check_layer,
    one_blas_thread,
    side_by_side,
    token_counts,
)
from .model_folder import ModelFolder

NORM_ROWS = 256
ON_ONE_THREAD = 1 << 18
"""OpenBLAS computes a product of at most this many multiplications on one thread.

Attention consists of many small products. If each had to wait for a second thread, all would be
slow whenever another program uses the processor.
"""

FEWEST_QUERIES = 16


class Workspace:
    """Buffers for intermediate results, allocated once and reused by all batches of a call."""

    def __init__(self, sizes: Sizes, tokens: int) -> None:
        """Allocate for batches of at most this many tokens."""
        self.states = np.empty((tokens, sizes.hidden), np.float32)
        self.attended = np.empty((tokens, 3 * sizes.hidden), np.float32)
        self.context = np.empty((tokens, sizes.hidden), np.float32)
        self.update = np.empty((tokens, sizes.hidden), np.float32)
        self.inner = np.empty((tokens, sizes.inner), np.float32)
        self.scores = np.empty(0, np.float32)

    def scores_of(self, shape: tuple[int, int, int, int]) -> Vectors:
        size = int(np.prod(shape))
        if size > self.scores.size:
            self.scores = np.empty(size, np.float32)
        return self.scores[:size].reshape(shape)


def hidden_states(
    weights: Weights,
    sizes: Sizes,
    texts: Sequence[NDArray[np.int32]],
    layers: int,
    space: Workspace,
) -> Vectors:
    """Hidden states of every token after this many layers, shape (tokens of all texts, hidden).

    Args:
        weights: The model's.
        sizes: The model's.
        texts: The token ids of each text, at least one; texts of equal length are adjacent.
        layers: 0 for the word embeddings, up to the model's number of layers.
        space: Buffers for all tokens. The result is a view of one, valid until the next call.
    """
    ids = np.concatenate(texts)
    count = len(ids)
    groups = list(_groups(texts))
    x = space.states[:count]
    x[...] = weights.words[ids]
    x += weights.positions[np.concatenate([_positions(text, sizes.padding) for text in texts])]
    _normalise(x, weights.norm, sizes.epsilon)
    for layer in weights.layers[:layers]:
        _attend(layer, sizes, x, groups, space)
        _transform(layer, sizes, x, space)
    return x


def _groups(texts: Sequence[NDArray[np.int32]]) -> Iterator[tuple[int, int, int]]:
    """First row, number of texts and their length, for each run of equal length."""
    row = 0
    for length, run in groupby(map(len, texts)):
        number = sum(1 for _ in run)
        yield row, number, length
        row += number * length


def _positions(ids: NDArray[np.int32], padding: int | None) -> NDArray[np.intp]:
    if padding is None:
        return np.arange(len(ids))
    read = ids != padding
    return np.asarray(np.cumsum(read) * read + padding, np.intp)


def _attend(
    layer: Layer,
    sizes: Sizes,
    x: Vectors,
    groups: Sequence[tuple[int, int, int]],
    space: Workspace,
) -> None:
    """The self-attention sublayer, with its residual connection; in place."""
    count, width = len(x), sizes.hidden // sizes.heads
    attended, context, update = (
        part[:count] for part in (space.attended, space.context, space.update)
    )
    np.matmul(x, layer.attended.weight.T, out=attended)
    attended += layer.attended.bias
    for row, number, length in groups:
        rows = slice(row, row + number * length)
        heads = attended[rows].reshape(number, length, 3, sizes.heads, width)
        query, key, value = heads.transpose(2, 0, 3, 1, 4)
        gathered = context[rows].reshape(number, length, sizes.heads, width).transpose(0, 2, 1, 3)
        _gather(query, key, value, gathered, space)
    np.matmul(context, layer.joined.weight.T, out=update)
    _add(x, update, layer.joined.bias, layer.attention_norm, sizes.epsilon)


def _gather(
    query: Vectors, key: Vectors, value: Vectors, gathered: Vectors, space: Workspace
) -> None:
    """Softmax attention inside each text; arrays of shape (texts, heads, tokens, width)."""
    texts, heads, length, width = query.shape
    step = max(FEWEST_QUERIES, ON_ONE_THREAD // (length * width))
    for first in range(0, length, step):
        some = slice(first, min(first + step, length))
        scores = space.scores_of((texts, heads, some.stop - first, length))
        np.matmul(query[:, :, some], key.swapaxes(2, 3), out=scores)
        # Softmax does not change when a constant is subtracted; without it, exp may overflow.
        scores -= scores.max(axis=3, keepdims=True)
        np.exp(scores, out=scores)
        total = scores.sum(axis=3, keepdims=True)
        np.matmul(scores, value, out=gathered[:, :, some])
        # Dividing after the product touches `width` numbers per row instead of `length`.
        gathered[:, :, some] /= total


def _transform(layer: Layer, sizes: Sizes, x: Vectors, space: Workspace) -> None:
    """The feed-forward sublayer, with its residual connection; in place."""
    inner, update = space.inner[: len(x)], space.update[: len(x)]
    np.matmul(x, layer.inner.weight.T, out=inner)
    coefficients = ACTIVATIONS[sizes.activation]
    if coefficients:
        twice_gelu(inner, layer.inner.bias, coefficients)
    else:
        inner += layer.inner.bias
        np.maximum(inner, np.float32(0), out=inner)
    np.matmul(inner, layer.outer.weight.T, out=update)
    _add(x, update, layer.outer.bias, layer.layer_norm, sizes.epsilon)


def _add(x: Vectors, update: Vectors, bias: Vectors, norm: Norm, epsilon: float) -> None:
    for start in range(0, len(x), NORM_ROWS):
        rows = slice(start, start + NORM_ROWS)
        x[rows] += update[rows]
        x[rows] += bias
        _normalise(x[rows], norm, epsilon)


def _normalise(x: Vectors, norm: Norm, epsilon: float) -> None:
    """Layer normalisation of each row; in place."""
    x -= x.mean(axis=1, keepdims=True)
    variance = np.einsum("td,td->t", x, x) / np.float32(x.shape[1])
    x /= np.sqrt(variance + np.float32(epsilon))[:, None]
    x *= norm.weight
    x += norm.bias


FEWEST_BATCHES = 4
"""With fewer batches than this, one thread would idle; BLAS then uses all threads on each batch."""


def load(folder: Path, name: str) -> FolderEncoder:
    """Load the encoder in a folder.

    Reads BERT, RoBERTa, XLM-RoBERTa and DistilBERT with float16 or float32 weights in
    ``model.safetensors``, and computes in float32. Agrees with torch to 1e-5.

    Args:
        folder: As sentence-transformers or transformers writes it; see ``ModelFolder``.
        name: What the user calls it.

    Raises:
        ModelError: The folder cannot be used; lists every fault.
        MissingDependency: ``tokenizers`` or ``safetensors`` is not installed.
    """
    model = ModelFolder.read(folder, faults_of)
    sizes = sizes_of(model.config)
    states = _NumpyStates(read_weights(folder, model.inside, sizes), sizes)
    return FolderEncoder(name, model, states, [model.inside / FILE])


class _NumpyStates:
    back_end = "NumPy"

    def __init__(self, weights: Weights, sizes: Sizes) -> None:
        self.dimensions = sizes.hidden
        self.layers = sizes.layers
        self._weights = weights
        self._sizes = sizes

    def check(self, layer: int, name: str) -> None:
        check_layer(layer, self.layers, name)

    def compute(self, texts: Sequence[Ids], layer: int, take: Take) -> None:
        lengths = token_counts(texts)
        waiting = list(batches(lengths))
        room = max(BATCH_TOKENS, lengths.max(initial=0))
        own = threading.local()

        def run(batch: NDArray[np.intp]) -> None:
            # Batches run in several threads, so each thread gets buffers of its own.
            if not hasattr(own, "space"):
                own.space = Workspace(self._sizes, room)
            some = [texts[number] for number in batch]
            states = hidden_states(self._weights, self._sizes, some, layer, own.space)
            take(batch, np.split(states, np.cumsum(lengths[batch])[:-1]))

        if len(waiting) < FEWEST_BATCHES:
            for batch in waiting:
                run(batch)
            return
        with one_blas_thread():
            for _ in side_by_side(run, waiting):
                pass
