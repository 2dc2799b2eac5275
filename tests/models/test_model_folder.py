"""Model folders: what their small files say, and every fault in one error."""

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from ragstone.core.errors import ModelError
from ragstone.models.model_folder import ModelFolder
from ragstone.testing import tiny_bert
from tests.availability import import_or_skip

import_or_skip("tokenizers", reason="needs the extra local")
import_or_skip("safetensors", reason="needs the extra local")

THEIRS = "sentence_transformers.sentence_transformer.modules"


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    return tiny_bert(tmp_path / "tiny")


def change(path: Path, **changes: object) -> None:
    """Set fields of a JSON file; None takes a field out."""
    content = json.loads(path.read_text()) if path.exists() else {}
    content |= changes
    path.write_text(json.dumps({key: value for key, value in content.items() if value is not None}))


def write(path: Path, content: object) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(content))


def faults(folder: Path) -> str:
    with pytest.raises(ModelError) as caught:
        ModelFolder.read(folder)
    return str(caught.value)


def modules(*pairs: tuple[str, str]) -> list[dict[str, Any]]:
    return [
        {"idx": number, "name": str(number), "path": path, "type": kind}
        for number, (path, kind) in enumerate(pairs)
    ]


def test_a_folder_says_how_its_vectors_are_made(tiny: Path) -> None:
    model = ModelFolder.read(tiny)
    assert (model.pooling, model.normalize) == ("mean", True)
    assert (model.max_tokens, model.longest) == (32, 64)
    assert model.inside == tiny
    assert model.config.hidden_size == 32


@pytest.mark.parametrize("pooling", ["mean", "cls", "max"])
def test_each_pooling_is_understood_as_it_was_and_is_written(tmp_path: Path, pooling: Any) -> None:
    folder = tiny_bert(tmp_path, pooling=pooling, normalize=False)
    assert ModelFolder.read(folder).pooling == pooling
    write(
        folder / "1_Pooling" / "config.json", {"embedding_dimension": 32, "pooling_mode": pooling}
    )
    assert ModelFolder.read(folder).pooling == pooling
    assert not ModelFolder.read(folder).normalize


def test_a_pooling_that_names_none_is_the_mean(tiny: Path) -> None:
    write(tiny / "1_Pooling" / "config.json", {"word_embedding_dimension": 32})
    assert ModelFolder.read(tiny).pooling == "mean"


@pytest.mark.parametrize("name", ["mean_sqrt_len_tokens", "weightedmean_tokens", "lasttoken"])
def test_a_pooling_that_is_not_supported_is_named(tiny: Path, name: str) -> None:
    write(tiny / "1_Pooling" / "config.json", {f"pooling_mode_{name}": True})
    told = name.removesuffix("_tokens") if name.startswith("weighted") else name
    assert f"pooling_mode  expected mean, cls or max, one of them, got {told}\n" in faults(tiny)
    change(tiny / "1_Pooling" / "config.json", pooling_mode_cls_token=True)
    assert f"got cls + {told}\n" in faults(tiny)


@pytest.mark.parametrize("kind", ["bert", "roberta", "distilbert", "xlm-roberta"])
def test_the_settings_of_a_transformer_have_a_name_by_its_kind(tiny: Path, kind: str) -> None:
    (tiny / "sentence_bert_config.json").unlink()
    write(tiny / f"sentence_{kind}_config.json", {"max_seq_length": 7, "do_lower_case": True})
    model = ModelFolder.read(tiny)
    assert (model.max_tokens, model.lower_case) == (7, True)


def test_settings_that_change_no_vector_are_passed_over(tiny: Path) -> None:
    change(tiny / "sentence_bert_config.json", unpad_inputs=True, module_output_name="tokens")
    assert ModelFolder.read(tiny).max_tokens == 32
    change(tiny / "sentence_bert_config.json", something_new=[])
    assert ModelFolder.read(tiny).max_tokens == 32, "what is empty sets nothing"


@pytest.mark.parametrize("kind", ["roberta", "xlm-roberta", "camembert", "mpnet"])
@pytest.mark.parametrize(("padding", "longest"), [(None, 62), (0, 63), (1, 62), (5, 58)])
def test_positions_of_these_begin_behind_the_padding(
    tiny: Path, kind: str, padding: int | None, longest: int
) -> None:
    change(tiny / "config.json", model_type=kind, pad_token_id=padding)
    assert ModelFolder.read(tiny).longest == longest


