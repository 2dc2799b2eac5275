"""BERT cross-encoder: models of the BERT family that read pairs of texts, from a folder, in NumPy.

The classification head reads only the first token's state: two linear layers with tanh or ReLU
between them.
"""

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from itertools import accumulate, groupby, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from ragstone.core.errors import Fault, ModelError

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
from .encoder import BATCH_TOKENS, Vectors, batches
from .model_folder import COUNTED_FROM_PADDING, NO_LENGTH, SHORTEST, hash_of, is_count
from .model_folder import refused as refused_as
from .numpy_bert import Workspace, hidden_states
from .tokenizer import TextTokenizer, UnusableTokenizer, small_file

if TYPE_CHECKING:
    import tokenizers


Pair = tuple[str, str]


@dataclass(frozen=True, slots=True)
class TokenizedPair:
    """The tokens of two texts, one after the other, special tokens included.

    Args:
        ids: Shape (t,), token ids.
        types: Shape (t,), token types, which tell the first text from the second.
        length: The number of tokens before truncation; more than t if the pair was truncated.
    """

    ids: NDArray[np.int32]
    types: NDArray[np.int32]
    length: int


class PairTokenizer(TextTokenizer):
    """The tokenizer of a cross-encoder: special tokens before, between and after two texts."""

    def __init__(self, tokenizer: "tokenizers.Tokenizer") -> None:
        """Take ownership of the tokenizer, whose settings may change.

        Raises:
            UnusableTokenizer: It places special tokens elsewhere.
        """
        super().__init__(tokenizer)
        seen = tokenizer.encode("a", "a")
        tokens = zip(seen.sequence_ids, seen.ids, seen.type_ids, strict=True)
        runs = [[*run] for _, run in groupby(tokens, key=lambda token: token[0])]
        if [run[0][0] for run in runs] != [None, 0, None, 1, None]:
            expected = "special tokens before, between and after two texts"
            raise UnusableTokenizer(expected, " ".join(seen.tokens))
        self._around = [np.array([number for _, number, _ in run], np.int32) for run in runs[::2]]
        self._types = [kind for (_, _, kind), *_ in runs]

    @property
    def tells_texts_apart(self) -> bool:
        """Whether it gives the second text its own token type."""
        return any(self._types)

    def pairs(self, pairs: Sequence[Pair], limit: int) -> list[TokenizedPair]:
        """The tokens of each pair, at most ``limit`` of them, special tokens included.

        A longer pair is truncated at the ends of its texts, the longer text first, as in
        transformers and sentence-transformers.
        """
        texts = list(dict.fromkeys(text for pair in pairs for text in pair))
        whole = self.ids(texts, sys.maxsize)
        ids = {text: one[1:-1] for text, one in zip(texts, whole, strict=True)}
        return [self._joined(ids[first], ids[second], limit) for first, second in pairs]

    def _joined(
        self, first: NDArray[np.int32], second: NDArray[np.int32], limit: int
    ) -> TokenizedPair:
        before, between, behind = self._around
        special = len(before) + len(between) + len(behind)
        ends = _cut(len(first), len(second), limit - special)
        parts = (before, first[: ends[0]], between, second[: ends[1]], behind)
        types = np.repeat(np.array(self._types, np.int32), [len(part) for part in parts])
        return TokenizedPair(np.concatenate(parts), types, len(first) + len(second) + special)


def lengths_of(pairs: Iterable[TokenizedPair]) -> NDArray[np.int32]:
    """The number of tokens of each pair, after truncation."""
    return np.array([len(pair.ids) for pair in pairs], np.int32)


