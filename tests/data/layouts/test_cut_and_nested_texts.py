"""Texts that APIs cut into parts, nest or quote are read as a person reads them."""

import json
from pathlib import Path
from typing import Any

import pytest

from ragstone.core.errors import DataError
from ragstone.data import Example, read

ASK = {"role": "user", "content": "Who rang the bell?"}


def one(record: dict[str, Any]) -> Example:
    (example,) = read([record])
    return example


@pytest.mark.parametrize(
    ("parts", "text"),
    [
        (("Jane Tea", "gue rang it 1,2", "00 times."), "Jane Teague rang it 1,200 times."),
        (("The year was ", "1822", ". "), "The year was 1822. "),
        (("She rang.", "At noon."), "She rang.\nAt noon."),
        (("She rang. ", "At noon."), "She rang. At noon."),
    ],
)
@pytest.mark.parametrize("kind", ["text", "output_text", None])
def test_parts_of_a_reply_run_on(parts: tuple[str, ...], text: str, kind: str | None) -> None:
    content = [{**({"type": kind} if kind else {}), "text": part} for part in parts]
    example = one({"messages": [ASK, {"role": "assistant", "content": content}]})
    assert example.answer == text


def test_what_a_gemini_model_thought_is_no_part_of_its_answer() -> None:
    parts = [{"text": "Let me think.", "thought": True}, {"text": "Jane "}, {"text": "rang it."}]
    reply = {"candidates": [{"content": {"role": "model", "parts": parts}}]}
    contents = [{"role": "user", "parts": [{"text": ASK["content"]}]}]
    assert one({"request": {"contents": contents}, "response": reply}).answer == "Jane rang it."


def test_contexts_beside_the_last_message_and_in_results_of_tools_are_found() -> None:
    citations = {"citations": [{"id": "b.md", "content": "Jane rang the bell."}]}
    said = {"role": "assistant", "content": "Jane rang it.", "context": citations}
    noon = {"type": "text", "text": "Jane rang it."}
    call = {"type": "tool_call", "tool_call_id": "c1", "name": "file_search", "arguments": {}}
    result = {"type": "tool_result", "tool_result": "Jane rang the bell."}
    response = [{"role": "assistant", "content": [call]},
                {"role": "tool", "tool_call_id": "c1", "content": [result]},
                {"role": "assistant", "content": [noon]}]  # fmt: skip
    for record in ({"messages": [ASK, said]}, {"query": [ASK], "response": response}):
        example = one(record)
        assert example.answer == "Jane rang it."
        assert [context.text for context in example.contexts or ()] == ["Jane rang the bell."]


def test_what_trulens_wrote_as_json_is_unquoted() -> None:
    texts = {"input": json.dumps('Who rang the "bell"?'), "output": json.dumps("Jane rang it.")}
    example = one({"app_id": "a", "record_id": "r1", "cost_json": "{}", "tags": "-", **texts})
    assert (example.question, example.answer) == ('Who rang the "bell"?', "Jane rang it.")


def test_columns_are_joined_by_their_keys(tmp_path: Path) -> None:
    file = tmp_path / "columns.json"
    columns = {"question": {"0": "Who rang?", "1": "Who sang?"},
               "answer": {"1": "Sam sang.", "0": "Jane rang."}}  # fmt: skip
    file.write_text(json.dumps(columns))
    assert [(row.question, row.answer) for row in read(file)] == [
        ("Who rang?", "Jane rang."), ("Who sang?", "Sam sang."),
    ]  # fmt: skip
    columns["answer"] = {"2": "Sam sang.", "0": "Jane rang."}
    file.write_text(json.dumps(columns))
    with pytest.raises(DataError, match="columns with the same keys"):
        list(read(file))


@pytest.mark.parametrize("cell", ["", "nan", "NaN", "<NA>"])
def test_a_cell_without_a_value_is_no_text(cell: str, tmp_path: Path) -> None:
    file = tmp_path / "rows.csv"
    file.write_text(f"question,contexts,answer,reference\nWho rang?,{cell},Jane.,{cell}\n")
    (example,) = read(file)
    assert (example.contexts, example.reference) == (None, ())


def test_an_index_that_pandas_prints_is_a_list(tmp_path: Path) -> None:
    file = tmp_path / "rows.csv"
    printed = "Index(['Jane rang.', 'Noon.'], dtype='object')"
    file.write_text(f'question,contexts,answer\nWho rang?,"{printed}",Jane.\n')
    (example,) = read(file)
    assert [context.text for context in example.contexts or ()] == ["Jane rang.", "Noon."]


@pytest.mark.parametrize(
    "printed",
    ["0    Jane rang.\n1    Noon.\nName: contexts, dtype: object",
     "<ArrowStringArray>\n['Jane rang.', 'Noon.']\nLength: 2, dtype: string"],
)  # fmt: skip
def test_a_column_that_pandas_printed_is_a_fault(printed: str, tmp_path: Path) -> None:
    file = tmp_path / "rows.csv"
    file.write_text(f'question,contexts,answer\nWho rang?,"{printed}",Jane.\n')
    with pytest.raises(DataError, match="a column that pandas printed"):
        list(read(file))


@pytest.mark.parametrize(("task_input", "contexts"), [("Jane rang the bell.", 1), ("", None)])
def test_an_instruction_is_the_question_and_its_input_the_context(
    task_input: str, contexts: int | None
) -> None:
    example = one({"instruction": ASK["content"], "input": task_input, "output": "Jane."})
    assert (example.question, example.answer) == (ASK["content"], "Jane.")
    assert (None if example.contexts is None else len(example.contexts)) == contexts
