"""Tiny models: the folders of ``ragstone.testing`` are what other libraries load too."""

from pathlib import Path

import numpy as np
import pytest

from ragstone.models.numpy_bert import load
from ragstone.testing import tiny_bert
from tests.availability import import_or_skip

import_or_skip("safetensors", reason="needs the extra local")
import_or_skip("tokenizers", reason="needs the extra local")

pytestmark = pytest.mark.torch


def test_the_same_seed_gives_the_same_files(tmp_path: Path) -> None:
    one, same = tiny_bert(tmp_path / "one"), tiny_bert(tmp_path / "same")
    files = sorted(path.relative_to(one) for path in one.rglob("*") if path.is_file())
    assert len(files) == 7
    assert all((one / path).read_bytes() == (same / path).read_bytes() for path in files)
    other = tiny_bert(tmp_path / "other", seed=1) / "model.safetensors"
    assert other.read_bytes() != (one / "model.safetensors").read_bytes()


def test_other_words_give_clearly_other_vectors(tmp_path: Path) -> None:
    encoder = load(tiny_bert(tmp_path), "tiny")
    vectors = encoder.embed(["the red bridge opened", "the red bridge closed", "tin and copper"])
    near, far = vectors[0] @ vectors[1], vectors[0] @ vectors[2]
    assert far < near < 0.99


def test_its_sizes_are_those_asked_for(tmp_path: Path) -> None:
    folder = tiny_bert(
        tmp_path, words=["one"], hidden=8, layers=1, heads=2, max_tokens=5, positions=9
    )
    encoder = load(folder, "tiny")
    assert (encoder.dimensions, encoder.layers) == (8, 1)
    assert (encoder.max_tokens, encoder.longest) == (5, 9)
    assert encoder.lengths(["one", "two"]).tolist() == [3, 5]


def test_with_a_head_it_is_a_classifier(tmp_path: Path) -> None:
    transformers = import_or_skip("transformers", reason="needs the extra torch")
    folder = tiny_bert(tmp_path, head=3, id2label={0: "no", 1: "yes", 2: "perhaps"})
    model = transformers.AutoModelForSequenceClassification.from_pretrained(folder)
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    inputs = tokenizer(["the bridge"], ["opened"], return_tensors="pt")
    assert inputs["token_type_ids"][0].tolist() == [0, 0, 0, 0, 1, 1]
    logits = model(**inputs).logits.detach().numpy()
    assert logits.shape == (1, 3)
    assert np.isfinite(logits).all()
    assert model.config.id2label == {0: "no", 1: "yes", 2: "perhaps"}
    assert not (folder / "modules.json").exists()
