"""What is held never leaves: no unsupported unit, and no part of one, however the stream is cut."""

from collections.abc import Iterable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragstone.guard import Checks, Guard, NotJudged, Stream, assess_stream
from ragstone.guard.stream import pushed_stream
from ragstone.guard.stream.release import Policy, ReleasePolicy

from .pieces import TEXTS, cut, every_split, units_of

SECRET = "Zanzibar"
QUESTION = "What is known of the bridge?"
GUARD = Guard(Checks(citations=False), deadline=60)
CONTEXTS = GUARD.read(
    [
        "The red bridge of Truro opened in 1859. It was paid by the town. It is made of granite.",
        "Die Brücke über den Fluss wurde geöffnet 🌉. 他去了学校。 "
        "A ticket is 4 pounds for adults.",
        "pip install bridge gives the tool. Then bridge open opens the bridge. Dr. Smith paid.",
    ]
)

# What passes, and what is held of it, by hand: `⟦` and `⟧` stand around each part that is held.
ANSWERS = {
    "a sentence": "It was paid by the town.⟦ Zanzibar paid 9 camels.⟧ It is made of granite.",
    "the first sentence": "⟦Zanzibar paid 9 camels.⟧ It is made of granite. [1]",
    "the last sentence": "It is made of granite.⟦ It lies in Zanzibar⟧",
    "a citation after the stop": (
        "It is made of granite. [1]⟦ Old Zanzibar has camels. [2]⟧ Dr. Smith paid. [3]"
    ),
    "a citation of nothing": (
        "It is made of granite.⟦ It was paid by the town. [7]⟧ Dr. Smith paid."
    ),
    "abbreviations": (
        "Dr. Smith paid.⟦ Dr. Zanzibar e.g. paid 3.5 camels...⟧ It is made of granite."
    ),
    "umlauts and emoji": (
        "Die Brücke über den Fluss.⟦ Alt Zanzibar hört 🌉 früh.⟧ Die Brücke 🌉 geöffnet."
    ),
    "no spaces": "他去了学校。⟦他是9Zanzibar总统。⟧他去了学校。",
    "from right to left": "It is made of granite.⟦ هل مات في Zanzibar.⟧ \n\nDr. Smith paid.",
    "a row": "| adults | 4 pounds |\n|---|---|⟦\n| Zanzibar. No | 9 camels |⟧\n| adults | 4 |",
    "the last row": "A ticket:\n\n| adults | 4 pounds |\n|:--|--:|⟦\n| Zanzibar | 9 camels⟧",
    "headings of a table": (
        "| visitors | fare |\n|---|---|\n| adults | 4 pounds |⟦\n| of Zanzibar | camels |⟧\n"
    ),
    "no headings": "⟦| of Zanzibar | camels |⟧\n| adults | 4 pounds |\n",
    "code": (
        "It opens the bridge:"
        "⟦\n```sh\npip install bridge\n\ncamel --at Zanzibar. 9\n```⟧\nDr. Smith paid."
    ),
    "code that is not closed": "Dr. Smith paid.⟦\n\n```\npip install bridge\ncamel at Zanzibar\n⟧",
    "code that passes": "```\npip install bridge\nbridge open\n```⟦\nZanzibar paid 9 camels.⟧",
    "lists": (
        "- Dr. Smith paid."
        "⟦\n  - Zanzibar paid 9 camels.⟧ Dr. Smith paid.\n1. It is made of granite."
    ),
    "lines": (
        "It was paid by the town.⟦\r\n\r\nOld Zanzibar has\r\nmany camels.⟧"
        "\r\n\r\nDr. Smith paid.\r\n"
    ),
    "wrapped": (
        "The red bridge of Truro opened in 1859 and the town⟦⟧"
        "\npaid.⟦ Then all of it moved to Zanzibar for\nits camels.⟧"
        " Dr. Smith paid."
    ),
    "small letters": "it was paid by the town.⟦ zanzibar paid 9 camels.⟧ dr. smith paid.",
    "a bare yes": "⟦Yes. The camels of Zanzibar paid 9 times.⟧ Dr. Smith paid.",
    "control characters": (
        "Dr. Smith paid.⟦ Zanz\x00ibar \x1b[31mpaid \x07camels.⟧ Dr. Smith paid."
    ),
}


def marked(answer: str) -> tuple[str, str, list[str]]:
    """The answer, what passes of it, and the parts that are held."""
    parts = answer.replace("⟧", "⟦").split("⟦")
    return "".join(parts), "".join(parts[::2]), [one for one in parts[1::2] if one]


