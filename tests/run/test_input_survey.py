"""The data gone through once before models are asked."""

from ragstone.data import Example
from ragstone.metrics import parse_metric
from ragstone.run.run_plan import look_through

EXAMPLES = [
    Example("1", "q1", "a", answer="Yes."),
    Example("2", "q1", "b", answer="No."),
    Example("3", "q2", "a", answer=""),
    Example("4", "q2", "b", answer=None),
]


def test_answers_are_remembered_by_question_where_they_are_compared() -> None:
    """An empty answer is one; a system without any answer is no rival."""
    found = look_through(EXAMPLES, [parse_metric("exact_match"), parse_metric("win_rate")])
    assert found == (4, {"q1": {"a": "Yes.", "b": "No."}, "q2": {"a": ""}})


def test_where_no_answers_are_compared_none_is_remembered() -> None:
    assert look_through(EXAMPLES, [parse_metric("exact_match")]) == (4, {})
    assert look_through([], [parse_metric("win_rate")]) == (0, {})