@pytest.mark.parametrize("padding", [-1, "0", 1.0])
def test_a_padding_that_is_no_place_is_refused(tiny: Path, padding: object) -> None:
    change(tiny / "config.json", model_type="roberta", pad_token_id=padding)
    assert f"pad_token_id  expected a whole number, got {padding!r}" in faults(tiny)


@pytest.mark.parametrize("limit", [2, 0, -1, 7.5, "7"])
def test_a_limit_too_low_for_any_text_is_refused(tiny: Path, limit: object) -> None:
    change(tiny / "sentence_bert_config.json", max_seq_length=limit)
    told = f"max_seq_length  expected a whole number of at least 3, got {limit!r}"
    assert f"sentence_bert_config.json  {told}" in faults(tiny)
    change(tiny / "sentence_bert_config.json", max_seq_length=3)
    assert ModelFolder.read(tiny).max_tokens == 3


@pytest.mark.parametrize(("positions", "usable"), [(2, False), (3, True)])
def test_a_text_has_three_tokens_at_the_least(tiny: Path, positions: int, usable: bool) -> None:
    change(tiny / "config.json", max_position_embeddings=positions)
    if usable:
        assert ModelFolder.read(tiny).max_tokens == positions
    else:
        assert "expected at least 3 positions, got 2" in faults(tiny)


@pytest.mark.parametrize(
    ("name", "expected"),
    [("do_lower_case", True), ("strip_accents", None), ("tokenize_chinese_chars", True)],
)
def test_a_tokenizer_is_said_to_be_the_same_in_both_of_its_files(
    tiny: Path, name: str, expected: object
) -> None:
    at = tiny / "tokenizer_config.json"
    told = json.loads(at.read_text()) if at.exists() else {}
    write(at, told | {name: expected})
    assert ModelFolder.read(tiny).max_tokens == 32
    write(at, told | {name: not expected})
    words = f"{name}  expected {expected!r}, as in tokenizer.json, got {not expected!r}"
    assert words in faults(tiny)


def test_a_space_before_a_text_is_said_to_be_the_same_in_both_files(tiny: Path) -> None:
    change(tiny / "tokenizer.json", pre_tokenizer={
        "type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True,
    })  # fmt: skip
    change(tiny / "tokenizer_config.json", add_prefix_space=True)
    assert "add_prefix_space  expected False, as in tokenizer.json, got True" in faults(tiny)


def test_the_newer_names_of_modules_are_understood(tiny: Path) -> None:
    write(
        tiny / "modules.json",
        modules(
            ("", "sentence_transformers.base.modules.transformer.Transformer"),
            ("1_Pooling", f"{THEIRS}.pooling.Pooling"),
            ("2_Normalize", "sentence_transformers.base.modules.normalize.Normalize"),
        ),
    )
    write(
        tiny / "2_Normalize" / "config.json",
        {"module_input_name": "sentence_embedding", "module_output_name": "sentence_embedding"},
    )
    write(
        tiny / "sentence_bert_config.json",
        {
            "transformer_task": "feature-extraction",
            "modality_config": {
                "text": {"method": "forward", "method_output_name": "last_hidden_state"}
            },
            "module_output_name": "token_embeddings",
        },
    )
    model = ModelFolder.read(tiny)
    assert (model.pooling, model.normalize, model.max_tokens) == ("mean", True, 32)


def test_the_transformer_may_lie_in_a_folder_of_its_own(tiny: Path) -> None:
    content = json.loads((tiny / "modules.json").read_text())
    content[0]["path"] = "0_Transformer"
    write(tiny / "modules.json", content)
    (tiny / "0_Transformer").mkdir()
    for path in list(tiny.glob("*.*")):
        if path.name != "modules.json":
            shutil.move(path, tiny / "0_Transformer")
    assert ModelFolder.read(tiny).inside == tiny / "0_Transformer"
    change(tiny / "0_Transformer" / "config.json", vocab_size=-1)
    assert "0_Transformer/config.json  vocab_size" in faults(tiny)


def test_a_bare_transformer_gives_the_mean_as_it_is(tiny: Path) -> None:
    for name in ("modules.json", "sentence_bert_config.json"):
        (tiny / name).unlink()
    model = ModelFolder.read(tiny)
    assert (model.pooling, model.normalize) == ("mean", False)


