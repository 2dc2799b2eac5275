"""Cross-encoder: reads two texts together and returns the probability of each label."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ragstone.core.errors import ModelError, ModelFailure

from .encoder import Vectors
from .fetch import to_stderr
from .names import Place, in_store, model_folder, needed, place_of
from .pairs import Pair, TokenizedPair
from .store import Note, checked


class CrossEncoder(Protocol):
    """A model that judges a pair of texts as a whole.

    The roles of the two texts depend on the model: premise and hypothesis for inference, source
    and summary for hallucination, either order for similarity. Texts are passed unchanged, except
    that lone surrogates are replaced by U+FFFD.
    """

    @property
    def name(self) -> str:
        """As a user writes it: a folder or ``org/name``, with or without a back end."""

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
        """Shape (n, labels), in the order of the pairs, from 0 to 1.

        Several labels: their softmax, which sums to 1; a single label: its sigmoid. A pair that is
        too long is truncated at the ends, the longer text first.

        Raises:
            ModelFailure: The model failed, or returned NaN or infinity.
        """

    def lengths(self, pairs: Sequence[Pair]) -> NDArray[np.int32]:
        """Shape (n,), the tokens of each pair before truncation, special tokens included."""


def open_cross_encoder(
    name: str, *, offline: bool = False, note: Note | None = None
) -> CrossEncoder:
    """Open the cross-encoder with this name.

        [numpy:|onnx:|torch:]WHERE      WHERE is a folder, or org/name[@revision] on the hub

    The default back end, ``numpy``, reads BERT, RoBERTa, XLM-RoBERTa and DistilBERT; ``onnx``
    reads any ``model.onnx``; ``torch`` reads whatever transformers can load.

    Args:
        name: In the form above.
        offline: Download nothing.
        note: Called with a one-line message before a download; None: standard error.

    Raises:
        UnknownName: The name has another form.
        ModelError: The model is not here and cannot be downloaded, or is not a usable
            cross-encoder.
        MissingDependency: The back end is not installed.
    """
    place = place_of(name)
    if place.folder is None and not place.repository:
        raise ModelError(f"{name} is an encoder for single texts. Name a cross-encoder")
    if place.back_end == "torch":
        return Scorer(name, _by_torch(place, offline=offline))
    needed(place, "cross-encoder")
    folder = model_folder(place, offline=offline, note=note or to_stderr)
    if place.back_end == "onnx":
        from . import cross_encoder_onnx

        return Scorer(name, cross_encoder_onnx.load(folder))
    from . import cross_encoder_bert

    return Scorer(name, cross_encoder_bert.load(folder))


class PairModel(Protocol):
    """What a back end provides for a model: tokens from pairs, and logits from tokens."""

    @property
    def about(self) -> str:
        """The back end and its precision."""

    @property
    def fingerprint(self) -> str:
        """See ``CrossEncoder``."""

    @property
    def labels(self) -> tuple[str, ...]:
        """See ``CrossEncoder``."""

    @property
    def max_tokens(self) -> int:
        """See ``CrossEncoder``."""

    def read(self, pairs: Sequence[Pair]) -> list[TokenizedPair]:
        """The tokens of each pair."""

    def logits(self, pairs: Sequence[TokenizedPair]) -> Vectors:
        """Shape (n, labels), any finite numbers."""


class Scorer:
    """A cross-encoder on top of a back end: scores each distinct pair once, as probabilities."""

    def __init__(self, name: str, model: PairModel) -> None:
        self._name = name
        self._model = model

    @property
    def name(self) -> str:
        return self._name

    @property
    def about(self) -> str:
        noun = "label" if len(self.labels) == 1 else "labels"
        return (
            f"{self.name}: {noun} {', '.join(self.labels)}, pairs of up to {self.max_tokens} "
            f"tokens, {self._model.about}"
        )

    @property
    def fingerprint(self) -> str:
        return self._model.fingerprint

    @property
    def labels(self) -> tuple[str, ...]:
        return self._model.labels

    @property
    def max_tokens(self) -> int:
        return self._model.max_tokens

    def score(self, pairs: Sequence[Pair]) -> Vectors:
        if not pairs:
            return np.zeros((0, len(self.labels)), np.float32)
        once, places = _distinct(pairs)
        logits = self._model.logits(self._model.read(once))
        if not np.isfinite(logits).all():
            raise ModelFailure(f"{self.name} returned NaN or infinity")
        return _probabilities(logits)[places]

    def lengths(self, pairs: Sequence[Pair]) -> NDArray[np.int32]:
        once, places = _distinct(pairs)
        return np.array([pair.length for pair in self._model.read(once)], np.int32)[places]


def _by_torch(place: Place, *, offline: bool) -> PairModel:
    """Load from the user's folder or the store; otherwise transformers gets it from the hub."""
    from . import cross_encoder_torch

    folder = place.folder
    if folder is None and (there := in_store(place)) is not None:
        folder = checked(there).folder
    where = place.repository if folder is None else str(folder)
    return cross_encoder_torch.load(where, place.name, revision=place.revision, offline=offline)


def _distinct(pairs: Sequence[Pair]) -> tuple[list[Pair], NDArray[np.intp]]:
    numbers: dict[Pair, int] = {}
    places = [numbers.setdefault(pair, len(numbers)) for pair in pairs]
    return list(numbers), np.array(places, np.intp)


def _probabilities(logits: Vectors) -> Vectors:
    """The softmax of several labels, the sigmoid of one."""
    # float64, and forms of both functions that do not overflow for large logits of either sign.
    numbers = logits.astype(np.float64)
    if logits.shape[1] == 1:
        chances = np.exp(-np.logaddexp(0, -numbers))
    else:
        powers = np.exp(numbers - numbers.max(axis=1, keepdims=True))
        chances = powers / powers.sum(axis=1, keepdims=True)
    return np.asarray(chances, np.float32)
