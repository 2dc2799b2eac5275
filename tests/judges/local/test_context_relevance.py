"""Relevance: question words in contexts."""

from hypothesis import given
from hypothesis import strategies as st

from ragstone.judges.local.context_relevance import relevance

QUESTION = "Which plant is known as Erica vagans?"


def test_a_context_that_takes_up_the_whole_question_is_sufficient() -> None:
    best, related, other = relevance(
        QUESTION,
        [
            "The plant known as Erica vagans is the Cornish heath.",
            "The plant is small. It rains.",
            "Tin was mined at Geevor.",
        ],
    )
    assert (best["grade"], best["relevant"], best["sufficient"]) == (3, True, True)
    assert best["probability"] > related["probability"] > other["probability"]
    assert (other["grade"], other["relevant"], other["sufficient"]) == (0, False, False)


def test_relevant_sentences_are_those_that_hold_the_words() -> None:
    (seen,) = relevance(QUESTION, ["It rains. The plant known as Erica vagans is a heath. So."])
    assert seen["relevant_sentences"] == [1]
    assert seen["sentences"] == 3


def test_a_rare_question_word_weighs_more() -> None:
    rare, common, _ = relevance("plant vagans", ["vagans", "plant", "plant"])
    assert rare["probability"] > common["probability"]


def test_a_question_of_stop_words_finds_nothing() -> None:
    (seen,) = relevance("Who is it?", ["It is he."])
    assert (seen["grade"], seen["reason"]) == (0, "question_without_words")


def test_no_contexts_give_no_verdicts() -> None:
    assert relevance(QUESTION, []) == []


@given(st.text(), st.lists(st.text(), max_size=4))
def test_grades_and_sentences_stay_in_range(question: str, contexts: list[str]) -> None:
    found = relevance(question, contexts)
    assert len(found) == len(contexts)
    for seen in found:
        assert 0 <= seen["probability"] <= 1
        assert seen["grade"] in (0, 1, 2, 3)
        assert seen["sufficient"] <= seen["relevant"]
        assert all(0 <= place < seen["sentences"] for place in seen["relevant_sentences"])
