"""Cross-encoders of the BERT family in NumPy: the transformer and a classification head.

The head reads only the first token's state: two linear layers with tanh or ReLU between them.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

import numpy as np

from ragstone.core.errors import Fault

from .batches import BATCH_TOKENS, batches
from .bert_forward import Workspace, hidden_states
from .bert_weights import (
    FILE,
    TABLE_SIZES,
    Linear,
    Sizes,
    Weights,
    faults_of,
    read_weights,
    sizes_of,
)
from .cross_encoder_folder import TOKENIZER, CrossEncoderFolder, refused
from .encoder import Vectors
from .folder import is_count
from .pairs import Pair, TokenizedPair, lengths_of

HEADS = {
    "bert": ("bert.pooler.dense", "classifier"),
    "roberta": ("classifier.dense", "classifier.out_proj"),
    "xlm-roberta": ("classifier.dense", "classifier.out_proj"),
    "distilbert": ("pre_classifier", "classifier"),
}
"""Tensor names of the head's two layers."""

TYPES = "embeddings.token_type_embeddings.weight"


@dataclass(frozen=True, slots=True)
class Head:
    """The classification head: a logit for each label from the first token's state."""

    inner: Linear
    outer: Linear
    relu: bool

    def logits(self, states: Vectors) -> Vectors:
        """Shape (pairs, labels)."""
        inner = states @ self.inner.weight.T + self.inner.bias
        active = np.maximum(inner, np.float32(0)) if self.relu else np.tanh(inner)
        return np.asarray(active @ self.outer.weight.T + self.outer.bias, np.float32)


@dataclass(frozen=True, slots=True)
class BertPairs:
    """A cross-encoder of the BERT family."""

    about: str
    fingerprint: str
    labels: tuple[str, ...]
    max_tokens: int
    folder: CrossEncoderFolder
    head: Head
    weights: Weights
    sizes: Sizes
    second_type: Vectors | None

    def read(self, pairs: Sequence[Pair]) -> list[TokenizedPair]:
        """The tokens of each pair."""
        return self.folder.tokenizer.pairs(pairs, self.max_tokens)

    def logits(self, pairs: Sequence[TokenizedPair]) -> Vectors:
        """Shape (pairs, labels)."""
        lengths = lengths_of(pairs)
        space = Workspace(self.sizes, max(BATCH_TOKENS, lengths.max()))
        first = np.empty((len(pairs), self.sizes.hidden), np.float32)
        for batch in batches(lengths):
            some = [pairs[number] for number in batch]
            ends = [0, *accumulate(len(pair.ids) for pair in some)]
            texts = [pair.ids for pair in some]
            weights = self.weights
            if self.second_type is not None:
                # The forward pass adds token type 0 to every token. Here each token gets a row of
                # its own in a temporary word table, which already holds its own type.
                weights = replace(weights, words=_words(weights, some, self.second_type))
                texts = [np.arange(*rows, dtype=np.int32) for rows in pairwise(ends)]
            states = hidden_states(weights, self.sizes, texts, self.sizes.layers, space)
            first[batch] = states[ends[:-1]]
        return self.head.logits(first)


def load(path: Path) -> BertPairs:
    """Load the cross-encoder in a folder.

    Args:
        path: As sentence-transformers or transformers writes it.

    Raises:
        ModelError: The folder cannot be used; lists every fault.
        MissingDependency: ``tokenizers`` or ``safetensors`` is not installed.
    """
    folder = CrossEncoderFolder.read(path, _faults)
    sizes = sizes_of(folder.config)
    if folder.tokenizer.tells_texts_apart and sizes.padding is not None:
        kind = sizes.architecture.model_type
        got = "one that gives the second text its own token type"
        fault = Fault(TOKENIZER, None, "post_processor", f"a tokenizer of a {kind} model", got)
        raise refused(path, [fault])
    weights = read_weights(path, path, sizes)
    head, second_type = _read_head(folder, sizes)
    return BertPairs(
        about="NumPy float32",
        fingerprint=folder.fingerprint([path / FILE], "numpy", "float32"),
        labels=folder.named(len(head.outer.bias)),
        max_tokens=folder.max_tokens,
        folder=folder,
        head=head,
        weights=weights,
        sizes=sizes,
        second_type=second_type,
    )


def _words(weights: Weights, pairs: Sequence[TokenizedPair], second_type: Vectors) -> Vectors:
    """One word embedding per token of the batch, plus the type vector in second texts."""
    words: Vectors = weights.words[np.concatenate([pair.ids for pair in pairs])].astype(np.float32)
    words[np.concatenate([pair.types for pair in pairs]) == 1] += second_type
    return words


def _faults(path: Path, config: Mapping[str, Any]) -> Iterator[Fault]:
    """Faults of the transformer; if it has none, those of the head."""
    faults = list(faults_of(path, config))
    yield from faults
    if not faults and all(is_count(config.get(field)) for field in TABLE_SIZES):
        yield from _faults_of_head(path, config)


def _faults_of_head(path: Path, config: Mapping[str, Any]) -> Iterator[Fault]:
    sizes = sizes_of(config)
    inner, outer = HEADS[sizes.architecture.model_type]
    with _opened(path) as file:
        there = {key: tuple(file.get_slice(key).get_shape()) for key in file.keys()}  # noqa: SIM118
    outputs = there.get(f"{outer}.bias", (0,))[0]
    expected = {
        f"{inner}.weight": (sizes.hidden, sizes.hidden),
        f"{inner}.bias": (sizes.hidden,),
        f"{outer}.weight": (outputs, sizes.hidden),
        f"{outer}.bias": (outputs,),
    }
    missing = [key for key in expected if key not in there]
    if missing:
        yield Fault(FILE, None, ", ".join(missing), "a classification head", "none")
    for key, shape in expected.items():
        if not missing and there[key] != shape:
            yield Fault(FILE, None, key, f"shape {shape}", str(there[key]))


def _read_head(folder: CrossEncoderFolder, sizes: Sizes) -> tuple[Head, Vectors | None]:
    """The head, and the vector to add to tokens of the second text, if the model has types."""
    faults: list[Fault] = []
    with _opened(folder.path) as file:

        def tensor(key: str) -> Vectors:
            values = np.asarray(file.get_tensor(key), np.float32)
            if bad := values.size - int(np.count_nonzero(np.isfinite(values))):
                got = f"{bad:,} of {values.size:,} that are NaN or infinite"
                faults.append(Fault(FILE, None, key, "finite numbers", got))
            return values

        inner, outer = (
            Linear(tensor(f"{name}.weight"), tensor(f"{name}.bias"))
            for name in HEADS[sizes.architecture.model_type]
        )
        table = next((key for key in file.keys() if key.endswith(TYPES)), None)  # noqa: SIM118
        told_apart = sizes.types > 1 and folder.tokenizer.tells_texts_apart
        types = tensor(table) if table and told_apart else None
    if faults:
        raise refused(folder.path, faults)
    relu = sizes.architecture.model_type == "distilbert"
    return Head(inner, outer, relu), None if types is None else types[1] - types[0]


def _opened(path: Path) -> Any:
    return import_module("safetensors").safe_open(path / FILE, framework="numpy")
