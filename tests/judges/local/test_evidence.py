"""Evidence: each count of a claim's wording, by pencil."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.judges.local.claim_support import curve, support
from ragstone.judges.local.claims_and_evidence import (
    EvidenceCounts,
    Passages,
    gather,
    without_citations,
)

MINE = ["Tin and copper lay in Geevor. Ships took lead.", "A bridge opened in 1859."]


def counted(claim: str, contexts: list[str] = MINE) -> EvidenceCounts:
    seen = gather(claim, Passages(contexts))
    assert seen is not None
    return seen


@pytest.mark.parametrize(
    ("claim", "words"), [("tin", 1), ("tin tin tin", 1), ("the tin of Geevor", 2)]
)
def test_a_content_word_counts_once_and_a_stop_word_never(claim: str, words: int) -> None:
    assert counted(claim).content_words == words


@pytest.mark.parametrize(
    ("claim", "share"),
    [
        ("tin of copper sank", 2 / 4),
        ("tin and copper", 3 / 3),
        ("gold sank", 0),
        ("gold sank in 1859", 2 / 4),
    ],
)
def test_every_word_that_stands_anywhere_is_a_held_word(claim: str, share: float) -> None:
    assert counted(claim).words == pytest.approx(share)


@pytest.mark.parametrize(
    ("claim", "share"),
    [
        ("tin copper gold", 2 / 3),
        ("tin lead bridge", 3 / 3),
        ("tin tin copper gold", 2 / 3),
        ("gold", 0),
    ],
)
def test_the_window_holds_a_share_of_the_distinct_content_words(claim: str, share: float) -> None:
    assert counted(claim).window == pytest.approx(share)


@pytest.mark.parametrize(
    ("claim", "share"),
    [
        ("tin and copper", 3 / 3),
        ("copper and tin", 1 / 3),
        ("copper tin", 1 / 2),
        ("tin copper lead", 3 / 3),
        ("lead copper tin", 1 / 3),
        ("gold", 0),
    ],
)
def test_in_order_is_the_longest_common_subsequence_over_the_words(
    claim: str, share: float
) -> None:
    assert counted(claim).in_order == pytest.approx(share)


def test_a_window_is_read_in_the_order_of_the_text_and_not_from_its_fullest_sentence() -> None:
    contexts = ["Gold sank. Tin and copper lay there."]
    assert counted("gold tin copper", contexts).in_order == 1
    assert counted("tin copper gold", contexts).in_order == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    ("claim", "share"), [("tin of gold", 1 / 3), ("tin and gold", 0), ("of at tin with", 3 / 4)]
)
def test_a_new_small_word_is_a_stop_word_that_no_context_holds(claim: str, share: float) -> None:
    assert counted(claim).new_small_words == pytest.approx(share)


@pytest.mark.parametrize(
    ("claim", "numbers"),
    [
        ("It opened in 1859.", ()),
        ("It opened in 1895 with 12 men.", ("12", "1895")),
        ("One bridge opened.", ()),
        ("Twelve men and 12 ships", ("12",)),
    ],
)
def test_new_numbers_are_those_that_no_context_holds(claim: str, numbers: tuple[str, ...]) -> None:
    assert counted(claim).new_numbers == numbers


@pytest.mark.parametrize(
    ("claim", "names"),
    [
        ("Tin lay in Geevor.", ()),
        ("Tin lay in Botallack.", ("botallack",)),
        ("The tin of Botallack went to Bath and to Botallack.", ("botallack", "bath")),
        ("Tin lay in botallack.", ()),
    ],
)
def test_new_names_are_capitalised_words_that_no_context_holds(
    claim: str, names: tuple[str, ...]
) -> None:
    assert counted(claim).new_names == names


def test_first_person_counts_only_where_no_context_speaks_so() -> None:
    assert counted("I saw my tin").first_person == pytest.approx(2 / 4)
    assert counted("I saw my tin", ["We mined tin."]).first_person == 0
    assert counted("He saw his tin").first_person == 0


def test_an_opinion_is_a_word_of_liking_that_no_context_holds() -> None:
    assert counted("The tin is awesome.").opinion
    assert not counted("The tin is awesome.", ["Awesome tin."]).opinion
    assert not counted("The tin is grey.").opinion


def test_one_word_of_opinion_among_many_is_enough() -> None:
    assert counted("Tin and copper lay in Geevor, probably.").opinion


def test_a_frame_is_told_and_its_words_are_not_counted() -> None:
    framed = counted("I heard that tin and copper lay in Geevor.")
    plain = counted("tin and copper lay in Geevor.")
    assert (framed.framed, plain.framed) == (True, False)
    assert framed.tokens == plain.tokens
    assert framed.words == plain.words == 1


def test_new_numbers_and_names_weigh_two_at_most() -> None:
    many = counted("The 12 ships, 13 mines, 14 men of Bath, of Leeds, of York").features()
    assert (many["new_numbers"], many["new_names"]) == (2, 2)
    one = counted("The 12 ships of Bath").features()
    assert (one["new_numbers"], one["new_names"]) == (1, 1)


@pytest.mark.parametrize("claim", ["", "Yes.", "It is.", "[12]", "?!"])
def test_a_claim_without_a_content_word_has_no_evidence(claim: str) -> None:
    assert gather(claim, Passages(MINE)) is None


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("Tin [1] lay.", "Tin     lay."),
        ("Tin [1, 2–4] lay.", "Tin          lay."),
        ("Tin [Data: Reports (3)] lay.", "Tin                     lay."),
        ("Tin [sic] lay.", "Tin [sic] lay."),
        ("Tin [] lay.", "Tin [] lay."),
    ],
)
def test_spaces_stand_where_citation_marks_stood(text: str, plain: str) -> None:
    assert without_citations(text) == plain


@given(st.text(alphabet="ab []12,;^–-D:t ", max_size=60))
def test_places_stay_what_they_are_without_citations(text: str) -> None:
    plain = without_citations(text)
    assert len(plain) == len(text)
    assert all(one in (other, " ") for one, other in zip(plain, text, strict=True))


WORDS = st.lists(
    st.sampled_from(["tin", "lead", "of", "I", "12", "Bath", "gold", "awesome", "the", "ore"]),
    min_size=1,
    max_size=8,
).map(" ".join)
CONTEXTS = st.lists(WORDS.map(lambda words: f"{words}."), max_size=5)


@given(WORDS, CONTEXTS)
def test_every_share_lies_between_nothing_and_all(claim: str, contexts: list[str]) -> None:
    seen = gather(claim, Passages(contexts))
    if seen is None:
        return
    features = seen.features()
    for name, count in features.items():
        assert 0 <= count <= (2 if name in ("new_numbers", "new_names") else 1), name


@given(WORDS, CONTEXTS)
def test_a_further_context_takes_no_held_word_away(claim: str, contexts: list[str]) -> None:
    fewer, more = (gather(claim, Passages(texts)) for texts in (contexts, [*contexts, "Lead ore."]))
    if fewer is None or more is None:
        assert fewer is more
        return
    assert more.words >= fewer.words
    assert more.window >= fewer.window
    assert set(more.new_numbers) <= set(fewer.new_numbers)
    assert set(more.new_names) <= set(fewer.new_names)


def test_the_curve_of_support_weighs_what_is_counted() -> None:
    counts = counted("tin").features()
    assert set(curve("support/strings")[1]) <= set(counts)
    assert set(curve("support/encoder")[1]) <= {*counts, "aligned", "weakest", "unheld"}


STREAM = "The old grey stream turned the wheel of a mill in Truro for miners."


@pytest.mark.parametrize(
    ("claim", "share"),
    [
        ("The old grey stream turned the wheel in Truro.", 0),
        ("Truro wheel turned stream grey old.", 5 / 5),
        ("In Truro the wheel turned the old grey stream.", 3 / 5),
        ("The stream turned the old grey wheel in Truro.", 1 / 5),
        ("Wheel turned grey old.", 0),
        ("Truro Truro wheel wheel turned grey old.", 0),
        ("Truro wheel turned stream grey old ships sank.", 0),
    ],
)
def test_disorder_is_the_share_of_neighbours_the_other_way_round(claim: str, share: float) -> None:
    """Of at least five words that claim and sentence hold once, where it holds .8 of the claim."""
    assert counted(claim, [STREAM]).disorder == pytest.approx(share)


@pytest.mark.parametrize(
    ("claim", "context", "supported"),
    [
        ("军队普鲁士了打败附近莱比锡在军队法国。", "法国军队在莱比锡附近打败了普鲁士军队。", False),
        (
            "輸入したをエンジンからスイス昨年は会社。",
            "会社は昨年スイスからエンジンを輸入した。",
            False,
        ),
        ("ที่แล้วปีเมื่อน้ำมันบริษัทฟ้องรัฐบาล", "รัฐบาลฟ้องบริษัทน้ำมันเมื่อปีที่แล้ว", False),
        ("普鲁士军队在莱比锡附近被法国军队打败。", "法国军队在莱比锡附近打败了普鲁士军队。", True),
        ("張偉贏得了冠軍,2010年擊敗了李明。", "張偉在2010年擊敗了李明,贏得了冠軍。", True),
        (
            "昨年、会社はスイスからエンジンを輸入した。",
            "会社は昨年スイスからエンジンを輸入した。",
            True,
        ),
        ("เมื่อปีที่แล้วรัฐบาลฟ้องบริษัทน้ำมัน", "รัฐบาลฟ้องบริษัทน้ำมันเมื่อปีที่แล้ว", True),
        ("작년에 정부가 석유 회사를 고소했다.", "정부가 작년에 석유 회사를 고소했다.", True),
    ],
)
def test_words_without_spaces_are_supported_in_their_order(
    claim: str, context: str, supported: bool
) -> None:
    assert (support(claim, Passages([context])).verdict == "supported") is supported
