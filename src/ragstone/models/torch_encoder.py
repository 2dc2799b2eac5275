"""Torch encoder: any embedding model of sentence-transformers, and loading for cross-encoders."""

import json
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from hashlib import blake2b
from importlib import import_module
from logging import ERROR, getLogger
from pathlib import Path
from threading import Lock
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import NDArray

from ragstone.core.errors import ModelError, ModelFailure, needing

from .download import first_line
from .encoder import TokenVectors, Vectors, batches, check_layer, distinct, token_layer, token_limit
from .model_folder import COUNTED_FROM_PADDING, NO_LENGTH, is_count
from .tokenizer import readable

FROM_ELSEWHERE = {"_name_or_path", "transformers_version", "dtype", "torch_dtype"}


@contextmanager
def quiet() -> Iterator[None]:
    """Switch off the libraries' progress bars, warnings and telemetry while a model is loaded."""
    constants: Any = import_module("huggingface_hub.constants")
    words: Any = import_module("transformers.utils.logging")
    logger = getLogger("sentence_transformers")
    before = constants.HF_HUB_DISABLE_TELEMETRY, words.get_verbosity(), logger.level
    bars = words.is_progress_bar_enabled()
    constants.HF_HUB_DISABLE_TELEMETRY = True
    words.set_verbosity_error()
    words.disable_progress_bar()
    logger.setLevel(ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        constants.HF_HUB_DISABLE_TELEMETRY, verbosity, level = before
        words.set_verbosity(verbosity)
        logger.setLevel(level)
        if bars:
            words.enable_progress_bar()


@contextmanager
def working(one_at_a_time: Lock, name: str) -> Iterator[None]:
    """Hold the lock, and turn the library's errors into ``ModelFailure``."""
    # Tokenizing with truncation changes the tokenizer's settings, which threads share.
    with one_at_a_time:
        try:
            yield
        except (LookupError, RuntimeError, TypeError, ValueError) as error:
            raise ModelFailure(f"{name} failed: {first_line(error)}") from error


def positions_of(config: Any) -> int:
    """Return the number of tokens that the model has positions for; 0 if it does not say."""
    positions = getattr(config, "max_position_embeddings", None)
    if not is_count(positions):
        return 0
    return positions - (config.pad_token_id + 1 if config.model_type in COUNTED_FROM_PADDING else 0)


def fingerprint(
    model: Any, config: Mapping[str, Any], reading: Mapping[str, Any], *further: object
) -> str:
    """Return a hash in 32 hex digits of everything that the model's output depends on."""
    facts = (
        *("torch", "float32", *further),
        {key: value for key, value in config.items() if key not in FROM_ELSEWHERE},
        {key: value for key, value in reading.items() if key not in ("truncation", "padding")},
    )
    digest = blake2b(json.dumps(facts, default=str, sort_keys=True).encode(), digest_size=16)
    for name, tensor in sorted(model.state_dict().items()):
        digest.update(name.encode())
        digest.update(np.ascontiguousarray(tensor.numpy()).data)
    return digest.hexdigest()


def load(where: str, name: str, *, revision: str = "", offline: bool) -> "TorchEncoder":
    """Load a folder or a model on the hub as an encoder through sentence-transformers.

    Runs on the CPU in float32, whatever the precision of the files. Code that comes with a model
    is not run. For a folder, no server is contacted.
    """
    with needing("The torch back end", "torch"):
        sentence_transformers = import_module("sentence_transformers")
    local = offline or Path(where).is_dir()
    try:
        with quiet():
            model = sentence_transformers.SentenceTransformer(
                where,
                device="cpu",
                trust_remote_code=False,
                local_files_only=local,
                revision=revision or None,
            )
            return TorchEncoder(name, model.float().eval())
    except ModelError:
        raise
    except Exception as error:  # a model's loading code may raise anything
        raise ModelError(
            f"{name}: sentence-transformers cannot load it: {first_line(error)}"
        ) from error


class TorchEncoder:
    """A model of sentence-transformers; ``Encoder`` documents its methods.

    If the model has a default prompt, ``embed`` puts it before every text, ``tokens`` does not.
    Token vectors are available only from a transformer with a fast tokenizer, which reports
    spans. May be used from several threads.
    """

    def __init__(self, name: str, model: Any) -> None:
        """Take ownership of a ``SentenceTransformer`` on the CPU, in float32."""
        self.name = name
        self._model = model
        self._one_at_a_time = Lock()
        self._transformer = _transformer(model)
        config = getattr(self._transformer, "config", None)
        self.layers = int(config.num_hidden_layers) if config else 0
        positions = positions_of(config) if config else 0
        limits = [size for size in (positions, model.max_seq_length) if is_limit(size)]
        self.max_tokens: int = min(limits, default=0)
        self.longest = (positions or self.max_tokens) if self.layers else 0
        if model.max_seq_length != self.max_tokens and self.max_tokens:
            model.max_seq_length = self.max_tokens
        self.fingerprint = _fingerprint(model, self.max_tokens)
        vector = self.embed(["a"])[0]
        if not np.isfinite(vector).all():
            raise ModelError(f"{name}: expected finite vectors, got NaN or infinity: bad weights")
        self.dimensions = len(vector)
        limit = f"up to {self.max_tokens} tokens, " if self.max_tokens else ""
        self.about = f"{name}: {self.dimensions} dimensions, {limit}torch float32"

    def embed(self, texts: Sequence[str]) -> Vectors:
        once, places = distinct(texts)
        if not once:
            return np.empty((0, self.dimensions), np.float32)
        with working(self._one_at_a_time, self.name):
            vectors: Vectors = self._model.encode(
                [readable(text) for text in once], show_progress_bar=False, convert_to_numpy=True
            )
        return vectors[places]

    def tokens(
        self, texts: Sequence[str], *, layer: int | None = None, limit: int | None = None
    ) -> list[TokenVectors]:
        layer = token_layer(self, layer)
        check_layer(layer, self.layers, self.name)
        limit = token_limit(self, limit)
        once, places = distinct(texts)
        lengths = self.lengths(once)
        vectors: dict[int, TokenVectors] = {}
        for batch in batches(np.minimum(lengths, limit)):
            batch_texts = [readable(once[number]) for number in batch]
            with working(self._one_at_a_time, self.name):
                read = self._read(batch_texts, layer, limit, lengths[batch])
            vectors |= dict(zip(batch.tolist(), read, strict=True))
        if layer == self.layers and limit == self.max_tokens and self._model.default_prompt_name:
            embeddings = self.embed(once)
            vectors = {
                number: replace(text, embedding=embeddings[number])
                for number, text in vectors.items()
            }
        return [vectors[number] for number in places.tolist()]

    def lengths(self, texts: Sequence[str]) -> NDArray[np.int32]:
        if not self.layers:
            return np.zeros(len(texts), np.int32)
        once, places = distinct(texts)
        with working(self._one_at_a_time, self.name):
            read = [
                self._model.tokenizer(readable(text), truncation=False, verbose=False)
                for text in once
            ]
        lengths = [len(tokens["input_ids"]) for tokens in read]
        return np.array(lengths, np.int32)[places]

    def _read(
        self, texts: list[str], layer: int, limit: int, lengths: NDArray[np.int32]
    ) -> list[TokenVectors]:
        torch = import_module("torch")
        inputs = self._model.tokenizer(
            texts,
            padding=True,
            truncation=True,
            max_length=limit,
            return_offsets_mapping=True,
            return_tensors="pt",
        )
        spans = inputs.pop("offset_mapping").numpy()
        with torch.inference_mode():
            outputs = self._transformer(**inputs, output_hidden_states=True)
            last = layer == self.layers
            states = outputs.last_hidden_state if last else outputs.hidden_states[layer]
            embeddings = None
            if last and limit == self.max_tokens:
                features = {**inputs, "token_embeddings": states}
                for module in list(self._model)[1:]:
                    features = module(features)
                embeddings = features["sentence_embedding"].numpy()
        mask = inputs["attention_mask"].numpy().astype(bool)
        return [
            TokenVectors(
                ids=inputs["input_ids"][row].numpy()[mask[row]].astype(np.int32),
                spans=spans[row][mask[row]].astype(np.int32),
                vectors=states[row].numpy()[mask[row]],
                embedding=None if embeddings is None else embeddings[row],
                cut=bool(lengths[row] > limit),
            )
            for row in range(len(texts))
        ]


def _transformer(model: Any) -> Any:
    transformer = getattr(model[0], "auto_model", None)
    fast = getattr(getattr(model[0], "tokenizer", None), "is_fast", False)
    config = getattr(transformer, "config", None)
    return transformer if fast and is_count(getattr(config, "num_hidden_layers", None)) else None


def is_limit(size: object) -> TypeGuard[int]:
    """Return True for a limit of tokens; libraries write a huge number where there is none."""
    return is_count(size) and size <= NO_LENGTH


def _fingerprint(model: Any, max_tokens: int) -> str:
    tokenizer = getattr(getattr(model[0], "tokenizer", None), "backend_tokenizer", None)
    reading = json.loads(tokenizer.to_str()) if tokenizer is not None else {}
    config = getattr(getattr(model[0], "auto_model", None), "config", None)
    settings = {} if config is None else config.to_dict()
    prompt = model.prompts.get(model.default_prompt_name) if model.default_prompt_name else None
    return fingerprint(model, settings, reading, max_tokens, prompt, repr(model))
