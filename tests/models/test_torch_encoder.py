"""The torch back end: any model of sentence-transformers, with the vectors that it gives."""

import json
import shutil
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ragstone.core.errors import MissingDependency, ModelError
from ragstone.models import numpy_bert as bert
from ragstone.models.torch_encoder import TorchEncoder, load
from ragstone.testing import tiny_bert
from tests.availability import Lazily, import_or_skip
from tests.models.closeness import furthest

theirs = Lazily("sentence_transformers")
modules = Lazily("sentence_transformers.sentence_transformer.modules")

pytestmark = pytest.mark.torch

CLOSE = 1e-5
TEXTS = ["", "  ", "bridge", "The red bridge, opened in 1932.", "tin " * 90, "🙂 桥", "a \ud800 b"]


@pytest.fixture(scope="module", autouse=True)
def installed() -> None:
    import_or_skip("sentence_transformers", reason="needs the extra torch")
    import_or_skip("tokenizers", reason="needs the extra local")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_bert(tmp_path_factory.mktemp("tiny"))


@pytest.fixture(scope="module")
def encoder(folder: Path) -> TorchEncoder:
    return load(str(folder), "torch:tiny", offline=True)


def test_its_vectors_are_those_of_sentence_transformers(
    folder: Path, encoder: TorchEncoder
) -> None:
    model = theirs.SentenceTransformer(str(folder), device="cpu", local_files_only=True)
    texts = [text.replace("\ud800", "\ufffd") for text in TEXTS]
    expected = model.encode(texts, show_progress_bar=False)
    vectors = encoder.embed([*TEXTS, TEXTS[0]])
    assert vectors.dtype == np.float32
    assert furthest(vectors[:-1], expected) < CLOSE
    assert (vectors[-1] == vectors[0]).all()


@pytest.mark.parametrize("layer", [None, 0, 1, 2])
@pytest.mark.parametrize("limit", [None, 5, 64, 999])
def test_its_tokens_are_those_of_the_numpy_back_end(
    folder: Path, encoder: TorchEncoder, layer: int | None, limit: int | None
) -> None:
    expected = bert.load(folder, "tiny").tokens(TEXTS, layer=layer, limit=limit)
    read = encoder.tokens(TEXTS, layer=layer, limit=limit)
    for ours, same in zip(read, expected, strict=True):
        assert ours.ids.tolist() == same.ids.tolist()
        assert ours.spans.tolist() == same.spans.tolist()
        assert ours.cut == same.cut
        assert furthest(ours.vectors, same.vectors) < CLOSE
        assert (ours.embedding is None) == (same.embedding is None)
        if ours.embedding is not None:
            assert furthest(ours.embedding, same.embedding) < CLOSE


def test_it_says_what_it_is(folder: Path, encoder: TorchEncoder) -> None:
    assert encoder.about == "torch:tiny: 32 dimensions, up to 32 tokens, torch float32"
    assert (encoder.dimensions, encoder.max_tokens) == (32, 32)
    assert (encoder.longest, encoder.layers) == (64, 2)
    assert encoder.lengths([*TEXTS[:3], "tin " * 90]).tolist() == [2, 2, 3, 92]
    assert encoder.fingerprint != bert.load(folder, "tiny").fingerprint


def test_no_texts_have_no_vectors(encoder: TorchEncoder) -> None:
    assert encoder.embed([]).shape == (0, 32)
    assert encoder.tokens([]) == []
    assert encoder.lengths([]).shape == (0,)


def test_a_layer_or_limit_that_is_not_there_is_refused(encoder: TorchEncoder) -> None:
    with pytest.raises(ModelError, match="has layers 0 to 2, not 3"):
        encoder.tokens(["tin"], layer=3)
    with pytest.raises(ModelError, match="at least 3 tokens, got 2"):
        encoder.tokens(["tin"], limit=2)


def test_the_fingerprint_is_that_of_weights_and_settings(
    folder: Path, encoder: TorchEncoder, tmp_path: Path
) -> None:
    copy = Path(shutil.copytree(folder, tmp_path / "copy"))
    assert load(str(copy), "torch:copy", offline=True).fingerprint == encoder.fingerprint
    (copy / "sentence_bert_config.json").write_text('{"max_seq_length": 31}')
    shorter = load(str(copy), "torch:copy", offline=True)
    other = load(str(tiny_bert(tmp_path / "other", seed=1)), "torch:other", offline=True)
    assert len({encoder.fingerprint, shorter.fingerprint, other.fingerprint}) == 3


