"""Rows of MLflow, laid flat."""

from ragstone.examples.mlflow import unfold_mlflow


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
