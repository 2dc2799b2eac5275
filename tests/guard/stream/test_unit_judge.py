"""Units: what a stream is cut into, whatever pieces it comes in."""

import time
from collections.abc import Callable, Iterable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragstone.guard.stream.sentence_boundaries import MOST_DOUBT, StreamUnit, Units
from ragstone.guard.stream.unit_judge import ArrivingText
from ragstone.judges.local.sentences import Sentence, sentences
from tests.guard.stream.pieces import MIXED, PIECES, TEXTS, cut, every_split, units_of


def arriving(pieces: Iterable[str | bytes]) -> list[StreamUnit]:
    text, units = ArrivingText(), Units()
    found = [unit for piece in pieces for unit in units.feed(text.feed(piece))]
    return found + units.close(text.close())


def said(text: str) -> list[tuple[str, str]]:
    return [(unit.kind, unit.text) for unit in units_of(text)]


def in_place(unit: StreamUnit) -> list[Sentence]:
    return [
        Sentence(one.text, unit.start + one.start, unit.start + one.end) for one in unit.sentences()
    ]


CASES: dict[str, list[tuple[str, str]]] = {
    "": [],
    "  \n": [("rest", "  \n")],
    "It is so. It was not.\n": [
        ("sentence", "It is so."),
        ("sentence", " It was not."),
        ("rest", "\n"),
    ],
    "Dr. Smith paid $2.50! Really?": [
        ("sentence", "Dr. Smith paid $2.50!"),
        ("sentence", " Really?"),
    ],
    "It was mined. [1] [2, 3] Copper too.[4]": [
        ("sentence", "It was mined. [1] [2, 3]"),
        ("sentence", " Copper too.[4]"),
    ],
    "Well... maybe not. Wait… What": [
        ("sentence", "Well... maybe not."),
        ("sentence", " Wait…"),
        ("sentence", " What"),
    ],
    "今天。明天！": [("sentence", "今天。"), ("sentence", "明天！")],
    "هل هذا سؤال؟ نعم.": [("sentence", "هل هذا سؤال؟"), ("sentence", " نعم.")],
    "# A heading\nIt says\r\nso.\n\nAnd ends": [
        ("sentence", "# A heading"),
        ("sentence", "\nIt says\r\nso."),
        ("sentence", "\n\nAnd ends"),
    ],
    "- one\n  - two. Three\n1. four": [
        ("sentence", "- one"),
        ("sentence", "\n  - two."),
        ("sentence", " Three"),
        ("sentence", "\n1. four"),
    ],
    "See:\n| a. B | c |\n|---|---|\n| ☺ |\n| d\nIt ends.": [
        ("sentence", "See:"),
        ("row", "\n| a. B | c |\n|---|---|"),
        ("row", "\n| ☺ |"),
        ("row", "\n| d"),
        ("sentence", "\nIt ends."),
    ],
    "So:\n```py\nx = 1. Y\n\n| a |\n``\n```\nIt ends.": [
        ("sentence", "So:"),
        ("code", "\n```py\nx = 1. Y\n\n| a |\n``\n```"),
        ("sentence", "\nIt ends."),
    ],
    "````\n```\nA. B\n````\t\nC": [("code", "````\n```\nA. B\n````\t"), ("sentence", "\nC")],
    "- ```\n  A. B\n  ```\n- C": [("code", "- ```\n  A. B\n  ```"), ("sentence", "\n- C")],
    "> ```\n> A. B\n> ```\nC": [("code", "> ```\n> A. B\n> ```"), ("sentence", "\nC")],
    "```never closed. A. B\nC. D\n``` no": [("code", "```never closed. A. B\nC. D\n``` no")],
    "```A``` is. So it is. B": [
        ("sentence", "```A``` is."),
        ("sentence", " So it is."),
        ("sentence", " B"),
    ],
    "A.\n``\nB.\n": [("sentence", "A."), ("sentence", "\n``\nB."), ("rest", "\n")],
    "It ends. 😀 ---\n": [("sentence", "It ends."), ("rest", " 😀 ---\n")],
    "A\x00b. C\x1b. \x07D.": [
        ("sentence", "A\x00b."),
        ("sentence", " C\x1b."),
        ("sentence", " \x07D."),
    ],
}


