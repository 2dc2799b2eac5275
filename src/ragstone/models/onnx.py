"""The ONNX back end: encoders computed by onnxruntime, from an ONNX file or from BERT weights."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragstone.errors import Fault, ModelError

from . import bert_weights, onnx_file
from .bert_weights import Sizes, Weights
from .encoder import Vectors
from .folder import ModelFolder, is_count
from .onnx_file import OnnxFile
from .onnx_graph import bert_graph, inputs_of
from .onnx_session import Session, even_batches, open_graph
from .reading import FolderEncoder, Ids, Take, check_layer, token_counts
from .side_by_side import side_by_side

TOKEN_OUTPUTS = {"last_hidden_state": 3, "token_embeddings": 3}
OUTPUTS = TOKEN_OUTPUTS | {"sentence_embedding": 2}
LAYERS = ("num_hidden_layers", "n_layers")


def load(folder: Path, name: str) -> FolderEncoder:
    """The encoder in a folder.

    Computes ``model.onnx`` or ``onnx/model.onnx`` where there is one; of its layers there is the
    last only, for such a file gives no others. Without one, the graph is made from the weights in
    ``model.safetensors``, of the models that the NumPy back end reads too. Agrees with torch to
    1e-5.

    Args:
        folder: As sentence-transformers or transformers writes it; see ``ModelFolder``.
        name: What the user calls it.

    Raises:
        ModelError: Every fault of the folder, or what is not understood of its graph.
        MissingDependency: ``onnxruntime``, ``onnx``, ``tokenizers`` or ``safetensors`` is not
            installed.
    """
    model = ModelFolder.read(folder, _faults)
    graph = onnx_file.find(model.inside)
    if graph is not None:
        return FolderEncoder(name, model, _OfFile(graph, model), onnx_file.files(graph))
    sizes = bert_weights.sizes_of(model.config)
    weights = bert_weights.read_weights(folder, model.inside, sizes)
    file = model.inside / bert_weights.FILE
    return FolderEncoder(name, model, _OfWeights(weights, sizes), [file])


class _OfFile:
    """The graph of a file, of which the last layer can be had."""

    back_end = "ONNX"

    def __init__(self, graph: Path, model: ModelFolder) -> None:
        padding = model.config.get("pad_token_id")
        self._file = OnnxFile(graph, OUTPUTS, padding if is_count(padding) else 0)
        self.dimensions = self._file.dimensions
        self.layers = _layers(model.config) if self._file.output in TOKEN_OUTPUTS else 0

    def check(self, layer: int, name: str) -> None:
        if layer != self.layers:
            raise ModelError(
                f"{name} is an ONNX file, which gives its last layer, {self.layers}, and not "
                f"{layer}. From its safetensors every layer can be had: numpy:FOLDER"
            )

    def compute(self, texts: Sequence[Ids], layer: int, take: Take) -> None:  # noqa: ARG002
        _compute(self._file.run, texts, take)


class _OfWeights:
    """Graphs made from BERT weights: one for each layer that is asked for, when it first is."""

    back_end = "ONNX"

    def __init__(self, weights: Weights, sizes: Sizes) -> None:
        self.dimensions = sizes.hidden
        self.layers = sizes.layers
        self._weights = weights
        self._sizes = sizes
        self._sessions: dict[int, Session] = {}
        self._session(self.layers)

    def check(self, layer: int, name: str) -> None:
        check_layer(layer, self.layers, name)

    def compute(self, texts: Sequence[Ids], layer: int, take: Take) -> None:
        session = self._session(layer)

        def run(some: Sequence[Ids]) -> Vectors:
            return session.run(inputs_of(some, self._sizes.padding), "states")

        _compute(run, texts, take)

    def _session(self, layer: int) -> Session:
        if layer not in self._sessions:
            self._sessions[layer] = open_graph(bert_graph(self._weights, self._sizes, layer))
        return self._sessions[layer]


def _compute(run: Callable[[Sequence[Ids]], Vectors], texts: Sequence[Ids], take: Take) -> None:
    """Several batches side by side; of each text what stands before the padding."""

    def compute(batch: NDArray[np.intp]) -> None:
        some = [texts[number] for number in batch]
        states = run(some)
        if states.ndim == 2:
            states = states[:, None]
        take(batch, [one[: len(text)] for one, text in zip(states, some, strict=True)])

    for _ in side_by_side(compute, even_batches(token_counts(texts))):
        pass


def _layers(config: Mapping[str, Any]) -> int:
    return next(count for key in LAYERS if is_count(count := config.get(key)))


def _faults(inside: Path, config: Mapping[str, Any]) -> Iterator[Fault]:
    """With a graph of its own a model need not be of the BERT family."""
    if onnx_file.find(inside) is None:
        yield from bert_weights.faults_of(inside, config)
    elif not any(is_count(config.get(key)) for key in LAYERS):
        got = repr(config.get(LAYERS[0]))
        yield Fault("config.json", None, LAYERS[0], "a whole number above 0", got)
