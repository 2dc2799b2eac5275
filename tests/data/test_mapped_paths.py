"""Fields are mapped by JSON paths, into objects and into text that spells them."""

import json
from pathlib import Path
from typing import Any

import pytest

from ragstone.core.errors import DataError, InputError
from ragstone.data import read

ROW = {"q": "When?", "log": json.dumps({"hits": [{"t": "At 9."}, {"t": "Daily."}], "say": "9"})}


def only(row: dict[str, Any], **columns: str) -> Any:
    (example,) = read([row], columns=columns)
    return example


@pytest.mark.parametrize("answer", ["$.log.say", "log.say"])
def test_a_path_leads_into_text_that_spells_an_object(answer: str) -> None:
    example = only(ROW, question="q", answer=answer, contexts="$.log.hits[*].t")
    assert (example.question, example.answer) == ("When?", "9")
    assert [context.text for context in example.contexts] == ["At 9.", "Daily."]


def test_a_path_goes_before_what_a_layout_would_read() -> None:
    row = {"inputs": {"question": "q"}, "outputs": {"answer": "a", "draft": "b"}}
    assert only(row, answer="$.outputs.draft").answer == "b"


def test_a_column_of_that_name_is_no_path() -> None:
    assert only({"a.b": "x", "a": {"b": "y"}}, answer="a.b").answer == "x"


def test_a_path_into_a_csv_cell(tmp_path: Path) -> None:
    file = tmp_path / "rows.csv"
    file.write_text('q,out\nWhen?,"{""a"": [""At 9.""]}"\n', encoding="utf-8")
    (example,) = read(file, columns={"question": "q", "answer": "$.out.a[-1]"})
    assert example.answer == "At 9."


def test_a_path_that_leads_nowhere_is_a_fault_and_one_that_is_none_refused() -> None:
    with pytest.raises(DataError, match=r"expected a value at '\$.log.no', got only the columns"):
        only(ROW, answer="$.log.no")
    with pytest.raises(InputError, match="jq"):
        only(ROW, answer="$.log[?@.say]")


def test_a_question_that_is_an_object_names_the_path_that_reads_its_text() -> None:
    record = {"inputs": {"query": {"my q": "How long?"}}, "outputs": {"answer": "90 m"}}
    with pytest.raises(DataError) as caught:
        list(read([record]))
    path = '$.inputs.query["my q"]'
    assert path in str(caught.value)
    assert only(record, question=path).question == "How long?"
