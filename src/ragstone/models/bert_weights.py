"""BERT weights: the tensors of builtin:minilm as NumPy multiplies them, and the activation GELU.

GELU is computed in chunks that fit the processor's cache.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ragstone.core.errors import MissingDependency

from .encoder import Vectors
from .model_folder import EncoderConfig

FILE = "model.safetensors"
CHUNK = 32_768
COEFFICIENTS = (
    *(7.97884215e-1, 3.63342835e-2, -3.31299840e-5, -5.52401615e-5),
    *(3.96910987e-6, -1.33446436e-7, 1.80561700e-9),
)


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
    try:
        from safetensors import safe_open
    except ImportError as error:
        raise MissingDependency("Reading weights", "local") from error

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
