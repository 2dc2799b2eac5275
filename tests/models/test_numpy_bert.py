"""The NumPy back end beside a plain BERT, and beside torch where it is installed."""

import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ragstone.core.errors import MissingDependency, ModelError
from ragstone.models.encoder import FolderEncoder
from ragstone.models.numpy_bert import load
from ragstone.testing import tiny_bert
from tests.availability import import_or_skip
from tests.models.closeness import furthest

import_or_skip("safetensors.numpy", reason="needs the extra local")
import_or_skip("tokenizers", reason="needs the extra local")

pytestmark = pytest.mark.torch

CLOSE = 1e-5
TEXTS = [
    "",
    "   ",
    "bridge",
    "The red bridge opened in 1932.",
    "Who built the old tower, and when was it closed?",
    "tin " * 29,
    "tin " * 30,
    "tin " * 31,
    "the keeper of the harbour " * 40,
    "🙂 not a word",
    "这座桥",
    "red \ud800 tin",
    "The red bridge opened in 1932.",
]

Plain = Callable[[Path, str], list[Any]]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_bert(tmp_path_factory.mktemp("tiny"), layers=3)


@pytest.fixture(scope="module")
def encoder(folder: Path) -> FolderEncoder:
    return load(folder, "tiny")


@pytest.mark.parametrize("text", TEXTS[:5])
def test_every_layer_is_that_of_a_plain_bert(
    folder: Path, encoder: FolderEncoder, plain_bert: Plain, text: str
) -> None:
    expected = plain_bert(folder, text)
    assert encoder.layers == len(expected) - 1 == 3
    for layer, states in enumerate(expected):
        (read,) = encoder.tokens([text], layer=layer)
        assert furthest(read.vectors, states) < CLOSE
        assert read.vectors.dtype == np.float32


@pytest.mark.parametrize("pooling", ["mean", "cls", "max"])
@pytest.mark.parametrize("normalize", [True, False])
def test_a_vector_is_pooled_from_the_last_layer(
    tmp_path: Path, plain_bert: Plain, pooling: Any, normalize: bool
) -> None:
    folder = tiny_bert(tmp_path, pooling=pooling, normalize=normalize)
    for text in TEXTS[:5]:
        states = plain_bert(folder, text)[-1]
        expected = {"mean": states.mean(axis=0), "cls": states[0], "max": states.max(axis=0)}
        vector = expected[pooling]
        if normalize:
            vector = vector / np.linalg.norm(vector)
        (got,) = load(folder, "tiny").embed([text])
        assert furthest(got, vector) < CLOSE


def test_the_builtin_model_is_a_plain_bert(minilm: Path, plain_bert: Plain) -> None:
    encoder = load(minilm, "builtin:minilm")
    texts = ["", "The red bridge opened in 1932.", "🙂 这座桥"]
    for text, vector in zip(texts, encoder.embed(texts), strict=True):
        mean = plain_bert(minilm, text)[-1].mean(axis=0)
        assert furthest(vector, mean / np.linalg.norm(mean)) < CLOSE


def test_texts_keep_their_order_and_equal_texts_their_vector(encoder: FolderEncoder) -> None:
    vectors = encoder.embed(TEXTS)
    assert vectors.shape == (len(TEXTS), encoder.dimensions)
    assert (vectors[3] == vectors[12]).all()
    for text, vector in zip(TEXTS, vectors, strict=True):
        assert furthest(encoder.embed([text])[0], vector) < 1e-6


def test_a_vector_does_not_depend_on_what_is_read_with_it(encoder: FolderEncoder) -> None:
    alone = encoder.embed(["The red bridge opened in 1932."])[0]
    draw = np.random.default_rng(0)
    words = np.array(["the", "red", "tin", "mine", "zoo", "1834"])
    for count in (1, 7, 60, 400):
        others = [" ".join(draw.choice(words, draw.integers(1, 30))) for _ in range(count)]
        together = encoder.embed([*others, "The red bridge opened in 1932."])[-1]
        assert furthest(together, alone) < 1e-6


def test_no_texts_have_no_vectors(encoder: FolderEncoder) -> None:
    assert encoder.embed([]).shape == (0, 32)
    assert encoder.tokens([]) == []
    assert encoder.lengths([]).shape == (0,)


def test_texts_without_words_have_a_vector_too(encoder: FolderEncoder) -> None:
    empty, blank = encoder.embed(["", "  \n"])
    assert np.isfinite(empty).all()
    assert (empty == blank).all()


def test_a_lone_surrogate_is_read_as_the_replacement_character(encoder: FolderEncoder) -> None:
    one, other = encoder.embed(["red \udfff tin", "red \ufffd tin"])
    assert (one == other).all()


def test_a_text_is_read_up_to_the_limit(encoder: FolderEncoder) -> None:
    full, over, far = encoder.embed(["tin " * 30, "tin " * 31, "tin " * 500])
    assert furthest(over, full) < 1e-6
    assert furthest(far, full) < 1e-6
    assert encoder.lengths(["tin " * 30, "tin " * 31, ""]).tolist() == [32, 33, 2]
    read = encoder.tokens(["tin " * 30, "tin " * 31])
    assert [text.cut for text in read] == [False, True]
    assert [len(text.ids) for text in read] == [32, 32]


def test_a_limit_of_three_tokens_leaves_one_beside_the_special_ones(encoder: FolderEncoder) -> None:
    (read,) = encoder.tokens(["tin mine"], limit=3)
    assert (len(read.ids), read.cut) == (3, True)
    with pytest.raises(ModelError, match="at least 3 tokens, got 2"):
        encoder.tokens(["tin mine"], limit=2)


