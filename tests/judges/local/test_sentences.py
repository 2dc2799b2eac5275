"""Sentences: hard cases by hand, then what must hold for any text."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.judges.local.sentences import (
    CITATION,
    LONGEST,
    OTHER_STOPS,
    STOP,
    each_sentence,
    sentences,
)

CASES = {
    "Pi is 3.14. Dr. Smith paid $2.50!": ["Pi is 3.14.", "Dr. Smith paid $2.50!"],
    "...": [],
    "": [],
    "He came, e.g. by boat. She walked.": ["He came, e.g. by boat.", "She walked."],
    "J. R. R. Tolkien wrote it. C. S. Lewis read it.": [
        "J. R. R. Tolkien wrote it.",
        "C. S. Lewis read it.",
    ],
    "He works in the U.S. The army left. U.S. Army men stayed.": [
        "He works in the U.S.",
        "The army left.",
        "U.S. Army men stayed.",
    ],
    "It opens at 9 a.m. on Monday. It shuts at 5 p.m. The rest is silence.": [
        "It opens at 9 a.m. on Monday.",
        "It shuts at 5 p.m.",
        "The rest is silence.",
    ],
    "Tin was mined.[1] Copper too. [2][3] Then it ended.": [
        "Tin was mined.[1]",
        "Copper too. [2][3]",
        "Then it ended.",
    ],
    "It rose. [Data: Reports (1, 2); Entities (3)] It fell.": [
        "It rose. [Data: Reports (1, 2); Entities (3)]",
        "It fell.",
    ],
    "“Stop!” he said. “Why?” She left.": ["“Stop!” he said.", "“Why?”", "She left."],
    "(It rained.) We stayed.": ["(It rained.)", "We stayed."],
    "Well... maybe not. Wait… What?": ["Well... maybe not.", "Wait…", "What?"],
    "Yahoo! is a company. Really?! Yes.": ["Yahoo! is a company.", "Really?!", "Yes."],
    "See Fig. 3 and No. 5 on p. 12. I said no. Then we left.": [
        "See Fig. 3 and No. 5 on p. 12.",
        "I said no.",
        "Then we left.",
    ],
    "Apple Inc. sued. He joined Apple Inc. She did not.": [
        "Apple Inc. sued.",
        "He joined Apple Inc.",
        "She did not.",
    ],
    "He was born on Jan. 5, 1902. It snowed.": ["He was born on Jan. 5, 1902.", "It snowed."],
    "It costs $1.5 million. That is much.": ["It costs $1.5 million.", "That is much."],
    "Steps: 1. Open it. 2. Close it.": ["Steps: 1. Open it.", "2. Close it."],
    "- one thing\n- two things\n\n# A heading\nText here.": [
        "one thing",
        "two things",
        "A heading",
        "Text here.",
    ],
    "1. First\n2. Second\n10) Tenth": ["First", "Second", "Tenth"],
    "| a | b |\n|---|---|\n| 1 | 2 |": ["| a | b |", "| 1 | 2 |"],
    "A title without a stop\n\nA paragraph.": ["A title without a stop", "A paragraph."],
    "This line of text is wrapped by hand somewhere near\nParis, and it ends here.": [
        "This line of text is wrapped by hand somewhere near\nParis, and it ends here."
    ],
    "windows\r\nlines": ["windows\r\nlines"],
    "今天天气很好。我们去公园吧！好吗？": ["今天天气很好。", "我们去公园吧！", "好吗？"],
    "彼は「行く。」と言った。彼女は残った。": ["彼は「行く。」", "と言った。", "彼女は残った。"],
    "यह वाक्य है। दूसरा वाक्य।": ["यह वाक्य है।", "दूसरा वाक्य।"],
    "هل هذا سؤال؟ نعم.": ["هل هذا سؤال؟", "نعم."],
    "Am 3. Oktober 1990 war es so. Dann kam der 4. Mai.": [
        "Am 3. Oktober 1990 war es so.",
        "Dann kam der 4. Mai.",
    ],
    "frogs jump. they are green! do you like them?": [
        "frogs jump.",
        "they are green!",
        "do you like them?",
    ],
    "བོད་ནི་ཆེན་པོ་ཡིན། ལྷ་ས་ནི་གྲོང་ཁྱེར་ཡིན།": ["བོད་ནི་ཆེན་པོ་ཡིན།", "ལྷ་ས་ནི་གྲོང་ཁྱེར་ཡིན།"],
    "ᱱᱚᱶᱟ ᱫᱚ ᱢᱤᱫ ᱟᱛᱩ ᱠᱟᱱᱟ᱾ ᱚᱱᱟ ᱫᱚ ᱢᱟᱨᱟᱝ ᱜᱮᱭᱟ᱾": ["ᱱᱚᱶᱟ ᱫᱚ ᱢᱤᱫ ᱟᱛᱩ ᱠᱟᱱᱟ᱾", "ᱚᱱᱟ ᱫᱚ ᱢᱟᱨᱟᱝ ᱜᱮᱭᱟ᱾"],
    "ស្ពាននេះមានប្រវែង ៩០ ម៉ែត្រ។ វាចាស់ណាស់៕": ["ស្ពាននេះមានប្រវែង ៩០ ម៉ែត្រ។", "វាចាស់ណាស់៕"],
    "Χτίστηκε το 1887· είναι παλιά.": ["Χτίστηκε το 1887·", "είναι παλιά."],
    "Πού είναι η γέφυρα; Είναι εδώ· άνοιξε το 1859.": [
        "Πού είναι η γέφυρα;",
        "Είναι εδώ·",
        "άνοιξε το 1859.",
    ],
    "It is old; it is grey. <b>a</b> < c": ["It is old; it is grey.", "<b>a</b> < c"],
    "Tin was mined<br>Copper too.<br/><BR />Then it ended.<br>": [
        "Tin was mined",
        "Copper too.",
        "Then it ended.",
    ],
    "Er kostete 5 Mio. Euro und 2 Mrd. Dollar. Es hat 3 Mio. Das ist viel.": [
        "Er kostete 5 Mio. Euro und 2 Mrd. Dollar.",
        "Es hat 3 Mio.",
        "Das ist viel.",
    ],
    "It runs on iOS. iPhone sales rose.": ["It runs on iOS.", "iPhone sales rose."],
}


@pytest.mark.parametrize(("text", "expected"), CASES.items(), ids=list(CASES))
def test_hard_cases_are_split_as_a_reader_would(text: str, expected: list[str]) -> None:
    assert [sentence.text for sentence in sentences(text)] == expected


PIECES = [
    "<br>",
    "ά",
    ";",
    "a",
    "B",
    " ",
    "\n",
    ".",
    "!",
    "…",
    "。",
    "؟",
    "[1]",
    '"',
    ")",
    "1",
    "- ",
    "|",
    "é",
    "#",
]
TEXTS = st.one_of(st.text(), st.lists(st.sampled_from(PIECES), max_size=40).map("".join))


@given(TEXTS)
def test_offsets_point_at_the_text_in_order_without_overlap(text: str) -> None:
    end = 0
    for sentence in sentences(text):
        assert text[sentence.start : sentence.end] == sentence.text
        assert sentence.start >= end
        assert sentence.text == sentence.text.strip()
        end = sentence.end


@given(TEXTS)
def test_every_sentence_holds_a_letter_or_digit(text: str) -> None:
    assert all(any(c.isalnum() for c in sentence.text) for sentence in sentences(text))


@given(st.lists(st.sampled_from(["Tin was mined.", "Who came?", "It rained!"]), max_size=8))
def test_plain_sentences_come_back_as_they_went_in(parts: list[str]) -> None:
    assert [sentence.text for sentence in sentences(" ".join(parts))] == parts


TWO_SETS = re.compile(
    rf"(?<![.!?…])[.!?…]++[\"'”’»›)\]}}*_]*+(?:[ ]?{CITATION})*+(?=\s|\Z)"
    rf"|[{OTHER_STOPS}]++[\"'”’»›)\]」』】》）]*+(?:[ ]?{CITATION})*+"
    r"|(?<=[Ͱ-Ͽἀ-῿])[;\u037e·\u0387][\"”»)]*+(?=\s|\Z)|<[bB][rR] ?/?>"
)
"""The stops as one would write them down, found five times as slowly."""

STOPS = [
    ".",
    "!",
    "…",
    "。",
    "།",
    "ά",
    ";",
    "·",
    "<br>",
    "<",
    "؟",
    "॥",
    " ",
    "[1]",
    '"',
    "」",
    ")",
    "}",
    "_",
    "a",
    "\n",
]


@given(st.lists(st.sampled_from(STOPS)).map("".join) | st.text(), st.integers(0, 3))
def test_the_stops_are_those_of_either_set(text: str, start: int) -> None:
    found = [stop.span() for stop in STOP.finditer(text, start, len(text) - 1)]
    assert found == [stop.span() for stop in TWO_SETS.finditer(text, start, len(text) - 1)]


@given(TEXTS)
def test_they_can_be_asked_for_one_by_one(text: str) -> None:
    assert list(each_sentence(text)) == sentences(text)


def test_text_without_a_stop_is_cut_between_words() -> None:
    text = "tin " * 1250 + "and\n" + "lead " * 500 + "rose. It rained."
    assert [len(one.text) for one in sentences(text)] == [4999, 2509, 10]
    assert sentences(text)[1].text.startswith("and\nlead")


def test_text_without_a_stop_and_without_spaces_is_cut_too() -> None:
    text = "今" * 12_000 + "。天"
    assert [len(one.text) for one in sentences(text)] == [5000, 5000, 2001, 1]


@given(st.lists(st.sampled_from([" ", "a" * 1200, "b" * 4998, "c.", "\n", "\t"]), max_size=30))
def test_no_sentence_is_longer_and_no_word_is_lost(parts: list[str]) -> None:
    text = "".join(parts)
    found = sentences(text)
    assert all(len(one.text) <= LONGEST for one in found)
    assert [c for one in found for c in one.text if c.isalnum()] == [c for c in text if c.isalnum()]


@pytest.mark.parametrize("run", [".", ".)", "[1]", "- ", "1. ", "(", " ", '"', "a\n"])
def test_long_runs_of_marks_do_not_take_quadratic_time(run: str) -> None:
    assert len(sentences(run * 50_000)) <= 50_000
