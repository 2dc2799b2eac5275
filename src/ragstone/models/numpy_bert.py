"""NumPy encoder: builtin:minilm, without torch.

Nothing is padded. The tokens of a batch are the rows of a matrix, and the large matrix products
run over all rows at once; only attention treats texts separately, those of equal length
together. A text's vectors therefore do not depend on the other texts in its batch. GELU is
computed in chunks that fit the processor's cache.
"""

import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ragstone.core.errors import needing

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
from .model_folder import EncoderConfig, ModelFolder

FILE = "model.safetensors"
CHUNK = 32_768
COEFFICIENTS = (
    *(7.97884215e-1, 3.63342835e-2, -3.31299840e-5, -5.52401615e-5),
    *(3.96910987e-6, -1.33446436e-7, 1.80561700e-9),
)
NORM_ROWS = 256
# OpenBLAS computes a product of at most this many multiplications on one thread.
#
# Attention consists of many small products. If each had to wait for a second thread, all would be
# slow whenever another program uses the processor.
ON_ONE_THREAD = 1 << 18

FEWEST_QUERIES = 16


def twice_gelu(values: NDArray[np.float32], bias: NDArray[np.float32]) -> None:
    """Add the bias and compute twice the activation, in place.

        2 gelu(x) = x (1 + tanh(x P(x²)))

    This is 2 x Φ(x), Φ the normal distribution function, to 1e-7: P is the fit to
    atanh(2 Φ(x) - 1) / x with the smallest maximal error of gelu. The caller divides by 2, by
    halving the next layer's weights.
    """
    rows = max(1, CHUNK // values.shape[1])
    square = np.empty((rows, values.shape[1]), np.float32)
    curve = np.empty_like(square)
    first, *between, last = (np.float32(coefficient) for coefficient in COEFFICIENTS)
    # Large |x| overflow to infinity in the polynomial; tanh then gives the correct limit of ±1.
    with np.errstate(over="ignore"):
        for start in range(0, len(values), rows):
            x = values[start : start + rows]
            s, p = square[: len(x)], curve[: len(x)]
            x += bias
            np.multiply(x, x, out=s)
            np.multiply(s, last, out=p)
            for coefficient in reversed(between):
                p += coefficient
                p *= s
            p += first
            p *= x
            np.tanh(p, out=p)
            p += np.float32(1)
            x *= p


@dataclass(frozen=True, slots=True)
class Linear:
    """x → x weightᵀ + bias; weight has shape (out, in), bias (out,).

    As a layer normalisation: scale and shift, each of shape (hidden,).
    """

    weight: Vectors
    bias: Vectors


@dataclass(frozen=True, slots=True)
class Layer:
    """One hidden layer.

    Attributes:
        attended: Query, key and value in one product. The query part is already divided by the
            square root of a head's width.
        outer: Halved, because ``twice_gelu`` returns twice its value.
    """

    attended: Linear
    joined: Linear
    attention_norm: Linear
    inner: Linear
    outer: Linear
    layer_norm: Linear


@dataclass(frozen=True, slots=True)
class Weights:
    """All weights of a model, and the settings that they are used with.

    Attributes:
        positions: Shape (positions, hidden); the vector of token type 0 is already added.
    """

    words: Vectors
    positions: Vectors
    norm: Linear
    layers: tuple[Layer, ...]
    heads: int
    epsilon: float

    @property
    def hidden(self) -> int:
        """The length of a token's vector."""
        return len(self.norm.bias)


def read_weights(file: Path, config: EncoderConfig) -> Weights:
    """Read the weights of a BERT in float32."""
    with needing("Reading weights", "local"):
        from safetensors import safe_open

    def tensor(name: str) -> Vectors:
        # Opened for each tensor, so that pages read earlier do not stay in memory.
        with safe_open(file, framework="numpy") as content:
            values: Vectors = content.get_tensor(name)
            return values

    def linear(name: str) -> Linear:
        return Linear(tensor(f"{name}.weight"), tensor(f"{name}.bias"))

    def layer(number: int) -> Layer:
        at = f"encoder.layer.{number}"
        query, key, value = (
            linear(f"{at}.attention.self.{part}") for part in ("query", "key", "value")
        )
        scale = np.float32((query.weight.shape[0] // config.num_attention_heads) ** -0.5)
        outer = linear(f"{at}.output.dense")
        outer.weight[...] *= np.float32(0.5)
        return Layer(
            attended=Linear(
                np.concatenate([query.weight * scale, key.weight, value.weight]),
                np.concatenate([query.bias * scale, key.bias, value.bias]),
            ),
            joined=linear(f"{at}.attention.output.dense"),
            attention_norm=linear(f"{at}.attention.output.LayerNorm"),
            inner=linear(f"{at}.intermediate.dense"),
            outer=outer,
            layer_norm=linear(f"{at}.output.LayerNorm"),
        )

    positions = tensor("embeddings.position_embeddings.weight")
    positions += tensor("embeddings.token_type_embeddings.weight")[0]
    return Weights(
        words=tensor("embeddings.word_embeddings.weight"),
        positions=positions,
        norm=linear("embeddings.LayerNorm"),
        layers=tuple(map(layer, range(config.layers))),
        heads=config.num_attention_heads,
        epsilon=config.layer_norm_eps,
    )


class Workspace:
    """Buffers for intermediate results, allocated once and reused by all batches of a call."""

    def __init__(self, weights: Weights, tokens: int) -> None:
        """Allocate for batches of at most this many tokens."""
        hidden, inner = weights.hidden, len(weights.layers[0].inner.bias)
        self.states, self.context, self.update = np.empty((3, tokens, hidden), np.float32)
        self.attended = np.empty((tokens, 3 * hidden), np.float32)
        self.inner = np.empty((tokens, inner), np.float32)
        self.scores = np.empty(0, np.float32)

    def scores_of(self, shape: tuple[int, int, int, int]) -> Vectors:
        size = int(np.prod(shape))
        if size > self.scores.size:
            self.scores = np.empty(size, np.float32)
        return self.scores[:size].reshape(shape)


def hidden_states(
    weights: Weights, texts: Sequence[NDArray[np.int32]], layers: int, space: Workspace
) -> Vectors:
    """Return the hidden states of every token, shape (tokens of all texts, hidden)."""
    ids = np.concatenate(texts)
    groups = list(_groups(texts))
    x = space.states[: len(ids)]
    x[...] = weights.words[ids]
    x += weights.positions[np.concatenate([np.arange(len(text)) for text in texts])]
    _normalise(x, weights.norm, weights.epsilon)
    for layer in weights.layers[:layers]:
        _attend(layer, weights, x, groups, space)
        _transform(layer, weights.epsilon, x, space)
    return x


def _groups(texts: Sequence[NDArray[np.int32]]) -> Iterator[tuple[int, int, int]]:
    """First row, number of texts and their length, for each run of equal length."""
    row = 0
    for length, run in groupby(map(len, texts)):
        number = sum(1 for _ in run)
        yield row, number, length
        row += number * length


def _attend(
    layer: Layer,
    weights: Weights,
    x: Vectors,
    groups: Sequence[tuple[int, int, int]],
    space: Workspace,
) -> None:
    count, width = len(x), weights.hidden // weights.heads
    attended, context, update = (
        part[:count] for part in (space.attended, space.context, space.update)
    )
    np.matmul(x, layer.attended.weight.T, out=attended)
    attended += layer.attended.bias
    for row, number, length in groups:
        rows = slice(row, row + number * length)
        heads = attended[rows].reshape(number, length, 3, weights.heads, width)
        query, key, value = heads.transpose(2, 0, 3, 1, 4)
        gathered = context[rows].reshape(number, length, weights.heads, width).transpose(0, 2, 1, 3)
        _gather(query, key, value, gathered, space)
    np.matmul(context, layer.joined.weight.T, out=update)
    _add(x, update, layer.joined.bias, layer.attention_norm, weights.epsilon)


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


def _transform(layer: Layer, epsilon: float, x: Vectors, space: Workspace) -> None:
    inner, update = space.inner[: len(x)], space.update[: len(x)]
    np.matmul(x, layer.inner.weight.T, out=inner)
    twice_gelu(inner, layer.inner.bias)
    np.matmul(inner, layer.outer.weight.T, out=update)
    _add(x, update, layer.outer.bias, layer.layer_norm, epsilon)


def _add(x: Vectors, update: Vectors, bias: Vectors, norm: Linear, epsilon: float) -> None:
    for start in range(0, len(x), NORM_ROWS):
        rows = slice(start, start + NORM_ROWS)
        x[rows] += update[rows]
        x[rows] += bias
        _normalise(x[rows], norm, epsilon)


def _normalise(x: Vectors, norm: Linear, epsilon: float) -> None:
    x -= x.mean(axis=1, keepdims=True)
    variance = np.einsum("td,td->t", x, x) / np.float32(x.shape[1])
    x /= np.sqrt(variance + np.float32(epsilon))[:, None]
    x *= norm.weight
    x += norm.bias


# With fewer batches than this, one thread would idle; BLAS then uses all threads on each batch.
FEWEST_BATCHES = 4


def load(folder: Path, name: str) -> FolderEncoder:
    """Load builtin:minilm, or another BERT with the same settings, in float32.

    Agrees with torch to 1e-5.
    """
    model = ModelFolder.read(folder)
    file = model.inside / FILE
    weights = read_weights(file, model.config)

    def compute(texts: Sequence[Ids], layer: int, take: Take) -> None:
        lengths = token_counts(texts)
        waiting = list(batches(lengths))
        room = max(BATCH_TOKENS, lengths.max(initial=0))
        buffers = threading.local()

        def run(batch: NDArray[np.intp]) -> None:
            # Batches run in several threads, so each thread gets buffers of its own.
            if not hasattr(buffers, "space"):
                buffers.space = Workspace(weights, room)
            batch_texts = [texts[number] for number in batch]
            states = hidden_states(weights, batch_texts, layer, buffers.space)
            take(batch, np.split(states, np.cumsum(lengths[batch])[:-1]))

        if len(waiting) < FEWEST_BATCHES:
            for batch in waiting:
                run(batch)
            return
        with one_blas_thread():
            side_by_side(run, waiting)

    return FolderEncoder(
        name,
        model,
        "NumPy",
        dimensions=weights.hidden,
        layers=len(weights.layers),
        check=partial(check_layer, layers=len(weights.layers), name=name),
        compute=compute,
        weights=[file],
    )
