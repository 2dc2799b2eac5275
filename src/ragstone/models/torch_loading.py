"""Torch loading: shared by encoders and cross-encoders that other libraries load."""

import json
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from hashlib import blake2b
from importlib import import_module
from logging import ERROR, getLogger
from typing import Any

import numpy as np

from .folder import COUNTED_FROM_PADDING, is_count

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


def first_line(error: Exception) -> str:
    """The first line of a library's error; the others are advice to that library's users."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{lines[0]} ({type(error).__name__})" if lines else type(error).__name__


def positions_of(config: Any) -> int:
    """The number of tokens that the model has positions for; 0 if it does not say."""
    positions = getattr(config, "max_position_embeddings", None)
    if not is_count(positions):
        return 0
    return positions - (config.pad_token_id + 1 if config.model_type in COUNTED_FROM_PADDING else 0)


def fingerprint(
    model: Any, config: Mapping[str, Any], reading: Mapping[str, Any], *further: object
) -> str:
    """A hash in 32 hex digits of everything that the model's output depends on.

    Args:
        model: A torch module on the CPU.
        config: Its configuration.
        reading: Its tokenizer.
        further: Anything else it depends on, printable.
    """
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
