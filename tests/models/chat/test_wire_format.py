"""Settings: their text form, and every fault at once."""

import pytest

from ragstone.core.errors import ModelError
from ragstone.models.chat.wire_format import ALL, Settings, Takes, parse_settings

TAKES = Takes(ALL)


def parsed(text: str) -> Settings:
    return parse_settings(text, TAKES, f"openai:m?{text}")


def test_every_setting_is_read() -> None:
    text = "temperature=0.5&top_p=1&seed=7&effort=low&max_tokens=4096"
    text += "&schema=json&window=128000&items=8"
    assert parsed(text) == Settings(0.5, 1.0, 7, "low", 4096, "json", 128_000, 8)
    assert str(parsed(text)) == f"?{text}"


def test_order_and_spelling_of_numbers_do_not_matter() -> None:
    assert str(parsed("seed=07&temperature=0.0")) == "?temperature=0&seed=7"


def test_no_settings_have_no_text() -> None:
    assert str(parsed("")) == ""
    assert parsed("") == Settings()


def test_window_and_items_do_not_change_the_reply_to_a_question() -> None:
    assert parsed("seed=7&window=9000&items=8").answering == "seed=7"
    assert parsed("seed=7&window=9000&items=8").sampling == "temperature 0, seed 7"


def test_the_temperature_that_is_meant_is_told() -> None:
    assert parsed("seed=7").sampling == "temperature 0, seed 7"
    assert parsed("temperature=1").sampling == "temperature 1"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("temp=1", "'temp': there is no such setting"),
        ("temperature=hot", "temperature: expected a number from 0 to 2, got 'hot'"),
        ("temperature=2.1", "got '2.1'"),
        ("temperature=nan", "got 'nan'"),
        ("top_p=0", "top_p: expected a number above 0 and at most 1, got '0'"),
        ("seed=1.5", "seed: expected a whole number from 0 up, got '1.5'"),
        ("seed=-1", "got '-1'"),
        ("effort=huge", "effort: expected one of none, minimal, low"),
        ("schema=loose", "schema: expected one of strict, json, prompt, got 'loose'"),
        ("max_tokens=0", "max_tokens: expected a whole number above 0"),
        ("window=10", "window: expected a whole number from 1000"),
        ("items=0", "items: expected a whole number from 1 to 20, got '0'"),
        ("items=21", "got '21'"),
        ("seed=1&seed=2", "seed: given twice"),
        ("seed", "seed: expected a whole number from 0 up, got ''"),
        ("seed=1&", "'': there is no such setting"),
    ],
)
def test_a_fault_is_told_with_what_is_expected(text: str, words: str) -> None:
    with pytest.raises(ModelError) as raised:
        parsed(text)
    assert words in str(raised.value)


def test_all_faults_are_told_at_once() -> None:
    with pytest.raises(ModelError) as raised:
        parse_settings("heat=1&seed=x&top_p=2&effort=none", Takes(ALL - {"seed"}, ("low",)), "m")
    words = str(raised.value)
    assert "'heat'" in words
    assert "seed: this server has no such setting" in words
    assert "top_p: expected" in words
    assert "effort: expected one of low, got 'none'" in words
    assert words.endswith("temperature, top_p, effort, max_tokens, schema, window, items")
