"""Support: what strings show, and what they must not claim to show."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.judges.local.claim_support import Alignment, support
from ragstone.judges.local.claims_and_evidence import Passages, claims, gather
from ragstone.judges.local.text_terms import terms
from ragstone.report.reason_words import explain

BRIDGE = "The Royal Albert Bridge spans the Tamar. It was opened in May 1859 by Prince Albert."
BRUNEL = "Brunel designed the bridge. He did not attend the opening."
PASSAGES = Passages([BRUNEL, BRIDGE])


@pytest.mark.parametrize(
    ("claim", "verdict", "evidence"),
    [
        ("The bridge was opened in 1859.", "supported", (1,)),
        ("Brunel designed the bridge.", "supported", (0,)),
        ("The bridge was opened in 1895.", "contradicted", (1,)),
        ("The Royal Albert Bridge does not span the Tamar.", "contradicted", (1,)),
        ("Tin was mined at Geevor by 300 men.", "absent", ()),
    ],
)
def test_verdict_rests_on_the_context_that_holds_the_words(
    claim: str, verdict: str, evidence: tuple[int, ...]
) -> None:
    seen = support(claim, PASSAGES)
    assert seen.verdict == verdict
    assert seen.evidence[:1] == evidence


def test_quote_stands_word_for_word_in_the_first_context_of_the_evidence() -> None:
    seen = support("The bridge was opened in 1859.", PASSAGES)
    assert seen.quote == "It was opened in May 1859 by Prince Albert."


def test_quote_of_a_contradiction_holds_the_other_number() -> None:
    seen = support("The bridge was opened in 1895.", PASSAGES)
    assert seen.quote is not None
    assert "1859" in seen.quote
    assert explain(seen.reason).endswith("new number 1895; the context says 1859")


def test_a_window_reaches_over_contexts_of_one_sentence() -> None:
    apart = Passages(["Davy was born in Penzance.", "He invented the miners' lamp."])
    seen = support("Davy, born in Penzance, invented the miners' lamp.", apart)
    assert seen.verdict == "supported"
    assert set(seen.evidence) == {0, 1}


def test_without_contexts_nothing_is_supported() -> None:
    seen = support("Tin was mined.", Passages([]))
    assert (seen.verdict, seen.probability) == ("absent", 0)


def test_a_bare_yes_is_never_supported_by_strings() -> None:
    seen = support("Yes.", PASSAGES, "Was the bridge opened in 1859?")
    assert seen.verdict == "absent"
    assert 0 < seen.probability <= 0.5


def test_citation_marks_are_no_numbers() -> None:
    plain = support("The bridge was opened in 1859.", PASSAGES)
    cited = support("The bridge was opened in 1859 [12].", PASSAGES)
    assert cited == plain


def test_a_new_number_or_name_lowers_the_probability() -> None:
    known = support("The bridge was designed by Brunel.", PASSAGES).probability
    assert support("The bridge was designed by Telford.", PASSAGES).probability < known
    assert support("Brunel designed 17 bridges.", PASSAGES).probability < known


def test_chinese_is_read_in_pairs_of_characters() -> None:
    passages = Passages(["皇家阿尔伯特桥于1859年开放。它跨越塔马河。"])
    assert support("阿尔伯特桥于1859年开放。", passages).verdict == "supported"
    assert support("阿尔伯特桥于1895年开放。", passages).verdict == "contradicted"
    assert support("锡矿在康沃尔。", passages).verdict == "absent"


@given(st.text(), st.lists(st.text(), max_size=4))
def test_probability_and_evidence_stay_in_range(claim: str, contexts: list[str]) -> None:
    seen = support(claim, Passages(contexts))
    assert 0 <= seen.probability <= 1
    assert all(0 <= place < len(contexts) for place in seen.evidence)
    assert (seen.verdict == "absent") == (seen.evidence == ())
    if seen.quote is not None:
        assert seen.quote in contexts[seen.evidence[0]]


@given(st.text(min_size=1))
def test_a_sentence_of_the_context_is_never_contradicted_by_it(text: str) -> None:
    assert support(text, Passages([text])).verdict != "contradicted"


def test_the_window_is_the_best_of_all_windows() -> None:
    """The plain way, beside the one over held sentences only: every window, every word."""
    texts = ["Tin.", "Copper and tin.", "Lead.", "Tin, zinc and arsenic.", "Copper.", "Gold."]
    claim = "Tin copper lead zinc gold silver"
    held = [set(terms(text)) for text in texts]
    wanted = set(terms(claim))
    plain = max(len(wanted & set().union(*held[i : i + 3])) for i in range(len(texts)))
    seen = gather(claim, Passages(texts))
    assert seen is not None
    assert seen.window == pytest.approx(plain / len(wanted))


def test_an_alignment_carries_what_other_words_say() -> None:
    claim = "The span was inaugurated by royalty."
    near = Alignment(aligned=0.95, weakest=0.9, unheld=0.02, sentence=3)
    far = Alignment(aligned=0.3, weakest=0.1, unheld=0.6, sentence=0)
    assert support(claim, PASSAGES, alignment=far).verdict == "absent"
    seen = support(claim, PASSAGES, alignment=near)
    assert seen.probability > support(claim, PASSAGES, alignment=far).probability


def test_where_words_are_few_the_best_aligned_sentence_is_the_evidence() -> None:
    near = Alignment(aligned=1.0, weakest=1.0, unheld=0.0, sentence=2)
    seen = support("It crosses that river bridge.", PASSAGES, alignment=near)
    assert seen.verdict == "supported"
    assert (seen.evidence[0], seen.quote) == (1, "The Royal Albert Bridge spans the Tamar.")


def test_a_sentence_without_content_is_a_claim_only_where_no_other_is() -> None:
    assert [one.text for one in claims("Yes. The bridge opened in 1859.")] == [
        "The bridge opened in 1859."
    ]
    assert [one.text for one in claims("Yes.")] == ["Yes."]


def test_words_in_another_order_say_something_else() -> None:
    contexts = Passages(["The old grey stream turned the wheel of a mill in Truro for miners."])
    right = "The old grey stream turned the wheel of a mill in Truro."
    backwards = " ".join(reversed(right.rstrip(".").split())) + "."
    moved = "In Truro the old grey stream turned the wheel of a mill."
    assert support(right, contexts).verdict == support(moved, contexts).verdict == "supported"
    assert support(backwards, contexts).verdict == "absent"
    assert support(backwards, contexts).probability < 0.02
