"""Words: spellings that must be read alike, and what must not be."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.judges.local import text_terms as words
from ragstone.judges.local.languages import is_latin
from ragstone.judges.local.text_terms import denied, fold, names, numbers, stem, terms, tokens


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Dr. Smith's twenty-one cats", ["dr", "smith", "21", "cats"]),
        ("the miners’ café", ["the", "miners", "cafe"]),
        ("1,250,000 people", ["1250000", "people"]),
        ("1,25", ["1", "25"]),
        ("2.5 million", ["2500000"]),
        ("2.3 trillion", ["2300000000000"]),
        ("two hundred and five", ["205"]),
        ("ten and five", ["10", "and", "5"]),
        ("three hundred thousand", ["300000"]),
        ("two million three hundred thousand and six", ["2300006"]),
        ("hundred hundred thousand thousand", ["100", "100000", "1000"]),
        ("the 21st, twenty-first and second", ["the", "21", "21", "and", "2"]),
        ("Elizabeth II", ["elizabeth", "2"]),
        ("3.14", ["3.14"]),
        ("Straße, Øresund", ["strasse", "oresund"]),
        ("don't", ["don't"]),
        ("今天天气", ["今天", "天天", "天气"]),
        ("于1932年", ["于", "1932", "年"]),
        ("दिल्ली में २५० मीटर।", ["दिल्ली", "में", "250", "मीटर"]),
        ("তিনি ১৯২১সালে", ["তিনি", "1921", "সালে"]),
        ("தமிழ்நாடு", ["தமிழ்நாடு"]),
        ("പാലം ശ്രീ‌ലങ്ക", ["പാലം", "ശ്രീലങ്ക"]),
        ("กรุงเทพ", ["กรุ", "รุง", "งเ", "เท", "ทพ"]),
        ("နေပြည်တော်", ["နေပြ", "ပြည်", "ည်တော်"]),
        ("كِتَابٌ وأَحْمَد و٣٠٠٠", ["كتاب", "واحمد", "و", "3000"]),
        ("الكـــتاب ٱلرسول مُؤَسَّسَة", ["الكتاب", "الرسول", "مؤسسة"]),
        ("می‌شود", ["میشود"]),
        ("שָׁלוֹם", ["שלום"]),
        ("2004г. в Москве", ["2004", "г", "в", "москве"]),
        ("人々と〇", ["人々", "々と", "と〇"]),
        ("", []),
    ],
)
def test_spellings_of_one_word_are_read_alike(text: str, expected: list[str]) -> None:
    assert tokens(text) == expected


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("cities", "city"),
        ("stopped", "stop"),
        ("running", "runs"),
        ("mined", "mining"),
        ("mines", "mine"),
        ("1990s", "1990"),
        ("opened", "opens"),
        ("cried", "cry"),
        ("quickly", "quick"),
    ],
)
def test_forms_of_one_word_share_a_stem(one: str, other: str) -> None:
    assert stem(one) == stem(other)


@pytest.mark.parametrize(("one", "other"), [("glass", "glas"), ("sing", "s"), ("bus", "bu")])
def test_short_words_are_left_alone(one: str, other: str) -> None:
    assert stem(one) == one != other


def test_terms_leave_out_stop_words() -> None:
    assert terms("The bridge was opened in 1859.") == ["bridg", "open", "1859"]


def test_numbers_leave_out_one() -> None:
    assert numbers(terms("one of 12 ships in the first fleet of 1805")) == {"12", "1805"}


def test_names_are_capitalised_words_inside_a_sentence() -> None:
    assert names("He met John Smith in Truro. The dog ran. Then it slept.") == [
        "john",
        "smith",
        "truro",
    ]


def test_a_name_in_a_text_without_spaces_ends_with_its_letters() -> None:
    assert names("这座桥由Brunel建造,由Royal Navy出资。") == ["brunel", "royal", "navi"]
    assert names("다리는 Brunel이 지었다.") == ["brunel"]


@pytest.mark.parametrize(
    ("text", "latin"),
    [
        ("1859", True),
        ("Die Brücke wurde im Jahr 1859 eröffnet.", True),
        ("Cầu được mở cửa năm 1859.", True),
        ("The α-helix of 北京 University", True),
        ("这座桥由Brunel建造", False),
        ("Мост", False),
        ("สะพาน", False),
    ],
)
def test_a_text_is_latin_by_most_of_its_letters(text: str, latin: bool) -> None:
    assert is_latin(text) is latin


def test_a_name_of_two_words_counts_at_the_start_too() -> None:
    assert names("Humphry Davy slept.") == ["humphri", "davi"]


def test_denied_words_follow_the_denial() -> None:
    assert denied(tokens("He did not attend the opening")) == {"attend"}
    assert denied(tokens("It wasn’t mined")) == {"min"}
    assert denied(tokens("No, it was mined")) is None


@given(st.text())
def test_folding_twice_changes_nothing_in_case(text: str) -> None:
    assert all(token == token.lower() for token in tokens(text))


@given(st.text())
def test_no_text_breaks_the_reader(text: str) -> None:
    assert all(terms(text))
    names(text)


def test_endless_number_words_are_many_numbers() -> None:
    assert set(tokens("two hundred and " * 3000)) <= {"200", "and", "202", "102", "100", "2"}


MARKS = (
    "sSdnrth019,.''’´ΣσςİıÅßøｱ日語ไ한٣½①ﬁ \n\x1c\u00a0\u00a8\u00ad\u2003\u200b\u0301\u3099\u309b"
)
SPELLINGS = st.text(st.characters() | st.sampled_from(MARKS), max_size=30)
"""Text full of what joins, parts and changes its neighbours."""


@given(SPELLINGS)
def test_nothing_joins_across_white_space(text: str) -> None:
    read_at_once = words._TOKEN.findall(fold(text))
    assert [token for piece in text.split() for token in words._folded(piece)] == read_at_once
