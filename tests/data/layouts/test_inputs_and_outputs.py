"""Rows of MLflow, laid flat."""

import json
from pathlib import Path
from typing import Any

import pytest

from ragstone.data import read
from ragstone.data.layouts.inputs_and_outputs import flat_parts


def test_fields_beside_the_nested_ones_stay() -> None:
    row = {
        "id": "7",
        "inputs": {"question": "Who?", "topic": "tin"},
        "outputs": {"content": "Jan."},
        "expectations": "Jan Austen.",
    }
    assert flat_parts(row) == {
        "id": "7",
        "question": "Who?",
        "topic": "tin",
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


def test_columns_named_after_a_part_and_a_field_are_that_part() -> None:
    for row in (
        {"inputs.question": "Who?", "outputs.output": "Jan.", "reference.answer": "Jan Austen."},
        {"inputs/question": "Who?", "outputs": "Jan.", "expectations/answer": "Jan Austen."},
        {"inputs.query": "Who?", "inputs.response": "Jan.", "inputs.ground_truth": "Jan Austen.",
         "outputs.groundedness": 5},
        {"input.value": "Who?", "output.value": "Jan.", "reference": "Jan Austen."},
        {"question": "Who?", "answer": "Jan.", "reference": "Jan Austen.", "input.tokens": 5},
        {"prediction": "Jan.", "user_input": "Who?", "reference": "Jan Austen.", "input.cost": 5},
    ):  # fmt: skip
        (example,) = read([row])
        assert (example.question, example.answer) == ("Who?", "Jan.")
        assert example.reference == ("Jan Austen.",)


def test_parts_that_python_printed_are_opened() -> None:
    row = {"inputs": "{'question': 'Who?', 'top': None}", "outputs": "{'answer': 'Jan.'}"}
    messages = "[{'role': 'user', 'content': 'Who?'}, {'role': 'assistant', 'content': 'Jan.'}]"
    for record in (row, {"messages": messages}):
        (example,) = read([record])
        assert (example.question, example.answer) == ("Who?", "Jan.")


def test_outputs_in_a_data_set_of_langsmith_are_expected() -> None:
    row = {"inputs": {"question": "Who?"}, "outputs": {"answer": "Jan."}}
    (example,) = read([{**row, "dataset_id": "d"}])
    assert (example.answer, example.reference) == (None, ("Jan.",))
    (example,) = read([row])
    assert (example.answer, example.reference) == ("Jan.", ())


def test_tokens_of_a_conversation_with_ollama_are_no_contexts() -> None:
    reply = {"response": "Jan.", "context": [7, 8]}
    for record in ({"prompt": "Who?", **reply}, {"request": {"prompt": "Who?"}, "response": reply}):
        (example,) = read([record])
        assert (example.question, example.answer, example.contexts) == ("Who?", "Jan.", None)


@pytest.mark.parametrize(
    ("document", "question", "answer", "reference"),
    [
        ({"traces": [{"input": {"question": "Who?"}, "output": "Jan."}]}, "Who?", "Jan.", ()),
        (
            {"test_results": [{"input": "Who?", "actual_output": "Jan.", "expected_output": "J."}]},
            "Who?",
            "Jan.",
            ("J.",),
        ),
        (
            [{"question": "Who?", "agent_answer": "Jan.", "reference_answer": "J."}],
            "Who?",
            "Jan.",
            ("J.",),
        ),
        (
            [{"input": {"question": "Who?"}, "expectedOutput": {"answer": "J."}}],
            "Who?",
            None,
            ("J.",),
        ),
        ([{"inputs.question": "Who?", "outputs.answer": "Jan."}], "Who?", "Jan.", ()),
    ],
)
def test_documents_and_columns_of_other_tools_give_question_answer_and_reference(
    document: Any, question: str, answer: str | None, reference: tuple[str, ...], tmp_path: Path
) -> None:
    file = tmp_path / "data.json"
    file.write_text(json.dumps(document), encoding="utf-8")
    (example,) = read(file)
    assert (example.question, example.answer, example.reference) == (question, answer, reference)
