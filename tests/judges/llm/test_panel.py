"""A panel: the majority speaks, and a tie is missing."""

import pytest

from ragstone.judgements import Rating, Relevance, Support
from ragstone.judges.llm.panel import vote
from ragstone.judges.llm.task import Row


def support(index: int, verdict: str | None, reason: str = "", quote: str = "") -> Row:
    return {
        "origin": "claim",
        "reference": 0,
        "index": index,
        "verdict": verdict,
        "probability": None if verdict is None else float(verdict == "supported"),
        "reason": reason,
        "quote": quote,
        "evidence": [quote],
    }


def test_two_of_three_decide_and_the_reason_is_one_of_theirs() -> None:
    (row,) = vote(
        Support,
        [
            [support(0, "absent", "not there")],
            [support(0, "supported", "it says so", "c1")],
            [support(0, "supported", "so it says", "c2")],
        ],
        3,
    )
    assert row["verdict"] == "supported"
    assert (row["reason"], row["quote"]) in {("it says so", "c1"), ("so it says", "c2")}
    assert row["probability"] == pytest.approx(2 / 3)


def test_a_tie_has_no_verdict() -> None:
    (row,) = vote(Support, [[support(0, "absent")], [support(0, "supported")]], 2)
    assert row["verdict"] is None
    assert row["probability"] is None
    assert row["reason"] == "no_majority"


def test_a_verdict_needs_more_than_half_of_all_members() -> None:
    two = [[support(0, None)], [support(0, "supported")], [support(0, "supported")]]
    assert vote(Support, two, 3)[0]["verdict"] == "supported"
    one = [[support(0, None)], [support(0, "supported")]]
    assert vote(Support, one, 3)[0]["verdict"] is None
    alone = [[support(0, "supported")]]
    assert vote(Support, alone, 2)[0]["verdict"] is None


def test_each_unit_is_voted_on_by_itself() -> None:
    rows = vote(
        Support,
        [
            [support(0, "supported"), support(1, "absent")],
            [support(0, "supported"), support(1, "absent")],
            [support(1, "supported"), support(0, "contradicted")],
        ],
        3,
    )
    assert [(row["index"], row["verdict"]) for row in rows] == [(0, "supported"), (1, "absent")]


def test_scores_are_averaged() -> None:
    rows = vote(
        Rating,
        [
            [{"criterion": "tone", "score": 0.5, "reason": "a"}],
            [{"criterion": "tone", "score": 1.0, "reason": "b"}],
        ],
        2,
    )
    assert rows[0]["score"] == pytest.approx(0.75)


def test_grades_need_a_majority() -> None:
    def grade(value: int) -> Row:
        return {"rank": 1, "grade": value, "relevant": value > 0, "misleading": False}

    (row,) = vote(Relevance, [[grade(1)], [grade(2)], [grade(3)]], 3)
    assert row["grade"] is None
    assert row["relevant"] is True


def test_one_member_speaks_for_itself() -> None:
    rows = [support(0, None, "left out")]
    assert vote(Support, [rows], 1) == rows
