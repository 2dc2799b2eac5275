"""From what a user writes to the judges that are asked."""

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from ragstone.core.errors import InputError, UnknownName
from ragstone.judgements import ASKS, answered_by
from ragstone.judges.judge_names import JUDGES, check_name, panel_models, parse_judges, who_fills
from ragstone.judges.llm.llm_judge import all_tasks
from ragstone.judges.local.local_judge import LocalJudge
from ragstone.testing import ScriptedEncoder


def names(*given: str) -> list[str]:
    return [judge.name for judge in parse_judges(given).judges]


def test_without_a_name_labels_come_first_and_local_fills_the_rest() -> None:
    assert names() == ["human", "ids", "local", "rules"]


def test_only_the_named_judges_judge_and_counting_comes_last() -> None:
    assert names("local") == ["local", "rules"]
    assert names("human") == ["human", "ids", "rules"]
    assert names("local", "human") == ["local", "human", "ids", "rules"]
    assert names("rules") == ["rules"]


@pytest.mark.parametrize(
    "name", ["local", "local:strings", "human", "rules", "nli:m", "openai:a", "openai:a,gemini:b"]
)
def test_a_name_is_right_although_nothing_of_the_judge_is_there(name: str) -> None:
    check_name(name)


@pytest.mark.parametrize("name", ["", ",", "nli", "nli:", "nosuch", "local:x", "openai:a,lokal"])
def test_a_name_that_no_judge_has_is_found_without_opening_any(name: str) -> None:
    with pytest.raises(UnknownName):
        check_name(name)


def test_a_judge_named_twice_is_asked_once() -> None:
    assert names("local", "local") == ["local", "rules"]


def test_labels_may_come_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    path.write_text("id\n")
    panel = parse_judges([f"human:{path}"])
    assert panel.label_files == (path,)
    assert [judge.name for judge in panel.judges] == ["human", "ids", "rules"]
    with pytest.raises(InputError, match="no file"):
        parse_judges([f"human:{tmp_path / 'none.csv'}"])


def test_an_address_is_no_file_of_labels_and_its_password_is_not_repeated() -> None:
    with pytest.raises(InputError, match="reads labels from a file") as caught:
        parse_judges(["human:postgresql://ann:s3cret@host/labels"])
    assert "s3cret" not in caught.value.text


def test_an_unknown_judge_is_refused_with_a_suggestion() -> None:
    with pytest.raises(UnknownName, match="local"):
        parse_judges(["locale"])
    with pytest.raises(InputError):
        parse_judges([""])


def test_a_judge_that_was_opened_has_the_place_of_its_name() -> None:
    opened = LocalJudge(name="openai:gpt")
    panel = parse_judges(["human", "openai:gpt", "local"], llm={"openai:gpt": opened})
    assert [one.name for one in panel.judges] == ["human", "ids", "openai:gpt", "local", "rules"]


def test_what_models_can_be_asked_is_told_without_loading_them() -> None:
    assert {ask for task in all_tasks().values() for ask in task.asks} == answered_by("model")


def test_an_encoder_and_a_cross_encoder_judge_beside_those_named() -> None:
    encoder, second = ScriptedEncoder(), Twins()
    assert [one.name for one in parse_judges([], encoder=encoder).judges] == [
        "human", "ids", "local", "scripted", "rules",
    ]  # fmt: skip
    panel = parse_judges(["human"], encoder=encoder, cross_encoder=second)
    assert [one.name for one in panel.judges] == ["human", "ids", "scripted", "twins", "rules"]


class Twins:
    """A cross-encoder for which nothing is alike."""

    name, about, fingerprint = "twins", "a test's", "0" * 32
    labels, max_tokens = ("alike",), 9

    def score(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
        return np.zeros((len(pairs), 1), dtype=np.float32)

    def lengths(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.int32]:
        return np.ones(len(pairs), dtype=np.int32)


def test_who_fills_an_ask_is_known() -> None:
    assert who_fills("relevance") == ["human", "ids", "local", "rules", "LLM"]
    assert who_fills("citations") == ["rules"]
    assert who_fills("quality") == ["human", "LLM"]
    assert who_fills("probes") == ["LLM"]
    assert who_fills("similarity/question_context") == ["encoder"]
    assert who_fills("similarity/answer_reference_cross_encoder") == ["cross-encoder"]


def test_judges_are_asked_only_what_exists() -> None:
    for judge in JUDGES:
        assert judge.asks <= set(ASKS)
        assert judge.about


@pytest.mark.parametrize("read", [lambda name: parse_judges([name]), panel_models])
def test_a_misspelt_form_of_a_model_is_told_as_it_is_written(read: Callable[[str], Any]) -> None:
    for name, meant in [
        ("opneai:gpt-5-mini", "openai:gpt-5-mini"),
        ("OpenAI:gpt-5", "openai:gpt-5"),
        ("antropic:claude?effort=low", "anthropic:claude?effort=low"),
    ]:
        with pytest.raises(UnknownName, match=re.escape(f"Did you mean {meant}?")):
            read(name)


@pytest.mark.parametrize("read", [lambda name: parse_judges([name]), panel_models])
def test_a_model_without_a_form_is_told_the_forms(read: Callable[[str], Any]) -> None:
    for name in ("gpt-5-mini", "llama3.1:8b"):
        with pytest.raises(UnknownName, match=r"write openai:MODEL, .*anthropic:MODEL") as raised:
            read(name)
        assert "Did you mean" not in str(raised.value)


@pytest.mark.parametrize(
    "name", ["human,http://h/v1#m", "openai:m, local", "rules,openai:m", "human,local"]
)
def test_a_panel_with_a_judge_that_is_no_model_is_refused(name: str) -> None:
    first, second = (part.strip() for part in name.split(","))
    with pytest.raises(InputError, match="only models can be in a panel") as raised:
        panel_models(name)
    assert f'judge=["{first}", "{second}"]' in str(raised.value)


def test_the_models_of_a_panel_are_read_with_an_unknown_one_told() -> None:
    assert panel_models("openai:a, http://h/v1#b,") == ["openai:a", "http://h/v1#b"]
    assert panel_models("gemini:m") == ["gemini:m"]
    with pytest.raises(UnknownName, match="Did you mean gemini:m"):
        panel_models("openai:a,gemnii:m")


def test_judges_without_a_model_make_no_panel() -> None:
    with pytest.raises(InputError, match=r'judge=\["human", "local"\]'):
        parse_judges(["human,local"])
