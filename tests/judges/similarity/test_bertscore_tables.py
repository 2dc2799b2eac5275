"""Baselines: which there are, and files of them."""

from pathlib import Path

import pytest

from ragstone.core.errors import InputError
from ragstone.judges.similarity import built_in_baseline, read_baseline
from ragstone.judges.similarity.bertscore_tables import chosen_layer
from ragstone.testing import ScriptedEncoder


def encoder(name: str, layers: int = 48) -> ScriptedEncoder:
    return ScriptedEncoder(name=name, layers=layers)


def test_the_field_s_model_has_a_baseline_of_its_own() -> None:
    found = built_in_baseline(encoder("torch:microsoft/deberta-xlarge-mnli"), 40)
    assert found == (0.5169066, 0.5170288, 0.5150192)
    with pytest.raises(InputError, match="rescale=FILE"):
        built_in_baseline(encoder("microsoft/deberta-xlarge-mnli"), 39)
    with pytest.raises(InputError, match="builtin:minilm"):
        built_in_baseline(encoder("builtin:minilm"), 6)


@pytest.mark.parametrize(
    ("name", "layers", "expected"),
    [
        ("google-bert/bert-base-uncased", 12, 9),
        ("torch:FacebookAI/roberta-large@main", 24, 17),
        ("microsoft/deberta-xlarge-mnli", 48, 40),
        ("builtin:minilm", 6, 6),
        ("/models/mine", 12, 12),
    ],
)
def test_known_models_have_a_layer_of_their_own_and_others_the_last(
    name: str, layers: int, expected: int
) -> None:
    assert chosen_layer(encoder(name, layers), None) == expected


def test_a_file_is_read_as_bert_score_keeps_it(tmp_path: Path) -> None:
    path = tmp_path / "b.tsv"
    path.write_text("LAYER,P,R,F\r\n0,0.3,0.31,0.32\r\n1,-0.1,0.41,4e-1\r\n", encoding="utf-8")
    assert read_baseline(path, 0) == (0.3, 0.31, 0.32)
    assert read_baseline(path, 1) == (-0.1, 0.41, 0.4)
    with pytest.raises(InputError, match="layers 0, 1"):
        read_baseline(path, 2)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", ":1  expected LAYER,P,R,F, got nothing"),
        (b"LAYER\tP\tR\tF\n0\t1\t1\t1\n", "expected LAYER,P,R,F"),
        (b"LAYER,P,R,F\n0,0.1,0.2\n", ":2  expected"),
        (b"LAYER,P,R,F\n0,0.1,0.2,x\n", "got 0,0.1,0.2,x"),
        (b"LAYER,P,R,F\n0,0.1,0.2,1\n", "each below 1"),
        (b"LAYER,P,R,F\n0,0.1,0.2,nan\n", ":2"),
        (b"LAYER,P,R,F\n0,0.1,0.2,0.3\n0,0.1,0.2,0.3\n", ":3"),
        (b"LAYER,P,R,F\n", "layers none"),
        (b"\xff\xfe\x00", "cannot be read"),
    ],
)
def test_a_file_that_is_not_of_that_form_is_refused(
    content: bytes, said: str, tmp_path: Path
) -> None:
    path = tmp_path / "b.tsv"
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"b\.tsv") as caught:
        read_baseline(path, 0)
    assert said in str(caught.value)


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none\.tsv"):
        read_baseline(tmp_path / "none.tsv", 0)
