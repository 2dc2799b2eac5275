"""A model's folder is input like any other: whatever lies in it, it is a model or a ModelError."""

import json
import os
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ragstone.core.errors import ModelError
from ragstone.models.model_folder import CrossEncoderFolder, ModelFolder
from ragstone.testing import tiny_bert
from tests.availability import import_or_skip

import_or_skip("tokenizers", reason="needs the extra local")

OTHERS: tuple[Any, ...] = (
    None, True, 0, -1, 1.5, 2**63, 10**30, 10_000_000, "", "x", [], ["a"], [[]], {}, {"a": 1},
)  # fmt: skip


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An encoder and a cross-encoder."""
    folder = tmp_path_factory.mktemp("models")
    tiny_bert(folder / "encoder")
    tiny_bert(folder / "pairs", head=3)
    return folder


Use = Callable[[Path], object]

USES: dict[str, Use] = {
    "encoder": lambda folder: ModelFolder.read(folder).tokenizer.ids(["the bridge"], 9),
    "pairs": lambda folder: CrossEncoderFolder.read(folder).named(3),
}


def used(name: str, folder: Path) -> str:
    """What was said of the folder; empty where it can be used."""
    try:
        USES[name](folder)
    except ModelError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("name", USES)
@pytest.mark.parametrize(
    "field",
    [
        *("model_type", "hidden_size", "num_hidden_layers", "num_attention_heads"),
        *("intermediate_size", "hidden_act", "vocab_size", "max_position_embeddings"),
        *("type_vocab_size", "layer_norm_eps", "pad_token_id", "id2label", "problem_type"),
    ],
)
def test_no_value_of_another_type_in_config_is_more_than_a_fault(
    name: str, field: str, sound: Path, tmp_path: Path
) -> None:
    folder = shutil.copytree(sound / name, tmp_path / "model")
    config = json.loads((folder / "config.json").read_text())
    for other in OTHERS:
        (folder / "config.json").write_text(json.dumps(config | {field: other}))
        used(name, folder)


@pytest.mark.parametrize("name", USES)
@pytest.mark.parametrize("content", [b"", b"{}", b"null", b"[" * 100_000, b"9" * 5_000, b"\xff"])
@pytest.mark.parametrize("file", ["config.json", "tokenizer.json"])
def test_a_file_of_something_else_is_named(
    name: str, file: str, content: bytes, sound: Path, tmp_path: Path
) -> None:
    folder = shutil.copytree(sound / name, tmp_path / "model")
    (folder / file).write_bytes(content)
    assert file in used(name, folder)


@pytest.mark.parametrize("content", [b"{}", b"null", b"[]", b"1"])
@pytest.mark.parametrize("file", ["modules.json", "1_Pooling/config.json"])
def test_what_says_nothing_of_the_pooling_is_named(
    file: str, content: bytes, sound: Path, tmp_path: Path
) -> None:
    folder = shutil.copytree(sound / "encoder", tmp_path / "model")
    (folder / file).write_bytes(content)
    assert file in used("encoder", folder)


@pytest.mark.parametrize("name", USES)
@pytest.mark.parametrize("file", ["config.json", "tokenizer.json"])
def test_what_never_ends_is_not_begun(name: str, file: str, sound: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(sound / name, tmp_path / "model")
    (folder / file).unlink()
    (folder / file).symlink_to("/dev/zero")
    assert file in used(name, folder)
    (folder / file).unlink()
    os.mkfifo(folder / file)
    assert file in used(name, folder)


def test_a_tokenizer_that_panics_is_no_tokenizer(sound: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(sound / "encoder", tmp_path / "model")
    content = json.loads((folder / "tokenizer.json").read_text())
    content["post_processor"]["special_tokens"] = {}
    (folder / "tokenizer.json").write_text(json.dumps(content))
    assert "tokenizer.json  expected a tokenizer" in used("encoder", folder)


def test_bits_turned_and_files_cut_anywhere_are_a_fault_or_harmless(
    sound: Path, tmp_path: Path
) -> None:
    for number in range(60):
        draw = random.Random(number)
        name = draw.choice(list(USES))
        folder = shutil.copytree(sound / name, tmp_path / str(number))
        file = draw.choice([file for file in sorted(folder.rglob("*")) if file.is_file()])
        content = bytearray(file.read_bytes())
        if draw.random() < 0.3:
            del content[draw.randrange(len(content)) :]
        for _ in range(draw.choice((1, 4, 30)) if content else 0):
            content[draw.randrange(min(len(content), 3_000))] ^= 1 << draw.randrange(8)
        file.write_bytes(content)
        used(name, folder)
