"""Agreement: the rule of half the words and every number, by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.judges.local.answer_agreement import (
    claim_agreement,
    is_open,
    is_settled,
    statement_agreement,
)

QUESTION = "When did the bridge open?"


@pytest.mark.parametrize(
    ("statement", "answer", "expected"),
    [
        ("1859", "The bridge opened in 1859.", "full"),
        ("1859", "The bridge opened in 1895.", "contradicted"),
        ("1859", "The bridge opened long ago.", "missing"),
        ("May 2, 1859", "In 1859.", "full"),
        ("12 May 1859", "On 2 May 1859.", "contradicted"),
        ("Isambard Brunel", "Brunel", "full"),
        ("Isambard Kingdom Brunel", "Brunel", "partial"),
        ("Brunel", "Telford", "missing"),
        ("the bridge", "It was the bridge.", "full"),
        ("Shostakovitch", "Shostakovich", "full"),
        ("Abid Ali", "Abidali", "full"),
        ("Austria", "Australia", "missing"),
        ("1,132", "1132 people", "full"),
        ("three", "There are 3.", "full"),
        ("Truro (Cornwall)", "Truro", "full"),
        ("yes", "Yes, it did.", "full"),
        ("no", "Yes, it did.", "contradicted"),
        ("The Who", "The Who played.", "full"),
        ("The Who", "Who played?", "missing"),
        ("", "Anything", "missing"),
    ],
)
def test_half_the_new_words_and_every_number_make_it_full(
    statement: str, answer: str, expected: str
) -> None:
    assert statement_agreement(statement, answer, QUESTION).verdict == expected


LONG = "The old mine at Geevor near Pendeen produced tin and copper until miners left."


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (
            "Geevor, an old mine near Pendeen, produced tin and copper until its miners left.",
            "full",
        ),
        ("Geevor mine produced tin.", "partial"),
        ("It rained in Truro.", "missing"),
    ],
)
def test_a_sentence_needs_two_thirds(answer: str, expected: str) -> None:
    assert statement_agreement(LONG, answer).verdict == expected


@pytest.mark.parametrize(
    ("claim", "reference", "expected"),
    [
        ("It opened in 1859.", "1859", "matches"),
        ("It opened in 1895.", "1859", "extra"),
        ("It is painted grey.", "1859", "extra"),
        (
            "It opened in 1895 after Brunel finished the work.",
            "The bridge opened in 1859 after Brunel finished the work.",
            "contradicts",
        ),
        (
            "It opened in 1859 after Brunel finished the work.",
            "The bridge opened in 1859 after Brunel finished the work.",
            "matches",
        ),
    ],
)
def test_a_claim_contradicts_only_in_the_same_sentence(
    claim: str, reference: str, expected: str
) -> None:
    assert claim_agreement(claim, reference, QUESTION)[0] == expected


@given(st.text(), st.text())
def test_any_two_texts_can_be_compared(one: str, other: str) -> None:
    assert statement_agreement(one, other, other).reason
    assert claim_agreement(one, other, one)[1]


@given(st.text(alphabet="abcdefg 123", min_size=1).filter(str.strip))
def test_a_text_says_itself_in_full(text: str) -> None:
    assert statement_agreement(text, text).verdict == "full"


@pytest.mark.parametrize(
    ("statement", "answer"),
    [
        ("10–12 years", "10â€“12 years"),
        ("around 2.45 billion years ago", "2.4 billion years ago"),
        ("adenosine diphosphate (ADP)", "ADP"),
        ("3.99 degrees", "about 3.99 degrees"),
    ],
)
def test_other_spellings_of_the_same_are_full(statement: str, answer: str) -> None:
    assert statement_agreement(statement, answer).verdict == "full"


@pytest.mark.parametrize(
    ("statement", "answer"), [("3.99 degrees", "3.97 degrees"), ("1900", "1985")]
)
def test_what_only_looks_alike_is_not_full(statement: str, answer: str) -> None:
    assert statement_agreement(statement, answer).verdict != "full"


def test_an_encoder_is_asked_only_where_strings_leave_all_references_open() -> None:
    half = statement_agreement("Timmy Smith", "Emmitt Smith")
    found = statement_agreement("Isambard", "Isambard")
    assert is_open("Timmy Smith", half)
    assert not is_open("Isambard", found)
    assert not is_open(LONG, statement_agreement(LONG, "Geevor mine produced tin."))
    assert is_settled([found])
    assert not is_settled([half, found])
    assert not is_settled([])
