"""How texts under judgement are shown."""

import re
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragstone.data import Context, Turn
from ragstone.judges.llm.prompts import (
    block,
    contexts_block,
    passages,
    sentences_block,
    turns_block,
)
from ragstone.judges.llm.questions import boundary, escaped, listing, quote_is_in, unescaped

LINE = re.compile(r"==== ([0-9a-f]{32})((?: \w+)?)")
HASH = "5f0c" * 8


def contexts(*texts: str | None) -> tuple[Context, ...]:
    return tuple(Context(f"doc-{n}", text, n) for n, text in enumerate(texts, 1))


def without_hash(shown: str) -> str:
    return LINE.sub(lambda match: f"----{match[2]}", shown)


def test_a_text_stands_between_its_boundary_lines() -> None:
    shown = block("ANSWER", "It opened in 1859.\n\nBy rail.")
    assert without_hash(shown) == "ANSWER\n----\nIt opened in 1859.\n\nBy rail.\n---- end\n\n"
    assert len({match[1] for match in LINE.finditer(shown)}) == 1


def test_contexts_stand_behind_their_ids_with_numbered_sentences() -> None:
    (group,) = passages(contexts("One. Two.", None, "- Three\n- Four"), 100)
    assert without_hash(contexts_block(group)) == (
        "CONTEXTS\n---- c01\n[s1] One. [s2] Two.\n---- c02\n- [s1] Three\n- [s2] Four\n---- end\n\n"
    )
    assert [(one.context, one.rank, one.sentences) for one in group] == [
        ("doc-1", 1, 2),
        ("doc-3", 3, 2),
    ]


def test_short_texts_and_turns_stand_behind_their_ids() -> None:
    assert without_hash(listing("CLAIMS", {"p01": "A.", "p02": "B."})) == (
        "CLAIMS\n---- p01\nA.\n---- p02\nB.\n---- end\n\n"
    )
    assert without_hash(turns_block([Turn("user", "Hi"), Turn("assistant", "Yes?")])) == (
        "EARLIER TURNS\n---- t01\nuser: Hi\n---- t02\nassistant: Yes?\n---- end\n\n"
    )
    assert without_hash(sentences_block("ANSWER", "One. Two.", "a01")) == (
        "ANSWER\n---- a01\n[s1] One. [s2] Two.\n---- end\n\n"
    )


def test_the_same_texts_are_the_same_bytes_in_every_process() -> None:
    program = "from ragstone.judges.llm.prompts import block; print(block('ANSWER', 'A.'), end='')"
    other = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert other.stdout.decode().replace("\r\n", "\n") == block("ANSWER", "A.")


def test_every_title_id_and_text_has_its_own_boundary() -> None:
    shown = [
        block("ANSWER", "A."),
        block("ANSWER", "B."),
        block("QUESTION", "A."),
        listing("ANSWER", {"p01": "A."}),
        listing("ANSWER", {"p02": "A."}),
        listing("ANSWER", {"p01": "A.", "p02": ""}),
        listing("ANSWER", {"p01": "", "p02": "A."}),
    ]
    marks = [match[1] for one in shown if (match := LINE.search(one))]
    assert len(set(marks)) == len(shown)


def test_a_boundary_that_a_text_holds_is_hashed_again() -> None:
    made = boundary(["ANSWER"], [])
    again = boundary(["ANSWER"], [f"see {made.upper()}"])
    third = boundary(["ANSWER"], [made, again])
    assert len({made, again, third}) == 3
    assert boundary(["ANSWER"], [again]) == made


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Plain, “curly” text: naïve 北京 😀 é\tand\n\nlines [1], [2], a = b == c === d.",
        "MD5 is d41d8cd98f00b204e9800998ecf8427e.",
        "==== Heading ====\n======\n\\frac{1}{2} C:\\temp \\n \\\\server",
        "می\u200cخواهم क्\u200dष 👩\u200d🚀 ❤️",
        "[sic] [s] [S-3] s3",
    ],
)
def test_ordinary_text_is_shown_as_it_is(text: str) -> None:
    assert escaped(text) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\r\nb\rc", "a\nb\\u000dc"),
        ("\x00\x1b[31m\x7f\x85", "\\u0000\\u001b[31m\\u007f\\u0085"),
        ("\u202eevil\u2066", "\\u202eevil\\u2066"),
        ("p\u200b0\u200d1\ufeff", "p\\u200b0\\u200d1\\ufeff"),
        ("a\U000e0041\U000e007fb", "a\\U000e0041\\U000e007fb"),
        ("a\ud83db", "a\\ud83db"),
        ("a\u2028b\u2029", "a\\u2028b\\u2029"),
        (f"==== {HASH} end ====", f"\\==== {HASH} end ===="),
        (f"  > === {HASH.upper()}", f"  > \\=== {HASH.upper()}"),
        (f"＝＝＝＝\u3000{HASH}", f"\\＝＝＝＝\u3000{HASH}"),
        ("[s3] x [S12] ［ｓ３］ [ s 3 ] [s٣]", "\\[s3] x \\[S12] \\［ｓ３］ \\[ s 3 ] \\[s٣]"),
        (r"literal \u202e and \[s3]", r"literal \\u202e and \\\[s3]"),
    ],
)
def test_what_deceives_is_shown_with_a_backslash(text: str, shown: str) -> None:
    assert escaped(text) == shown
    assert unescaped(shown) == text.replace("\r\n", "\n")