def test_token_vectors_may_reach_as_far_as_the_positions(
    folder: Path, encoder: FolderEncoder, plain_bert: Plain
) -> None:
    text = "tin mine " * 40
    assert encoder.longest == 64
    for limit in (64, 512):
        (read,) = encoder.tokens([text], limit=limit)
        assert (read.vectors.shape, read.cut) == ((64, 32), True)
    (whole,) = encoder.tokens(["tin mine " * 31], limit=64)
    assert not whole.cut
    assert furthest(whole.vectors, plain_bert(folder, "tin mine " * 31)[-1]) < CLOSE


def test_a_text_of_thousands_of_tokens_is_read_a_few_queries_at_a_time(
    tmp_path: Path, plain_bert: Plain
) -> None:
    folder = tiny_bert(tmp_path, layers=1, max_tokens=2500, positions=2500)
    text = "tin mine " * 1100
    (read,) = load(folder, "long").tokens([text])
    assert furthest(read.vectors, plain_bert(folder, text)[-1]) < CLOSE


def test_tokens_give_the_embedding_where_they_are_what_it_is_made_of(
    encoder: FolderEncoder,
) -> None:
    expected = encoder.embed(TEXTS)
    for settings in ({}, {"layer": 3}, {"limit": 32}):
        for text, vector in zip(encoder.tokens(TEXTS, **settings), expected, strict=True):
            assert text.embedding is not None
            assert furthest(text.embedding, vector) < 1e-6
    for settings in ({"layer": 2}, {"limit": 31}, {"limit": 64}):
        assert all(text.embedding is None for text in encoder.tokens(TEXTS, **settings))


def test_spans_and_numbers_are_those_of_the_tokens(encoder: FolderEncoder) -> None:
    (text,) = encoder.tokens(["Red  bridge"])
    assert text.spans.tolist() == [[0, 0], [0, 3], [5, 11], [0, 0]]
    assert len(text.ids) == len(text.vectors) == 4


@pytest.mark.parametrize("layer", [-1, 4])
def test_a_layer_that_is_not_there_is_refused(encoder: FolderEncoder, layer: int) -> None:
    with pytest.raises(ModelError, match=f"tiny has layers 0 to 3, not {layer}"):
        encoder.tokens(["tin"], layer=layer)
    # Before anything is read, so before the limit too.
    with pytest.raises(ModelError, match=f"tiny has layers 0 to 3, not {layer}"):
        encoder.tokens(["tin"], layer=layer, limit=0)


def test_a_limit_below_three_is_refused(encoder: FolderEncoder) -> None:
    with pytest.raises(ModelError, match="at least 3 tokens, got 2"):
        encoder.tokens(["tin"], limit=2)


def test_it_may_be_used_from_several_threads(encoder: FolderEncoder) -> None:
    expected = encoder.embed(TEXTS)
    with ThreadPoolExecutor(4) as pool:
        for vectors in pool.map(encoder.embed, [TEXTS] * 8):
            assert furthest(vectors, expected) < 1e-6


def test_it_says_what_it_is(encoder: FolderEncoder) -> None:
    assert encoder.name == "tiny"
    assert encoder.about == "tiny: 32 dimensions, mean of up to 32 tokens, NumPy float32"
    assert (encoder.dimensions, encoder.max_tokens, encoder.longest) == (32, 32, 64)


def test_the_same_model_has_the_same_fingerprint(folder: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(folder, tmp_path / "copy"))
    assert load(copy, "copy").fingerprint == load(folder, "tiny").fingerprint
    other = tiny_bert(tmp_path / "other", layers=3, seed=1)
    assert load(other, "tiny").fingerprint != load(folder, "tiny").fingerprint


def test_the_builtin_model_is_that_of_torch(minilm: Path) -> None:
    beside_torch(minilm, TEXTS[2:5] + TEXTS[-4:])


@pytest.mark.parametrize("package", ["safetensors", "tokenizers"])
def test_a_missing_package_is_said_with_its_extra(
    folder: Path, monkeypatch: pytest.MonkeyPatch, package: str
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingDependency, match=r"pip install 'ragstone\[local\]'"):
        load(folder, "tiny")


def test_importing_it_imports_no_other_library() -> None:
    heavy = "torch", "tokenizers", "safetensors", "huggingface_hub", "onnxruntime"
    code = f"import sys, ragstone.models.numpy_bert; print(set({heavy}) & set(sys.modules))"
    said = subprocess.check_output([sys.executable, "-c", code], text=True)
    assert said.strip() == "set()"


def beside_torch(folder: Path, texts: Sequence[str] = TEXTS) -> None:
    """All that the encoder gives equals what sentence-transformers and transformers give."""
    theirs = import_or_skip("sentence_transformers", reason="needs the extra torch")
    torch = import_or_skip("torch", reason="needs the extra torch")
    model = theirs.SentenceTransformer(str(folder), device="cpu", local_files_only=True).float()
    encoder = load(folder, "ours")
    texts = [*texts, "tin " * (encoder.max_tokens - 2), "tin " * (encoder.max_tokens - 1)]
    sayable = [text.replace("\ud800", "\ufffd") for text in texts]
    expected = model.encode(sayable, show_progress_bar=False)
    assert furthest(encoder.embed(texts), expected) < CLOSE
    by_layer = [encoder.tokens(texts, layer=layer) for layer in range(encoder.layers + 1)]
    for number, text in enumerate(sayable):
        inputs = model.tokenizer(
            text, truncation=True, max_length=encoder.max_tokens, return_tensors="pt"
        )
        with torch.inference_mode():
            states = model[0].auto_model(**inputs, output_hidden_states=True).hidden_states
        for read, expected in zip(by_layer, states, strict=True):
            assert read[number].ids.tolist() == inputs["input_ids"][0].tolist()
            assert furthest(read[number].vectors, expected[0].numpy()) < CLOSE
