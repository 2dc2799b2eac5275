"""Cross-encoder folder: reads the small files beside the weights and reports all their faults."""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from ragstone.core.errors import Fault, ModelError

from .folder import COUNTED_FROM_PADDING, NO_LENGTH, SHORTEST, hash_of, is_count
from .folder import refused as refused_as
from .pairs import PairTokenizer
from .small_file import small_file
from .tokenizer import UnusableTokenizer

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
