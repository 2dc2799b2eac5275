"""Cross-encoders in ONNX files: any architecture, run by onnxruntime."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from . import onnx_file
from .cross_encoder_folder import CrossEncoderFolder
from .encoder import Vectors
from .onnx_file import OnnxFile
from .onnx_session import even_batches
from .pairs import Pair, TokenizedPair, lengths_of
from .side_by_side import side_by_side

LOGITS = {"logits": 2}


@dataclass(frozen=True, slots=True)
class OnnxPairs:
    """A cross-encoder in an ONNX file."""

    about: str
    fingerprint: str
    labels: tuple[str, ...]
    max_tokens: int
    folder: CrossEncoderFolder
    file: OnnxFile

    def read(self, pairs: Sequence[Pair]) -> list[TokenizedPair]:
        """The tokens of each pair."""
        return self.folder.tokenizer.pairs(pairs, self.max_tokens)

    def logits(self, pairs: Sequence[TokenizedPair]) -> Vectors:
        """Shape (pairs, labels)."""
        found = np.empty((len(pairs), len(self.labels)), np.float32)

        def compute(batch: NDArray[np.intp]) -> None:
            some = [pairs[number] for number in batch]
            found[batch] = self.file.run([one.ids for one in some], [one.types for one in some])

        for _ in side_by_side(compute, even_batches(lengths_of(pairs))):
            pass
        return found


def load(path: Path) -> OnnxPairs:
    """Load the cross-encoder in a folder, from ``model.onnx`` or ``onnx/model.onnx``.

    Args:
        path: As sentence-transformers or transformers writes it.

    Raises:
        ModelError: There is no such file, the folder cannot be used (lists every fault), or the
            graph is not supported.
        MissingDependency: ``onnxruntime`` or ``tokenizers`` is not installed.
    """
    folder = CrossEncoderFolder.read(path)
    graph = onnx_file.find(path, "text-classification")
    padding = folder.config.get("pad_token_id")
    file = OnnxFile(graph, LOGITS, padding if isinstance(padding, int) else 0)
    return OnnxPairs(
        about="ONNX float32",
        fingerprint=folder.fingerprint(onnx_file.files(graph), "onnx", "float32"),
        labels=folder.named(file.dimensions),
        max_tokens=folder.max_tokens,
        folder=folder,
        file=file,
    )