def stream(pieces: Iterable[object], policy: Policy = "hold_sentence", **more: object) -> Stream:
    return assess_stream(QUESTION, CONTEXTS, pieces, policy=policy, guard=GUARD, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ANSWERS)
def test_no_part_of_what_fails_leaves_at_any_cut(name: str) -> None:
    answer, passing, held = marked(ANSWERS[name])
    # Letters of one byte are cut at the same places, however they come.
    written: list[str | bytes] = [answer.encode()]
    if not answer.isascii():
        written.append(answer)
    for pieces in (pieces for text in written for pieces in every_split(text)):
        found = stream(pieces)
        given = list(found)
        assert "".join(map(str, given)) == passing == found.released
        assert [unit.text for unit in found.units if not unit.released] == held
    assert SECRET.lower() not in passing.lower()


@pytest.mark.parametrize("name", ANSWERS)
def test_nothing_leaves_of_an_answer_that_fails_where_all_is_held(name: str) -> None:
    answer, _, held = marked(ANSWERS[name])
    for size in (1, 2, 3, len(answer)):
        found = stream((answer[at : at + size] for at in range(0, len(answer), size)), "hold_all")
        assert list(found) == []
        assert [unit.text for unit in found.units if unit.status == "failed"] == held
        assert not any(unit.released for unit in found.units)


@pytest.mark.parametrize("name", ANSWERS)
@pytest.mark.parametrize("policy", ["hold_all", "hold_sentence", "flag_after"])
def test_the_assessment_is_that_of_the_whole_answer(name: str, policy: Policy) -> None:
    answer, _, _ = marked(ANSWERS[name])
    found = stream([answer[:9], answer[9:]], policy)
    list(found)
    assert found.assessment == GUARD.assess(QUESTION, answer, CONTEXTS)


SENTENCES = [
    "The red bridge of Truro opened in 1859. [1]",
    "It was paid by the town.",
    "Die Brücke über den Fluss wurde geöffnet 🌉.",
    "他去了学校。",
    "Dr. Smith paid.",
    "It is made of granite... ",
    "\n\n| adults | 4 pounds |\n|---|---|\n",
    "\n```\npip install bridge\n```\n",
    "\n- It is made of granite\n",
    "\n## The bridge\n",
]
FAILING = [
    "Zanzibar paid 9 camels. [1]",
    "他是9Zanzibar总统。",
    "Dr. Zanzibar came on 3. Oktober, e.g. for 3.5 camels!",
    "\n\n| Zanzibar. No | 9 camels |\n",
    "\n```py\ncamel = 9. zanzibar\n```\n",
    "\n> It has 9 camels of Zanzibar\n",
    "“Zanzibar!” paid 9 camels?!",
    "It is granite of Zanzibar [Data: Reports (9)]",
]


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.sampled_from([*SENTENCES, *FAILING]), min_size=1, max_size=6),
    st.sampled_from([" ", "\n", "\n\n", "  "]),
    st.data(),
)
def test_random_cuts_of_random_answers_let_the_same_leave(
    parts: list[str], between: str, data: st.DataObject
) -> None:
    answer = between.join(parts)
    whole = stream([answer])
    expected = "".join(map(str, whole))
    assert SECRET.lower() not in expected.lower()
    raw = answer.encode() if data.draw(st.booleans()) else answer
    places = data.draw(st.lists(st.integers(0, len(raw)), max_size=12))
    other = stream(cut(raw, places))
    assert "".join(map(str, other)) == expected
    assert other.units == whole.units
    assert other.assessment == whole.assessment == GUARD.assess(QUESTION, answer, CONTEXTS)


@settings(max_examples=60, deadline=None)
@given(TEXTS, st.data())
def test_any_text_leaves_but_for_the_units_that_fail(text: str, data: st.DataObject) -> None:
    places = data.draw(st.lists(st.integers(0, len(text)), max_size=6))
    found = stream(cut(text, places))
    given_ = "".join(map(str, found))
    assert "".join(unit.text for unit in found.units) == text
    assert given_ == "".join(unit.text for unit in found.units if unit.status != "failed")
    assert found.assessment == GUARD.assess(QUESTION, text, CONTEXTS)
    assert found.assessment is not None
    bad = {
        (span.start, span.end)
        for issue in found.assessment.issues
        if issue.code in ("new_number", "new_name", "new_link")
        for span in issue.spans
    }
    for unit in found.units:
        inside = any(unit.start <= start and end <= unit.end for start, end in bad)
        assert unit.status == "failed" or not inside
    failed = [check.check for check in found.assessment.checks if check.status == "failed"]
    assert "groundedness" not in failed or "failed" in {unit.status for unit in found.units}


