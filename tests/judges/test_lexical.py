"""Word overlap by hand; tests/metrics/test_oracles.py asks rouge-score."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.judges.text_counts import (
    longest_common_subsequence,
    normalised,
    overlap,
    rouge_tokens,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The cat's mat.", ["the", "cat", "s", "mat"]),
        ("3.14 is pi", ["3", "14", "is", "pi"]),
        ("naïve", ["na", "ve"]),
        ("", []),
        ("…", []),
    ],
)
def test_tokens_are_runs_of_letters_and_digits(text: str, expected: list[str]) -> None:
    assert rouge_tokens(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The  Cat, a mat!", "cat mat"),
        ("An theatre", "theatre"),
        ("it's", "its"),
        ("the", ""),
    ],
)
def test_normalised_text_has_no_articles_case_or_punctuation(text: str, expected: str) -> None:
    assert normalised(text) == expected


def test_exact_match_is_of_normalised_texts() -> None:
    assert overlap("The Cornish heath.", "cornish  heath").exact_match == 1
    assert overlap("Cornish heath", "Cornish heather").exact_match == 0


def test_token_f1_counts_repeats_and_its_set_form_does_not() -> None:
    counted = overlap("to be or not to be", "to be")
    assert counted.token_f1 == pytest.approx(2 * 2 / (6 + 2))
    assert counted.token_f1_set == pytest.approx(2 * 2 / (4 + 2))


def test_rouge_2_needs_two_words_and_their_order() -> None:
    assert overlap("red fox", "fox red").rouge_2 == 0
    assert overlap("the red fox", "a red fox").rouge_2 == pytest.approx(1 / 2)
    assert overlap("fox", "fox").rouge_2 == 0


def test_rouge_l_is_of_the_longest_common_subsequence() -> None:
    counted = overlap("one two three four", "one four two three")
    assert counted.rouge_l == pytest.approx(2 * 3 / 8)


def test_nothing_overlaps_with_an_empty_text() -> None:
    for counted in (overlap("", "fox"), overlap("fox", "")):
        assert counted.token_f1 == counted.token_f1_set == counted.rouge_l == counted.rouge_2 == 0
        assert counted.exact_match == 0
    assert overlap("", "").exact_match == 1
    assert overlap("", "").token_f1 == 0


letters = st.lists(st.sampled_from("abc"), max_size=10)


@given(letters, letters)
def test_the_bits_find_what_the_table_finds(one: list[str], other: list[str]) -> None:
    table = [[0] * (len(other) + 1) for _ in range(len(one) + 1)]
    for i, a in enumerate(one):
        for j, b in enumerate(other):
            table[i + 1][j + 1] = (
                table[i][j] + 1 if a == b else max(table[i][j + 1], table[i + 1][j])
            )
    assert longest_common_subsequence(one, other) == table[-1][-1]
