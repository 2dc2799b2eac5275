"""The ONNX back end: encoders in ONNX files, of any architecture, run by onnxruntime."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragstone.core.errors import Fault, ModelError

from . import onnx_file
from .folder import ModelFolder, is_count
from .onnx_file import OnnxFile
from .onnx_session import even_batches
from .reading import FolderEncoder, Ids, Take, token_counts
from .side_by_side import side_by_side

TOKEN_OUTPUTS = {"last_hidden_state": 3, "token_embeddings": 3}
OUTPUTS = TOKEN_OUTPUTS | {"sentence_embedding": 2}
LAYERS = ("num_hidden_layers", "n_layers")


def load(folder: Path, name: str) -> FolderEncoder:
    """Load the encoder in a folder, from ``model.onnx`` or ``onnx/model.onnx``.

    Only the last layer is available, because ONNX files output no other. Agrees with torch to
    1e-5.

    Args:
        folder: As sentence-transformers or transformers writes it; see ``ModelFolder``.
        name: What the user calls it.

    Raises:
        ModelError: There is no such file, the folder cannot be used (lists every fault), or the
            graph is not supported.
        MissingDependency: ``onnxruntime`` or ``tokenizers`` is not installed.
    """
    model = ModelFolder.read(folder, _faults)
    graph = onnx_file.find(model.inside)
    return FolderEncoder(name, model, _OnnxStates(graph, model), onnx_file.files(graph))


class _OnnxStates:
    back_end = "ONNX"

    def __init__(self, graph: Path, model: ModelFolder) -> None:
        padding = model.config.get("pad_token_id")
        self._file = OnnxFile(graph, OUTPUTS, padding if is_count(padding) else 0)
        self.dimensions = self._file.dimensions
        self.layers = _layers(model.config) if self._file.output in TOKEN_OUTPUTS else 0

    def check(self, layer: int, name: str) -> None:
        if layer != self.layers:
            raise ModelError(
                f"{name} is an ONNX file, which gives only its last layer, {self.layers}, not "
                f"{layer}. Its safetensors give every layer: numpy:FOLDER"
            )

    def compute(self, texts: Sequence[Ids], layer: int, take: Take) -> None:  # noqa: ARG002
        """Several batches concurrently; padding is removed from the result."""

        def compute(batch: NDArray[np.intp]) -> None:
            some = [texts[number] for number in batch]
            states = self._file.run(some)
            if states.ndim == 2:
                states = states[:, None]
            take(batch, [one[: len(text)] for one, text in zip(states, some, strict=True)])

        for _ in side_by_side(compute, even_batches(token_counts(texts))):
            pass


def _layers(config: Mapping[str, Any]) -> int:
    return next(count for key in LAYERS if is_count(count := config.get(key)))


def _faults(_inside: Path, config: Mapping[str, Any]) -> Iterator[Fault]:
    if not any(is_count(config.get(key)) for key in LAYERS):
        got = repr(config.get(LAYERS[0]))
        yield Fault("config.json", None, LAYERS[0], "a whole number above 0", got)
