"""Rows of MLflow, laid flat."""

from ragstone.data import read
from ragstone.data.formats.eval_results import unfold_mlflow


def test_fields_beside_the_nested_ones_stay() -> None:
    row = {
        "id": "7",
        "inputs": {"question": "Who?", "topic": "tin"},
        "outputs": {"content": "Jan."},
        "expectations": "Jan Austen.",
    }
    assert unfold_mlflow(row) == {
        "id": "7",
        "question": "Who?",
        "topic": "tin",
        "content": "Jan.",
        "response": "Jan.",
        "expected_response": "Jan Austen.",
    }


def test_a_column_of_outputs_or_inputs_alone_is_one_like_others() -> None:
    for name in ("inputs", "outputs", "expectations"):
        (example,) = read([{"question": "Who?", "answer": "Jan.", name: {"tokens": 5}}])
        assert example.meta == {name: {"tokens": 5}}


def test_texts_in_place_of_nested_fields_are_question_answer_and_reference() -> None:
    (example,) = read([{"inputs": "Who?", "outputs": "Jan.", "expectations": "Jan Austen."}])
    assert (example.question, example.answer) == ("Who?", "Jan.")
    assert example.reference == ("Jan Austen.",)
    (example,) = read([{"inputs": {"question": "Who?"}, "expectations": "Jan Austen."}])
    assert (example.answer, example.reference) == (None, ("Jan Austen.",))
