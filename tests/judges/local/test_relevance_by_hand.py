"""Relevance: weights, shares and grades, by pencil."""

import math
from itertools import permutations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.judges.local.claim_support import curve
from ragstone.judges.local.context_relevance import cosine_features, relevance, wanted
from ragstone.report.reason_words import explain


def test_a_word_weighs_by_how_few_contexts_hold_it() -> None:
    """Of 3 contexts 1 holds tin: ln(1 + 4/2); 2 hold zinc: ln(1 + 4/3)."""
    tin, zinc = math.log(3), math.log(7 / 3)
    first, second, third = wanted("tin or zinc?", ["Tin.", "Zinc.", "Zinc."])
    assert first.share == pytest.approx(tin / (tin + zinc))
    assert second.share == third.share == pytest.approx(zinc / (tin + zinc))


def test_a_word_that_no_context_holds_weighs_most() -> None:
    """Of 1 context none holds gold: ln(1 + 2/1); it holds tin: ln(1 + 2/2)."""
    (seen,) = wanted("tin gold", ["Tin."])
    assert seen.share == pytest.approx(math.log(2) / (math.log(2) + math.log(3)))
    assert (seen.held, seen.lost) == (("tin",), ("gold",))


def test_together_is_the_best_two_neighbouring_sentences() -> None:
    (seen,) = wanted("tin zinc lead", ["Tin. Zinc. Rain. Lead."])
    assert seen.share == pytest.approx(3 / 3)
    assert seen.together == pytest.approx(2 / 3)
    assert seen.sentences == pytest.approx((1 / 3, 1 / 3, 0, 1 / 3))


@pytest.mark.parametrize("text", ["Rain. Tin zinc.", "Tin zinc. Rain.", "Tin zinc.", "Tin. Zinc."])
def test_a_neighbour_may_stand_on_either_side_or_nowhere(text: str) -> None:
    (seen,) = wanted("tin zinc lead", [text])
    assert seen.together == seen.share


def test_two_sentences_that_are_no_neighbours_are_not_together() -> None:
    (seen,) = wanted("tin zinc", ["Tin. Rain. Zinc."])
    assert seen.share == 1
    assert seen.together == pytest.approx(1 / 2)


def test_beside_best_is_share_and_together_over_those_of_the_best_context() -> None:
    """The best holds both, apart: 1 + 1/2. The other holds lead: 1/2 + 1/2."""
    best, other = wanted("tin zinc", ["Tin. Rain. Zinc.", "Tin. Rain. Zinc."])
    assert best.beside_best == other.beside_best == 1
    both, one, none = wanted("tin zinc", ["Tin. Rain. Zinc.", "Tin zinc.", "Rain."])
    assert both.beside_best == pytest.approx((1 + 1 / 2) / (1 + 1))
    assert (one.beside_best, none.beside_best) == (1, 0)


def test_where_no_context_holds_a_word_none_is_beside_the_best() -> None:
    assert [one.beside_best for one in wanted("tin", ["Rain.", ""])] == [0, 0]


def test_a_word_asked_twice_weighs_once() -> None:
    assert wanted("tin tin zinc", ["Tin."]) == wanted("tin zinc", ["Tin."])


def test_another_form_of_a_word_is_the_word() -> None:
    (seen,) = wanted("Which ports opened?", ["The port was opening."])
    assert seen.share == 1


def test_a_cosine_comes_with_how_far_it_lies_under_the_best() -> None:
    found = cosine_features([0.75, 0.25, 0.75])
    assert found == [
        {"cosine": 0.75, "under_best": 0},
        {"cosine": 0.25, "under_best": 0.5},
        {"cosine": 0.75, "under_best": 0},
    ]
    assert cosine_features([]) == []


def test_the_best_cosine_may_be_below_zero() -> None:
    found = cosine_features([-0.5, -0.25])
    assert [one["under_best"] for one in found] == [0.25, 0]


