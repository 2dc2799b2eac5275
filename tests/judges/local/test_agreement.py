"""Agreement: the rule of half the words and every number, by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.judges.local.agreement import claim_agreement, statement_agreement

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
    assert claim_agreement(claim, reference, QUESTION).verdict == expected


@given(st.text(), st.text())
def test_any_two_texts_can_be_compared(one: str, other: str) -> None:
    assert statement_agreement(one, other, other).reason
    assert claim_agreement(one, other, one).reason


@given(st.text(alphabet="abcdefg 123", min_size=1).filter(str.strip))
def test_a_text_says_itself_in_full(text: str) -> None:
    assert statement_agreement(text, text).verdict == "full"
