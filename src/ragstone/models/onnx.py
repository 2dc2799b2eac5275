"""The ONNX back end: encoders computed by onnxruntime, from an ONNX file or from BERT weights."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ragstone.errors import Fault, ModelError

from . import bert_weights, onnx_file
from .batches import distinct
from .bert_weights import Sizes, Weights
from .encoder import TokenVectors, Vectors
from .folder import SHORTEST, ModelFolder, Pooling, is_count
from .onnx_file import OnnxFile
from .onnx_graph import bert_graph, inputs_of
from .onnx_session import Session, even_batches, open_graph, side_by_side

TOO_SHORT = 1e-12
TOKEN_OUTPUTS = {"last_hidden_state": 3, "token_embeddings": 3}
OUTPUTS = TOKEN_OUTPUTS | {"sentence_embedding": 2}
LAYERS = ("num_hidden_layers", "n_layers")

Ids = NDArray[np.int32]


def load(folder: Path, name: str) -> "OnnxEncoder":
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
        return OnnxEncoder(name, model, _OfFile(graph, model), onnx_file.files(graph))
    sizes = bert_weights.sizes_of(model.config)
    weights = bert_weights.read_weights(folder, model.inside, sizes)
    file = model.inside / bert_weights.FILE
    return OnnxEncoder(name, model, _OfWeights(weights, sizes), [file])


class OnnxEncoder:
    """An embedding model computed by onnxruntime; see ``Encoder`` for what its parts give.

    May be used from several threads.
    """

    def __init__(
        self, name: str, model: ModelFolder, source: "_Source", files: Iterable[Path]
    ) -> None:
        self._name = name
        self._model = model
        self._source = source
        self._fingerprint = model.fingerprint(files, "onnx", "float32")

    @property
    def name(self) -> str:
        return self._name

    @property
    def about(self) -> str:
        return (
            f"{self.name}: {self.dimensions} dimensions, {self._model.pooling} of up to "
            f"{self.max_tokens} tokens, ONNX float32"
        )

    @property
    def fingerprint(self) -> str:
        return self._fingerprint

    @property
    def dimensions(self) -> int:
        return self._source.dimensions

    @property
    def max_tokens(self) -> int:
        return self._model.max_tokens

    @property
    def longest(self) -> int:
        return self._model.longest if self.layers else 0

    @property
    def layers(self) -> int:
        return self._source.layers

    def embed(self, texts: Sequence[str]) -> Vectors:
        once, places = distinct(texts)
        ids = self._model.tokenizer.ids(once, self.max_tokens)
        vectors = np.empty((len(once), self.dimensions), np.float32)

        def read(batch: NDArray[np.intp]) -> None:
            some = [ids[number] for number in batch]
            vectors[batch] = self._embeddings(self._source.states(some, self.layers), some)

        for _ in side_by_side(read, even_batches(_lengths(ids))):
            pass
        return vectors[places]

    def tokens(
        self, texts: Sequence[str], *, layer: int | None = None, limit: int | None = None
    ) -> list[TokenVectors]:
        if not self.layers:
            raise ModelError(f"{self.name} gives one vector a text and none of its tokens.")
        layer = self.layers if layer is None else layer
        self._source.check(layer, self.name)
        limit = self.max_tokens if limit is None else min(limit, self.longest)
        if limit < SHORTEST:
            raise ModelError(f"Expected a limit of at least {SHORTEST} tokens, got {limit}.")
        whole = layer == self.layers and limit == self.max_tokens
        once, places = distinct(texts)
        tokenized = self._model.tokenizer.tokens(once, limit)
        found: dict[int, TokenVectors] = {}

        def read(batch: NDArray[np.intp]) -> None:
            ids = [tokenized[number].ids for number in batch]
            states = self._source.states(ids, layer)
            embeddings = self._embeddings(states, ids) if whole else None
            for row, number in enumerate(batch.tolist()):
                found[number] = TokenVectors(
                    ids=ids[row],
                    spans=tokenized[number].spans,
                    vectors=states[row, : len(ids[row])].copy(),
                    embedding=None if embeddings is None else embeddings[row],
                    cut=tokenized[number].cut,
                )

        for _ in side_by_side(read, even_batches(_lengths([text.ids for text in tokenized]))):
            pass
        return [found[place] for place in places.tolist()]

    def lengths(self, texts: Sequence[str]) -> NDArray[np.int32]:
        once, places = distinct(texts)
        return self._model.tokenizer.lengths(once)[places]

    def _embeddings(self, states: Vectors, ids: Sequence[Ids]) -> Vectors:
        vectors = states if states.ndim == 2 else _pooled(states, ids, self._model.pooling)
        if not self._model.normalize:
            return vectors
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        vectors /= np.maximum(lengths, np.float32(TOO_SHORT))
        return vectors


class _Source(Protocol):
    """What computes a batch.

    Attributes:
        dimensions: The length of a vector.
        layers: Hidden layers; 0 where it gives vectors of whole texts only.
    """

    dimensions: int
    layers: int

    def check(self, layer: int, name: str) -> None:
        """Refuse a layer that cannot be had."""

    def states(self, texts: Sequence[Ids], layer: int) -> Vectors:
        """Shape (texts, tokens of the longest, d), or (texts, d) without ``layers``."""


class _OfFile:
    """The graph of a file, of which the last layer can be had."""

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

    def states(self, texts: Sequence[Ids], layer: int) -> Vectors:  # noqa: ARG002
        return self._file.run(texts)


class _OfWeights:
    """Graphs made from BERT weights: one for each layer that is asked for, when it first is."""

    def __init__(self, weights: Weights, sizes: Sizes) -> None:
        self.dimensions = sizes.hidden
        self.layers = sizes.layers
        self._weights = weights
        self._sizes = sizes
        self._sessions: dict[int, Session] = {self.layers: self._session(self.layers)}

    def check(self, layer: int, name: str) -> None:
        if not 0 <= layer <= self.layers:
            raise ModelError(f"{name} has layers 0 to {self.layers}, none is {layer}.")

    def states(self, texts: Sequence[Ids], layer: int) -> Vectors:
        if layer not in self._sessions:
            self._sessions[layer] = self._session(layer)
        return self._sessions[layer].run(inputs_of(texts, self._sizes.padding), "states")

    def _session(self, layer: int) -> Session:
        return open_graph(bert_graph(self._weights, self._sizes, layer))


def _pooled(states: Vectors, ids: Sequence[Ids], pooling: Pooling) -> Vectors:
    """One vector a text from those of its tokens, shape (texts, d)."""
    if pooling == "cls":
        return states[:, 0].copy()
    read = [text[: len(one)] for text, one in zip(states, ids, strict=True)]
    return np.stack([one.max(axis=0) if pooling == "max" else one.mean(axis=0) for one in read])


def _lengths(ids: Sequence[Ids]) -> NDArray[np.int32]:
    return np.array([len(one) for one in ids], np.int32)


def _layers(config: Mapping[str, Any]) -> int:
    return next(count for key in LAYERS if is_count(count := config.get(key)))


def _faults(inside: Path, config: Mapping[str, Any]) -> Iterator[Fault]:
    """With a graph of its own a model need not be of the BERT family."""
    if onnx_file.find(inside) is None:
        yield from bert_weights.faults_of(inside, config)
    elif not any(is_count(config.get(key)) for key in LAYERS):
        got = repr(config.get(LAYERS[0]))
        yield Fault("config.json", None, LAYERS[0], "a whole number above 0", got)