ODD = st.lists(
    st.sampled_from([*"\\[s3] u20e=.।क\r\n", "====", HASH, "u202e", "U000e0041"])
    | st.sampled_from(["\u202e", "\u200d", "\U000e0041", "\ud800"])
    | st.characters(),
    max_size=30,
).map("".join)
ROUGH = st.text(st.sampled_from([*"ab. \n\r\u2028\\[s1]"]), max_size=60)


@settings(max_examples=100)
@given(ODD)
def test_a_shown_text_can_be_told_back(text: str) -> None:
    shown = escaped(text)
    assert unescaped(shown) == text.replace("\r\n", "\n")
    assert not LINE.search(shown) or "\\====" in shown
    shown.encode()


@settings(max_examples=100)
@given(st.lists(ROUGH | ODD, max_size=4))
def test_long_contexts_are_split_and_nothing_is_lost(texts: list[str]) -> None:
    groups = passages(contexts(*texts), 16, at_once=3)
    everything = [one for group in groups for one in group]
    for number, text in enumerate(texts, 1):
        assert "".join(one.text for one in everything if one.rank == number) == text
    assert [one.id for one in everything] == [f"c{n:02d}" for n in range(1, len(everything) + 1)]
    for group in groups:
        assert len(group) <= 3
        assert sum(len(one.text) for one in group) <= 16


def test_a_long_context_is_split_at_paragraphs_then_sentences_then_words_then_anywhere() -> None:
    def split(text: str, room: int) -> list[str]:
        return [one.text for group in passages(contexts(text), room) for one in group]

    assert split("One two.\n\nThree four. Five.", 20) == ["One two.\n\n", "Three four. Five."]
    assert split("One two. Three four. Five six.", 22) == ["One two. Three four. ", "Five six."]
    assert split("one two three four", 10) == ["one two ", "three four"]
    assert split("abcdefgh", 3) == ["abc", "def", "gh"]


@pytest.mark.parametrize(
    ("text", "room", "first"),
    [
        ("Abc. Defg hijklmn.", 10, "Abc. "),
        ("Abc\n\nDefg hijklmn.", 10, "Abc\n\n"),
        ("Abc. Defg hijklmn.", 11, "Abc. Defg "),
        ("Abc\n\nDefg hijklmn.", 11, "Abc\n\nDefg "),
    ],
)
def test_a_part_ends_with_a_sentence_or_paragraph_that_reaches_half_of_the_room(
    text: str, room: int, first: str
) -> None:
    assert passages(contexts(text), room)[0][0].text == first


def test_sentence_numbers_go_on_in_the_parts_of_a_context() -> None:
    groups = passages(contexts("One two. Three four. Five six."), 22)
    assert [[(one.first, one.sentences) for one in group] for group in groups] == [
        [(0, 2)],
        [(2, 1)],
    ]
    assert "[s3] Five six." in contexts_block(groups[1])


def test_a_part_that_begins_within_a_sentence_begins_with_its_number() -> None:
    groups = passages(contexts("One. Two three four five. Six."), 15)
    shown = [without_hash(contexts_block(group)).split("\n")[2] for group in groups]
    assert shown == ["[s1] One. [s2] Two three ", "[s2] four five. [s3] Six."]
    assert [group[0].first for group in groups] == [0, 1]


def test_a_part_that_begins_where_a_sentence_ends_holds_none_of_it() -> None:
    groups = passages(contexts("abcdefgh. Ij."), len("abcdefgh."))
    assert [[(one.text, one.first, one.starts) for one in group] for group in groups] == [
        [("abcdefgh.", 0, (0,))],
        [(" Ij.", 1, (1,))],
    ]


def test_contexts_are_shared_out_in_rank_order() -> None:
    groups = passages(contexts("a" * 6, "b" * 6, "c" * 2, "", "d"), 10, at_once=2)
    assert [[one.text[:1] for one in group] for group in groups] == [["a"], ["b", "c"], ["", "d"]]
    assert passages((), 10) == ()
    assert passages(contexts(None), 10) == ()


def test_the_least_room_is_a_character_a_passage_and_a_passage_a_group() -> None:
    groups = passages(contexts("ab", "c"), 1, at_once=1)
    assert [[one.text for one in group] for group in groups] == [["a"], ["b"], ["c"]]


def test_no_room_is_an_error() -> None:
    with pytest.raises(ValueError, match="at least 1, got 0 and 20"):
        passages(contexts("One."), 0)


TEXT = "The “Royal Albert” Bridge opened in 1859.\nIt carries the\u00ad railway — still… today."


@pytest.mark.parametrize(
    "quote",
    [
        "the royal albert bridge",
        "'Royal Albert' Bridge   opened in 1859.",
        '"It carries the railway - still"',
        "[s1] The Royal Albert Bridge opened in 1859. [s2] It carries",
        "The Royal Albert … opened in 1859",
        "Bridge ... 1859 [...] railway",
        "opened in 1859;",
        "It carries the\\u00ad railway",
        "still... today",
    ],
)
def test_a_quote_is_found_whatever_its_marks(quote: str) -> None:
    assert quote_is_in(quote, ["Something else.", TEXT])


@pytest.mark.parametrize(
    "quote",
    [
        "",
        "  ",
        "…",
        '""',
        "[s1]",
        "opened in 1858",
        "railway … Bridge",
        "Something railway",
        "1.859",
    ],
)
def test_a_quote_that_does_not_stand_in_one_text_is_not_found(quote: str) -> None:
    assert not quote_is_in(quote, ["Something else.", TEXT])