@pytest.mark.parametrize(("text", "expected"), CASES.items(), ids=map(ascii, CASES))
def test_texts_are_cut_into_sentences_rows_and_blocks_of_code(
    text: str, expected: list[tuple[str, str]]
) -> None:
    assert said(text) == expected


@pytest.mark.parametrize("text", [*CASES, MIXED], ids=ascii)
def test_every_cut_of_a_text_gives_the_same_units(text: str) -> None:
    whole = units_of(text)
    assert "".join(unit.text for unit in whole) == text
    for pieces in [*every_split(text), *every_split(text.encode())]:
        assert arriving(pieces) == whole


@settings(max_examples=150, deadline=None)
@given(TEXTS, st.data())
def test_units_are_whole_and_the_same_for_any_cut(text: str, data: st.DataObject) -> None:
    whole = units_of(text)
    assert "".join(unit.text for unit in whole) == text
    places = data.draw(st.lists(st.integers(0, len(text)), max_size=12))
    assert arriving(cut(text, places)) == whole
    assert arriving(text) == whole


@settings(max_examples=150, deadline=None)
@given(TEXTS)
def test_their_sentences_are_those_of_the_whole_text(text: str) -> None:
    found = [one for unit in units_of(text) for one in in_place(unit)]
    assert found == sentences(text)


@pytest.mark.parametrize("piece", PIECES)
def test_what_is_repeated_gives_the_sentences_of_the_whole_text(piece: str) -> None:
    for before in ("", "A. ", "It is so. ", "a. "):
        text = before + piece * 12 + "a B"
        assert [one for unit in units_of(text) for one in in_place(unit)] == sentences(text)
        assert arriving(text) == units_of(text)


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=60), st.data())
def test_bytes_that_are_no_utf_8_are_replaced_and_never_raise(
    raw: bytes, data: st.DataObject
) -> None:
    places = data.draw(st.lists(st.integers(0, len(raw)), max_size=8))
    found = arriving(cut(raw, places))
    assert "".join(unit.text for unit in found) == raw.decode("utf-8", "replace")
    assert found == arriving([raw])


@settings(max_examples=100, deadline=None)
@given(st.lists(st.sampled_from(["\ud83d", "\ude00", "a", "é", "A. "]), max_size=9), st.data())
def test_halves_of_characters_are_joined_or_replaced(parts: list[str], data: st.DataObject) -> None:
    text = "".join(parts)
    whole = text.encode("utf-16-le", "surrogatepass")
    places = data.draw(st.lists(st.integers(0, len(text)), max_size=8))
    found = "".join(unit.text for unit in arriving(cut(text, places)))
    assert found == "".join(unit.text for unit in arriving([text]))
    assert found.encode().decode() == found
    if "\ufffd" not in found:
        assert found.encode("utf-16-le") == whole


def test_a_half_at_the_end_of_a_longer_piece_waits_for_the_other() -> None:
    assert [unit.text for unit in arriving(["abc\ud83d", "\ude00"])] == ["abc😀"]


def test_units_are_closed_once() -> None:
    units = Units()
    assert units.feed("It is so. ") == []
    assert [unit.text for unit in units.close()] == ["It is so.", " "]
    assert units.close() == []


def test_a_sentence_may_be_wrapped_over_many_lines() -> None:
    line = "A long line that somebody wrapped by hand, as one does"
    text = f"{line}\n{line}\n{line}\r\n{line}. "
    assert [unit.text for unit in arriving(text)] == [text[:-1], " "]
    assert [one.text for unit in units_of(text) for one in in_place(unit)] == [
        one.text for one in sentences(text)
    ]


