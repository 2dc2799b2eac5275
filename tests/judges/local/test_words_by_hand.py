"""Words: numbers, stems, names and denials, each rule with its limit."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.judges.local.text_terms import (
    STOP_WORDS,
    as_written,
    denied,
    fold,
    names,
    numbers,
    stem,
    stem_or_none,
    terms,
    tokens,
)

SMALL = [
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
    "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen",
    "nineteen",
]  # fmt: skip
TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]


def spelled(number: int) -> str:
    """A whole number below a trillion in English words."""
    for size, name in ((10**9, "billion"), (10**6, "million"), (10**3, "thousand")):
        if number >= size:
            rest = number % size
            return f"{spelled(number // size)} {name}" + (f" {spelled(rest)}" if rest else "")
    if number >= 100:
        rest = number % 100
        return f"{SMALL[number // 100]} hundred" + (f" and {spelled(rest)}" if rest else "")
    if number >= 20:
        return TENS[number // 10 - 2] + (f"-{SMALL[number % 10]}" if number % 10 else "")
    return SMALL[number]


@given(st.integers(0, 10**12 - 1))
def test_a_number_in_words_is_the_number_in_digits(number: int) -> None:
    assert tokens(spelled(number)) == [str(number)]
    assert tokens(f"{number:,}") == [str(number)]


@pytest.mark.parametrize("number", [*range(20, 100), 100, 101, 999, 1000, 1001, 1_000_001])
def test_number_words_are_read_with_the_words_around_them(number: int) -> None:
    assert tokens(f"with {spelled(number)} ships") == ["with", str(number), "ships"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("first", ["1"]),
        ("twentieth", ["20"]),
        ("ninety-ninth", ["99"]),
        ("3rd 4th 101st 22nd", ["3", "4", "101", "22"]),
        ("twenty thirty", ["20", "30"]),
        ("twenty zero", ["20", "0"]),
        ("five six", ["5", "6"]),
        ("thirteen four", ["13", "4"]),
        ("second third", ["2", "3"]),
        ("first two", ["1", "2"]),
        ("hundred", ["100"]),
        ("a hundred and", ["a", "100", "and"]),
        ("two hundred and ships", ["200", "and", "ships"]),
        ("two and five", ["2", "and", "5"]),
        ("one thousand million", ["1000", "1000000"]),
        ("3 thousand", ["3000"]),
        ("0.5 billion", ["500000000"]),
        ("1.2345678 thousand", ["1234.5678"]),
        ("1.23456789 thousand", ["1234.5679"]),
        ("1.2.3 thousand", ["1.2.3", "1000"]),
        ("፩ thousand", ["፩", "1000"]),
        ("a1 thousand", ["a1", "1000"]),
        ("3 five", ["3", "5"]),
        ("III xx Mix", ["3", "20", "mix"]),
        ("V and X", ["v", "and", "x"]),
    ],
)
def test_number_words_join_only_where_they_make_one_number(text: str, expected: list[str]) -> None:
    assert tokens(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Ægir’s Œuvre", "aegir oeuvre"),
        ("Łódź", "lodz"),
        ("naïve co\u00adoperation", "naive cooperation"),
        ("ﬁne ①", "fine 1"),
        ("the boss' hat", "the boss hat"),
        ("rock 'n' roll", "rock 'n' roll"),
        ("it's", "it"),
        ("12,345,678", "12345678"),
        ("1,2345", "1,2345"),
        ("21st Street", "21 street"),
        ("5those", "5those"),
    ],
)
def test_spellings_are_folded_and_nothing_else(text: str, expected: str) -> None:
    assert fold(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Søren, ØRSTED", "soren, orsted"),
        ("Wałęsa, ŁÓDŹ", "walesa, lodz"),
        ("Đilas, đak", "dilas, dak"),
        ("Straße", "strasse"),
        ("færøsk Æsop", "faerosk aesop"),
        ("cœur, Œdipe", "coeur, oedipe"),
        ("Diyarbakır", "diyarbakir"),
        ("10\u00a0km", "10 km"),
        ("zero\u200bwidth", "zerowidth"),
    ],
)
def test_letters_that_are_more_than_a_letter_with_an_accent_are_spelled_out(
    text: str, expected: str
) -> None:
    assert fold(text) == expected


@pytest.mark.parametrize("mark", "'’‘ʼ＇´")
def test_each_mark_that_is_typed_for_an_apostrophe_is_one(mark: str) -> None:
    assert fold(f"Davy{mark}s lamp") == "davy lamp"
    assert tokens(f"It isn{mark}t") == ["it", "isn't"]


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("glasses", "glass"),
        ("glass", "glass"),
        ("virus", "virus"),
        ("basis", "basis"),
        ("ties", "tie"),
        ("ships", "ship"),
        ("its", "its"),
        ("gas", "gas"),
        ("used", "used"),
        ("bed", "bed"),
        ("need", "need"),
        ("agreed", "agreed"),
        ("string", "string"),
        ("bring", "bring"),
        ("stopped", "stop"),
        ("called", "call"),
        ("missing", "miss"),
        ("buzzing", "buzz"),
        ("opening", "open"),
        ("likely", "lik"),
        ("tide", "tid"),
        ("tie", "tie"),
        ("cities", "citi"),
        ("sky", "sky"),
        ("1990s", "1990"),
        ("1859", "1859"),
        ("élans", "élans"),
    ],
)
def test_endings_go_where_enough_of_the_word_is_left(word: str, expected: str) -> None:
    assert stem(word) == expected


def test_a_stop_word_has_no_stem() -> None:
    assert [word for word in sorted(STOP_WORDS) if stem_or_none(word) is not None] == []


@given(st.text(alphabet="abcdeginlsuyz", min_size=1, max_size=9))
def test_a_stem_is_no_longer_than_its_word_and_opens_alike(word: str) -> None:
    found = stem(word)
    assert 0 < len(found) <= len(word)
    assert found[:2] == word[:2]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("He met Davy.", ["davi"]),
        ("Davy met him.", []),
        ("x Davy", ["davi"]),
        ("met Davy", ["davi"]),
        ("Humphry Davy met him.", ["humphri", "davi"]),
        ("It sank. Davy swam.", []),
        ("It sank: Davy swam.", []),
        ("He saw the University of Bath.", ["universiti", "bath"]),
        ("He met Ludwig van Beethoven.", ["ludwig", "van", "beethoven"]),
        ("“Davy swam.”", []),
        ("- Davy swam", []),
        ("He said “Davy swam”.", ["davi"]),
        ("On 5 May 1859 it rained", []),
        ("he met davy", []),
        ("Она видела Москву", ["москву"]),
        ("他在北京", []),
    ],
)
def test_names_are_capitals_that_no_sentence_asks_for(text: str, expected: list[str]) -> None:
    assert names(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It was not opened.", {"open"}),
        ("It was never at all in there opened.", set()),
        ("It can't open and did not close.", {"open", "clos"}),
        ("No ship sank.", None),
        ("There was no ship.", {"ship"}),
        ("Nobody swam.", {"swam"}),
        ("It opened.", None),
        ("Not.", set()),
    ],
)
def test_a_denial_reaches_the_next_content_word_of_three(
    text: str, expected: set[str] | None
) -> None:
    assert denied(tokens(text)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("日", ["日"]),
        ("日本", ["日本"]),
        ("日本語", ["日本", "本語"]),
        ("abc日本語12", ["abc", "日本", "本語", "12"]),
        ("서울시", ["서울", "울시"]),
        ("日本 語", ["日本", "語"]),
    ],
)
def test_scripts_without_spaces_are_read_in_overlapping_pairs(
    text: str, expected: list[str]
) -> None:
    assert tokens(text) == expected


def test_numbers_begin_with_a_digit_and_one_is_a_word() -> None:
    assert numbers(["1", "2", "3.5", "5th", "tin", "11"]) == {"2", "3.5", "5th", "11"}


@given(st.lists(st.sampled_from(["Tin", "the", "Bath", "two", "opened", "not"]), max_size=6))
def test_terms_are_the_stems_of_the_tokens_in_order(words: list[str]) -> None:
    text = " ".join(words)
    found = [stem_or_none(token) for token in tokens(text)]
    assert terms(text) == [one for one in found if one is not None]


@pytest.mark.parametrize(
    ("found", "text", "written"),
    [
        (["charlott", "bronte"], "Charlotte Brontë's sister, Charlotte.", "Charlotte, Brontë"),
        (["climb", "ruin"], "He climbed to the ruined castle.", "climbed, ruined"),
        (["ruin"], "The ruined castle is a ruin.", "ruin"),
        (["13"], "In the thirteenth century.", "thirteenth"),
        (["205", "21"], "Two hundred and five of twenty-one.", "Two hundred and five, twenty-one"),
        (["1400", "1500000"], "Close on 1,400 feet, 1.5 million years.", "1,400, 1.5 million"),
        (["1990"], "The 1990s.", "1990s"),
        (["merlin", "o'brien"], "Merlin’s cave and O’Brien's.", "Merlin, O’Brien"),
        (["smith", "dr"], "Dr.Smith", "Smith, Dr"),
        (["ivoir"], "Côte d’Ivoire.", "Ivoire"),
        (["東京"], "東京都", "東京"),
        (["nowhere"], "Nothing of it.", "nowhere"),
        ([], "Nothing of it.", ""),
    ],
)
def test_words_are_shown_as_the_text_writes_them(found: list[str], text: str, written: str) -> None:
    """Where the text has the word itself, that is shown; otherwise its first form."""
    assert as_written(found, text) == written
