"""Claims and statements: what asserts something, and what does not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.judges.local.claims_and_evidence import claims, statements


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("Cornish heath", ["Cornish heath"]),
        ("It opened in 1859. [1]", ["It opened in 1859. [1]"]),
        ("Sure! Here are the main points:\n1. Tin.\n2. Copper.", ["Tin.", "Copper."]),
        ("## Overview\nTin was mined.", ["Tin was mined."]),
        ("Tin was mined. Would you like to know more?", ["Tin was mined."]),
        ("Tin was mined. Let me know if you need more.", ["Tin was mined."]),
        (
            "| mine | metal |\n|---|:-:|\n| Geevor | tin |\n| Levant | copper |",
            ["| Geevor | tin |", "| Levant | copper |"],
        ),
        ("| Geevor | tin |\n| Levant | copper |", ["| Geevor | tin |", "| Levant | copper |"]),
        ("| mine | metal |\r\n| --- | --- |", []),
        ("```python\nTin was mined.\n```", ["Tin was mined."]),
        ("Hello! I hope this helps.", []),
        ("[1][2]", []),
        ("[Data: Reports (1, 2, 3, 4, 5, +more); Entities (7)]", []),
        ("[see the annual report 1859]", []),
        ("[Tin was mined.]", ["[Tin was mined.]"]),
        (
            "[Tin was mined here by the Romans](a.html)",
            ["[Tin was mined here by the Romans](a.html)"],
        ),
        ("Source: a guide book\nTin was mined.", ["Tin was mined."]),
        ("", []),
    ],
)
def test_claims_are_the_sentences_that_assert(answer: str, expected: list[str]) -> None:
    assert [claim.text for claim in claims(answer)] == expected


def test_a_sentence_about_what_is_not_known_is_no_fact() -> None:
    found = claims("The text does not name the owner. Tin was mined.")
    assert [claim.factual for claim in found] == [False, True]


def test_claims_count_their_sentence() -> None:
    assert [claim.sentence for claim in claims("Tin. Why? Copper.")] == [0, 2]


@pytest.mark.parametrize(
    ("reference", "expected"),
    [
        ("Baron Alphonse", ["Baron Alphonse"]),
        ("St. Ives. It is small.", ["St. Ives. It is small."]),
        (
            "The mine at Geevor was worked for tin until 1990. It is now a museum.",
            ["The mine at Geevor was worked for tin until 1990.", "It is now a museum."],
        ),
        ("  ", []),
    ],
)
def test_a_short_reference_is_one_statement(reference: str, expected: list[str]) -> None:
    assert statements(reference) == expected


@given(st.text())
def test_claims_keep_their_place(text: str) -> None:
    assert all(text[claim.start : claim.end] == claim.text for claim in claims(text))


def test_a_greek_question_is_no_claim() -> None:
    assert [claim.text for claim in claims("Πού είναι η γέφυρα; Είναι εδώ.")] == ["Είναι εδώ."]
