"""Support: what the verdict, the evidence and the reason are made of."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.judges.local.claim_support import Alignment, curve, probability_of, support
from ragstone.judges.local.claims_and_evidence import Passages, gather
from ragstone.report.reason_words import explain

PORT = "The port of Truro opened in 1859."
SHIPS = "Forty ships lay there. They took tin."
PASSAGES = Passages([SHIPS, PORT])


@pytest.mark.parametrize("alignment", [None, Alignment(0.9, 0.8, 0.1, 0)])
def test_the_probability_is_the_curve_over_what_was_counted(alignment: Alignment | None) -> None:
    seen = gather("Ships took lead.", PASSAGES)
    assert seen is not None
    fitted = curve("support/strings" if alignment is None else "support/encoder")
    features = seen.features()
    if alignment is not None:
        features |= {"aligned": 0.9, "weakest": 0.8, "unheld": 0.1}
    score = fitted[0] + sum(fitted[1][name] * features[name] for name in fitted[1])
    expected = pytest.approx(1 / (1 + math.exp(-score)))
    assert probability_of(seen, alignment) == expected
    assert support("Ships took lead.", PASSAGES, alignment=alignment).probability == expected


@pytest.mark.parametrize(
    "claim", ["The port of Truro opened in 1895.", "The port of Truro never opened in 1859."]
)
def test_what_is_contradicted_is_never_more_probable_than_four_in_ten(claim: str) -> None:
    sure = Alignment(aligned=1.0, weakest=1.0, unheld=0.0, sentence=0)
    for alignment in (None, sure):
        seen = support(claim, PASSAGES, alignment=alignment)
        assert seen.verdict == "contradicted"
        assert seen.probability <= 0.4


def test_a_likely_claim_that_is_contradicted_gets_four_in_ten() -> None:
    claim = "The port of Truro never opened in 1859."
    seen = gather(claim, PASSAGES)
    assert seen is not None
    assert probability_of(seen) > 0.4
    assert support(claim, PASSAGES).probability == 0.4


@pytest.mark.parametrize("question", ["Did the port of Truro open in 1859?", "Was gold found?"])
def test_a_bare_yes_has_half_the_probability_of_the_questions_words(question: str) -> None:
    asked = gather(question, PASSAGES)
    assert asked is not None
    seen = support("Yes.", PASSAGES, question)
    assert seen.probability == pytest.approx(probability_of(asked) / 2)
    assert (seen.verdict, seen.evidence, seen.quote) == ("absent", (), None)
    assert seen.reason == "no_words_to_look_for"


@pytest.mark.parametrize(
    ("claim", "question"),
    [("Yes.", None), ("Yes.", ""), ("Yes.", "Is it?"), ("", PORT), ("?!", PORT)],
)
def test_without_words_in_claim_and_question_there_is_no_probability(
    claim: str, question: str | None
) -> None:
    assert support(claim, PASSAGES, question).probability == 0


def test_the_question_does_not_help_a_claim_with_words_of_its_own() -> None:
    alone = support("Ships took lead.", PASSAGES)
    assert support("Ships took lead.", PASSAGES, "Did the port of Truro open?") == alone


@pytest.mark.parametrize("texts", [[], [""], ["...", ""]])
def test_contexts_without_a_sentence_support_nothing(texts: list[str]) -> None:
    seen = support(PORT, Passages(texts))
    assert (seen.verdict, seen.probability, seen.evidence) == ("absent", 0, ())
    assert seen.reason == "no_contexts_to_read"


@pytest.mark.parametrize(
    ("claim", "reason"),
    [
        (PORT, "4 of 4 content words in context 2"),
        ("Ships took tin to the port.", "4 of 4 content words in contexts 1 and 2"),
        ("Ships took gold.", "2 of 3 content words in context 1"),
        ("Gold lies deep.", "none of 3 content words in the contexts"),
        ("Ships left in 1895.", "1 of 3 content words in context 1; new number 1895"),
        ("Ships left for Bath.", "1 of 3 content words in context 1; new name Bath"),
    ],
)
def test_the_reason_counts_contexts_from_one(claim: str, reason: str) -> None:
    assert explain(support(claim, PASSAGES).reason) == reason


def test_the_reason_tells_how_well_vectors_match() -> None:
    seen = support("Gold lies deep.", PASSAGES, alignment=Alignment(0.456, 0.2, 0.5, 0))
    assert explain(seen.reason) == "none of 3 content words in the contexts; aligned 0.46"


def test_evidence_begins_with_the_context_of_the_quote() -> None:
    seen = support("The port of Truro opened, and ships took tin.", Passages([PORT, SHIPS]))
    assert seen.verdict == "supported"
    assert seen.evidence == (0, 1)
    assert seen.quote == PORT


def test_a_sentence_that_adds_no_word_is_no_evidence() -> None:
    seen = support(PORT, Passages([PORT, "Truro is a port."]))
    assert (seen.verdict, seen.evidence) == ("supported", (0,))


@pytest.mark.parametrize(
    ("claim", "first"),
    [
        ("Gold ships lie deep", "They took tin."),
        ("Gold ships", "Forty ships lay there."),
        ("Ships lay there.", "Forty ships lay there."),
    ],
)
def test_the_best_aligned_sentence_is_quoted_where_less_than_half_the_words_are_found(
    claim: str, first: str
) -> None:
    near = Alignment(aligned=1.0, weakest=1.0, unheld=0.0, sentence=1)
    seen = support(claim, PASSAGES, alignment=near)
    assert (seen.verdict, seen.quote) == ("supported", first)


WORDS = ["tin", "Truro", "1859", "never", "opened", "north", "south", "I", "heard", "yes", "Bath"]
TEXT = st.lists(st.sampled_from(WORDS), max_size=7).map(lambda words: " ".join(words) + ".")


@given(TEXT, st.lists(TEXT, max_size=4), st.booleans())
def test_the_verdict_goes_by_the_probability_and_the_contradiction(
    claim: str, contexts: list[str], aligned: bool
) -> None:
    passages = Passages(contexts)
    near = Alignment(1.0, 1.0, 0.0, 0) if aligned and passages.quotes else None
    seen = support(claim, passages, alignment=near)
    assert (seen.verdict == "supported") == (seen.probability >= 0.5)
    if seen.verdict == "contradicted":
        assert seen.probability <= 0.4
    assert len(set(seen.evidence)) == len(seen.evidence)
    assert (seen.quote is None) == (seen.verdict == "absent")


@given(TEXT, st.lists(TEXT, max_size=4))
def test_a_text_is_judged_the_same_each_time(claim: str, contexts: list[str]) -> None:
    assert support(claim, Passages(contexts)) == support(claim, Passages(contexts))
