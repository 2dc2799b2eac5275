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

BATCH_TOKENS = 512
"""Fastest on two cores; anything from 256 to 1,024 is within a tenth of it."""

MUCH_SHORTER = 0.6
FATAL_ONLY = 4


class Session:
    """An ONNX file ready to be run, from any thread, with all of onnxruntime's optimisations."""

    def __init__(self, path: Path) -> None:
        """Opens it.

        Raises:
            ModelError: onnxruntime does not understand the file.
            MissingDependency: ``onnxruntime`` is not installed.
        """
        onnxruntime = _onnxruntime()
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.inter_op_num_threads = 1
        options.log_severity_level = FATAL_ONLY
        self._name = path.name
        try:
            self._session = onnxruntime.InferenceSession(
                str(path), options, providers=["CPUExecutionProvider"]
            )
        except _raised() as error:
            raise ModelError(f"onnxruntime cannot read {path.name}: {_said(error)}") from error
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
