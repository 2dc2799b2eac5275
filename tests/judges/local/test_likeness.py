"""Likeness: weighted cosines of statement and answer, by pencil."""

import math

import numpy as np
import pytest

from ragstone.judges.local.aligner import GIVEN_WORD, SMALL_WORD, Likeness, behind, likeness
from ragstone.judges.local.claim_support import curve
from ragstone.models import TokenVectors

AXES = {
    "tin": (1.0, 0.0, 0.0),
    "lead": (0.0, 1.0, 0.0),
    "zinc": (0.6, 0.8, 0.0),
    "the": (0.0, 0.0, 1.0),
    "metal": (0.0, 0.0, 1.0),
    "which": (0.0, 0.0, 1.0),
}


def seen(text: str, length: float = 1.0) -> TokenVectors:
    """One token a word, between two special ones, all vectors of that length."""
    spans, rows, at = [(0, 0)], [(9.0, 0.0, 0.0)], 0
    for word in text.split():
        at = text.index(word, at)
        spans.append((at, at + len(word)))
        rows.append(AXES[word.lower()])
        at += len(word)
    return TokenVectors(
        np.arange(len(rows) + 1, dtype=np.int32),
        np.array([*spans, (0, 0)], np.int32),
        np.array([*rows, (9.0, 0.0, 0.0)], np.float32) * np.float32(length),
        None,
        cut=False,
    )


def like(
    question: str | None, statement: str, answer: str, lengths: tuple[float, float] = (1, 1)
) -> Likeness:
    said = seen(behind(question, answer), lengths[0])
    wanted = seen(behind(question, statement), lengths[1])
    found = likeness(question, statement, answer, said, wanted)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("question", "text", "given"),
    [
        ("Which?", "Tin.", "Which? Tin."),
        (None, "Tin.", "Tin."),
        ("", " Tin.\n", "Tin."),
        (" Which? ", "", "Which?"),
        (None, "", ""),
    ],
)
def test_a_text_is_read_behind_its_question(question: str | None, text: str, given: str) -> None:
    assert behind(question, text) == given


@pytest.mark.parametrize(
    ("statement", "answer", "aligned", "weakest", "returned"),
    [
        ("tin", "tin", 1, 1, 1),
        ("tin", "lead", 0, 0, 0),
        ("tin lead", "zinc", (0.6 + 0.8) / 2, 0.6, 0.8),
        ("zinc", "tin lead", 0.8, 0.8, (0.6 + 0.8) / 2),
        ("tin lead", "lead tin", 1, 1, 1),
        ("tin", "tin lead zinc", 1, 1, (1 + 0 + 0.6) / 3),
    ],
)
def test_each_word_is_matched_with_the_most_similar_one_both_ways(
    statement: str, answer: str, aligned: float, weakest: float, returned: float
) -> None:
    found = like(None, statement, answer)
    assert found.aligned == pytest.approx(aligned, abs=1e-4)
    assert found.weakest == pytest.approx(weakest, abs=1e-4)
    assert found.returned == pytest.approx(returned, abs=1e-4)


def test_a_stop_word_weighs_a_tenth_of_a_content_word() -> None:
    found = like(None, "the tin", "the lead")
    assert SMALL_WORD == 0.1
    assert found.aligned == pytest.approx((0.1 * 1 + 1 * 0) / 1.1, abs=1e-4)
    assert found.weakest == 0


def test_a_word_that_the_question_gives_weighs_less_than_a_new_one() -> None:
    found = like("which metal", "metal tin", "metal lead")
    assert GIVEN_WORD == 0.3
    assert found.aligned == pytest.approx((0.3 * 1 + 1 * 0) / 1.3, abs=1e-4)
    assert found.returned == pytest.approx((0.3 * 1 + 1 * 0) / 1.3, abs=1e-4)


def test_where_the_question_gives_all_words_they_are_matched_all_the_same() -> None:
    found = like("which metal", "metal", "lead")
    assert (found.aligned, found.weakest) == (0, 0)
    assert like("which metal", "metal", "metal").aligned == 1


def test_the_questions_own_words_are_no_match() -> None:
    assert like("tin", "tin", "lead").aligned == 0


def test_the_whole_is_the_cosine_of_the_mean_vectors_with_the_question() -> None:
    """Special tokens of (9, 0, 0) twice each: means of (19, 0, 0) and (18, 1, 0)."""
    found = like(None, "tin", "lead")
    assert found.whole == pytest.approx(18 / math.hypot(18, 1), abs=1e-4)
    asked = like("the", "tin", "lead")
    cosine = (19 * 18 + 1) / (math.hypot(19, 1) * math.sqrt(18**2 + 1 + 1))
    assert asked.whole == pytest.approx(cosine, abs=1e-4)


@pytest.mark.parametrize("lengths", [(2.0, 1.0), (1.0, 5.0), (0.1, 0.1), (1e-3, 1e-4)])
def test_how_long_vectors_are_does_not_count(lengths: tuple[float, float]) -> None:
    assert like("which", "tin lead", "zinc", lengths) == like("which", "tin lead", "zinc")


def test_statement_and_answer_may_change_places() -> None:
    one, other = like(None, "tin lead", "zinc"), like(None, "zinc", "tin lead")
    assert (one.aligned, one.returned) == (other.returned, other.aligned)
    assert one.whole == other.whole


@pytest.mark.parametrize(("statement", "answer"), [("", "tin"), ("tin", ""), ("", "")])
def test_a_side_without_a_word_gives_no_likeness(statement: str, answer: str) -> None:
    said, wanted = seen(behind("which", answer)), seen(behind("which", statement))
    assert likeness("which", statement, answer, said, wanted) is None


def test_the_curve_weighs_the_likeness_by_its_own_names() -> None:
    features = Likeness(aligned=0.1, weakest=0.2, returned=0.3, whole=0.4)._asdict()
    assert features == {"aligned": 0.1, "weakest": 0.2, "returned": 0.3, "whole": 0.4}
    assert set(features) <= set(curve("agreement/encoder")[1])
    assert not set(features) & set(curve("agreement/strings")[1])
