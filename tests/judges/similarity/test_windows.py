"""Windows of texts that are longer than an encoder reads."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from ragstone.judges.similarity.similarity_judge import windows
from ragstone.testing import ScriptedEncoder

TEN = ScriptedEncoder(max_tokens=10)
"""Eight words and two special tokens."""


def of(text: str) -> list[str]:
    return windows(TEN, [text])[0]


@pytest.mark.parametrize("text", ["", "  ", "one", "1 2 3 4 5 6 7 8"])
def test_what_the_encoder_reads_whole_is_one_window(text: str) -> None:
    assert of(text) == [text]


def test_neighbouring_windows_share_half_of_their_words() -> None:
    assert of("1 2 3 4 5 6 7 8 9") == ["1 2 3 4 5 6 7 8", "5 6 7 8 9"]
    assert of("1 2 3 4 5 6 7 8 9 10 11 12 13") == [
        "1 2 3 4 5 6 7 8",
        "5 6 7 8 9 10 11 12",
        "9 10 11 12 13",
    ]


class Characters(ScriptedEncoder):
    """Every character is a token."""

    def lengths(self, texts: Sequence[str]) -> NDArray[np.int32]:
        return np.array([len(text) + 2 for text in texts], dtype=np.int32)


def test_in_a_script_without_spaces_windows_end_anywhere() -> None:
    text = "東京都庁舎は一九九〇年に完成した。" * 20
    found = windows(Characters(max_tokens=98), [text])[0]
    assert all(len(window) <= 96 for window in found)
    assert found[0] == text[:96]
    assert found[1] == text[48:144]
    assert text.endswith(found[-1])


class Silent(ScriptedEncoder):
    """It says of no text how long it is."""

    def lengths(self, texts: Sequence[str]) -> NDArray[np.int32]:
        return np.zeros(len(texts), dtype=np.int32)


def test_an_encoder_that_does_not_say_how_long_a_text_is_gets_it_whole() -> None:
    assert windows(Silent(max_tokens=0), ["1 2 3 " * 50]) == [["1 2 3 " * 50]]


def test_an_encoder_without_a_known_limit_gets_every_text_whole() -> None:
    assert windows(ScriptedEncoder(max_tokens=0), ["1 2 3 " * 50]) == [["1 2 3 " * 50]]


@settings(max_examples=50)
@given(st.lists(st.text("abc", min_size=1, max_size=3), max_size=60))
def test_every_word_is_in_a_window_that_is_read_whole(words: list[str]) -> None:
    found = of(" ".join(words))
    assert all(len(window.split()) <= 8 for window in found)
    rebuilt = found[0].split()
    for before, window in pairwise(found):
        assert before.split()[4:] == window.split()[: len(before.split()) - 4]
        rebuilt += window.split()[len(before.split()) - 4 :]
    assert rebuilt == words
