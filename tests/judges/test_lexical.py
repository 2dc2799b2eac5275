"""Word overlap by hand; tests/metrics/test_oracles.py asks rouge-score."""

import csv
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.judges.text_counts import (
    ALIKE,
    longest_common_subsequence,
    normalised,
    overlap,
    plain_forms,
    squad_f1,
    text_tokens,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The cat's mat.", ["the", "cat", "s", "mat"]),
        ("3.14 is pi", ["3", "14", "is", "pi"]),
        ("snake_case", ["snake", "case"]),
        ("", []),
        ("… — 👍", []),
        ("naïve cafe\u0301", ["naïve", "café"]),
        ("STRASSE Straße İzmir", ["strasse", "strasse", "izmir"]),
        ("भारत में है", ["भारत", "में", "है"]),
        ("서울 2024", ["서울", "2024"]),
        ("東京ﾄﾞｰﾑ2024年", ["東", "京", "ド", "ー", "ム", "2024", "年"]),
        ("กรุงที่", ["ก", "รุ", "ง", "ที่"]),
        ("ລາວ ភ្នំ မြန်", ["ລ", "າ", "ວ", "ភ្", "នំ", "မြ", "န်"]),
        ("あ\u3099", ["あ\u3099"]),
        ("ᨠᩣᨠ ᦅᦄ ꦗꦮ ᬩᬮᬶ", ["ᨠᩣ", "ᨠ", "ᦅ", "ᦄ", "ꦗ", "ꦮ", "ᬩ", "ᬮᬶ"]),
        ("२५० ١٩٤٥ ２４", ["250", "1945", "24"]),
        ("10² 10²³ CO₂ 3½ 5 ㎡", ["10", "²", "10", "²³", "co", "₂", "3", "½", "5", "m", "²"]),
        ("東京¹²", ["東", "京", "¹²"]),
    ],
)
def test_tokens_are_runs_of_letters_and_numbers_with_their_marks(
    text: str, expected: list[str]
) -> None:
    assert text_tokens(text) == expected


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("it’s", "it's"),
        ("it´s", "it's"),
        ("пʼять", "п'ять"),
        ("Oʻzbek", "O‘zbek"),
        ("co\u00adop", "coop"),
        ("می\u200cشود", "میشود"),
        ("\u200fمحـــمد", "محمد"),
        ("1\ufe0f\u20e3", "1"),
        ("ﬁn Ⅳ", "fin IV"),
        ("10\u202f000", "10 000"),
        ("−5", "-5"),
    ],
)
def test_what_only_looks_otherwise_is_the_same(text: str, other: str) -> None:
    assert text_tokens(text) == text_tokens(other)
    assert normalised(text) == normalised(other)


def test_plain_forms_are_those_of_nfkc_once_raised_characters_are_lowered() -> None:
    for char in map(chr, range(0xA0, 0x10000)):
        form = unicodedata.normalize("NFKC", char)
        kept = unicodedata.category(char)[0] not in "CM" and not form.isdecimal()
        if kept and ALIKE.keys().isdisjoint(unicodedata.normalize("NFC", char) + form):
            assert unicodedata.normalize("NFKC", plain_forms(char)) == form


def test_overlap_in_ten_languages_is_as_counted_by_hand(shared: Path) -> None:
    with (shared / "tables" / "tokens.tsv").open(encoding="utf-8", newline="") as file:
        pairs = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    assert len(pairs) >= 20
    for pair in pairs:
        counted = overlap(pair["answer"], pair["reference"])
        assert text_tokens(pair["answer"]) == pair["answer_tokens"].split(), pair
        assert text_tokens(pair["reference"]) == pair["reference_tokens"].split(), pair
        for measure in ("token_f1", "rouge_l", "exact_match"):
            assert counted[measure] == pytest.approx(float(pair[measure]), abs=1e-6), pair


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The  Cat, a mat!", "cat mat"),
        ("An theatre", "theatre"),
        ("it's", "its"),
        ("the", ""),
        ("北京。", "北京"),
        ("¿Qué? 1939–45", "qué 193945"),
        ("a\u0331 l’été", "a\u0331 lété"),
        ("(3.14)", "314"),
    ],
)
def test_normalised_text_has_no_articles_case_or_punctuation(text: str, expected: str) -> None:
    assert normalised(text) == expected


def test_exact_match_is_of_normalised_texts() -> None:
    assert overlap("The Cornish heath.", "cornish  heath")["exact_match"] == 1
    assert overlap("Cornish heath", "Cornish heather")["exact_match"] == 0


def test_token_f1_counts_repeats_and_its_set_form_does_not() -> None:
    counted = overlap("to be or not to be", "to be")
    assert counted["token_f1"] == pytest.approx(2 * 2 / (6 + 2))
    assert counted["token_f1_set"] == pytest.approx(2 * 2 / (4 + 2))


def test_rouge_2_needs_two_words_and_their_order() -> None:
    assert overlap("red fox", "fox red")["rouge_2"] == 0
    assert overlap("the red fox", "a red fox")["rouge_2"] == pytest.approx(1 / 2)
    assert overlap("fox", "fox")["rouge_2"] == 0


def test_rouge_l_is_of_the_longest_common_subsequence() -> None:
    counted = overlap("one two three four", "one four two three")
    assert counted["rouge_l"] == pytest.approx(2 * 3 / 8)


def test_nothing_overlaps_with_an_empty_text() -> None:
    for counted in (overlap("", "fox"), overlap("fox", "")):
        assert set(counted.values()) == {0}
    assert overlap("", "")["exact_match"] == 1
    assert overlap("", "")["token_f1"] == 0


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


@pytest.mark.parametrize(
    ("answer", "reference", "expected"),
    [
        ("The Eiffel Tower", "Eiffel Tower", 1),
        ("eiffel tower!", "The tower", 2 / 3),
        ("It is a well-known state-of-the-art", "wellknown", 2 / 5),
        ("no no yes", "no yes yes", 2 / 3),
        ("the", "a", 1),
        ("", "Bath", 0),
        ("東京タワー", "東京", 4 / 7),
        ("Der Eiffelturm.", "der Eiffelturm", 1),
        ("L’été à Łódź", "l'été à łódź", 1),
    ],
)
def test_squad_f1_by_hand(answer: str, reference: str, expected: float) -> None:
    assert squad_f1(answer, reference) == pytest.approx(expected)
    assert squad_f1(reference, answer) == pytest.approx(expected)
