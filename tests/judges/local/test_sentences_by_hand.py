"""Sentences and claims: each rule with the case beside it that it must not take."""

import pytest

from ragstone.judges.local.claims_and_evidence import claims, statements
from ragstone.judges.local.sentences import sentences


def split(text: str) -> list[str]:
    return [sentence.text for sentence in sentences(text)]


@pytest.mark.parametrize(
    ("text", "n"),
    [
        ("Prof. Davy came. He left.", 2),
        ("He met the prof. He left.", 1),
        ("He met the prof? He left.", 2),
        ("He met the prof! He left.", 2),
        ("He met the prof... He left.", 2),
        ("He met the prof… He left.", 2),
        ("They sold it to Bolitho Ltd. The port closed.", 2),
        ("They sold it to Bolitho Ltd. Truro closed.", 1),
        ("It rained in Sept. The port closed.", 2),
        ("It rained in Sept. Truro flooded.", 1),
        ("He lives in the U.K. Truro is there.", 1),
        ("He lives in the U.K. It is there.", 2),
        ("I said no. Truro closed.", 2),
        ("See no. 5 there.", 1),
        ("Tin sank; lead. rose.", 1),
        ("Tin sank. lead rose.", 1),
        ("tin sank. lead rose.", 2),
        ("It uses iOS. iPad came.", 2),
        ("Tin sank. iP", 2),
        ("Tin sank. i", 1),
        ("Tin sank. I", 2),
        ("It cost 5. 7 came back.", 2),
        ("Es war am 12. Mai kalt.", 1),
        ("Es kam die 123. Mai war kalt.", 2),
        ("Tin sank! - it did.", 1),
        ("Tin sank. - It did.", 2),
        ("Really?! Yes.", 2),
        ("Well... Tin sank.", 2),
        ("Well... tin sank.", 1),
        ("It sank (it did). Lead rose.", 2),
        ("“It sank.” Lead rose.", 2),
        ("It sank.”[1] Lead rose.", 2),
        ("It sank [citation needed]. Lead rose.", 2),
        ("Version 1.2.3 came. It sank.", 2),
        ("www.truro.uk is down. It sank.", 2),
    ],
)
def test_a_stop_ends_a_sentence_unless_something_speaks_for_an_abbreviation(
    text: str, n: int
) -> None:
    assert len(split(text)) == n


@pytest.mark.parametrize(("width", "n"), [(44, 2), (45, 1), (120, 1), (121, 2)])
def test_a_line_of_45_to_120_characters_may_be_wrapped(width: int, n: int) -> None:
    line = "Tin " + "x" * (width - 4)
    assert len(line) == width
    assert len(split(f"{line}\nTruro and more of it.")) == n
    assert len(split(f"Rain fell.\n\n{line}\nTruro and more of it.")) == n + 1


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("A short line\nin lower case", ["A short line\nin lower case"]),
        ("A short line\nIn upper case", ["A short line", "In upper case"]),
        ("A short line.\nin lower case", ["A short line.", "in lower case"]),
        ("A line\n\nin lower case", ["A line", "in lower case"]),
        ("A line\n- in lower case", ["A line", "in lower case"]),
        ("A line\n1) in lower case", ["A line", "in lower case"]),
        ("# A line\nin lower case", ["A line", "in lower case"]),
        ("| a |\nin lower case", ["| a |", "in lower case"]),
        ("> A quote\n> Goes on", ["A quote", "Goes on"]),
        ("- [ ] Tin", ["[ ] Tin"]),
        ("1990. A year", ["1990.", "A year"]),
        ("3. Oktober 1990", ["3. Oktober 1990"]),
        ("3. October 1990", ["October 1990"]),
        ("5.", ["5."]),
        ("-5 degrees", ["-5 degrees"]),
    ],
)
def test_lines_go_on_or_begin_anew(text: str, parts: list[str]) -> None:
    assert split(text) == parts


def test_marks_of_lists_stand_outside_and_places_stay() -> None:
    text = "## Mines\n\n  2. Tin sank.  \n* Lead"
    assert [(one.text, one.start, one.end) for one in sentences(text)] == [
        ("Mines", 3, 8), ("Tin sank.", 15, 24), ("Lead", 29, 33),
    ]  # fmt: skip
    assert all(text[one.start : one.end] == one.text for one in sentences(text))


# Claims ----------------------------------------------------------------------------------------

TELLS = "Let me know " + "whether " * 21


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("Of course it rained. Tin sank.", ["Tin sank."]),
        ("It rained, of course.", ["It rained, of course."]),
        (f"{TELLS}it sank.", [f"{TELLS}it sank."]),
        ("Here is a list of mines:\nTin sank.", ["Tin sank."]),
        ("Here is a list of mines that sank in 1902 and later.",
         ["Here is a list of mines that sank in 1902 and later."]),
        ("Tin sank: lead rose.", ["Tin sank: lead rose."]),
        ("Mines:", []),
        ("鉱山：", []),
        ("**Mines:**\nTin sank.", ["Tin sank."]),
        ("Did tin sink?”\nIt did sink.", ["It did sink."]),
        ("See https://truro.uk/mines", ["See https://truro.uk/mines"]),
        ("https://truro.uk/mines", []),
        ("(see Davy 1802)", []),
        ("Tin sank (see Davy 1802).", ["Tin sank (see Davy 1802)."]),
        ("References: Davy", []),
        ("It references: Davy", ["It references: Davy"]),
        ("#5 sank.", ["#5 sank."]),
        ("Me too!", ["Me too!"]),
        ("Me too! Tin sank.", ["Tin sank."]),
        ("Well. It is.", ["Well.", "It is."]),
    ],
)  # fmt: skip
def test_what_asserts_nothing_is_no_claim(answer: str, expected: list[str]) -> None:
    assert [claim.text for claim in claims(answer)] == expected


@pytest.mark.parametrize(("words", "kept"), [(25, False), (26, True)])
def test_a_courtesy_has_25_words_at_most(words: int, kept: bool) -> None:
    text = "Let me know " + "now " * (words - 4) + "please"
    assert len(text.split()) == words
    assert bool(claims(text)) is kept


@pytest.mark.parametrize(("length", "n"), [(60, 1), (61, 2)])
def test_a_reference_of_60_characters_is_one_statement(length: int, n: int) -> None:
    reference = "Tin sank. Lead " + "x" * (length - 16) + "."
    assert len(reference) == length
    assert len(statements(reference)) == n


@pytest.mark.parametrize(
    ("reference", "expected"),
    [
        (" Tin sank. ", ["Tin sank."]),
        ("Tin\nLead", ["Tin", "Lead"]),
        ("Tin\n", ["Tin"]),
        ("\n", []),
        (
            "Did the tin of Geevor sink in the harbour of Truro? Did the lead of Bath?",
            ["Did the tin of Geevor sink in the harbour of Truro?", "Did the lead of Bath?"],
        ),
        ("Did the tin of Geevor sink in the harbour of Truro in 1902? It did.", ["It did."]),
    ],
)
def test_a_reference_without_assertions_is_all_of_its_sentences(
    reference: str, expected: list[str]
) -> None:
    assert statements(reference) == expected
