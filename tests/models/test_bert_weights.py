"""Weights of the BERT family: what is read, and what is refused with every fault named."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ragstone.core.errors import ModelError
from ragstone.models.numpy_bert import load
from ragstone.testing import tiny_bert
from tests.availability import import_or_skip

safetensors = import_or_skip("safetensors.numpy", reason="needs the extra local")
import_or_skip("tokenizers", reason="needs the extra local")

WORDS = "embeddings.word_embeddings.weight"
INNER = "encoder.layer.1.intermediate.dense"


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    return tiny_bert(tmp_path / "tiny")


def rewrite(folder: Path, change: Callable[[dict[str, Any]], object]) -> None:
    tensors = safetensors.load_file(folder / "model.safetensors")
    change(tensors)
    safetensors.save_file(tensors, folder / "model.safetensors")


def configure(folder: Path, **changes: object) -> None:
    config = json.loads((folder / "config.json").read_text()) | changes
    (folder / "config.json").write_text(json.dumps(config))


def faults(folder: Path) -> str:
    with pytest.raises(ModelError) as caught:
        load(folder, "tiny")
    return str(caught.value)


def test_half_precision_is_read_and_computed_in_single(tiny: Path) -> None:
    texts = ["the red bridge", "tin", ""]
    expected = load(tiny, "tiny").embed(texts)

    def halve(tensors: dict[str, Any]) -> None:
        tensors |= {name: tensor.astype(np.float16) for name, tensor in tensors.items()}

    def widen(tensors: dict[str, Any]) -> None:
        tensors |= {name: tensor.astype(np.float32) for name, tensor in tensors.items()}

    rewrite(tiny, halve)
    half = load(tiny, "tiny").embed(texts)
    assert half.dtype == np.float32
    assert 0 < np.abs(half - expected).max() < 1e-2
    rewrite(tiny, widen)
    assert np.abs(load(tiny, "tiny").embed(texts) - half).max() < 1e-6


def test_old_names_of_the_normalisation_are_understood(tiny: Path) -> None:
    expected = load(tiny, "tiny").embed(["the red bridge"])

    def rename(tensors: dict[str, Any]) -> None:
        for name in [name for name in tensors if "LayerNorm" in name]:
            old = name.replace("weight", "gamma").replace("bias", "beta")
            tensors[old] = tensors.pop(name)

    rewrite(tiny, rename)
    assert (load(tiny, "tiny").embed(["the red bridge"]) == expected).all()


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_weights_that_are_no_numbers_are_counted_by_tensor(tiny: Path, bad: float) -> None:
    def spoil(tensors: dict[str, Any]) -> None:
        tensors[WORDS][3, :5] = bad
        tensors[f"{INNER}.bias"][7] = bad

    rewrite(tiny, spoil)
    said = faults(tiny)
    assert "2 faults." in said
    assert (
        f"model.safetensors  {WORDS}  expected finite numbers, "
        "got 5 of 4,384 that are NaN or infinite"
    ) in said
    assert f"{INNER}.bias  expected finite numbers, got 1 of 128" in said


def test_missing_tensors_are_one_fault(tiny: Path) -> None:
    def lose(tensors: dict[str, Any]) -> None:
        for name in [name for name in tensors if "layer.1" in name]:
            del tensors[name]

    rewrite(tiny, lose)
    said = faults(tiny)
    assert "encoder.layer.1.attention.self.query.weight, " in said
    assert "and 13 more  expected a tensor, got none" in said
    assert "1 fault." in said


def test_every_wrong_shape_is_named(tiny: Path) -> None:
    def cut(tensors: dict[str, Any]) -> None:
        tensors[WORDS] = tensors[WORDS][:100].copy()
        tensors[f"{INNER}.weight"] = tensors[f"{INNER}.weight"].T.copy()

    rewrite(tiny, cut)
    said = faults(tiny)
    assert f"{WORDS}  expected shape (137, 32), as in config.json, got (100, 32)" in said
    assert f"{INNER}.weight  expected shape (128, 32), as in config.json, got (32, 128)" in said
    assert "2 faults." in said


def test_another_precision_is_refused(tiny: Path) -> None:
    def widen(tensors: dict[str, Any]) -> None:
        tensors[WORDS] = tensors[WORDS].astype(np.float64)

    rewrite(tiny, widen)
    assert f"{WORDS}  expected F32 or F16, got F64" in faults(tiny)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"model_type": "mpnet"}, "expected bert, roberta, xlm-roberta, distilbert, got 'mpnet'"),
        ({"model_type": None}, "model_type  expected bert"),
        ({"position_embedding_type": "relative_key"}, "expected absolute, got 'relative_key'"),
        (
            {"hidden_act": "silu"},
            "hidden_act  expected gelu, gelu_new, gelu_pytorch_tanh, relu, go",
        ),
        ({"hidden_act": ["gelu"]}, "hidden_act  expected gelu"),
        ({"num_attention_heads": 5}, "expected a divisor of hidden_size, 32, got 5"),
        ({"num_attention_heads": 0}, "num_attention_heads  expected a whole number above 0, got 0"),
        ({"hidden_size": "32"}, "hidden_size  expected a whole number above 0, got '32'"),
        ({"num_hidden_layers": None}, "num_hidden_layers  expected a whole number above 0"),
        ({"layer_norm_eps": 0}, "layer_norm_eps  expected a number between 0 and 1, got 0"),
        ({"layer_norm_eps": "1e-12"}, "layer_norm_eps  expected a number between 0 and 1"),
        ({"is_decoder": True}, "is_decoder  expected an encoder, not a decoder, got True"),
        ({"add_cross_attention": True}, "expected an encoder, not a decoder, got True"),
        ({"type_vocab_size": 0}, "type_vocab_size  expected a whole number above 0, got 0"),
    ],
)
def test_what_cannot_be_computed_is_refused(tiny: Path, changes: Any, expected: str) -> None:
    configure(tiny, **changes)
    said = faults(tiny)
    assert f"config.json  {next(iter(changes))}" in said
    assert expected in said
    assert "1 fault." in said


def test_a_smaller_model_than_the_weights_are_of_is_refused(tiny: Path) -> None:
    configure(tiny, hidden_size=64)
    assert "expected shape (137, 64), as in config.json, got (137, 32)" in faults(tiny)


@pytest.mark.parametrize("other", ["pytorch_model.bin", "model.safetensors.index.json"])
def test_weights_in_another_format_are_named(tiny: Path, other: str) -> None:
    (tiny / "model.safetensors").rename(tiny / other)
    said = faults(tiny)
    assert (
        f"model.safetensors  expected weights in the safetensors format, in one file, got {other}"
    ) in said
    assert f"torch:{tiny}" in said


def test_no_weights_and_no_architecture_are_both_said(tiny: Path) -> None:
    (tiny / "model.safetensors").unlink()
    configure(tiny, hidden_act="silu", position_embedding_type="relative_key")
    said = faults(tiny)
    assert "3 faults." in said
    assert "in one file, got no such file" in said


@pytest.mark.parametrize("content", [b"", b"junk", b"\xff" * 64, b"\x08" + b"\0" * 7 + b"{notjson"])
def test_a_broken_file_of_weights_is_refused(tiny: Path, content: bytes) -> None:
    (tiny / "model.safetensors").write_bytes(content)
    assert "model.safetensors  expected weights in the safetensors format, got " in faults(tiny)


def test_a_file_that_ends_early_is_refused(tiny: Path) -> None:
    content = (tiny / "model.safetensors").read_bytes()
    (tiny / "model.safetensors").write_bytes(content[:-100])
    assert "model.safetensors  expected weights in the safetensors format, got " in faults(tiny)