@pytest.mark.parametrize(
    ("max_seq_length", "model_max_length", "expected"),
    [
        (20, 40, 20),
        (None, 40, 40),
        (None, 10**30, 64),
        (None, None, 64),
        (100, 40, 64),
        (None, 512, 64),
    ],
)
def test_the_limit_is_theirs_else_the_tokenizers_else_all_positions(
    tiny: Path, max_seq_length: int | None, model_max_length: int | None, expected: int
) -> None:
    change(tiny / "sentence_bert_config.json", max_seq_length=max_seq_length)
    change(tiny / "tokenizer_config.json", model_max_length=model_max_length)
    assert ModelFolder.read(tiny).max_tokens == expected


def test_roberta_counts_positions_from_behind_the_padding_token(tiny: Path) -> None:
    change(tiny / "config.json", model_type="roberta", pad_token_id=None)
    assert ModelFolder.read(tiny).longest == 62, "the padding token of RoBERTa is 1"
    change(tiny / "config.json", pad_token_id=4)
    assert ModelFolder.read(tiny).longest == 59


def test_a_prompt_before_every_text_is_refused(tiny: Path) -> None:
    at = tiny / "config_sentence_transformers.json"
    change(at, prompts={"query": "query: ", "none": ""})
    ModelFolder.read(tiny)
    change(at, default_prompt_name="none")
    ModelFolder.read(tiny)
    change(at, default_prompt_name="query")
    assert (
        "config_sentence_transformers.json  default_prompt_name  "
        "expected no default prompt, got 'query'"
    ) in faults(tiny)


@pytest.mark.parametrize(
    ("file", "changes", "expected"),
    [
        ("config.json", {"vocab_size": None}, "vocab_size  expected a value, got none"),
        ("config.json", {"max_position_embeddings": "64"}, "a whole number above 0, got '64'"),
        ("config.json", {"max_position_embeddings": True}, "a whole number above 0, got True"),
        ("config.json", {"max_position_embeddings": 2}, "at least 3 positions, got 2"),
        (
            "config.json",
            {"model_type": "roberta", "pad_token_id": "x"},
            "pad_token_id  expected a whole number, got 'x'",
        ),
        (
            "1_Pooling/config.json",
            {"pooling_mode_cls_token": True},
            "expected mean, cls or max, one of them, got cls + mean",
        ),
        ("1_Pooling/config.json", {"pooling_mode": "lasttoken"}, "one of them, got lasttoken"),
        ("1_Pooling/config.json", {"pooling_mode": 7}, "one of them, got 7"),
        ("sentence_bert_config.json", {"max_seq_length": 2}, "whole number of at least 3, got 2"),
        ("sentence_bert_config.json", {"max_seq_length": "256"}, "at least 3, got '256'"),
        (
            "sentence_bert_config.json",
            {"transformer_task": "text-generation"},
            "expected feature-extraction, got 'text-generation'",
        ),
        (
            "sentence_bert_config.json",
            {"modality_config": {"image": {}}},
            "expected the last_hidden_state of texts, got {'image': {}}",
        ),
        (
            "sentence_bert_config.json",
            {"tokenizer_args": {"padding_side": "left"}},
            "tokenizer_args  expected no such setting, got {'padding_side': 'left'}",
        ),
        (
            "config_sentence_transformers.json",
            {"model_type": "SparseEncoder"},
            "expected SentenceTransformer, got 'SparseEncoder'",
        ),
        (
            "tokenizer_config.json",
            {"truncation_side": "left"},
            "truncation_side  expected right, got 'left'",
        ),
        (
            "tokenizer_config.json",
            {"do_lower_case": False},
            "do_lower_case  expected True, as in tokenizer.json, got False",
        ),
        ("2_Normalize/config.json", {"module_input_name": "token_embeddings"}, "got 'token_emb"),
    ],
)
def test_what_is_not_understood_is_refused(
    tiny: Path, file: str, changes: Mapping[str, object], expected: str
) -> None:
    (tiny / file).parent.mkdir(exist_ok=True)
    change(tiny / file, **changes)
    said = faults(tiny)
    assert file in said
    assert expected in said
    assert "1 fault." in said


