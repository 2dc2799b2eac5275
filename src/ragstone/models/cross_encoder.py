"""Cross-encoder: the probability of each label for a pair of texts, by torch or ONNX.

An ONNX file may have any architecture; torch runs any sequence classification model that
transformers can load.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from threading import Lock
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ragstone.core.errors import ModelError, ModelFailure, needing

from .download import first_line, to_stderr
from .encoder import Vectors, batches, distinct, side_by_side
from .encoder_names import location, needed, place_of
from .model_folder import KINDS, CrossEncoderFolder
from .model_store import Note
from .onnx_encoder import OnnxFile, even_batches, files, find
from .tokenizer import Pair, TokenizedPair, inside, lengths_of, padded, readable
from .torch_encoder import fingerprint, is_limit, positions_of, quiet, working


class CrossEncoder(Protocol):
    """A model that judges a pair of texts as a whole.

    The roles of the two texts depend on the model: premise and hypothesis for inference, source
    and summary for hallucination, either order for similarity. Texts are passed unchanged, except
    that lone surrogates are replaced by U+FFFD.
    """

    @property
    def name(self) -> str:
        """The name that the user wrote: a folder or ``org/name``, with or without a back end."""

    @property
    def about(self) -> str:
        """One line for reports: model, labels, token limit, back end."""

    @property
    def fingerprint(self) -> str:
        """A hash in 32 hex digits of weights, tokenizer, token limit, back end and precision.

        Two cross-encoders with the same fingerprint return the same probabilities.
        """

    @property
    def labels(self) -> tuple[str, ...]:
        """The names of its outputs, as the model gives them."""

    @property
    def max_tokens(self) -> int:
        """The most tokens of a pair that are read, special tokens included."""

    def score(self, pairs: Sequence[Pair]) -> Vectors:
        """Return shape (n, labels), in the order of the pairs, from 0 to 1.

        Several labels: their softmax, which sums to 1; a single label: its sigmoid. A pair that is
        too long is truncated at the ends, the longer text first.

        Raises:
            ModelFailure: The model failed, or returned NaN or infinity.
        """

    def lengths(self, pairs: Sequence[Pair]) -> NDArray[np.int32]:
        """Return shape (n,), the tokens of each pair before truncation, special tokens included."""


def open_cross_encoder(
    name: str, *, offline: bool = False, note: Note | None = None
) -> CrossEncoder:
    """Open the cross-encoder with this name.

        [torch:|onnx:]WHERE      WHERE is a folder, or org/name[@revision] on the hub

    The default back end, ``torch``, reads whatever transformers can load; ``onnx`` reads any
    ``model.onnx``.

    Args:
        note: Called with a one-line message before a download; None: standard error.

    Raises:
        UnknownName: The name has another form.
        ModelError: The model is not here and cannot be downloaded, or is not a usable
            cross-encoder.
        MissingDependency: The back end is not installed.
    """
    parsed = place_of(name)
    if parsed.folder is None and not parsed.repository:
        raise ModelError(f"{name} is an encoder for single texts. Name a cross-encoder")
    needed(parsed, "cross-encoder")
    source = location(parsed, offline=offline, note=note or to_stderr)
    if parsed.back_end == "onnx":
        return load_onnx(Path(source), name)
    return load(source, name, revision=parsed.revision, offline=offline)


@dataclass(frozen=True, slots=True)
class Scorer:
    """A cross-encoder on top of a back end: scores each distinct pair once, as probabilities.

    Attributes:
        back_end: Its name and precision, for reports.
        read: Returns the tokens of each pair.
        logits: Returns shape (pairs, labels), from the tokens.
    """

    name: str
    back_end: str
    fingerprint: str
    labels: tuple[str, ...]
    max_tokens: int
    read: Callable[[Sequence[Pair]], list[TokenizedPair]]
    logits: Callable[[Sequence[TokenizedPair]], Vectors]

    @property
    def about(self) -> str:
        noun = "label" if len(self.labels) == 1 else "labels"
        return (
            f"{self.name}: {noun} {', '.join(self.labels)}, pairs of up to {self.max_tokens} "
            f"tokens, {self.back_end}"
        )

    def score(self, pairs: Sequence[Pair]) -> Vectors:
        if not pairs:
            return np.zeros((0, len(self.labels)), np.float32)
        once, places = distinct(pairs)
        logits = self.logits(self.read(once))
        if not np.isfinite(logits).all():
            raise ModelFailure(f"{self.name} returned NaN or infinity")
        return _probabilities(logits)[places]

    def lengths(self, pairs: Sequence[Pair]) -> NDArray[np.int32]:
        once, places = distinct(pairs)
        return np.array([pair.length for pair in self.read(once)], np.int32)[places]


def _probabilities(logits: Vectors) -> Vectors:
    # float64, and forms of both functions that do not overflow for large logits of either sign.
    numbers = logits.astype(np.float64)
    if logits.shape[1] == 1:
        chances = np.exp(-np.logaddexp(0, -numbers))
    else:
        powers = np.exp(numbers - numbers.max(axis=1, keepdims=True))
        chances = powers / powers.sum(axis=1, keepdims=True)
    return np.asarray(chances, np.float32)


LOGITS = {"logits": 2}


def load_onnx(path: Path, name: str) -> Scorer:
    """Load the cross-encoder in a folder, from ``model.onnx`` or ``onnx/model.onnx``."""
    folder = CrossEncoderFolder.read(path)
    graph = find(path, "text-classification")
    file = OnnxFile(graph, LOGITS, folder.config.padding)
    labels = folder.named(file.dimensions)

    def compute_logits(pairs: Sequence[TokenizedPair]) -> Vectors:
        logits = np.empty((len(pairs), len(labels)), np.float32)

        def compute(batch: NDArray[np.intp]) -> None:
            some = [pairs[number] for number in batch]
            logits[batch] = file.run([it.ids for it in some], [it.types for it in some])

        side_by_side(compute, even_batches(lengths_of(pairs)))
        return logits

    return Scorer(
        name,
        "ONNX float32",
        folder.fingerprint(files(graph), "onnx", "float32"),
        labels,
        folder.max_tokens,
        read=lambda pairs: folder.tokenizer.pairs(pairs, folder.max_tokens),
        logits=compute_logits,
    )


SHOWN_TENSORS = 3


def load(where: str, name: str, *, revision: str, offline: bool) -> Scorer:
    """Load a folder or a model on the hub as a cross-encoder through transformers.

    Code that comes with a model is not run. For a folder, no server is contacted.
    """
    with needing("The torch back end", "torch"):
        transformers, torch = import_module("transformers"), import_module("torch")
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
    limits = (tokenizer.model_max_length, positions_of(model.config))
    known = list(filter(is_limit, limits))
    if not known:
        raise ModelError(
            f"{name}: neither its tokenizer nor its configuration states a token limit"
        )
    return torch_scorer(name, tokenizer, model.eval(), min(known))


def torch_scorer(name: str, tokenizer: Any, model: Any, max_tokens: int) -> Scorer:
    """Return a cross-encoder of transformers, on the CPU, in float32; threads may share it."""
    torch, one_at_a_time = import_module("torch"), Lock()
    names, padding = model.config.id2label, model.config.pad_token_id or 0

    def read_one(first: str, second: str) -> TokenizedPair:
        # As a batch of one: passed by itself, an empty second text would be ignored.
        settings: dict[str, Any] = {"return_token_type_ids": True, "verbose": False}
        read = tokenizer([first], [second], **settings)
        length = len(read["input_ids"][0])
        if length > max_tokens:
            settings |= {"truncation": "longest_first", "max_length": max_tokens}
            read = tokenizer([first], [second], **settings)
        ids, types = (np.array(read[name][0], np.int32) for name in ("input_ids", "token_type_ids"))
        return TokenizedPair(ids, types, length)

    def read_pairs(pairs: Sequence[Pair]) -> list[TokenizedPair]:
        with working(one_at_a_time, name):
            return [read_one(readable(first), readable(second)) for first, second in pairs]

    def compute_logits(pairs: Sequence[TokenizedPair]) -> Vectors:
        logits = np.empty((len(pairs), len(names)), np.float32)
        for batch in batches(lengths_of(pairs)):
            ids = [pairs[number].ids for number in batch]
            values = {"input_ids": padded(ids, padding), "attention_mask": inside(ids)}
            if "token_type_ids" in tokenizer.model_input_names:
                values["token_type_ids"] = padded([pairs[number].types for number in batch])
            inputs = {name: torch.from_numpy(rows).long() for name, rows in values.items()}
            with working(one_at_a_time, name), torch.inference_mode():
                logits[batch] = model(**inputs).logits.numpy()
        return logits

    return Scorer(
        name,
        "torch float32",
        _fingerprint(tokenizer, model, max_tokens),
        tuple(str(names[number]) for number in range(len(names))),
        max_tokens,
        read=read_pairs,
        logits=compute_logits,
    )


def _check_weights(name: str, model: Any) -> None:
    bad = [key for key, tensor in model.state_dict().items() if not bool(tensor.isfinite().all())]
    if bad:
        names = ", ".join(bad[:SHOWN_TENSORS])
        raise ModelError(f"{name}: expected finite weights, got NaN or infinity in {names}")


def _fingerprint(tokenizer: Any, model: Any, max_tokens: int) -> str:
    fast = getattr(tokenizer, "backend_tokenizer", None)
    reading = json.loads(fast.to_str()) if fast is not None else tokenizer.get_vocab()
    return fingerprint(model, model.config.to_dict(), reading, max_tokens)
