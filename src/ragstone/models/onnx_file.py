"""ONNX file: what a transformer's ``model.onnx`` takes and gives."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from shlex import quote

import numpy as np
from numpy.typing import NDArray

from ragstone.errors import ModelError, ModelFailure

from .encoder import Vectors
from .onnx_session import Session
from .padding import inside, padded

PLACES = ("model.onnx", "onnx/model.onnx")
NUMBERS = {"tensor(int64)": np.int64, "tensor(int32)": np.int32}
IDS, MASK, TYPES = "input_ids", "attention_mask", "token_type_ids"

Ids = NDArray[np.int32]


def find(folder: Path, task: str = "feature-extraction") -> Path:
    """The ONNX file of a model.

    Args:
        folder: Where it lies, or the folder ``onnx`` of it.
        task: What the model is for, as optimum calls it.

    Raises:
        ModelError: There is none.
    """
    paths = (folder / place for place in PLACES)
    found = next((path for path in paths if path.is_file()), None)
    if found is None:
        model, made = quote(str(folder)), quote(str(folder / "onnx"))
        raise ModelError(
            f"{folder} holds neither {' nor '.join(PLACES)}. To make one: pip install "
            f"optimum-onnx, then optimum-cli export onnx --model {model} --task {task} {made}\n"
            "Without onnx: before its name, the model is computed by NumPy"
        )
    return found


def files(graph: Path) -> list[Path]:
    """The file and, where its weights lie beside it, those too."""
    return sorted(graph.parent.glob(f"{graph.name}*"))


class OnnxFile:
    """A transformer in an ONNX file, as optimum and sentence-transformers write it.

    It takes ``input_ids`` and ``attention_mask``, and ``token_type_ids`` perhaps, for any number of
    texts of any length.

    Attributes:
        output: The name of the output that is read.
        dimensions: The length of its last axis.
    """

    def __init__(self, path: Path, wanted: Mapping[str, int], padding: int = 0) -> None:
        """Opens it and tries it on two texts.

        Args:
            path: The file.
            wanted: Outputs that can be used, the best first, and the axes each must have.
            padding: The padding token's number.

        Raises:
            ModelError: It takes or gives something else, or not numbers.
            MissingDependency: ``onnxruntime`` is not installed.
        """
        self._session = Session(path)
        self._padding = padding
        _check_inputs(path, self._session.inputs)
        known = [name for name in wanted if name in self._session.outputs]
        if not known:
            given = ", ".join(self._session.outputs)
            raise ModelError(f"{path}: expected an output {' or '.join(wanted)}, got {given}")
        self.output = known[0]
        try:
            tried = self.run([np.zeros(3, np.int32), np.zeros(2, np.int32)])
        except ModelFailure as error:
            raise ModelError(f"{path} cannot be computed: {error}") from error
        expected = (2, 3)[: wanted[self.output] - 1]
        if tried.ndim != wanted[self.output] or tried.shape[:-1] != expected:
            axes = " × ".join(map(str, (*expected, "d")))
            got = " × ".join(map(str, tried.shape))
            raise ModelError(f"{path}: expected {self.output} of {axes} numbers, got {got}")
        if not np.isfinite(tried).all():
            raise ModelError(f"{path}: expected finite numbers, got NaN or infinity")
        self.dimensions = tried.shape[-1]

    def run(self, texts: Sequence[Ids], types: Sequence[Ids] | None = None) -> Vectors:
        """The output for a batch.

        Args:
            texts: The token numbers of each text.
            types: 0 or 1 for each token; None: all 0.

        Raises:
            ModelFailure: onnxruntime gave up.
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
            f"{path}: expected the inputs {IDS}, {MASK} and perhaps {TYPES}, "
            f"got {', '.join(inputs)}"
        )
    for name, (kind, shape) in inputs.items():
        if kind not in NUMBERS:
            raise ModelError(f"{path}: expected {name} in whole numbers, got {kind}")
        if len(shape) != 2 or any(isinstance(size, int) for size in shape):
            raise ModelError(
                f"{path}: expected {name} for any number of texts of any length (dynamic axes), "
                f"got the shape {shape}"
            )
