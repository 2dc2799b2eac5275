"""Cross-encoders in torch: any sequence classification model that transformers can load."""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np

from ragstone.core.errors import MissingDependency, ModelError, ModelFailure

from .batches import batches
from .cross_encoder_folder import KINDS
from .encoder import Vectors
from .folder import NO_LENGTH, is_count
from .padding import inside, padded
from .pairs import Pair, TokenizedPair, lengths_of
from .tokenizer import readable
from .torch_loading import fingerprint, first_line, positions_of, quiet

SHOWN_TENSORS = 3


@dataclass(frozen=True, slots=True)
class TorchPairs:
    """A cross-encoder of transformers, on the CPU, in float32.

    May be used from several threads.
    """

    name: str
    about: str
    fingerprint: str
    labels: tuple[str, ...]
    max_tokens: int
    tokenizer: Any
    model: Any
    one_at_a_time: Lock = field(default_factory=Lock, repr=False, compare=False)

    def read(self, pairs: Sequence[Pair]) -> list[TokenizedPair]:
        """The tokens of each pair.

        Raises:
            ModelFailure: The tokenizer failed.
        """
        with self._working():
            return [self._one(readable(first), readable(second)) for first, second in pairs]

    def _one(self, first: str, second: str) -> TokenizedPair:
        """Tokenized as a batch of one: passed by itself, an empty second text would be ignored."""
        settings: dict[str, Any] = {"return_token_type_ids": True, "verbose": False}
        read = self.tokenizer([first], [second], **settings)
        length = len(read["input_ids"][0])
        if length > self.max_tokens:
            settings |= {"truncation": "longest_first", "max_length": self.max_tokens}
            read = self.tokenizer([first], [second], **settings)
        ids, types = (np.array(read[name][0], np.int32) for name in ("input_ids", "token_type_ids"))
        return TokenizedPair(ids, types, length)

    def logits(self, pairs: Sequence[TokenizedPair]) -> Vectors:
        """Shape (pairs, labels).

        Raises:
            ModelFailure: The model failed.
        """
        torch = import_module("torch")
        padding = self.model.config.pad_token_id or 0
        found = np.empty((len(pairs), len(self.labels)), np.float32)
        for batch in batches(lengths_of(pairs)):
            ids = [pairs[number].ids for number in batch]
            values = {"input_ids": padded(ids, padding), "attention_mask": inside(ids)}
            if "token_type_ids" in self.tokenizer.model_input_names:
                values["token_type_ids"] = padded([pairs[number].types for number in batch])
            inputs = {name: torch.from_numpy(rows).long() for name, rows in values.items()}
            with self._working(), torch.inference_mode():
                found[batch] = self.model(**inputs).logits.numpy()
        return found

    @contextmanager
    def _working(self) -> Iterator[None]:
        """Hold the lock, and turn the library's errors into ``ModelFailure``."""
        # Tokenizing with truncation changes the tokenizer's settings, which threads share.
        with self.one_at_a_time:
            try:
                yield
            except (LookupError, RuntimeError, TypeError, ValueError) as error:
                raise ModelFailure(f"{self.name} failed: {first_line(error)}") from error


def load(where: str, name: str, *, revision: str, offline: bool) -> TorchPairs:
    """Load a folder or a model on the hub as a cross-encoder through transformers.

    Code that comes with a model is not run. For a folder, no server is contacted.

    Args:
        where: A folder, or ``org/name``.
        name: What the user calls it.
        revision: On the hub; empty for its main branch.
        offline: Load a model on the hub only from its cache on this machine.

    Raises:
        ModelError: There is no such model, it cannot be loaded, has no classification head, has
            NaN or infinity in its weights, or is a multi-label model.
        MissingDependency: ``transformers`` or ``torch`` is not installed.
    """
    try:
        transformers, torch = import_module("transformers"), import_module("torch")
    except ImportError as error:
        raise MissingDependency("The torch back end", "torch") from error
    local = {"local_files_only": offline or Path(where).is_dir(), "revision": revision or None}
    try:
        with quiet():
            tokenizer = transformers.AutoTokenizer.from_pretrained(
                where, trust_remote_code=False, **local
            )
            model, loaded = transformers.AutoModelForSequenceClassification.from_pretrained(
                where,
                trust_remote_code=False,
                output_loading_info=True,
                dtype=torch.float32,
                **local,
            )
    except Exception as error:  # a model's loading code may raise anything
        raise ModelError(f"{name}: transformers cannot load it: {first_line(error)}") from error
    if (kind := model.config.problem_type) not in KINDS:
        expected = " or ".join(map(str, KINDS[1:]))
        raise ModelError(f"{name}: problem_type: expected {expected}, got {kind!r}")
    if missing := sorted(loaded["missing_keys"]):
        raise ModelError(
            f"{name}: expected the weights of a classification head, got none for "
            f"{', '.join(missing[:SHOWN_TENSORS])}"
        )
    _check_weights(name, model)
    names = model.config.id2label
    limits = (tokenizer.model_max_length, positions_of(model.config))
    known = [limit for limit in limits if is_count(limit) and limit <= NO_LENGTH]
    if not known:
        raise ModelError(
            f"{name}: neither its tokenizer nor its configuration states a token limit"
        )
    return TorchPairs(
        name=name,
        about="torch float32",
        fingerprint=_fingerprint(tokenizer, model, min(known)),
        labels=tuple(str(names[number]) for number in range(len(names))),
        max_tokens=min(known),
        tokenizer=tokenizer,
        model=model.eval(),
    )


def _check_weights(name: str, model: Any) -> None:
    bad = [key for key, tensor in model.state_dict().items() if not bool(tensor.isfinite().all())]
    if bad:
        shown = ", ".join(bad[:SHOWN_TENSORS])
        raise ModelError(f"{name}: expected finite weights, got NaN or infinity in {shown}")


def _fingerprint(tokenizer: Any, model: Any, max_tokens: int) -> str:
    """Hash of everything that the probabilities depend on."""
    fast = getattr(tokenizer, "backend_tokenizer", None)
    reading = json.loads(fast.to_str()) if fast is not None else tokenizer.get_vocab()
    return fingerprint(model, model.config.to_dict(), reading, max_tokens)
