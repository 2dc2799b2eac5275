"""The NumPy back end: encoders of the BERT family without torch."""

import threading
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from .batches import BATCH_TOKENS, batches
from .bert_forward import Workspace, hidden_states
from .bert_weights import FILE, Sizes, Weights, faults_of, read_weights, sizes_of
from .folder import ModelFolder
from .reading import FolderEncoder, Ids, Take, check_layer, token_counts
from .side_by_side import one_blas_thread, side_by_side

FEWEST_BATCHES = 4
"""With fewer batches than this, one thread would idle; BLAS then uses all threads on each batch."""


def load(folder: Path, name: str) -> FolderEncoder:
    """Load the encoder in a folder.

    Reads BERT, RoBERTa, XLM-RoBERTa and DistilBERT with float16 or float32 weights in
    ``model.safetensors``, and computes in float32. Agrees with torch to 1e-5.

    Args:
        folder: As sentence-transformers or transformers writes it; see ``ModelFolder``.
        name: What the user calls it.

    Raises:
        ModelError: The folder cannot be used; lists every fault.
        MissingDependency: ``tokenizers`` or ``safetensors`` is not installed.
    """
    model = ModelFolder.read(folder, faults_of)
    sizes = sizes_of(model.config)
    states = _NumpyStates(read_weights(folder, model.inside, sizes), sizes)
    return FolderEncoder(name, model, states, [model.inside / FILE])


class _NumpyStates:
    back_end = "NumPy"

    def __init__(self, weights: Weights, sizes: Sizes) -> None:
        self.dimensions = sizes.hidden
        self.layers = sizes.layers
        self._weights = weights
        self._sizes = sizes

    def check(self, layer: int, name: str) -> None:
        check_layer(layer, self.layers, name)

    def compute(self, texts: Sequence[Ids], layer: int, take: Take) -> None:
        lengths = token_counts(texts)
        waiting = list(batches(lengths))
        room = max(BATCH_TOKENS, lengths.max(initial=0))
        own = threading.local()

        def run(batch: NDArray[np.intp]) -> None:
            # Batches run in several threads, so each thread gets buffers of its own.
            if not hasattr(own, "space"):
                own.space = Workspace(self._sizes, room)
            some = [texts[number] for number in batch]
            states = hidden_states(self._weights, self._sizes, some, layer, own.space)
            take(batch, np.split(states, np.cumsum(lengths[batch])[:-1]))

        if len(waiting) < FEWEST_BATCHES:
            for batch in waiting:
                run(batch)
            return
        with one_blas_thread():
            for _ in side_by_side(run, waiting):
                pass