@settings(max_examples=100, deadline=None)
@given(st.lists(st.sampled_from([*SENTENCES, *FAILING]), max_size=5), st.data())
def test_pushed_pieces_let_the_same_leave(parts: list[str], data: st.DataObject) -> None:
    answer = " ".join(parts)
    places = data.draw(st.lists(st.integers(0, len(answer)), max_size=8))
    pushed = pushed_stream(GUARD, ReleasePolicy(), QUESTION, CONTEXTS)
    out = [one for piece in cut(answer, places) for one in pushed.feed(piece)] + pushed.close()
    whole = stream([answer])
    assert out == list(whole)
    assert (pushed.units, pushed.assessment) == (whole.units, whole.assessment)


def test_a_sentence_leaves_as_soon_as_its_end_is_known() -> None:
    come: list[str] = []

    def source() -> Iterable[str]:
        for one in "It was paid by the town. It has 9 camels. Dr. Smith paid. It has":
            come.append(one)
            yield one

    left = [(text, "".join(come)) for text in stream(source())]
    assert left[:2] == [
        ("It was paid by the town.", "It was paid by the town. I"),
        (" Dr. Smith paid.", "It was paid by the town. It has 9 camels. Dr. Smith paid. I"),
    ]


def test_without_contexts_no_claim_leaves() -> None:
    for contexts in (None, [], [""], GUARD.read([])):
        found = assess_stream(QUESTION, contexts, ["# Hello\nThe town paid. It was. "], guard=GUARD)
        assert "".join(map(str, found)) == "# Hello It was. "
        assert [issue.code for unit in found.units for issue in unit.issues][:1] == ["no_context"]


def test_units_of_what_is_held_cover_the_answer() -> None:
    answer, _, _ = marked(ANSWERS["code"])
    found = stream(answer)
    list(found)
    assert [(unit.text, unit.start) for unit in found.units] == [
        (unit.text, unit.start) for unit in units_of(answer)
    ]
    [failed] = [unit for unit in found.units if unit.status == "failed"]
    for issue in failed.issues:
        for span in issue.spans:
            assert answer[span.start : span.end] == span.text
    assert all(claim.span.text in failed.text for claim in failed.claims)


def test_what_is_not_judged_passes_at_once_and_before_what_is_held() -> None:
    call = {"type": "tool_call", "name": "search"}
    thought = NotJudged("reasoning", "Zanzibar?")
    pieces = ["It was paid", call, " by the town", thought, ". ", {"content": "So"}, None]
    assert list(stream(pieces)) == [
        NotJudged("tool_call", call),
        thought,
        "It was paid by the town.",
        " So",
    ]


UNKNOWN = "Camels are fed there on most evenings."
PASSES = "It was paid by the town."


@pytest.mark.parametrize(
    ("sentences", "held"),
    [
        ([UNKNOWN, PASSES], [0]),
        ([PASSES, UNKNOWN], []),
        ([PASSES, UNKNOWN, UNKNOWN], [2]),
        ([PASSES, UNKNOWN, UNKNOWN, UNKNOWN, PASSES, PASSES, UNKNOWN], [2, 3]),
        ([UNKNOWN, UNKNOWN, UNKNOWN, PASSES], [0, 1, 2]),
    ],
)
def test_a_sentence_leaves_if_an_answer_of_it_and_what_left_before_would_pass(
    sentences: list[str], held: list[int]
) -> None:
    found = stream([" ".join(sentences)])
    list(found)
    units = [unit for unit in found.units if unit.claims]
    assert [place for place, unit in enumerate(units) if not unit.released] == held
    assert GUARD.assess(QUESTION, found.released, CONTEXTS).ok


def test_an_address_in_what_states_nothing_is_held_too() -> None:
    found = stream([f"{PASSES}\n## See http://camels.example\n[Read on](/camels)?\n{PASSES}"])
    assert "".join(map(str, found)) == f"{PASSES}\n{PASSES}"
    assert [issue.code for unit in found.units for issue in unit.issues] == ["new_link"] * 2


def test_what_counts_up_in_a_stream_is_no_new_number() -> None:
    answer = "".join(f"Step {number}: it was paid by the town.\n" for number in range(1, 5))
    assert "".join(map(str, stream(answer))) == answer
    assert "Step 7" not in "".join(map(str, stream(answer + "Step 7: it was paid by the town.")))
