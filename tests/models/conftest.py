"""Encoders and a plain BERT to hold them against, for the tests of the model room."""

import json
from collections.abc import Callable
from math import erf
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

States = NDArray[np.float64]


@pytest.fixture(scope="session")
def plain_bert() -> Callable[[Path, str], list[States]]:
    """BERT as its paper describes it, one text at a time, in float64: the states of each layer."""
    return _plain_bert


def _plain_bert(folder: Path, text: str) -> list[States]:
    from safetensors.numpy import load_file
    from tokenizers import Tokenizer

    config = json.loads((folder / "config.json").read_text())
    weights: dict[str, Any] = {
        name: tensor.astype(np.float64)
        for name, tensor in load_file(folder / "model.safetensors").items()
    }
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    ids = tokenizer.encode(text).ids

    def norm(x: States, name: str) -> States:
        centred = x - x.mean(axis=1, keepdims=True)
        spread = np.sqrt((centred**2).mean(axis=1, keepdims=True) + config["layer_norm_eps"])
        return np.asarray(centred / spread * weights[f"{name}.weight"] + weights[f"{name}.bias"])

    def linear(x: States, name: str) -> States:
        return np.asarray(x @ weights[f"{name}.weight"].T + weights[f"{name}.bias"])

    gelu = np.vectorize(lambda x: x * (1 + erf(x / 2**0.5)) / 2)
    width = config["hidden_size"] // config["num_attention_heads"]
    x = weights["embeddings.word_embeddings.weight"][ids]
    x = x + weights["embeddings.position_embeddings.weight"][: len(ids)]
    x = norm(x + weights["embeddings.token_type_embeddings.weight"][0], "embeddings.LayerNorm")
    states = [x]
    for layer in range(config["num_hidden_layers"]):
        at = f"encoder.layer.{layer}"
        query, key, value = (
            linear(x, f"{at}.attention.self.{part}") for part in ("query", "key", "value")
        )
        heads = []
        for head in range(config["num_attention_heads"]):
            part = slice(head * width, (head + 1) * width)
            odds = np.exp(query[:, part] @ key[:, part].T / width**0.5)
            heads.append(odds / odds.sum(axis=1, keepdims=True) @ value[:, part])
        joined = linear(np.hstack(heads), f"{at}.attention.output.dense")
        x = norm(x + joined, f"{at}.attention.output.LayerNorm")
        inner = gelu(linear(x, f"{at}.intermediate.dense"))
        x = norm(x + linear(inner, f"{at}.output.dense"), f"{at}.output.LayerNorm")
        states.append(x)
    return states
