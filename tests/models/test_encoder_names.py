"""Encoder names: what each form means, and that none of them ever means another model."""

import json
import subprocess
import sys
import tomllib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from ragstone.core.errors import MissingDependency, ModelError, UnknownName
from ragstone.models import available, open_encoder, pull, stored
from ragstone.models.encoder_names import NEEDS, Place, in_store, place_of
from ragstone.models.model_store import Origin, find, keep, models_folder
from ragstone.testing.fake_models import tiny_bert
from tests.availability import import_or_skip
from tests.forked import Forked
from tests.project import ROOT

pytestmark = pytest.mark.torch

TEXTS = ["the old bridge opened in 1932", "a copper mine"]


@pytest.fixture(autouse=True)
def nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache, an empty working folder, no hub, no key."""
    monkeypatch.setenv("RAGSTONE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tiny_bert(tmp_path / "tiny")


@pytest.fixture
def with_torch() -> None:
    import_or_skip("sentence_transformers", reason="needs the extra torch")


@pytest.fixture
def notes() -> list[str]:
    return []


def files_of(folder: Path) -> list[str]:
    return [file.relative_to(folder).as_posix() for file in folder.rglob("*") if file.is_file()]


def put(name: str, place: str, commit: str = "a" * 40, weights: str = "safetensors") -> None:
    """A tiny model in the store."""
    folder = tiny_bert(models_folder() / place)
    keep(place, Origin(name, "a server", "MIT", "main", commit, weights), files_of(folder))


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("builtin:minilm", Place("builtin:minilm", "numpy")),
        ("all-MiniLM-L6-v2", Place("builtin:minilm", "numpy")),
        ("torch:builtin:minilm", Place("torch:builtin:minilm", "torch")),
        ("org/name", Place("org/name", "torch", repository="org/name")),
        ("torch:org/name", Place("torch:org/name", "torch", repository="org/name")),
        ("org/na.me_1", Place("org/na.me_1", "torch", repository="org/na.me_1")),
        ("org/name@v2", Place("org/name@v2", "torch", repository="org/name", revision="v2")),
        ("there", Place("there", "torch", folder=Path("there"))),
        ("./there", Place("./there", "torch", folder=Path("there"))),
        ("onnx:there/in", Place("onnx:there/in", "onnx", folder=Path("there/in"))),
        ("there/in", Place("there/in", "torch", folder=Path("there/in"))),
        ("there/out", Place("there/out", "torch", repository="there/out")),
    ],
)
def test_a_name_means_one_thing(name: str, place: Place, nowhere: Path) -> None:
    (nowhere / "there" / "in").mkdir(parents=True)
    assert place_of(name) == place


@pytest.mark.parametrize("where", ["there", "org/name", "org/name@v2"])
def test_numpy_runs_no_other_model_and_says_what_does(where: str) -> None:
    with pytest.raises(ModelError, match=r"prefix numpy: .*\[torch\].*onnx:.*\[onnx\]"):
        open_encoder(f"numpy:{where}")
    assert place_of("numpy:builtin:minilm") == Place("numpy:builtin:minilm", "numpy")


@pytest.mark.parametrize(("name", "extra"), [("org/name", "torch"), ("onnx:org/name", "onnx")])
def test_a_missing_package_is_told_with_its_extra(
    name: str, extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for package in ("torch", "onnxruntime"):
        monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingDependency, match=rf"The encoder {name} needs .*\[{extra}\]"):
        open_encoder(name)


def test_a_folder_may_be_named_from_home(nowhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(nowhere))
    (nowhere / "model").mkdir()
    assert place_of("~/model").folder == nowhere / "model"


@pytest.mark.parametrize(
    "name",
    ["", "minilm", "builtin:", "builtin:other", "numpy:", "torch:openai:m", "a b", "numpi:x"],
)
def test_what_is_no_name_gets_the_forms_told(name: str) -> None:
    with pytest.raises(UnknownName, match="org/name, openai:MODEL, http://HOST/v1#MODEL"):
        open_encoder(name)
    assert not available(name)


def test_a_near_miss_is_guessed() -> None:
    with pytest.raises(UnknownName, match="Did you mean builtin:minilm"):
        open_encoder("builtin:minilm6")


@pytest.mark.parametrize("name", ["./none", "~/none/at/all", "/none/at/all", "a/b/c", "a\\b"])
def test_a_folder_that_is_not_there_is_said_to_be_none(name: str) -> None:
    with pytest.raises(ModelError, match="There is no folder"):
        open_encoder(name)
    assert not available(name)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("./" + "a" * 5000, "File name too long"),
        ("~nouser/x", "Could not determine home directory."),
    ],
)
def test_why_a_folder_cannot_be_looked_up_is_told_in_few_words(name: str, reason: str) -> None:
    with pytest.raises(ModelError) as raised:
        place_of(name)
    assert str(raised.value) == f"Cannot look up the folder {name[:80]!r}: {reason}"


def test_a_back_end_needs_the_packages_of_its_extra() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    extras = project["project"]["optional-dependencies"]
    assert {back_end: extra for back_end, (extra, _) in NEEDS.items()} == {
        "numpy": "local", "onnx": "onnx", "torch": "torch",
    }  # fmt: skip
    for extra, packages in NEEDS.values():
        named = {one.partition(">")[0].replace("-", "_") for one in extras[extra]}
        assert set(packages) == named - {"huggingface_hub"}, "which fetches models alone"


@pytest.mark.parametrize("name", ["~nouser/x", "./" + "a" * 5000, "onnx:./" + "a" * 5000])
def test_a_folder_that_cannot_be_looked_for_is_one_line(name: str) -> None:
    with pytest.raises(ModelError, match=r"Cannot look up the folder|There is no folder") as caught:
        open_encoder(name)
    assert "\n" not in str(caught.value)
    assert not available(name)


def test_a_file_is_no_folder(folder: Path) -> None:
    with pytest.raises(ModelError, match=r"is a file\. Name its folder"):
        open_encoder(str(folder / "model.safetensors"))


@pytest.mark.usefixtures("with_torch")
def test_a_folder_is_opened(folder: Path) -> None:
    assert available(str(folder))
    encoder = open_encoder(str(folder), offline=True)
    assert encoder.name == str(folder)
    vectors = encoder.embed(TEXTS)
    assert vectors.shape == (2, encoder.dimensions)
    np.testing.assert_allclose((vectors**2).sum(axis=1), 1, rtol=1e-5)


@pytest.mark.usefixtures("with_torch")
def test_a_model_is_loaded_once(folder: Path) -> None:
    assert open_encoder(str(folder)) is open_encoder(str(folder), offline=True)


@pytest.mark.usefixtures("with_torch")
def test_a_model_saved_anew_is_loaded_anew(folder: Path) -> None:
    first = open_encoder(str(folder))
    tiny_bert(folder, seed=1)
    second = open_encoder(str(folder))
    assert first.fingerprint != second.fingerprint
    assert first.embed(TEXTS).tolist() != second.embed(TEXTS).tolist()


def test_embeddings_are_kept_for_the_next_process() -> None:
    put("builtin:minilm", "minilm")
    expected = open_encoder("builtin:minilm").embed(TEXTS)
    script = """