@pytest.mark.parametrize("text", ["| it is. so it was. |\n", "```\nit is. so it was.\n```\n"])
def test_rows_and_code_without_a_capital_fall_into_the_sentences_of_the_whole(text: str) -> None:
    for whole in (text, text + "it ends. so", text + "It ends. So"):
        found = [one for unit in arriving(whole) for one in in_place(unit)]
        assert found == sentences(whole)


def test_text_after_half_a_character_of_bytes_replaces_it() -> None:
    assert "".join(unit.text for unit in arriving([b"\xf0\x9f", "A", b"\x98\x80"])) == (
        "\ufffdA\ufffd\ufffd"
    )


def known_at(text: str) -> list[tuple[str, str]]:
    """Each unit, and what of the text has come when it is told."""
    units = Units()
    found = []
    for place, one in enumerate(text, 1):
        found += [(unit.text, text[:place]) for unit in units.feed(one)]
    return found


@pytest.mark.parametrize(
    ("text", "unit", "then"),
    [
        ("It is so. Refunds are", "It is so.", "It is so. R"),
        ("It is so. The", "It is so.", "It is so. T"),
        ("It is so.\n\nThe", "It is so.", "It is so.\n\n"),
        ("It is so.\nThe", "It is so.", "It is so.\nT"),
        ("It is so. [1] The", "It is so. [1]", "It is so. [1] T"),
        ("It is so. [See the", "It is so.", "It is so. [S"),
        ("It is Inc. The thing", "It is Inc.", "It is Inc. The "),
        ("今天天气很好。明", "今天天气很好。", "今天天气很好。明"),
        ("# It is\nT", "# It is", "# It is\nT"),
        ("| a |\n| b |", "| a |", "| a |\n| b"),
        ("| a |\nIt", "| a |", "| a |\nI"),
        ("| a |\n|:-|\n| b |\n", "| a |\n|:-|", "| a |\n|:-|\n"),
        ("| a |\r\n|--|\r\n| b |\n", "| a |\r\n|--|", "| a |\r\n|--|\r"),
        ("```\nx\n```\n", "```\nx\n```", "```\nx\n```\n"),
    ],
)
def test_a_unit_is_told_as_soon_as_its_end_cannot_change(text: str, unit: str, then: str) -> None:
    if "A" not in text and unit.islower():
        text, unit, then = "A\n\n" + text, "\n\n" + unit, "A\n\n" + then
    assert (unit, then) in known_at(text)


@pytest.mark.parametrize(
    "text",
    [
        "He saw Dr. ",
        "He paid 3.",
        "It is so.",
        "It is so. ",
        'It is so." (',
        "It is so. [",
        "It is so. [1, 2",
        "It is so. [Data: Reports (1",
        "It is so. [1] ",
        "it is so. it",
        "It is Inc. The",
        "It came on 3. Okto",
        "This line of text is wrapped by hand somewhere near\n",
        "This line of text is wrapped by hand somewhere near\n1",
        "```\nA. B\n``",
        "```\nA. B\n```",
        "| A. B | C",
        "| A. B | C |\n",
        "| A. B | C |\n|--",
    ],
)
def test_nothing_is_told_while_its_end_may_change(text: str) -> None:
    assert known_at(text) == []


def test_a_text_without_a_capital_is_held_until_one_comes() -> None:
    small = "it is so. it was so. "
    assert known_at(small * 20) == []
    assert [unit.text for unit in units_of(small * 2)] == [
        "it is so.",
        " it was so.",
        " it is so.",
        " it was so.",
        " ",
    ]
    assert [unit.text for unit in units_of(small + "Now. ")] == [
        "it is so. it was so.",
        " Now.",
        " ",
    ]