def test_a_tokenizer_with_more_tokens_than_the_model_is_refused(tiny: Path) -> None:
    change(tiny / "config.json", vocab_size=50)
    assert (
        "tokenizer.json  expected token ids below 50, the model's vocab_size, "
        "got the id 136: a tokenizer of another model"
    ) in faults(tiny)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (
            modules(("", "sentence_transformers.models.Transformer")),
            "expected Transformer, Pooling and optionally Normalize, got Transformer",
        ),
        (
            modules(
                ("", "sentence_transformers.models.Transformer"),
                ("1_Pooling", "sentence_transformers.models.Pooling"),
                ("2_Dense", "sentence_transformers.models.Dense"),
            ),
            "got Transformer, Pooling, Dense",
        ),
        (modules(("", "custom.Transformer"), ("1_Pooling", "x.Pooling")), "got custom.Transformer"),
        ([], "got nothing"),
        ({"Transformer": ""}, "expected a list of modules with type and path"),
        ([{"type": "sentence_transformers.models.Transformer"}], "a list of modules"),
        ([{"path": "", "type": 3}], "a list of modules"),
        (["Transformer"], "a list of modules"),
        (modules(("a\\b", "sentence_transformers.models.Transformer")), "a list of modules"),
        (modules(("../other", "sentence_transformers.models.Transformer")), "a list of modules"),
        (modules(("/etc", "sentence_transformers.models.Transformer")), "a list of modules"),
    ],
)
def test_other_modules_are_refused(tiny: Path, content: object, expected: str) -> None:
    write(tiny / "modules.json", content)
    assert expected in faults(tiny)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"{", "expected JSON, got invalid JSON"),
        (b"\xff\xfe\xff", "expected JSON, got invalid JSON"),
        (b"[" * 100_000, "expected JSON, got invalid JSON"),
        (b"[]", "expected an object, got list"),
        (b"", "expected JSON, got invalid JSON"),
    ],
)
@pytest.mark.parametrize("file", ["config.json", "tokenizer.json", "1_Pooling/config.json"])
def test_a_broken_file_is_named(tiny: Path, file: str, content: bytes, expected: str) -> None:
    (tiny / file).write_bytes(content)
    assert f"{file}  {expected}" in faults(tiny)


@pytest.mark.parametrize(
    ("file", "expected"),
    [
        ("config.json", "expected a JSON file, got no such file or directory"),
        ("tokenizer.json", "expected a tokenizer of the tokenizers package, got no such"),
        ("1_Pooling/config.json", "expected a JSON file, got no such file or directory"),
    ],
)
def test_a_missing_file_is_named(tiny: Path, file: str, expected: str) -> None:
    (tiny / file).unlink()
    assert f"{file}  {expected}" in faults(tiny)


def test_all_faults_are_listed_and_what_opens_more_models(tiny: Path) -> None:
    change(tiny / "config.json", vocab_size=7, max_position_embeddings=2)
    change(tiny / "1_Pooling" / "config.json", pooling_mode="lasttoken")
    change(tiny / "tokenizer_config.json", truncation_side="left")
    change(tiny / "config_sentence_transformers.json", default_prompt_name="query")
    lines = faults(tiny).splitlines()
    assert lines[0] == f"{tiny} cannot be used as a model here: 5 faults."
    assert len(lines) == 7
    assert "pip install 'ragstone[torch]'" in lines[-1]
    assert f"torch:{tiny}" in lines[-1]


def test_what_is_no_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="expected the folder of a model, got nothing there"):
        ModelFolder.read(tmp_path / "none")
    (tmp_path / "file").touch()
    with pytest.raises(ModelError, match="expected the folder of a model, got a file"):
        ModelFolder.read(tmp_path / "file")


def test_an_empty_folder_lacks_configuration_and_tokenizer(tmp_path: Path) -> None:
    said = faults(tmp_path)
    assert "2 faults." in said
    assert "config.json  expected a JSON file" in said
    assert "tokenizer.json  expected a tokenizer" in said


def test_the_fingerprint_is_that_of_all_a_vector_depends_on(tiny: Path, tmp_path: Path) -> None:
    weights = [tiny / "model.safetensors"]

    def fingerprint() -> str:
        return ModelFolder.read(tiny).fingerprint(weights, "numpy", "float32")

    first = fingerprint()
    assert len(first) == 32
    assert int(first, 16) >= 0
    copy = Path(shutil.copytree(tiny, tmp_path / "copy"))
    moved = ModelFolder.read(copy).fingerprint([copy / "model.safetensors"], "numpy", "float32")
    assert moved == first
    seen = {first, ModelFolder.read(tiny).fingerprint(weights, "onnx", "float32")}
    change(tiny / "sentence_bert_config.json", max_seq_length=31)
    seen.add(fingerprint())
    change(tiny / "sentence_bert_config.json", do_lower_case=True)
    seen.add(fingerprint())
    change(tiny / "1_Pooling" / "config.json", pooling_mode="cls")
    seen.add(fingerprint())
    tiny_bert(tmp_path / "other", seed=1)
    weights = [tmp_path / "other" / "model.safetensors"]
    seen.add(fingerprint())
    assert len(seen) == 6