import sys, json
from ragstone.models import open_encoder
encoder = open_encoder('builtin:minilm')
def none(texts):
    raise AssertionError(texts)
encoder.uncached.embed = none
print(json.dumps(encoder.embed(json.loads(sys.argv[1])).tolist()))
"""
    printed, _ = Forked(script, json.dumps(TEXTS), cwd=Path.cwd()).communicate()
    assert json.loads(printed) == expected.tolist()


@pytest.mark.usefixtures("with_torch")
def test_a_folder_that_is_no_model_is_no_other_model(nowhere: Path) -> None:
    (nowhere / "org" / "name").mkdir(parents=True)
    put("org/name", "org--name@1")
    with pytest.raises(ModelError, match="org/name: sentence-transformers cannot load it"):
        open_encoder("org/name")


@pytest.mark.usefixtures("with_torch")
def test_a_folder_with_a_graph_alone_is_named_to_onnx(folder: Path) -> None:
    (folder / "model.safetensors").rename(folder / "model.onnx")
    with pytest.raises(ModelError, match=f"use the name onnx:{folder}"):
        open_encoder(str(folder))


@pytest.mark.usefixtures("with_torch")
def test_a_hub_model_in_the_store_is_opened_without_a_network() -> None:
    assert not available("org/name")
    put("org/name", "org--name@1")
    assert available("org/name")
    assert open_encoder("org/name").name == "org/name"
    assert open_encoder("org/name@aaaaaaa", offline=True).embed(TEXTS).shape[0] == 2
    assert not available("org/name@bbbbbbb")
    assert not available("org/other")


def test_onnx_takes_a_graph_and_torch_takes_weights() -> None:
    put("org/name", "org--name@1")
    place = place_of("onnx:org/name")
    assert in_store(place) is None
    put("org/name", "org--name@1+onnx", weights="onnx")
    there = in_store(place)
    assert there is not None
    assert there.origin.weights == "onnx"
    there = in_store(replace(place, back_end="torch"))
    assert there is not None
    assert there.origin.weights == "safetensors"


def test_the_builtin_model_has_no_onnx_file_and_says_where_one_is() -> None:
    with pytest.raises(ModelError, match="onnx:sentence-transformers/all-MiniLM-L6-v2"):
        open_encoder("onnx:builtin:minilm")
    assert not available("onnx:builtin:minilm")


@pytest.mark.usefixtures("with_torch")
@pytest.mark.parametrize("name", ["builtin:minilm", "org/name", "org/name@main"])
def test_offline_fetches_nothing_and_says_what_to_do(name: str, notes: list[str]) -> None:
    with pytest.raises(ModelError) as caught:
        open_encoder(name, offline=True, note=notes.append)
    assert "offline=True forbids downloads" in str(caught.value)
    assert f"ragstone models pull {name}" in str(caught.value)
    assert notes == []
    assert not available(name)


def test_without_a_network_a_hub_name_is_an_error_and_no_other_model(notes: list[str]) -> None:
    import_or_skip("onnxruntime", reason="needs the extra onnx")
    with pytest.raises(ModelError, match="org/name could not be looked up at http://127"):
        open_encoder("onnx:org/name", note=notes.append)


def test_a_damaged_model_is_refused_with_what_to_do() -> None:
    put("builtin:minilm", "minilm")
    assert available("builtin:minilm")
    model = find("builtin:minilm")
    assert model is not None
    (model.folder / "tokenizer.json").write_text("{}")
    assert not available("builtin:minilm")
    with pytest.raises(ModelError, match="ragstone models pull builtin:minilm"):
        open_encoder("builtin:minilm")


@pytest.mark.usefixtures("minilm_by_name")
def test_the_builtin_model_is_opened_by_its_name() -> None:
    assert available("builtin:minilm")
    encoder = open_encoder("builtin:minilm", offline=True)
    assert (encoder.dimensions, encoder.max_tokens, encoder.layers) == (384, 256, 6)
    near, far = (
        encoder.embed(["How old is the bridge?", "The bridge is 90 years old.", "Tea."])[[1, 2]]
        @ encoder.embed(["How old is the bridge?"])[0]
    )
    assert near > 0.5 > far


@pytest.mark.parametrize(
    ("name", "there"),
    [
        ("http://localhost:1#m", True),
        ("https://other.org/v1#m", True),
        ("openai:m", False),
        ("http://host:99999#m", False),
    ],
)
def test_a_server_is_there_where_its_name_is_whole_and_its_key_is_set(
    name: str, there: bool
) -> None:
    assert available(name) == there


def test_offline_asks_no_server_elsewhere() -> None:
    with pytest.raises(ModelError, match=r"send texts to other\.org, which offline=True forbids"):
        open_encoder("https://other.org/v1#m", offline=True)
    assert open_encoder("http://localhost:1#m", offline=True).name == "http://localhost:1#m"


@pytest.mark.parametrize("name", ["openai:m", "http://localhost:1#m", "."])
def test_only_models_of_the_hub_are_pulled(name: str) -> None:
    with pytest.raises(ModelError, match="there is nothing to download"):
        pull(name)
    assert stored() == []


def test_importing_the_room_imports_nothing_heavy() -> None:
    heavy = ["aiohttp", "huggingface_hub", "tokenizers", "safetensors", "onnxruntime", "torch"]
    script = f"import sys, ragstone.models; print([one for one in {heavy} if one in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
