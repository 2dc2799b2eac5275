"""Cross-encoder folder: what the small files beside the weights say, all their faults at once."""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from hashlib import blake2b, file_digest
from pathlib import Path
from typing import Any, Self

from ragstone.errors import Fault, ModelError

from .folder import COUNTED_FROM_PADDING, NO_LENGTH, SHORTEST, is_count
from .pairs import PairTokenizer
from .small_file import small_file
from .tokenizer import UnusableTokenizer

CONFIG, TOKENIZER, MODULES = "config.json", "tokenizer.json", "modules.json"
TOKENIZER_CONFIG = "tokenizer_config.json"
SHORTEST_PAIR = SHORTEST + 2
KINDS = (None, "regression", "single_label_classification")
"""Of problem: whether one label holds, or one number is wanted."""

Also = Callable[[Path, Mapping[str, Any]], Iterable[Fault]]


@dataclass(frozen=True, slots=True)
class CrossEncoderFolder:
    """A cross-encoder in a folder as sentence-transformers or transformers writes it.

    Attributes:
        path: The folder.
        config: What ``config.json`` says.
        tokenizer: That of ``tokenizer.json``.
        labels: The names of the outputs; empty where ``config.json`` gives none.
        max_tokens: The tokens that are read of a pair, special ones included.
    """

    path: Path
    config: Mapping[str, Any]
    tokenizer: PairTokenizer
    labels: tuple[str, ...]
    max_tokens: int

    @classmethod
    def read(cls, path: Path, also: Also = lambda _path, _config: ()) -> Self:
        """Read all but the weights.

        ``max_tokens`` is the tokenizer's ``model_max_length``, else the number of positions, and
        never more than that.

        Args:
            path: The folder.
            also: What a back end asks beyond that: gets the folder and ``config.json``, gives the
                faults that it finds.

        Raises:
            ModelError: No such folder, or every fault of its files.
            MissingDependency: ``tokenizers`` is not installed.
        """
        if not path.is_dir():
            raise ModelError(f"{path}: expected the folder of a cross-encoder, got none")
        faults: list[Fault] = []
        config = _object(path, CONFIG, faults)
        given = path / TOKENIZER_CONFIG
        settings = _object(path, TOKENIZER_CONFIG, faults) if given.is_file() else {}
        _one_module(path, faults)
        tokenizer = _tokenizer(path, config, faults)
        labels = _labels(config, faults)
        max_tokens = _max_tokens(config, settings, faults)
        if config:
            faults += also(path, config)
        if faults or tokenizer is None:
            raise refused(path, faults)
        return cls(path, config, tokenizer, labels, max_tokens)

    def named(self, outputs: int) -> tuple[str, ...]:
        """The labels of so many outputs; LABEL_0, LABEL_1, … where none are given.

        Raises:
            ModelError: There are more names than outputs, or fewer.
        """
        if self.labels and len(self.labels) != outputs:
            noun = "label" if len(self.labels) == 1 else "labels"
            got = f"{len(self.labels)} {noun}: {', '.join(self.labels)}"
            expected = f"a name for each of the model's {outputs} outputs"
            raise refused(self.path, [Fault(CONFIG, None, "id2label", expected, got)])
        return self.labels or tuple(f"LABEL_{number}" for number in range(outputs))

    def fingerprint(self, weights: Iterable[Path], *computed: str) -> str:
        """32 hex digits over all that a probability depends on.

        Args:
            weights: The files that a back end reads besides.
            computed: The back end and its precision.
        """
        digest = blake2b(repr((*computed, self.max_tokens)).encode(), digest_size=16)
        for file in (self.path / CONFIG, self.path / TOKENIZER, *weights):
            with file.open("rb") as content:
                digest.update(file_digest(content, "blake2b").digest())
        return digest.hexdigest()


def refused(path: Path, faults: Iterable[Fault]) -> ModelError:
    """The error that lists all of a folder's faults and says what opens more models."""
    found = [f"  {fault}" for fault in faults]
    noun = "fault" if len(found) == 1 else "faults"
    return ModelError(
        "\n".join(
            [
                f"{path} is no cross-encoder that can be used here: {len(found)} {noun}.",
                *found,
                "If transformers can load it: pip install 'ragstone[torch]', and name it "
                f"torch:{path}",
            ]
        )
    )


def _object(path: Path, file: str, faults: list[Fault]) -> Mapping[str, Any]:
    """The object that a file holds; empty, and a fault, where it holds none."""
    try:
        value = json.loads(small_file(path / file))
    except OSError as error:
        faults.append(Fault(file, None, "", "a JSON file", (error.strerror or "an error").lower()))
        return {}
    except (ValueError, RecursionError) as error:
        faults.append(Fault(file, None, "", "JSON", f"text that is none ({error})"))
        return {}
    if not isinstance(value, dict):
        faults.append(Fault(file, None, "", "an object", type(value).__name__))
        return {}
    if not value and file == CONFIG:
        faults.append(Fault(file, None, "", "what the model is", "an empty object"))
    return value


def _one_module(path: Path, faults: list[Fault]) -> None:
    """sentence-transformers may put more behind the transformer; that is not understood."""
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
        expected = f"tokens numbered below {rows:,}, the model's vocab_size"
        got = f"{tokenizer.size - 1:,}: a tokenizer of another model"
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
        expected = f"{SHORTEST_PAIR} tokens or more to read"
        faults.append(Fault(TOKENIZER_CONFIG, None, "model_max_length", expected, str(limit)))
    return limit
