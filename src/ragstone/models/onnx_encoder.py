"""ONNX encoder: embedding models of any architecture in ONNX files, run by onnxruntime.

Each batch runs on a single thread, several batches concurrently. This is faster than several
threads per batch: no thread waits for another between the steps, and little is lost when other
programs use the processor.
"""

from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from shlex import quote

import numpy as np
from numpy.typing import NDArray

from ragstone.core.errors import ModelError, ModelFailure, needing

from .encoder import FolderEncoder, Ids, Take, Vectors, side_by_side, token_counts
from .model_folder import ModelFolder
from .tokenizer import inside, padded

# Fastest on two cores; anything from 256 to 1,024 is within 10 % of it.
BATCH_TOKENS = 512

MUCH_SHORTER = 0.6
FATAL_ONLY = 4


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


def _raised() -> tuple[type[Exception], ...]:
    """The exception classes of onnxruntime, which have no base class of their own."""
    state = import_module("onnxruntime.capi.onnxruntime_pybind11_state")
    values = (getattr(state, name) for name in dir(state))
    return tuple(
        value for value in values if isinstance(value, type) and issubclass(value, Exception)
    )


def _said(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0] if lines else type(error).__name__


PLACES = ("model.onnx", "onnx/model.onnx")
NUMBERS = {"tensor(int64)": np.int64, "tensor(int32)": np.int32}
IDS, MASK, TYPES = "input_ids", "attention_mask", "token_type_ids"


def find(folder: Path, task: str = "feature-extraction") -> Path:
    """Find the ONNX file of a model, in its folder or in a folder ``onnx`` there."""
    paths = (folder / path for path in PLACES)
    graph = next((path for path in paths if path.is_file()), None)
    if graph is None:
        model, target = quote(str(folder)), quote(str(folder / "onnx"))
        raise ModelError(
            f"{folder} holds neither {' nor '.join(PLACES)}. To make one: pip install "
            f"optimum-onnx, then optimum-cli export onnx --model {model} --task {task} {target}\n"
            "Without onnx: in front of its name, sentence-transformers runs the model: "
            "pip install 'ragstone[torch]'"
        )
    return graph


def files(graph: Path) -> list[Path]:
    """Return the file and, if the weights are stored beside it, their files."""
    return sorted(graph.parent.glob(f"{graph.name}*"))


class OnnxFile:
    """A transformer in an ONNX file, as optimum and sentence-transformers write it.

    Its inputs are ``input_ids``, ``attention_mask`` and optionally ``token_type_ids``, for any
    number of texts of any length.
    """

    def __init__(self, path: Path, axes_of: Mapping[str, int], padding: int = 0) -> None:
        """Open the file and run it on two short texts as a check."""
        with needing("The ONNX back end", "onnx"):
            onnxruntime = import_module("onnxruntime")
        options = onnxruntime.SessionOptions()
        # It can be run from any thread, a batch on each.
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = FATAL_ONLY
        try:
            self._session = onnxruntime.InferenceSession(
                str(path), options, providers=["CPUExecutionProvider"]
            )
        except _raised() as error:
            raise ModelError(f"onnxruntime cannot read {path.name}: {_said(error)}") from error
        self._name, self._padding = path.name, padding
        self._inputs = {it.name: (it.type, it.shape) for it in self._session.get_inputs()}
        _check_inputs(path, self._inputs)
        outputs = [output.name for output in self._session.get_outputs()]
        known = [name for name in axes_of if name in outputs]
        if not known:
            names, got = " or ".join(axes_of), ", ".join(outputs)
            raise ModelError(f"{path}: expected an output named {names}, got {got}")
        self.output = known[0]
        try:
            tried = self.run([np.zeros(3, np.int32), np.zeros(2, np.int32)])
        except ModelFailure as error:
            raise ModelError(f"{path} cannot be run: {error}") from error
        expected = (2, 3)[: axes_of[self.output] - 1]
        if tried.ndim != axes_of[self.output] or tried.shape[:-1] != expected:
            axes = " × ".join(map(str, (*expected, "d")))
            got = " × ".join(map(str, tried.shape))
            raise ModelError(f"{path}: expected {self.output} with shape {axes}, got {got}")
        if not np.isfinite(tried).all():
            raise ModelError(f"{path}: expected finite numbers, got NaN or infinity")
        self.dimensions = tried.shape[-1]

    def run(self, texts: Sequence[Ids], types: Sequence[Ids] | None = None) -> Vectors:
        """Return the output for a batch."""
        ids = padded(texts, self._padding)
        kinds = np.zeros_like(ids) if types is None else padded(types)
        values = {IDS: ids, MASK: inside(texts), TYPES: kinds}
        inputs = {
            name: values[name].astype(NUMBERS[kind]) for name, (kind, _) in self._inputs.items()
        }
        try:
            (states,) = self._session.run([self.output], inputs)
        except _raised() as error:
            raise ModelFailure(f"onnxruntime failed on {self._name}: {_said(error)}") from error
        return np.asarray(states, np.float32)


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


TOKEN_OUTPUTS = {"last_hidden_state": 3, "token_embeddings": 3}
OUTPUTS = TOKEN_OUTPUTS | {"sentence_embedding": 2}


def load(folder: Path, name: str) -> FolderEncoder:
    """Load the encoder in a folder, from ``model.onnx`` or ``onnx/model.onnx``.

    Only the last layer is available, because ONNX files output no other. Agrees with torch to
    1e-5.
    """
    model = ModelFolder.read(folder)
    graph = find(model.inside)
    file = OnnxFile(graph, OUTPUTS, model.config.padding)
    layers = model.config.layers if file.output in TOKEN_OUTPUTS else 0

    def check(layer: int) -> None:
        if layer != layers:
            raise ModelError(
                f"{name} is an ONNX file, which gives only its last layer, {layers}, not "
                f"{layer}. Its weights give every layer: torch:FOLDER"
            )

    def compute(texts: Sequence[Ids], layer: int, take: Take) -> None:  # noqa: ARG001
        def run(batch: NDArray[np.intp]) -> None:
            some = [texts[number] for number in batch]
            states = file.run(some)
            if states.ndim == 2:
                states = states[:, None]
            take(
                batch,
                [text_states[: len(text)] for text_states, text in zip(states, some, strict=True)],
            )

        side_by_side(run, even_batches(token_counts(texts)))

    return FolderEncoder(
        name,
        model,
        "ONNX",
        dimensions=file.dimensions,
        layers=layers,
        check=check,
        compute=compute,
        weights=files(graph),
    )