def test_a_prompt_before_every_text_is_set_as_they_set_it(folder: Path, tmp_path: Path) -> None:
    prompting = Path(shutil.copytree(folder, tmp_path / "prompting"))
    (prompting / "config_sentence_transformers.json").write_text(
        json.dumps({"prompts": {"query": "what is "}, "default_prompt_name": "query"})
    )
    encoder = load(str(prompting), "torch:prompting", offline=True)
    plain = load(str(folder), "torch:tiny", offline=True)
    expected = plain.embed(["what is tin", "what is "])
    assert furthest(encoder.embed(["tin", ""]), expected) < CLOSE
    read = encoder.tokens(["tin", ""])
    for text, vector in zip(read, expected, strict=True):
        assert text.embedding is not None
        assert furthest(text.embedding, vector) < CLOSE
    assert [len(text.ids) for text in read] == [3, 2]
    assert encoder.fingerprint != plain.fingerprint


def test_models_of_other_modules_are_read(folder: Path, tmp_path: Path) -> None:
    model = theirs.SentenceTransformer(str(folder), device="cpu", local_files_only=True)
    dense = modules.Dense(in_features=32, out_features=8)
    wide = theirs.SentenceTransformer(modules=[*list(model)[:2], dense], device="cpu")
    wide.save(str(tmp_path / "dense"), create_model_card=False)
    encoder = load(str(tmp_path / "dense"), "torch:dense", offline=True)
    expected = wide.encode(["the red bridge"], show_progress_bar=False)
    assert encoder.dimensions == 8
    assert furthest(encoder.embed(["the red bridge"]), expected) < CLOSE
    (read,) = encoder.tokens(["the red bridge"])
    assert read.embedding is not None
    assert furthest(read.embedding, expected[0]) < CLOSE


def test_a_model_without_a_transformer_gives_no_tokens(folder: Path, tmp_path: Path) -> None:
    tokenizer = import_or_skip("tokenizers").Tokenizer.from_file(str(folder / "tokenizer.json"))
    static = modules.StaticEmbedding(tokenizer, embedding_dim=8)
    model = theirs.SentenceTransformer(modules=[static], device="cpu")
    model.save(str(tmp_path / "static"), create_model_card=False)
    encoder = load(str(tmp_path / "static"), "torch:static", offline=True)
    assert (encoder.layers, encoder.longest, encoder.max_tokens) == (0, 0, 0)
    assert encoder.about == "torch:static: 8 dimensions, torch float32"
    assert encoder.lengths(["a", "b"]).tolist() == [0, 0]
    with pytest.raises(ModelError, match="gives one vector per text and no token vectors"):
        encoder.tokens(["a"])


@pytest.mark.parametrize("where", ["none/of-that-name", "/no/such/folder"])
def test_a_model_that_is_not_there_is_one_line(where: str) -> None:
    with pytest.raises(ModelError) as caught:
        load(where, f"torch:{where}", offline=True)
    said = str(caught.value)
    assert said.startswith(f"torch:{where}: sentence-transformers cannot load it: ")
    assert len(said.splitlines()) == 1


def test_a_folder_that_is_no_model_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"model_type": "granite-of-cornwall"}')
    with pytest.raises(
        ModelError, match=r"^torch:folder: sentence-transformers cannot load it: .*$"
    ):
        load(str(tmp_path), "torch:folder", offline=False)


def test_weights_that_are_no_numbers_are_refused(folder: Path, tmp_path: Path) -> None:
    safetensors = import_or_skip("safetensors.numpy", reason="needs the extra local")
    spoilt = Path(shutil.copytree(folder, tmp_path / "spoilt"))
    tensors = safetensors.load_file(spoilt / "model.safetensors")
    tensors["encoder.layer.0.output.dense.bias"][0] = np.nan
    safetensors.save_file(tensors, spoilt / "model.safetensors", {"format": "pt"})
    with pytest.raises(ModelError, match="expected finite vectors, got NaN or infinity"):
        load(str(spoilt), "torch:spoilt", offline=True)


def test_the_missing_package_is_said_with_its_extra(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(MissingDependency, match=r"pip install 'ragstone\[torch\]'"):
        load(str(folder), "torch:tiny", offline=True)


def test_it_may_be_used_from_several_threads(encoder: TorchEncoder) -> None:
    expected = encoder.embed(TEXTS)

    def both(_: int) -> Any:
        encoder.tokens(TEXTS, limit=8)
        return encoder.embed(TEXTS)

    with ThreadPoolExecutor(4) as pool:
        for vectors in pool.map(both, range(8)):
            assert furthest(vectors, expected) < 1e-6


def test_loading_and_reading_say_nothing(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    encoder = load(str(folder), "torch:tiny", offline=True)
    encoder.embed(["tin " * 99])
    encoder.tokens(["tin " * 99])
    encoder.lengths(["tin " * 999])
    assert capfd.readouterr() == ("", "")