def _cut(first: int, second: int, room: int) -> tuple[int, int]:
    """How many tokens of each text are kept, given their lengths and the room for both."""
    if first + second <= room:
        return first, second
    shorter = min(first, second, room // 2)
    return (shorter, room - shorter) if first <= second else (room - shorter, shorter)


CONFIG, TOKENIZER, MODULES = "config.json", "tokenizer.json", "modules.json"
TOKENIZER_CONFIG = "tokenizer_config.json"
SHORTEST_PAIR = SHORTEST + 2
KINDS = (None, "regression", "single_label_classification")
"""Supported values of ``problem_type``: one label of several, or one number."""

FurtherFaults = Callable[[Path, Mapping[str, Any]], Iterable[Fault]]


@dataclass(frozen=True, slots=True)
class CrossEncoderFolder:
    """A cross-encoder in a folder as sentence-transformers or transformers writes it.

    Attributes:
        path: The folder.
        config: The content of ``config.json``.
        tokenizer: From ``tokenizer.json``.
        labels: The names of the outputs; empty if ``config.json`` gives none.
        max_tokens: The most tokens of a pair that are read, special tokens included.
    """

    path: Path
    config: Mapping[str, Any]
    tokenizer: PairTokenizer
    labels: tuple[str, ...]
    max_tokens: int

    @classmethod
    def read(cls, path: Path, further: FurtherFaults = lambda _path, _config: ()) -> Self:
        """Read everything except the weights.

        ``max_tokens`` is the tokenizer's ``model_max_length`` or, if that is not set, the number
        of positions, and never more than the number of positions.

        Args:
            path: The folder.
            further: A back end's own checks: takes the folder and the content of ``config.json``,
                returns the faults it finds.

        Raises:
            ModelError: The folder does not exist or cannot be used; lists every fault.
            MissingDependency: ``tokenizers`` is not installed.
        """
        if not path.is_dir():
            raise ModelError(f"{path}: expected the folder of a cross-encoder, got no folder")
        faults: list[Fault] = []
        config = _object(path, CONFIG, faults)
        given = path / TOKENIZER_CONFIG
        settings = _object(path, TOKENIZER_CONFIG, faults) if given.is_file() else {}
        _one_module(path, faults)
        tokenizer = _tokenizer(path, config, faults)
        labels = _labels(config, faults)
        max_tokens = _max_tokens(config, settings, faults)
        if config:
            faults += further(path, config)
        if faults or tokenizer is None:
            raise refused(path, faults)
        return cls(path, config, tokenizer, labels, max_tokens)

    def named(self, outputs: int) -> tuple[str, ...]:
        """The names of the outputs; LABEL_0, LABEL_1, … if ``config.json`` gives none.

        Raises:
            ModelError: The number of names is not the number of outputs.
        """
        if self.labels and len(self.labels) != outputs:
            noun = "label" if len(self.labels) == 1 else "labels"
            got = f"{len(self.labels)} {noun}: {', '.join(self.labels)}"
            expected = f"a name for each of the model's {outputs} outputs"
            raise refused(self.path, [Fault(CONFIG, None, "id2label", expected, got)])
        return self.labels or tuple(f"LABEL_{number}" for number in range(outputs))

    def fingerprint(self, weights: Iterable[Path], *computed: str) -> str:
        """A hash in 32 hex digits of everything that the probabilities depend on.

        Args:
            weights: The further files that the back end reads.
            computed: The back end and its precision.
        """
        files = (self.path / CONFIG, self.path / TOKENIZER, *weights)
        return hash_of((*computed, self.max_tokens), files)


def refused(path: Path, faults: Iterable[Fault]) -> ModelError:
    """The error that lists a folder's faults and suggests the torch back end."""
    return refused_as(path, list(faults), "cross-encoder", "transformers")


def _object(path: Path, file: str, faults: list[Fault]) -> Mapping[str, Any]:
    """The JSON object in a file; otherwise an empty one, and a fault is recorded."""
    try:
        value = json.loads(small_file(path / file))
    except OSError as error:
        faults.append(Fault(file, None, "", "a JSON file", (error.strerror or "an error").lower()))
        return {}
    except (ValueError, RecursionError) as error:
        faults.append(Fault(file, None, "", "JSON", f"invalid JSON ({error})"))
        return {}
    if not isinstance(value, dict):
        faults.append(Fault(file, None, "", "an object", type(value).__name__))
        return {}
    if not value and file == CONFIG:
        faults.append(Fault(file, None, "", "the model's configuration", "an empty object"))
    return value


def _one_module(path: Path, faults: list[Fault]) -> None:
    """Check that sentence-transformers lists no modules after the transformer."""
    if not (path / MODULES).is_file():
        return
    try:
        modules = json.loads(small_file(path / MODULES))
        found = [(module["type"].rpartition(".")[2], module["path"]) for module in modules]
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        found = []
    if found != [("Transformer", "")]:
        got = ", ".join(kind for kind, _ in found) or "something else"
        faults.append(Fault(MODULES, None, "type", "one Transformer in this folder", got))


def _tokenizer(path: Path, config: Mapping[str, Any], faults: list[Fault]) -> PairTokenizer | None:
    try:
        tokenizer = PairTokenizer.open(path / TOKENIZER)
    except UnusableTokenizer as error:
        faults.append(Fault(TOKENIZER, None, "", error.expected, error.got))
        return None
    rows = config.get("vocab_size")
    if config and not is_count(rows):
        faults.append(Fault(CONFIG, None, "vocab_size", "a whole number above 0", repr(rows)))
    elif is_count(rows) and tokenizer.size > rows:
        expected = f"token ids below {rows:,}, the model's vocab_size"
        got = f"the id {tokenizer.size - 1:,}: a tokenizer of another model"
        faults.append(Fault(TOKENIZER, None, "", expected, got))
    return tokenizer


def _labels(config: Mapping[str, Any], faults: list[Fault]) -> tuple[str, ...]:
    kind = config.get("problem_type")
    if kind not in KINDS:
        expected = " or ".join(map(str, KINDS[1:]))
        faults.append(Fault(CONFIG, None, "problem_type", expected, repr(kind)))
    names = config.get("id2label")
    if names is None:
        return ()
    numbers = [str(number) for number in range(len(names))] if isinstance(names, dict) else []
    if not numbers or sorted(names) != sorted(numbers):
        expected = "a name for each output, numbered from 0"
        faults.append(Fault(CONFIG, None, "id2label", expected, repr(names)))
        return ()
    return tuple(str(names[number]) for number in numbers)


def _max_tokens(config: Mapping[str, Any], settings: Mapping[str, Any], faults: list[Fault]) -> int:
    positions = config.get("max_position_embeddings")
    if not is_count(positions):
        if config:
            field = "max_position_embeddings"
            faults.append(Fault(CONFIG, None, field, "a whole number above 0", repr(positions)))
        return 0
    padding = config.get("pad_token_id", 1)
    if str(config.get("model_type")) in COUNTED_FROM_PADDING and isinstance(padding, int):
        positions -= padding + 1
    given = settings.get("model_max_length")
    limit = min(given, positions) if is_count(given) and given <= NO_LENGTH else positions
    if limit < SHORTEST_PAIR:
        expected = f"at least {SHORTEST_PAIR} tokens"
        faults.append(Fault(TOKENIZER_CONFIG, None, "model_max_length", expected, str(limit)))
    return limit


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
