"""onnxruntime sessions: each batch runs on one thread, several batches concurrently.

This is faster than several threads per batch: no thread waits for another between the steps, and
little is lost when other programs use the processor.
"""

from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragstone.core.errors import MissingDependency, ModelError, ModelFailure

from .encoder import Vectors

BATCH_TOKENS = 512
"""Fastest on two cores; anything from 256 to 1,024 is within 10 % of it."""

MUCH_SHORTER = 0.6
FATAL_ONLY = 4


class Session:
    """A loaded ONNX file that can be run from any thread, with onnxruntime's optimisations on."""

    def __init__(self, path: Path) -> None:
        """Load the file.

        Raises:
            ModelError: onnxruntime cannot read the file.
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
            ModelFailure: onnxruntime failed.
        """
        try:
            (values,) = self._session.run([output], dict(inputs))
        except _raised() as error:
            raise ModelFailure(f"onnxruntime failed on {self._name}: {_said(error)}") from error
        return np.asarray(values, np.float32)


def even_batches(lengths: NDArray[np.int32]) -> Iterator[NDArray[np.intp]]:
    """Batches for this back end: small and of similar lengths, because it pads.

    Longest texts first; a text of more than ``BATCH_TOKENS`` tokens is a batch by itself.
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
    """The exception classes of onnxruntime, which have no base class of their own."""
    state = import_module("onnxruntime.capi.onnxruntime_pybind11_state")
    found = (getattr(state, name) for name in dir(state))
    return tuple(one for one in found if isinstance(one, type) and issubclass(one, Exception))


def _said(error: Exception) -> str:
    """The first line; the others name places in onnxruntime's source code."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0] if lines else type(error).__name__
