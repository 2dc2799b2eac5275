"""Turns of a session are dependent: by default the intervals are by session where there are any."""

from pathlib import Path
from typing import Any

import pytest

from ragstone import compare, evaluate, rescore
from ragstone.core.messages import in_python
from ragstone.data import Example
from ragstone.report.reason_words import words
from ragstone.run import Run
from ragstone.run.estimates.sums import default_cluster


def turns(sessions: int = 8, of: int = 4, **more: Any) -> list[dict[str, Any]]:
    """Sessions of which every second is answered rightly in all turns, the others in none."""
    return [
        {
            "question": f"How long is pier {session} at number {turn}?",
            "session_id": f"s{session}",
            "answer": "90 m" if session % 2 else "4 m",
            "reference": "90 m",
            **more,
        }
        for session in range(sessions)
        for turn in range(of)
    ]


def width(low: float | None, high: float | None) -> float:
    assert low is not None
    assert high is not None
    return high - low


def whole(run: Run) -> Any:
    return next(one for one in run.estimate_list if not one.group)


def remarks(run: Run) -> list[str]:
    return [in_python(words(one)) for one in run.manifest["remarks"]]


def test_turns_of_a_session_are_a_cluster_and_the_run_says_so() -> None:
    run = evaluate(turns(), metrics=["exact_match"])
    found = whole(run)
    assert (found.value, found.n, found.clusters) == (0.5, 32, 8)
    assert "interval:cluster_wilson(session,95%)" in found.signature
    assert any(one.startswith("Intervals are by session") for one in remarks(run))
    # Four turns that agree tell no more than one: the interval is wider than that of 32 questions.
    apart = whole(evaluate(turns(), metrics=["exact_match"], cluster="question_id"))
    assert (apart.clusters, apart.method) == (32, "wilson")
    assert found.high - found.low > 1.5 * (apart.high - apart.low)


def test_the_choice_stays_with_the_run(tmp_path: Path) -> None:
    run = evaluate(turns(), metrics=["exact_match"], out=tmp_path / "run")
    assert run.manifest["settings"]["cluster"] == "session"
    assert evaluate(turns(), metrics=["exact_match"], out=tmp_path / "run").path == run.path
    again = rescore(run.path, metrics=["token_f1"])
    assert {one.clusters for one in again.estimate_list if not one.group} == {8}


def test_results_are_given_by_session_like_by_any_field() -> None:
    run = evaluate(turns(2), metrics=["exact_match"], by=["session"])
    found = {one.group.get("session"): one.value for one in run.estimate_list if one.group}
    assert (found["s0"], found["s1"]) == (0, 1)


def test_sessions_of_one_question_each_leave_questions_as_clusters() -> None:
    two = [
        {**row, "system": system, "session_id": f"{system}{number}"}
        for system in "ab"
        for number, row in enumerate(turns(4, 1))
    ]
    run = evaluate(two, metrics=["exact_match"])
    assert run.form.cluster == "question_id"
    # Both systems answer the same four questions.
    assert whole(run).clusters == 4


def test_a_turn_without_a_session_is_a_cluster_of_its_question() -> None:
    rows = [*turns(2, 3), {"question": "What else?", "answer": "90 m", "reference": "90 m"}]
    assert whole(evaluate(rows, metrics=["exact_match"])).clusters == 3


def test_sessions_that_share_a_document_are_told() -> None:
    rows = [row | {"article": f"d{place // 16}"} for place, row in enumerate(turns())]
    run = evaluate(rows, metrics=["exact_match"])
    said = [one for one in remarks(run) if one.startswith("Intervals take")]
    assert said == [
        "Intervals take sessions as independent, but 8 sessions come from 2 values of article: "
        'cluster="article".'
    ]


def test_systems_are_compared_with_sessions_as_the_independent_units() -> None:
    rows = [
        row | {"system": system, "question_id": f"q{place}",
               "answer": row["answer"] if system == "a" else "90 m"}
        for system in "ab"
        for place, row in enumerate(turns())
    ]  # fmt: skip
    [found] = compare(evaluate(rows, metrics=["exact_match"])).comparisons
    by_question = evaluate(rows, metrics=["exact_match"], cluster="question_id")
    [apart] = compare(by_question).comparisons
    assert found.difference == apart.difference
    assert width(found.low, found.high) > width(apart.low, apart.high)


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ([("a", "s", "q1"), ("a", "s", "q2")], "session"),
        ([("a", "s", "q1"), ("a", "s", "q1")], "question_id"),
        ([("a", "s", "q1"), ("b", "s", "q2")], "question_id"),
        ([("a", None, "q1"), ("a", None, "q2")], "question_id"),
        ([], "question_id"),
    ],
)
def test_a_session_counts_if_it_holds_two_questions_to_one_system(
    asked: list[tuple[str, str | None, str]], expected: str
) -> None:
    examples = [
        Example(str(place), question, system, slices={"session": session} if session else {})
        for place, (system, session, question) in enumerate(asked)
    ]
    assert default_cluster(examples) == expected
