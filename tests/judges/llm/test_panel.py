"""A panel: the majority speaks, and a tie is missing."""

import pytest

from ragstone.judgements import Rating, Relevance, Support
from ragstone.judges.llm.llm_judge import vote
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
        "evidence_unknown": len(reason),
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
    assert row["evidence_unknown"] == len("it says so")
    assert row["probability"] == pytest.approx(2 / 3)


def test_a_tie_has_no_verdict() -> None:
    (row,) = vote(Support, [[support(0, "absent")], [support(0, "supported")]], 2)
    assert row["verdict"] is None
    assert row["probability"] is None
    assert row["reason"] == "no_majority"
    assert row["evidence"] is row["quote"] is None


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


@pytest.mark.parametrize(("scores", "mean"), [((0.5, 1.0), None), ((0.5, 1.0, 0.0), 0.5)])
def test_scores_of_less_than_half_of_five_are_none(
    scores: tuple[float, ...], mean: float | None
) -> None:
    said = [[{"criterion": "tone", "score": score, "reason": "-"}] for score in scores]
    (row,) = vote(Rating, said, 5)
    assert row["score"] == mean


@pytest.mark.parametrize(("third", "verdict"), [("supported", "supported"), ("absent", None)])
def test_three_of_five_decide_and_two_do_not(third: str, verdict: str | None) -> None:
    said = ["supported", "supported", third, "contradicted", "contradicted"]
    (row,) = vote(Support, [[support(0, one)] for one in said], 5)
    assert row["verdict"] == verdict


def test_grades_need_a_majority() -> None:
    def grade(value: int) -> Row:
        return {"rank": 1, "grade": value, "relevant": value > 0, "misleading": False}

    (row,) = vote(Relevance, [[grade(1)], [grade(2)], [grade(3)]], 3)
    assert row["grade"] is None
    assert row["relevant"] is True


def test_one_member_speaks_for_itself() -> None:
    rows = [support(0, None, "left out")]
    assert vote(Support, [rows], 1) == rows
