"""The store: a model is pinned with the hash of every file, and damage is seen."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from ragstone.core.errors import ModelError
from ragstone.core.files import cache_folder
from ragstone.models.model_store import (
    Origin,
    Stored,
    checked,
    damage,
    find,
    keep,
    models_folder,
    stored,
    writing,
)

ORIGIN = Origin("org/name", "a server", "MIT", "main", "a" * 40, "safetensors")
PLACE = f"org--name@{ORIGIN.commit}"
FILES = {"1_Pooling/config.json": b"{}", "model.safetensors": b"weights"}


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("RAGSTONE_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_models_are_listed_by_name() -> None:
    others = [put(name, replace(ORIGIN, name=name)) for name in ("b", "c", "a")]
    assert stored() == sorted(others, key=lambda one: one.origin.name)


def put(place: str = PLACE, origin: Origin = ORIGIN, folder: Path | None = None) -> Stored:
    """A model whose files are in a folder, or beside its manifest."""
    for path, content in FILES.items():
        file = (folder or models_folder() / place) / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
    return keep(place, origin, reversed(FILES), folder)


@pytest.mark.parametrize("elsewhere", [True, False])
def test_a_stored_model_is_found_by_its_name(elsewhere: bool, tmp_path: Path) -> None:
    model = put(folder=tmp_path / "snapshot" if elsewhere else None)
    assert model.folder == (tmp_path / "snapshot" if elsewhere else models_folder() / PLACE)
    assert find("org/name") == model
    assert stored() == [model]
    assert find("org/other") is None
    assert find("org/name", weights="onnx") is None
    assert model.size == 9


def test_a_manifest_has_size_and_sha256_of_every_file() -> None:
    files = put().files
    assert list(files) == ["1_Pooling/config.json", "model.safetensors"]
    assert files["1_Pooling/config.json"].size == 2
    # printf '{}' | sha256sum
    assert files["1_Pooling/config.json"].sha256 == (
        "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"
    )


def test_a_model_whose_files_were_deleted_is_not_there(tmp_path: Path) -> None:
    put(folder=tmp_path / "snapshot")
    shutil.rmtree(tmp_path / "snapshot")
    assert stored() == []
    assert find("org/name") is None


def test_a_full_disk_is_said_in_words() -> None:
    with (
        pytest.raises(ModelError, match=r"No space left .*\nFree some space .* RAGSTONE_CACHE"),
        writing(),
    ):
        raise OSError(28, "No space left on device")


def test_a_model_put_again_takes_the_place_of_the_first(tmp_path: Path) -> None:
    first = put(folder=tmp_path / "first")
    again = put(folder=tmp_path / "again")
    assert stored() == [again] != [first]
    assert [one.name for one in models_folder().rglob("*")] == [PLACE, "manifest.json"]


def test_of_two_commits_the_one_fetched_last_is_found() -> None:
    first = put()
    second = put(f"org--name@{'b' * 40}", replace(ORIGIN, commit="b" * 40, revision="v2"))
    assert find("org/name") == second
    assert find("org/name", revision="a" * 40) == first
    assert find("org/name", revision="AAAAAAA") == first
    assert find("org/name", revision="main") == first
    assert find("org/name", revision="v2") == second
    assert find("org/name", revision="aaaaaa") is None, "six digits are too few for a commit"
    assert find("org/name", revision="v3") is None


@pytest.mark.parametrize("file", ["model.safetensors", "1_Pooling/config.json"])
def test_a_missing_file_is_seen_when_the_model_is_opened(file: str) -> None:
    model = put()
    assert checked(model) == model
    (model.folder / file).unlink()
    with pytest.raises(ModelError, match=r"got no such file.\n.*ragstone models pull org/name"):
        checked(model)
    assert len(damage(model)) == 1


def test_a_damaged_graph_is_fetched_again_as_a_graph() -> None:
    model = put(f"{PLACE}+onnx", replace(ORIGIN, weights="onnx"))
    (model.folder / "model.safetensors").unlink()
    with pytest.raises(ModelError, match=r"ragstone models pull onnx:org/name$"):
        checked(model)


def test_a_cut_file_is_seen_when_the_model_is_opened() -> None:
    model = put()
    (model.folder / "model.safetensors").write_bytes(b"wei")
    with pytest.raises(ModelError, match="expected 7 bytes, got 3"):
        checked(model)


def test_a_changed_byte_is_seen_when_the_hashes_are_looked_at() -> None:
    model = put()
    (model.folder / "model.safetensors").write_bytes(b"weighty")
    assert checked(model) == model
    (fault,) = damage(model)
    assert fault.startswith("model.safetensors: expected 7 bytes with SHA-256")


@pytest.mark.parametrize(
    "manifest", ["", "[]", '{"version": 2}', '{"version": 1, "files": []}', "[" * 99999, "\x00"]
)
def test_a_folder_without_a_manifest_of_ours_is_no_model(manifest: str) -> None:
    model = put()
    (model.folder / "manifest.json").write_text(manifest)
    assert stored() == []
    assert put().folder == model.folder, "and is replaced"


def test_a_manifest_that_names_no_folder_has_its_files_beside_it() -> None:
    model = put()
    manifest = model.folder / "manifest.json"
    told = json.loads(manifest.read_text())
    del told["folder"]
    manifest.write_text(json.dumps(told))
    assert stored() == [model], "as the first version wrote it"


def test_the_cache_is_where_the_system_keeps_caches(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("RAGSTONE_CACHE", "~/own")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache_folder() == tmp_path / "own"
    monkeypatch.delenv("RAGSTONE_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache_folder() == tmp_path / "xdg" / "ragstone"
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert cache_folder().is_relative_to(tmp_path)
