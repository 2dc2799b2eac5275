"""Passages: which words stand in which sentence of which context."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.judges.local.claims_and_evidence import Passages

TEXTS = ["Tin lay here. Ships closed.", "", "The tin sank."]


def test_sentences_are_numbered_through_all_contexts() -> None:
    passages = Passages(TEXTS)
    assert passages.quotes == ["Tin lay here.", "Ships closed.", "The tin sank."]
    assert passages.places == [(0, 0, 13), (0, 14, 27), (2, 0, 13)]


@pytest.mark.parametrize(
    ("stem", "bits"), [("tin", 0b101), ("ships", 0), ("ship", 0b010), ("gold", 0), ("the", 0)]
)
def test_bit_n_says_that_sentence_n_holds_the_stem(stem: str, bits: int) -> None:
    assert Passages(TEXTS).sentences_with(stem) == bits


@pytest.mark.parametrize("first", [0, 7, 8, 9, 64])
def test_bits_do_not_shift_where_sentences_are_many(first: int) -> None:
    texts = ["Rain fell."] * first + ["Tin sank."] + ["Rain fell."] * 3 + ["Tin rose."]
    assert Passages(texts).sentences_with("tin") == (1 << first) | (1 << first + 4)


@pytest.mark.parametrize(
    ("word", "held"),
    [
        ("tin", True),
        ("ships", True),
        ("ship", True),
        ("closing", True),
        ("the", True),
        ("and", False),
        ("gold", False),
    ],
)
def test_a_word_is_held_in_another_form_too_but_a_stop_word_only_as_it_is(
    word: str, held: bool
) -> None:
    assert Passages(TEXTS).holds(word) is held


@given(st.lists(st.text(), max_size=4))
def test_each_quote_is_what_its_place_shows(texts: list[str]) -> None:
    passages = Passages(texts)
    assert [texts[at][start:end] for at, start, end in passages.places] == passages.quotes


@given(st.lists(st.lists(st.sampled_from(["Tin sank.", "Lead rose.", "Rain."])), max_size=4))
def test_a_stem_is_found_in_the_sentences_that_hold_it(parts: list[list[str]]) -> None:
    passages = Passages([" ".join(part) for part in parts])
    flat = [sentence for part in parts for sentence in part]
    expected = sum(1 << at for at, sentence in enumerate(flat) if "Tin" in sentence)
    assert passages.sentences_with("tin") == expected
