"""Visible text: what is hidden or written in other shapes is judged as what a reader sees."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.guard import Guard, assess_stream
from ragstone.guard.visible_text import WrittenText, as_read, unreadable

PIER = ["The pier at Penmarrow is 90 metres long. It was built by the harbour board."]
LONG = "The pier at Penmarrow is 90 metres long."


def shifted(first_capital: int, first_small: int | None = None) -> Callable[[str], str]:
    """Writes Latin letters in another shape, by where its A and its a are."""

    def write(text: str) -> str:
        small = first_capital if first_small is None else first_small
        return "".join(
            chr(ord(one) - 65 + first_capital) if "A" <= one <= "Z"
            else chr(ord(one) - 97 + small) if "a" <= one <= "z"
            else one
            for one in text
        )  # fmt: skip

    return write


SHAPES = {
    "mathematical bold": shifted(0x1D400, 0x1D41A),
    "mathematical monospace": shifted(0x1D670, 0x1D68A),
    "full width": shifted(0xFF21, 0xFF41),
    "circled": shifted(0x24B6, 0x24D0),
    "squared": shifted(0x1F130),
    "negative circled": shifted(0x1F150),
    "negative squared": shifted(0x1F170),
    "zero width spaces": "\u200b".join,
    "soft hyphens": "\u00ad".join,
    "word joiners": "\u2060".join,
    "variation selectors": "\ufe0f".join,
    "combining grapheme joiners": "\u034f".join,
}


@pytest.mark.parametrize("write", SHAPES.values(), ids=SHAPES)
@pytest.mark.parametrize("name", ["Napoleon", "Sofia"])
def test_a_new_name_is_seen_in_any_shape(write: Callable[[str], str], name: str) -> None:
    answer = f"{LONG} It was paid for by {write(name)}."
    found = Guard().assess("How long is it?", answer, PIER)
    assert [one.code for one in found.issues] == ["new_name"]
    (span,) = found.issues[0].spans
    assert span.text == answer[span.start : span.end] == write(name)
    stream = assess_stream("How long is it?", PIER, iter(answer))
    assert "".join(map(str, stream)).strip() == LONG


@pytest.mark.parametrize(
    ("hidden", "shown", "context"),
    [
        ("The pier is n\u200bot open.", "The pier is not open.", "The pier is open."),
        ("The pier is ne\u00adver open.", "The pier is never open.", "The pier is open."),
        ("Der Steg ist ni\u2060cht offen.", "Der Steg ist nicht offen.", "Der Steg ist offen."),
        ("Le quai n'est p\u200das ouvert.", "Le quai n'est pas ouvert.", "Le quai est ouvert."),
        ("Пирс н\u200bе открыт.", "Пирс не открыт.", "Пирс открыт."),
        ("The pier is 9\u200b8 m long.", "The pier is 98 m long.", "The pier is 90 m long."),
        ("It is 90\u200b.5 m long.", "It is 90.5 m long.", "It is 90 m long."),
        ("桟橋は９８メートルです。", "桟橋は98メートルです。", "桟橋は90メートルです。"),
    ],
)
def test_what_is_hidden_in_a_word_changes_nothing(hidden: str, shown: str, context: str) -> None:
    (first, second) = (Guard().assess("Q?", one, [context]) for one in (hidden, shown))
    assert first.ok == second.ok
    assert [(one.verdict, one.probability) for one in first.judged] == [
        (one.verdict, one.probability) for one in second.judged
    ]
    assert [one.code for one in first.issues] == [one.code for one in second.issues]
    assert [one.span.text for one in first.judged] == [hidden]


def test_contexts_and_question_are_read_the_same_way() -> None:
    contexts = ["It was paid for by Na\u00adpo\u00adleon, says the 𝐇𝐚𝐫𝐛𝐨𝐮𝐫 board."]
    answer = "It was paid for by Napoleon."
    assert Guard().assess("Who paid?", answer, contexts).ok
    asked = Guard().assess("Did Ｎapoleon pay?", "Napoleon paid for it.", ["They paid for it."])
    assert asked["names"].status == "passed"


UNCHANGED = [
    "m², 10¹², H₂O, ½, 1ª, nº, ™, 5 ℃, ① one ② two, ❶, ﬁne",
    "naïve café – “quoted” … it’s",
    "می\u200cخواهم",
    "क्\u200dष",
    "全角（かっこ）、句読点！",
    "👩\u200d🔬 ❤\ufe0f 1\ufe0f\u20e3 🇩🇪",
    "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
    "🅰\ufe0f or 🅱\ufe0f, 🅿 here",
    "[ɪ], [ʊ]",
    "\u200fעברית\u200f. \u200eLatin",
]


@pytest.mark.parametrize("text", UNCHANGED)
def test_what_has_a_meaning_of_its_own_is_readable(text: str) -> None:
    assert unreadable(text) is None
    shown = "".join(one for one in text if one.isprintable() and one != "\ufe0f")
    assert as_read(text).rstrip() == shown


@pytest.mark.parametrize(
    "strange",
    [
        "⠝⠁⠏⠕⠇⠑⠕⠝",
        "".join(chr(0xE0000 + ord(one)) for one in "Napoleon"),
        "🏴" + "".join(chr(0xE0000 + ord(one)) for one in "napoleon"),
        "\u202enoelopaN\u202c",
        "\ue000\ue001\ue002",
        "".join(chr(0xE0100 + ord(one)) for one in "Napoleon"),
        "\u200b\u200c\u200b\u200b\u200c",
    ],
)
def test_what_no_check_reads_is_told_and_not_judged(strange: str) -> None:
    answer = f"{LONG} It was built by the harbour board{strange}."
    found = Guard().assess("How long is it?", answer, PIER)
    assert (found.ok, found["answer"].status) == (None, "not_judged")
    assert found["answer"].reason.startswith("characters_not_text")
    held = assess_stream("How long is it?", PIER, [answer])
    assert "".join(map(str, held)).strip() == LONG


def test_flags_and_letters_in_a_context_do_not_make_an_answer_unreadable() -> None:
    assert Guard().assess("How long is it?", f"{LONG} 🇬🇧", [*PIER, "⠝⠁⠏"]).ok


@given(st.text(alphabet="aB1 .,-\u200b\u00ad\ufe0f𝐍Ｎ🅝é０ɴ\u0301中。"))
def test_a_text_keeps_its_length_and_its_places(text: str) -> None:
    written = WrittenText(text)
    assert len(written.plain) == len(text)
    parts = [written.part(start, start + 1) for start in range(len(text))]
    assert sorted(part.start for part in parts) == list(range(len(text)))
    for start, part in enumerate(parts):
        if as_read(part.text) != " " or part.text == " ":
            assert written.place(part.start) == start