def test_without_a_capital_for_long_it_is_taken_to_have_none() -> None:
    text = "it is so. " * (MOST_DOUBT // 10 + 50) + "Now it. is not. "
    assert [unit.text for unit in units_of(text)[-4:]] == [
        " it is so.",
        " Now it.",
        " is not.",
        " ",
    ]
    assert arriving(text) == units_of(text) == arriving([text[:777], text[777:]])


@pytest.mark.parametrize("flood", [" ", "\t", ")", '"', " [1]", "[1]", "*", "(", "[1,", "\n", "- "])
@pytest.mark.parametrize("before", ["It is so.", "It is so.\n", "It was", "it. is so."])
def test_floods_are_cut_in_the_same_places_however_they_come(flood: str, before: str) -> None:
    text = before + flood * (3 * MOST_DOUBT // len(flood)) + "and so on. It ends. "
    whole = units_of(text)
    assert "".join(unit.text for unit in whole) == text
    for size in (1, 1000, 1999, 2001, 2500):
        assert arriving(text[at : at + size] for at in range(0, len(text), size)) == whole


@pytest.mark.parametrize(
    "text",
    [
        "| it is so. " + "so it is " * 400 + "|\n\nit ends. So",
        "| " + "so it is " * 411 + "it is so. so " + "so it is " * 44 + "|\nit ends. so",
        "```\nit is so. so. " + "so it is " * 400 + "\n```\nit ends. So",
        "| it is so. so |\nit ends. " + "so it is " * 400 + ". So",
        "## " + "it is so " * 400 + "\nit ends. so it is. So",
        "It is so. " + "so it is " * 400 + "\nit goes on. So it is.",
        "It is. " + "so it is " * 8 + "\nit goes on. " + "so " * 900 + "\nand on. So it is.",
        " " * 3000 + "- 1. it is. So it is. So",
        "It is.\n" + " " * 1900 + "it goes on. So it is.",
        "A | b " * 600 + "\nand on. So it is. So",
    ],
    ids=lambda text: ascii(text[:20]),
)
def test_long_lines_are_cut_in_the_same_places_however_they_come(text: str) -> None:
    whole = units_of(text)
    assert "".join(unit.text for unit in whole) == text
    for size in (1, 7, 500, 1000, 1999, 2001, 2500):
        assert arriving(text[at : at + size] for at in range(0, len(text), size)) == whole


def test_the_end_of_a_sentence_is_held_no_longer_than_the_most() -> None:
    told = known_at("It is so." + " " * (MOST_DOUBT + 9))
    assert [(unit, len(then)) for unit, then in told] == [("It is so.", 8 + MOST_DOUBT)]


MOST = 9.0
"""Times as long for four times the text: 4 if it is linear, 16 if quadratic."""

QUICK = 0.02

LONG: dict[str, Callable[[int], str]] = {
    "sentences": lambda n: "The red bridge of Truro opened in 1859. Dr. Smith paid it. [1]\n" * n,
    "one word": lambda n: "A" * 60 * n,
    "stops": lambda n: "." * 20 * n,
    "lone stops": lambda n: "A. . " * 10 * n,
    "spaces": lambda n: "So." + " " * 60 * n + "X",
    "citations": lambda n: "So. " + "[1]" * 20 * n,
    "marks": lambda n: "- " * 20 * n,
    "small letters": lambda n: "it is so. " * 6 * n,
    "code": lambda n: "```\n" + "x = 1. Y\n" * 6 * n,
    "rows": lambda n: "| a. B | c |\n" * 5 * n,
    "quotes": lambda n: '."' * 20 * n,
    "line breaks": lambda n: "So.\n" + "\n" * 60 * n,
    "wrapped": lambda n: "A long line that somebody wrapped by hand, as one does\n" * n,
}


def seconds(pieces: Iterable[str]) -> float:
    start = time.thread_time()
    arriving(pieces)
    return time.thread_time() - start


@pytest.mark.parametrize("name", LONG)
def test_texts_in_pieces_of_one_character_take_linear_time(name: str) -> None:
    make, size = LONG[name], 100
    long = seconds(make(4 * size))
    while size < 3_000 and long < 0.1:
        size *= 2
        long = seconds(make(4 * size))
    for _ in range(4):
        short = min(seconds(make(size)) for _ in range(2))
        if long <= max(QUICK, MOST * short):
            return
        long = min(long, seconds(make(4 * size)))
    pytest.fail(f"{short:.3f} s for {size}, {long:.3f} s for {4 * size}")
