"""onnxruntime sessions: a batch on one thread each, several batches side by side.

That is quicker than several threads for one batch: nothing waits between the steps, and little is
lost where other programs want the processor too.
"""

from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragstone.errors import MissingDependency, ModelError, ModelFailure

from .encoder import Vectors
from .onnx_graph import Graph

BATCH_TOKENS = 512
"""Quickest on two cores; from 256 to 1,024 it makes a tenth."""

MUCH_SHORTER = 0.6
FATAL_ONLY = 4


class Session:
    """A graph ready to be run, from any thread."""

    def __init__(
        self,
        model: bytes | str,
        options: Any,
        name: str,
        tensors: Mapping[str, NDArray[Any]] | None = None,
    ) -> None:
        """Keeps the tensors, for onnxruntime reads them where they lie.

        Raises:
            ModelError: onnxruntime does not understand the graph.
        """
        self._name = name
        self._tensors = tensors
        try:
            self._session = _onnxruntime().InferenceSession(
                model, options, providers=["CPUExecutionProvider"]
            )
        except _raised() as error:
            raise ModelError(f"onnxruntime cannot read {name}: {_said(error)}") from error
        self.inputs = {one.name: (one.type, one.shape) for one in self._session.get_inputs()}
        self.outputs = [one.name for one in self._session.get_outputs()]

    def run(self, inputs: Mapping[str, NDArray[Any]], output: str) -> Vectors:
        """One output, as float32.

        Raises:
            ModelFailure: onnxruntime gave up.
        """
        try:
            (values,) = self._session.run([output], dict(inputs))
        except _raised() as error:
            raise ModelFailure(f"onnxruntime gave up on {self._name}: {_said(error)}") from error
        return np.asarray(values, np.float32)


def open_file(path: Path) -> Session:
    """The session of a file, with all of onnxruntime's optimisations.

    Raises:
        ModelError: onnxruntime cannot read it.
        MissingDependency: ``onnxruntime`` is not installed.
    """
    return Session(str(path), _options("ORT_ENABLE_ALL"), path.name)


def open_graph(graph: Graph) -> Session:
    """The session of a graph of ours, computed as it is drawn.

    Raises:
        MissingDependency: ``onnxruntime`` is not installed.
    """
    options = _options("ORT_ENABLE_BASIC")
    value = _onnxruntime().OrtValue.ortvalue_from_numpy
    values = [value(tensor) for tensor in graph.tensors.values()]
    options.add_external_initializers(list(graph.tensors), values)
    return Session(graph.model, options, "the graph made from the weights", graph.tensors)


def even_batches(lengths: NDArray[np.int32]) -> Iterator[NDArray[np.intp]]:
    """Batches for this back end, which pads: few tokens, in texts of much the same length.

    The longest first; a text of more than ``BATCH_TOKENS`` has a batch of its own.
    """
    order = np.argsort(-lengths, kind="stable")
    start = 0
    for end in range(1, order.size + 1):
        longest = lengths[order[start]]
        full = (end + 1 - start) * longest > BATCH_TOKENS
        if full or end == order.size or lengths[order[end]] < MUCH_SHORTER * longest:
            yield order[start:end]
            start = end


def _options(optimisations: str) -> Any:
    onnxruntime = _onnxruntime()
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = getattr(onnxruntime.GraphOptimizationLevel, optimisations)
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = FATAL_ONLY
    return options


def _onnxruntime() -> Any:
    try:
        return import_module("onnxruntime")
    except ImportError as error:
        raise MissingDependency("The ONNX back end", "onnx") from error


def _raised() -> tuple[type[Exception], ...]:
    """What onnxruntime raises: many kinds, without a root of their own."""
    state = import_module("onnxruntime.capi.onnxruntime_pybind11_state")
    found = (getattr(state, name) for name in dir(state))
    return tuple(one for one in found if isinstance(one, type) and issubclass(one, Exception))


def _said(error: Exception) -> str:
    """The first line; those below tell of places in onnxruntime's code."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0] if lines else type(error).__name__
