"""ONNX graph: a model of the BERT family as onnxruntime computes it, drawn up from its weights.

The graph is small: the weights stand beside it, named, and are read where they lie in memory. On a
processor the plain operators were quicker than onnxruntime's fused ones, attention excepted, so it
is to be run as it is drawn, without onnxruntime's own fusions.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ragstone.errors import MissingDependency

from .bert_weights import Layer, Linear, Norm, Sizes, Weights
from .encoder import Vectors
from .padding import inside, padded

if TYPE_CHECKING:
    from onnx import NodeProto, TensorProto

OPERATORS = 20
ONNXRUNTIME = "com.microsoft"
FORMAT = 9
"""Of the file; each is read by all later onnxruntimes."""

Activation = tuple[str, dict[str, str]]
ACTIVATIONS: Mapping[str, Activation] = {
    "gelu": ("Gelu", {}),
    "gelu_new": ("Gelu", {"approximate": "tanh"}),
    "gelu_pytorch_tanh": ("Gelu", {"approximate": "tanh"}),
    "relu": ("Relu", {}),
}


@dataclass(frozen=True, slots=True)
class Graph:
    """A graph and the tensors it names.

    Its inputs are int32: ``ids`` and ``positions`` of shape (texts, tokens), ``lengths`` of shape
    (texts,), and where a second token type is known ``types``, 0 or 1, shaped as ``ids``. What
    stands behind a text's length is padding and any number will do. Its output is ``states``,
    float32 of shape (texts, tokens, hidden).
    """

    model: bytes
    tensors: Mapping[str, NDArray[Any]]


def bert_graph(
    weights: Weights, sizes: Sizes, layers: int, *, second_type: Vectors | None = None
) -> Graph:
    """The graph that gives the hidden states after so many layers.

    Args:
        weights: The model's, as ``read_weights`` gives them. They are not copied.
        sizes: The model's.
        layers: From 0, the word embeddings, to the number of layers.
        second_type: Shape (hidden,), what is added to the tokens of the second of two texts.

    Raises:
        MissingDependency: ``onnx`` is not installed.
    """
    try:
        from onnx import TensorProto, helper
    except ImportError as error:
        raise MissingDependency("An ONNX graph made from weights", "onnx") from error
    drawing = _Drawing(sizes)
    states = drawing.embedded(weights, second_type)
    for number, layer in enumerate(weights.layers[:layers]):
        states = drawing.layer(f"{number}", states, layer)
    drawing.node("Reshape", [states, "shape"], "states")
    inputs = {"ids": ["texts", "tokens"], "positions": ["texts", "tokens"], "lengths": ["texts"]}
    if second_type is not None:
        inputs["types"] = ["texts", "tokens"]
    output = helper.make_tensor_value_info(
        "states", TensorProto.FLOAT, ["texts", "tokens", sizes.hidden]
    )
    graph = helper.make_graph(
        drawing.nodes,
        "bert",
        [
            helper.make_tensor_value_info(name, TensorProto.INT32, shape)
            for name, shape in inputs.items()
        ],
        [output],
        [*drawing.shapes, *(_beside(name, one) for name, one in drawing.tensors.items())],
    )
    operators = [helper.make_opsetid("", OPERATORS), helper.make_opsetid(ONNXRUNTIME, 1)]
    model = helper.make_model(graph, opset_imports=operators, ir_version=FORMAT)
    return Graph(model.SerializeToString(), drawing.tensors)


def inputs_of(
    texts: Sequence[NDArray[np.int32]],
    padding: int | None,
    types: Sequence[NDArray[np.int32]] | None = None,
) -> dict[str, NDArray[np.int32]]:
    """The inputs of a graph for a batch.

    Args:
        texts: The token numbers of each text.
        padding: The padding token's number where positions are counted from behind it.
        types: 0 or 1 for each token, where the graph wants them.
    """
    ids, read = padded(texts), inside(texts)
    positions = np.broadcast_to(np.arange(ids.shape[1], dtype=np.int32), ids.shape)
    if padding is not None:
        counted = read & (ids != padding)
        positions = np.cumsum(counted, axis=1, dtype=np.int32) * counted + np.int32(padding)
    inputs = {
        "ids": ids,
        "positions": np.ascontiguousarray(positions),
        "lengths": read.sum(axis=1, dtype=np.int32),
    }
    return inputs if types is None else inputs | {"types": padded(types)}


class _Drawing:
    """The nodes so far. Between them all tokens stand in one matrix, (texts · tokens, hidden)."""

    def __init__(self, sizes: Sizes) -> None:
        self.sizes = sizes
        self.nodes: list[NodeProto] = []
        self.tensors: dict[str, NDArray[Any]] = {}
        self.shapes = [_inside("hidden", [sizes.hidden]), _inside("matrix", [-1, sizes.hidden])]
        self.node("Shape", ["ids"], "texts_tokens")
        self.node("Concat", ["texts_tokens", "hidden"], "shape", axis=0)

    def node(self, kind: str, inputs: list[str], output: str, **settings: Any) -> str:
        from onnx import helper

        domain = ONNXRUNTIME if kind == "MultiHeadAttention" else ""
        self.nodes.append(helper.make_node(kind, inputs, [output], domain=domain, **settings))
        return output

    def tensor(self, name: str, values: NDArray[Any]) -> str:
        self.tensors[name] = np.ascontiguousarray(values)
        return name

    def embedded(self, weights: Weights, second_type: Vectors | None) -> str:
        from onnx import TensorProto

        words = self.node("Gather", [self.tensor("words", weights.words), "ids"], "read")
        if weights.words.dtype != np.float32:
            words = self.node("Cast", [words], "read_32", to=TensorProto.FLOAT)
        places = self.tensor("places", weights.positions)
        parts = [words, self.node("Gather", [places, "positions"], "placed")]
        if second_type is not None:
            table = self.tensor("second", np.stack([np.zeros_like(second_type), second_type]))
            parts.append(self.node("Gather", [table, "types"], "typed"))
        total = self.node("Sum", parts, "embedded")
        return self.norm("norm", self.node("Reshape", [total, "matrix"], "rows"), weights.norm)

    def layer(self, name: str, states: str, layer: Layer) -> str:
        hidden = self.sizes.hidden
        asked = []
        for number, part in enumerate(("query", "key", "value")):
            rows = slice(number * hidden, (number + 1) * hidden)
            some = Linear(layer.attended.weight[rows], layer.attended.bias[rows])
            made = self.linear(f"{name}.{part}", states, some)
            asked.append(self.node("Reshape", [made, "shape"], f"{name}.{part}.texts"))
        # The queries are already divided by the root of a head's length.
        gathered = self.node(
            "MultiHeadAttention",
            [*asked, "", "lengths"],
            f"{name}.gathered.texts",
            num_heads=self.sizes.heads,
            scale=1.0,
        )
        gathered = self.node("Reshape", [gathered, "matrix"], f"{name}.gathered")
        joined = self.linear(f"{name}.joined", gathered, layer.joined)
        states = self.added(f"{name}.attention", states, joined, layer.attention_norm)
        kind, settings = ACTIVATIONS[self.sizes.activation]
        inner = self.linear(f"{name}.inner", states, layer.inner)
        inner = self.node(kind, [inner], f"{name}.active", **settings)
        halved = 1.0 if self.sizes.activation == "relu" else 2.0
        outer = self.linear(f"{name}.outer", inner, layer.outer, alpha=halved)
        return self.added(name, states, outer, layer.layer_norm)

    def linear(self, name: str, states: str, linear: Linear, alpha: float = 1.0) -> str:
        weight = self.tensor(f"{name}.weight", linear.weight)
        bias = self.tensor(f"{name}.bias", linear.bias)
        return self.node("Gemm", [states, weight, bias], name, transB=1, alpha=alpha)

    def added(self, name: str, states: str, update: str, norm: Norm) -> str:
        total = self.node("Add", [update, states], f"{name}.sum")
        return self.norm(f"{name}.norm", total, norm)

    def norm(self, name: str, states: str, norm: Norm) -> str:
        scale = self.tensor(f"{name}.weight", norm.weight)
        shift = self.tensor(f"{name}.bias", norm.bias)
        epsilon = self.sizes.epsilon
        return self.node("LayerNormalization", [states, scale, shift], name, epsilon=epsilon)


def _inside(name: str, numbers: list[int]) -> "TensorProto":
    from onnx import TensorProto, helper

    return helper.make_tensor(name, TensorProto.INT64, [len(numbers)], numbers)


def _beside(name: str, tensor: NDArray[Any]) -> "TensorProto":
    """Only the shape and kind of a tensor; its numbers are handed over with the graph."""
    from onnx import TensorProto, helper

    kind = helper.np_dtype_to_tensor_dtype(tensor.dtype)
    beside = TensorProto(name=name, dims=tensor.shape, data_type=kind)
    beside.data_location = TensorProto.EXTERNAL
    beside.external_data.add(key="location", value="memory")
    return beside
