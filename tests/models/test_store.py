"""The store: a model is there whole or not at all, once, and damage is seen."""

import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from ragstone.errors import ModelError
from ragstone.models.store import (
    Origin,
    Stored,
    cache_folder,
    checked,
    damage,
    find,
    install,
    models_folder,
    stored,
)

ORIGIN = Origin("org/name", "a server", "MIT", "main", "a" * 40, "safetensors")
PLACE = f"org--name@{ORIGIN.commit}"


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("RAGSTONE_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def fill(folder: Path) -> tuple[str, Origin]:
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling" / "config.json").write_bytes(b"{}")
    (folder / "model.safetensors").write_bytes(b"weights")
    return PLACE, ORIGIN


def put(
    fill: Callable[[Path], tuple[str, Origin]] = fill, notes: list[str] | None = None
) -> Stored:
    note = print if notes is None else notes.append
    return install("org--name", fill, there=lambda: find("org/name"), note=note)


def leftovers() -> list[str]:
    return [one.name for one in models_folder().iterdir() if one.name.endswith(".partial")]


def test_a_stored_model_is_found_by_its_name() -> None:
    model = put()
    assert model.folder == models_folder() / PLACE
    assert (model.folder / "model.safetensors").read_bytes() == b"weights"
    assert find("org/name") == model
    assert stored() == [model]
    assert find("org/other") is None
    assert find("org/name", weights="onnx") is None
    assert leftovers() == []


def test_a_manifest_has_size_and_sha256_of_every_file() -> None:
    files = put().files
    assert set(files) == {"1_Pooling/config.json", "model.safetensors"}
    assert files["1_Pooling/config.json"].size == 2
    # printf '{}' | sha256sum
    assert files["1_Pooling/config.json"].sha256 == (
        "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"
    )


def test_what_is_there_is_not_fetched_again() -> None:
    def never(folder: Path) -> tuple[str, Origin]:
        raise AssertionError(folder)

    assert put() == put(never)


@pytest.mark.parametrize("wrong", [ModelError("broke off"), KeyboardInterrupt(), OSError(28, "no")])
def test_a_fetch_that_breaks_off_leaves_nothing(wrong: BaseException) -> None:
    def broken(folder: Path) -> tuple[str, Origin]:
        (folder / "model.safetensors").write_bytes(b"wei")
        raise wrong

    with pytest.raises((ModelError, KeyboardInterrupt)):
        put(broken)
    assert stored() == []
    assert leftovers() == []
    assert put().size == 9, "and the next one is not in its way"


def test_what_a_killed_process_left_is_swept_away() -> None:
    left = models_folder() / ".org--name.x1y2.partial"
    left.mkdir(parents=True)
    (left / "model.safetensors").write_bytes(b"wei")
    assert stored() == []
    put()
    assert leftovers() == []


def test_a_full_disk_is_said_in_words() -> None:
    def full(_: Path) -> tuple[str, Origin]:
        raise OSError(28, "No space left on device")

    with pytest.raises(ModelError, match=r"No space left on device.\nMake room .* RAGSTONE_CACHE"):
        put(full)


def test_a_cache_that_is_a_file_is_said_in_words(cache: Path) -> None:
    cache.write_text("no folder")
    with pytest.raises(ModelError, match="cannot be stored"):
        put()


def test_a_model_put_again_takes_the_place_of_the_first() -> None:
    def newer(folder: Path) -> tuple[str, Origin]:
        fill(folder)
        (folder / "model.safetensors").write_bytes(b"other weights")
        return PLACE, ORIGIN

    put()
    again = install("org--name", newer, there=lambda: None, note=print)
    assert (again.folder / "model.safetensors").read_bytes() == b"other weights"
    assert stored() == [again]
    assert damage(again) == []


def test_of_two_commits_the_one_fetched_last_is_found() -> None:
    def other(folder: Path) -> tuple[str, Origin]:
        fill(folder)
        return f"org--name@{'b' * 40}", replace(ORIGIN, commit="b" * 40, revision="v2")

    first = put()
    second = install("org--name", other, there=lambda: None, note=print)
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
    def graph(folder: Path) -> tuple[str, Origin]:
        place, origin = fill(folder)
        return f"{place}+onnx", replace(origin, weights="onnx")

    model = put(graph)
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
    assert fault.startswith("model.safetensors: expected 7 bytes of SHA-256")


@pytest.mark.parametrize(
    "manifest", ["", "[]", '{"version": 2}', '{"version": 1, "files": []}', "[" * 99999, "\x00"]
)
def test_a_folder_without_a_manifest_of_ours_is_no_model(manifest: str) -> None:
    model = put()
    (model.folder / "manifest.json").write_text(manifest)
    assert stored() == []
    assert put().folder == model.folder, "and is replaced"


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


FETCHER = """
import sys, time
from pathlib import Path
from ragstone.models.store import Origin, find, install

def fill(folder):
    print("fetching", flush=True)
    while not Path("go").exists():
        time.sleep(0.01)
    (folder / "model.safetensors").write_bytes(b"weights")
    return "one", Origin("org/name", "", "", "", "", "safetensors")

def note(line):
    print(line, flush=True)

install("org--name", fill, there=lambda: find("org/name"), note=note)
"""


def test_of_two_processes_one_fetches_and_the_other_waits(tmp_path: Path) -> None:
    both = [
        subprocess.Popen(
            [sys.executable, "-c", FETCHER], cwd=tmp_path, stdout=subprocess.PIPE, text=True
        )
        for _ in range(2)
    ]
    said = sorted(one.stdout.readline().strip() for one in both if one.stdout)
    (tmp_path / "go").touch()
    rest = [one.communicate(timeout=20)[0] for one in both]
    assert said == ["Another process is fetching org--name; waiting for it.", "fetching"]
    assert rest == ["", ""]
    assert [one.returncode for one in both] == [0, 0]
    assert len(stored()) == 1


def test_a_killed_process_holds_up_nobody(tmp_path: Path) -> None:
    command = [sys.executable, "-c", FETCHER]
    killed = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True)
    assert killed.stdout
    assert killed.stdout.readline() == "fetching\n"
    killed.kill()
    killed.communicate()
    assert len(leftovers()) == 1
    assert stored() == []
    notes: list[str] = []
    put(notes=notes)
    assert notes == []
    assert leftovers() == []
