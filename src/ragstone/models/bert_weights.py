"""BERT weights: sizes and tensors of each architecture of the BERT family, and the activation GELU.

GELU is computed in chunks that fit the processor's cache.
"""

from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragstone.core.errors import Fault, MissingDependency

from .encoder import Vectors
from .model_folder import is_count, refused

CHUNK = 32_768

EXACT = (
    *(7.97884215e-1, 3.63342835e-2, -3.31299840e-5, -5.52401615e-5),
    *(3.96910987e-6, -1.33446436e-7, 1.80561700e-9),
)
BY_TANH = (0.7978845608, 0.7978845608 * 0.044715)


def twice_gelu(
    values: NDArray[np.float32], bias: NDArray[np.float32], coefficients: tuple[float, ...]
) -> None:
    """Add the bias and compute twice the activation, in place.

        2 gelu(x) = x (1 + tanh(x P(x²)))

    With ``BY_TANH`` this is the approximation known as ``gelu_new``; with ``EXACT`` it is x Φ(x),
    Φ the normal distribution function, to 1e-7: P is the fit to atanh(2 Φ(x) - 1) / x with the
    smallest maximal error of gelu. The caller divides by 2, by halving the next layer's weights.

    Args:
        values: Shape (n, d), contiguous.
        bias: Shape (d,).
    """
    rows = max(1, CHUNK // values.shape[1])
    square = np.empty((rows, values.shape[1]), np.float32)
    curve = np.empty_like(square)
    first, *between, last = (np.float32(coefficient) for coefficient in coefficients)
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


FILE = "model.safetensors"
PRECISIONS = ("F32", "F16")
SHOWN_TENSORS = 3
ACTIVATIONS: Mapping[str, tuple[float, ...]] = {
    "gelu": EXACT,
    "gelu_new": BY_TANH,
    "gelu_pytorch_tanh": BY_TANH,
    "relu": (),
}


@dataclass(frozen=True, slots=True)
class Architecture:
    """The names that one architecture uses in ``config.json`` and for its weights.

    Args:
        model_type: Its name in ``config.json``.
        sizes: The keys in ``config.json`` of hidden size, layers, heads, inner size, activation.
        tensors: Names of tensors without ``.weight`` and ``.bias``; ``{}`` stands for the layer.
        token_types: Whether it has token type (segment) embeddings.
        from_padding: Whether positions start at the padding token's id plus 1.
    """

    model_type: str
    sizes: tuple[str, str, str, str, str]
    tensors: Mapping[str, str]
    token_types: bool
    from_padding: bool


BERT_SIZES = (
    *("hidden_size", "num_hidden_layers", "num_attention_heads"),
    *("intermediate_size", "hidden_act"),
)
DISTILBERT_SIZES = ("dim", "n_layers", "n_heads", "hidden_dim", "activation")
TABLES = {
    "words": "embeddings.word_embeddings",
    "positions": "embeddings.position_embeddings",
    "norm": "embeddings.LayerNorm",
}
BERT_TENSORS = TABLES | {
    "types": "embeddings.token_type_embeddings",
    "query": "encoder.layer.{}.attention.self.query",
    "key": "encoder.layer.{}.attention.self.key",
    "value": "encoder.layer.{}.attention.self.value",
    "joined": "encoder.layer.{}.attention.output.dense",
    "attention_norm": "encoder.layer.{}.attention.output.LayerNorm",
    "inner": "encoder.layer.{}.intermediate.dense",
    "outer": "encoder.layer.{}.output.dense",
    "layer_norm": "encoder.layer.{}.output.LayerNorm",
}
DISTILBERT_TENSORS = TABLES | {
    "query": "transformer.layer.{}.attention.q_lin",
    "key": "transformer.layer.{}.attention.k_lin",
    "value": "transformer.layer.{}.attention.v_lin",
    "joined": "transformer.layer.{}.attention.out_lin",
    "attention_norm": "transformer.layer.{}.sa_layer_norm",
    "inner": "transformer.layer.{}.ffn.lin1",
    "outer": "transformer.layer.{}.ffn.lin2",
    "layer_norm": "transformer.layer.{}.output_layer_norm",
}
ARCHITECTURES = {
    known.model_type: known
    for known in (
        Architecture("bert", BERT_SIZES, BERT_TENSORS, True, False),
        Architecture("roberta", BERT_SIZES, BERT_TENSORS, True, True),
        Architecture("xlm-roberta", BERT_SIZES, BERT_TENSORS, True, True),
        Architecture("distilbert", DISTILBERT_SIZES, DISTILBERT_TENSORS, False, False),
    )
}
TABLE_SIZES = ("vocab_size", "max_position_embeddings")
PREFIXES = ("", "bert.", "roberta.", "distilbert.")
OLD_PARTS = {"weight": "gamma", "bias": "beta"}


@dataclass(frozen=True, slots=True)
class Sizes:
    """The model's dimensions and settings, from ``config.json``.

    Attributes:
        hidden: Length of a token's vector.
        inner: Width of the feed-forward layer.
        activation: A key of ``ACTIVATIONS``.
        epsilon: Added to the variance in layer normalisation.
        padding: The padding token's id if positions start after it; otherwise None.
    """

    architecture: Architecture
    vocabulary: int
    positions: int
    types: int
    hidden: int
    layers: int
    heads: int
    inner: int
    activation: str
    epsilon: float
    padding: int | None


@dataclass(frozen=True, slots=True)
class Linear:
    """x → x weightᵀ + bias; weight has shape (out, in), bias (out,)."""

    weight: Vectors
    bias: Vectors


@dataclass(frozen=True, slots=True)
class Norm:
    """Layer normalisation: scale and shift, each of shape (hidden,)."""

    weight: Vectors
    bias: Vectors


@dataclass(frozen=True, slots=True)
class Layer:
    """One hidden layer.

    Attributes:
        attended: Query, key and value in one product. The query part is already divided by the
            square root of a head's width.
        outer: Halved for GELU, because ``twice_gelu`` returns twice its value.
    """

    attended: Linear
    joined: Linear
    attention_norm: Norm
    inner: Linear
    outer: Linear
    layer_norm: Norm


@dataclass(frozen=True, slots=True)
class Weights:
    """All weights of a model.

    Attributes:
        words: Shape (vocabulary, hidden), in the precision of the file.
        positions: Shape (positions, hidden); the vector of token type 0 is already added.
    """

    words: NDArray[np.float32] | NDArray[np.float16]
    positions: Vectors
    norm: Norm
    layers: tuple[Layer, ...]


def faults_of(inside: Path, config: Mapping[str, Any]) -> Iterator[Fault]:
    """Why these files cannot be read as a model of the family; reads no tensor, only their list.

    Raises:
        MissingDependency: ``safetensors`` is not installed.
    """
    faults = list(_faults_of_config(config))
    sound = not faults and all(is_count(config.get(field)) for field in TABLE_SIZES)
    yield from faults
    yield from _faults_of_tensors(inside, sizes_of(config) if sound else None)


def sizes_of(config: Mapping[str, Any]) -> Sizes:
    """The sizes in a ``config.json`` that has no faults."""
    architecture = ARCHITECTURES[config["model_type"]]
    hidden, layers, heads, inner, activation = architecture.sizes
    return Sizes(
        architecture=architecture,
        vocabulary=config["vocab_size"],
        positions=config["max_position_embeddings"],
        types=config.get("type_vocab_size", 2),
        hidden=config[hidden],
        layers=config[layers],
        heads=config[heads],
        inner=config[inner],
        activation=config.get(activation, "gelu"),
        epsilon=config.get("layer_norm_eps", 1e-12),
        padding=config.get("pad_token_id", 1) if architecture.from_padding else None,
    )


def read_weights(folder: Path, inside: Path, sizes: Sizes) -> Weights:
    """The weights as float32, except the word embeddings, which keep the file's precision.

    Args:
        folder: The model's folder, for the error.
        inside: The folder that holds the weights.
        sizes: From a model in which ``faults_of`` found no fault.

    Raises:
        ModelError: A tensor holds NaN or infinity; lists every such tensor.
    """
    tensors = _Tensors(inside / FILE, sizes.architecture)
    words = tensors.read("words.weight")
    positions = tensors.read("positions.weight").astype(np.float32)
    if sizes.architecture.token_types:
        positions += tensors.read("types.weight")[0]
    weights = Weights(
        words=words,
        positions=positions,
        norm=tensors.norm("norm"),
        layers=tuple(_layer(tensors, number, sizes) for number in range(sizes.layers)),
    )
    if tensors.faults:
        raise refused(folder, tensors.faults)
    return weights


def _layer(tensors: "_Tensors", number: int, sizes: Sizes) -> Layer:
    scale = np.float32((sizes.hidden // sizes.heads) ** -0.5)
    query, key, value = (tensors.linear(name, number) for name in ("query", "key", "value"))
    outer = tensors.linear("outer", number)
    if sizes.activation != "relu":
        outer.weight[...] *= np.float32(0.5)
    return Layer(
        attended=Linear(
            np.concatenate([query.weight * scale, key.weight, value.weight]),
            np.concatenate([query.bias * scale, key.bias, value.bias]),
        ),
        joined=tensors.linear("joined", number),
        attention_norm=tensors.norm("attention_norm", number),
        inner=tensors.linear("inner", number),
        outer=outer,
        layer_norm=tensors.norm("layer_norm", number),
    )


def _faults_of_config(config: Mapping[str, Any]) -> Iterator[Fault]:
    def wrong(field: str, expected: str) -> Fault:
        return Fault("config.json", None, field, expected, repr(config.get(field)))

    architecture = ARCHITECTURES.get(str(config.get("model_type")))
    if architecture is None:
        yield wrong("model_type", ", ".join(ARCHITECTURES))
        return
    *counts, activation = architecture.sizes
    for field in counts:
        if not is_count(config.get(field)):
            yield wrong(field, "a whole number above 0")
    if architecture.token_types and not is_count(config.get("type_vocab_size", 2)):
        yield wrong("type_vocab_size", "a whole number above 0")
    hidden, heads = config.get(counts[0]), config.get(counts[2])
    if is_count(hidden) and is_count(heads) and hidden % heads:
        yield wrong(counts[2], f"a divisor of {counts[0]}, {hidden}")
    if config.get("position_embedding_type", "absolute") != "absolute":
        yield wrong("position_embedding_type", "absolute")
    if config.get(activation, "gelu") not in tuple(ACTIVATIONS):
        yield wrong(activation, ", ".join(ACTIVATIONS))
    epsilon = config.get("layer_norm_eps", 1e-12)
    if not isinstance(epsilon, float) or not 0 < epsilon < 1:
        yield wrong("layer_norm_eps", "a number between 0 and 1")
    for field in ("is_decoder", "add_cross_attention"):
        if config.get(field):
            yield wrong(field, "an encoder, not a decoder")


class _Tensors:
    """Reads tensors by our names for them and collects the faults found so far."""

    def __init__(self, path: Path, architecture: Architecture) -> None:
        self.path = path
        self.names = _Names(frozenset(_listed(path)), architecture)
        self.faults: list[Fault] = []

    def read(self, name: str, layer: int = 0) -> Vectors:
        """A tensor as stored; NaN or infinity in it is recorded as a fault.

        The file is opened for each tensor, so that pages read earlier do not stay in memory.
        """
        from safetensors import safe_open

        key = self.names.in_file(name, layer)
        with safe_open(self.path, framework="numpy") as file:
            tensor: Vectors = file.get_tensor(key)
        if bad := tensor.size - int(np.count_nonzero(np.isfinite(tensor))):
            got = f"{bad:,} of {tensor.size:,} that are NaN or infinite"
            self.faults.append(Fault(self.path.name, None, key, "finite numbers", got))
        return tensor

    def linear(self, name: str, layer: int) -> Linear:
        return Linear(*self._pair(name, layer))

    def norm(self, name: str, layer: int = 0) -> Norm:
        return Norm(*self._pair(name, layer))

    def _pair(self, name: str, layer: int) -> tuple[Vectors, Vectors]:
        weight, bias = (self.read(f"{name}.{part}", layer) for part in ("weight", "bias"))
        return weight.astype(np.float32, copy=False), bias.astype(np.float32, copy=False)


class _Names:
    """A file's tensor names: some have the model's name as a prefix, old ones use gamma, beta."""

    def __init__(self, keys: Container[str], architecture: Architecture) -> None:
        self.keys = keys
        self.tensors = architecture.tensors
        words = f"{self.tensors['words']}.weight"
        self.prefix = next((prefix for prefix in PREFIXES if prefix + words in keys), "")

    def in_file(self, name: str, layer: int = 0) -> str:
        """``query.weight`` → ``bert.encoder.layer.0.attention.self.query.weight``."""
        place, _, part = name.partition(".")
        key = f"{self.prefix}{self.tensors[place].format(layer)}.{part}"
        old = key.removesuffix(part) + OLD_PARTS[part]
        return old if key not in self.keys and old in self.keys else key


def _faults_of_tensors(inside: Path, sizes: Sizes | None) -> Iterator[Fault]:
    def wrong(field: str, expected: str, got: str) -> Fault:
        return Fault(FILE, None, field, expected, got)

    others = ("model.safetensors.index.json", "pytorch_model.bin")
    if not (inside / FILE).is_file():
        other = next((name for name in others if (inside / name).is_file()), "no such file")
        yield wrong("", "weights in the safetensors format, in one file", other)
        return
    try:
        listed = _listed(inside / FILE)
    except _unreadable() as error:
        yield wrong("", "weights in the safetensors format", str(error))
        return
    if sizes is None:
        return
    # Checked before the names of all tensors are built: config.json may claim billions of layers.
    if sizes.layers > len(listed):
        field = sizes.architecture.sizes[1]
        claimed = f"{sizes.layers:,} layers and {len(listed):,} tensors"
        yield Fault("config.json", None, field, "tensors for every layer", claimed)
        return
    expected = _shapes(_Names(listed, sizes.architecture), sizes)
    missing = [key for key in expected if key not in listed]
    if missing:
        more = len(missing) - SHOWN_TENSORS
        rest = f" and {more:,} more" if more > 0 else ""
        yield wrong(", ".join(missing[:SHOWN_TENSORS]) + rest, "a tensor", "none")
    for key, shape in expected.items():
        if key not in listed:
            continue
        got, precision = listed[key]
        if got != shape:
            yield wrong(key, f"shape {shape}, as in config.json", str(got))
        if precision not in PRECISIONS:
            yield wrong(key, " or ".join(PRECISIONS), precision)


def _shapes(names: _Names, sizes: Sizes) -> dict[str, tuple[int, ...]]:
    """The expected shape of every tensor that is read, by its name in the file."""
    wide, inner = sizes.hidden, sizes.inner
    shapes: dict[str, tuple[int, ...]] = {
        names.in_file("words.weight"): (sizes.vocabulary, wide),
        names.in_file("positions.weight"): (sizes.positions, wide),
    }
    if sizes.architecture.token_types:
        shapes[names.in_file("types.weight")] = (sizes.types, wide)
    linear = dict.fromkeys(("query", "key", "value", "joined"), (wide, wide))
    linear |= {"inner": (inner, wide), "outer": (wide, inner)}
    norms = [("norm", 0)]
    for layer in range(sizes.layers):
        norms += [("attention_norm", layer), ("layer_norm", layer)]
        for name, shape in linear.items():
            shapes[names.in_file(f"{name}.weight", layer)] = shape
            shapes[names.in_file(f"{name}.bias", layer)] = shape[:1]
    for name, layer in norms:
        shapes[names.in_file(f"{name}.weight", layer)] = (wide,)
        shapes[names.in_file(f"{name}.bias", layer)] = (wide,)
    return shapes


def _listed(path: Path) -> dict[str, tuple[tuple[int, ...], str]]:
    """Shape and precision of every tensor in the file."""
    try:
        from safetensors import safe_open
    except ImportError as error:
        raise MissingDependency("Reading weights", "local") from error
    with safe_open(path, framework="numpy") as file:
        slices = {key: file.get_slice(key) for key in file.keys()}  # noqa: SIM118
        return {key: (tuple(part.get_shape()), part.get_dtype()) for key, part in slices.items()}


def _unreadable() -> tuple[type[Exception], ...]:
    try:
        from safetensors import SafetensorError
    except ImportError as error:
        raise MissingDependency("Reading weights", "local") from error
    return (SafetensorError, OSError)
