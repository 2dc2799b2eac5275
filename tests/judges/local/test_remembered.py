"""Remembered: what was found of a word is found once, and no long text is kept."""

import pytest

from ragstone.judges.local import text_terms as module
from ragstone.judges.local.text_terms import LONGEST, remembered


def test_a_word_is_looked_at_once_and_a_long_text_each_time() -> None:
    seen: list[str] = []

    @remembered
    def length(word: str) -> int:
        seen.append(word)
        return len(word)

    long = "a" * (LONGEST + 1)
    assert [length(word) for word in ("tin", long, "tin", long, "")] == [3, 41, 3, 41, 0]
    assert seen == ["tin", long, long, ""]


def test_none_is_remembered_too() -> None:
    seen: list[str] = []
    nothing = remembered(seen.append)
    assert nothing("tin") is nothing("tin") is None
    assert seen == ["tin"]


def test_when_it_is_full_it_begins_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST", 2)
    seen: list[str] = []

    @remembered
    def upper(word: str) -> str:
        seen.append(word)
        return word.upper()

    assert "".join(map(upper, "ababcabc")) == "ABABCABC"
    assert seen == list("abcabc")
