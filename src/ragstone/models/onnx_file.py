"""ONNX file: checks the inputs and outputs of a transformer's ``model.onnx`` and runs it."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from shlex import quote

import numpy as np
from numpy.typing import NDArray

from ragstone.core.errors import ModelError, ModelFailure

from .encoder import Vectors
from .onnx_session import Session
from .padding import inside, padded

PLACES = ("model.onnx", "onnx/model.onnx")
NUMBERS = {"tensor(int64)": np.int64, "tensor(int32)": np.int32}
IDS, MASK, TYPES = "input_ids", "attention_mask", "token_type_ids"

Ids = NDArray[np.int32]


def find(folder: Path, task: str = "feature-extraction") -> Path:
    """Find the ONNX file of a model.

    Args:
        folder: Holds the file, or a folder ``onnx`` with the file.
        task: The model's task, as optimum calls it.

    Raises:
        ModelError: There is no such file.
    """
    paths = (folder / place for place in PLACES)
    found = next((path for path in paths if path.is_file()), None)
    if found is None:
        model, made = quote(str(folder)), quote(str(folder / "onnx"))
        raise ModelError(
            f"{folder} holds neither {' nor '.join(PLACES)}. To make one: pip install "
            f"optimum-onnx, then optimum-cli export onnx --model {model} --task {task} {made}\n"
            "Without onnx: in front of its name, the NumPy back end runs the model"
        )
    return found


def files(graph: Path) -> list[Path]:
    """The file and, if the weights are stored beside it, their files."""
    return sorted(graph.parent.glob(f"{graph.name}*"))


class OnnxFile:
    """A transformer in an ONNX file, as optimum and sentence-transformers write it.

    Its inputs are ``input_ids``, ``attention_mask`` and optionally ``token_type_ids``, for any
    number of texts of any length.

    Attributes:
        output: The name of the output that is read.
        dimensions: The length of its last axis.
    """

    def __init__(self, path: Path, wanted: Mapping[str, int], padding: int = 0) -> None:
        """Open the file and run it on two short texts as a check.

        Args:
            path: The file.
            wanted: Usable outputs in order of preference, each with its number of axes.
            padding: The padding token's id.

        Raises:
            ModelError: Its inputs or outputs are different, or it returns NaN or infinity.
            MissingDependency: ``onnxruntime`` is not installed.
        """
        self._session = Session(path)
        self._padding = padding
        _check_inputs(path, self._session.inputs)
        known = [name for name in wanted if name in self._session.outputs]
        if not known:
            given = ", ".join(self._session.outputs)
            raise ModelError(f"{path}: expected an output named {' or '.join(wanted)}, got {given}")
        self.output = known[0]
        try:
            tried = self.run([np.zeros(3, np.int32), np.zeros(2, np.int32)])
        except ModelFailure as error:
            raise ModelError(f"{path} cannot be run: {error}") from error
        expected = (2, 3)[: wanted[self.output] - 1]
        if tried.ndim != wanted[self.output] or tried.shape[:-1] != expected:
            axes = " × ".join(map(str, (*expected, "d")))
            got = " × ".join(map(str, tried.shape))
            raise ModelError(f"{path}: expected {self.output} with shape {axes}, got {got}")
        if not np.isfinite(tried).all():
            raise ModelError(f"{path}: expected finite numbers, got NaN or infinity")
        self.dimensions = tried.shape[-1]

    def run(self, texts: Sequence[Ids], types: Sequence[Ids] | None = None) -> Vectors:
        """The output for a batch.

        Args:
            texts: The token ids of each text.
            types: Token types, 0 or 1; None: all 0.

        Raises:
            ModelFailure: onnxruntime failed.
        """
        ids = padded(texts, self._padding)
        kinds = np.zeros_like(ids) if types is None else padded(types)
        values = {IDS: ids, MASK: inside(texts), TYPES: kinds}
        inputs = {
            name: values[name].astype(NUMBERS[kind])
            for name, (kind, _) in self._session.inputs.items()
        }
        return self._session.run(inputs, self.output)


def _check_inputs(path: Path, inputs: Mapping[str, tuple[str, Sequence[object]]]) -> None:
    if not {IDS, MASK} <= inputs.keys() <= {IDS, MASK, TYPES}:
        raise ModelError(
            f"{path}: expected the inputs {IDS}, {MASK} and optionally {TYPES}, "
            f"got {', '.join(inputs)}"
        )
    for name, (kind, shape) in inputs.items():
        if kind not in NUMBERS:
            raise ModelError(f"{path}: expected an integer type for {name}, got {kind}")
        if len(shape) != 2 or any(isinstance(size, int) for size in shape):
            raise ModelError(
                f"{path}: expected {name} for any number of texts of any length (dynamic axes), "
                f"got the shape {shape}"
            )