def test_the_probability_is_the_curve_over_what_was_counted() -> None:
    fitted = curve("relevance/encoder")
    share = together = math.log(2) / (math.log(2) + math.log(3))
    score = (
        fitted[0]
        + fitted[1]["share"] * share
        + fitted[1]["together"] * together
        + fitted[1]["beside_best"]
        + fitted[1]["cosine"] * 0.5
    )
    (seen,) = relevance("tin gold", ["Tin."], [0.5])
    assert seen["probability"] == pytest.approx(1 / (1 + math.exp(-score)))


@pytest.mark.parametrize("way", ["strings", "encoder"])
def test_the_curve_weighs_what_is_counted(way: str) -> None:
    counts = set(wanted("tin", ["Tin."])[0].features())
    cosines = set(cosine_features([1.0])[0]) if way == "encoder" else set()
    assert set(curve(f"relevance/{way}")[1]) <= counts | cosines


def test_a_likelier_cosine_makes_a_context_more_probable() -> None:
    rows = [relevance("tin gold", ["Tin."], [cosine])[0]["probability"] for cosine in (0, 0.4, 0.8)]
    assert rows == sorted(set(rows))


def test_cosines_and_contexts_go_together_one_for_one() -> None:
    with pytest.raises(ValueError, match="shorter"):
        relevance("tin", ["Tin.", "Lead."], [0.5])


SENTENCES = ["Tin sank.", "Zinc and lead.", "Rain fell.", "Gold, tin and zinc lay there.", "Lead."]
CONTEXTS = st.lists(st.lists(st.sampled_from(SENTENCES), max_size=4).map(" ".join), max_size=4)
COSINES = st.lists(st.floats(-1, 1), min_size=4, max_size=4)
QUESTION = "Where did tin, zinc, lead and gold lie?"


def judged(contexts: list[str], cosines: list[float]) -> list[dict[str, Any]]:
    return relevance(QUESTION, contexts, cosines[: len(contexts)])


@given(CONTEXTS, COSINES)
def test_the_grade_goes_by_the_probability(contexts: list[str], cosines: list[float]) -> None:
    for seen in (*judged(contexts, cosines), *relevance(QUESTION, contexts)):
        bounds = (0.15, 0.35, 0.6)
        assert seen["grade"] == sum(seen["probability"] >= bound for bound in bounds)
        assert seen["relevant"] == (seen["probability"] >= 0.15)
        assert seen["sufficient"] == (seen["probability"] >= 0.6)


@given(CONTEXTS, COSINES)
def test_the_order_of_the_list_changes_no_verdict(
    contexts: list[str], cosines: list[float]
) -> None:
    expected = judged(contexts, cosines)
    for order in list(permutations(range(len(contexts))))[:6]:
        mixed = judged([contexts[i] for i in order], [cosines[i] for i in order])
        assert mixed == [expected[i] for i in order]


@given(CONTEXTS)
def test_a_relevant_sentence_holds_a_word_of_the_question(contexts: list[str]) -> None:
    for text, seen in zip(contexts, relevance(QUESTION, contexts), strict=True):
        parts = [f"{part}." for part in text.split(".") if part]
        assert seen["sentences"] == len(parts)
        assert all("Rain" not in parts[place] for place in seen["relevant_sentences"])
        assert seen["relevant"] or not seen["relevant_sentences"]


def test_a_sentence_with_less_than_half_of_what_the_best_holds_is_not_picked() -> None:
    """Of four words of the same weight: 4, 2 and 1; and 3 in ten at the least."""
    (seen,) = relevance("tin zinc lead gold", ["Tin zinc lead gold. Tin zinc. Tin. Lead gold."])
    assert seen["relevant_sentences"] == [0, 1, 3]
    (five,) = relevance("tin zinc lead gold iron", ["Tin zinc lead gold iron. Tin zinc."])
    assert five["relevant_sentences"] == [0]
    (few,) = relevance("tin zinc lead gold", ["Tin. Zinc. Lead. Gold."])
    assert (few["relevant"], few["relevant_sentences"]) == (True, [])


def test_the_reason_counts_the_words_and_names_those_that_are_lost() -> None:
    (seen,) = relevance("tin zinc lead", ["Tin and lead."])
    assert explain(seen["reason"]) == "2 of 3 question words; not zinc"
    (all_held,) = relevance("tin zinc", ["Tin and zinc."])
    assert explain(all_held["reason"]) == "2 of 2 question words"
