"""Criteria of an example: how they are written in data, and what is no criterion."""

import json
from pathlib import Path
from typing import Any

import pytest

from ragstone.core.errors import DataError
from ragstone.data import Example, as_record, read, write
from ragstone.monitor.duties.fold_traces import text_hash

DEADLINE, CUSTOMER = "Mentions the deadline", "Names no customer"
BOTH = (DEADLINE, CUSTOMER)


def one(criteria: object, **more: Any) -> Example:
    (example,) = read(
        [{"question": "When?", "answer": "On 31 July.", "criteria": criteria, **more}]
    )
    return example


def problem(criteria: object, **more: Any) -> tuple[str, str]:
    with pytest.raises(DataError) as failed:
        one(criteria, **more)
    (fault,) = failed.value.faults
    return fault.field, fault.expected


def test_criteria_are_one_text_or_several_in_their_order() -> None:
    assert one(DEADLINE).criteria == (DEADLINE,)
    assert one([CUSTOMER, DEADLINE]).criteria == (CUSTOMER, DEADLINE)
    assert one(json.dumps(BOTH)).criteria == BOTH
    assert one([]).criteria == one(None).criteria == ()


@pytest.mark.parametrize(
    ("criteria", "expected"),
    [
        ([DEADLINE, ""], ("criteria[1]", "a text that is not empty")),
        (" ", ("criteria[0]", "a text that is not empty")),
        ([3], ("criteria[0]", "a text that is not empty")),
        ([DEADLINE, "x", DEADLINE], ("criteria[2]", "a criterion other than criteria[0]")),
        ({"deadline": 1}, ("criteria", "a text or a list of texts")),
    ],
)
def test_a_criterion_that_is_empty_repeated_or_no_text_is_a_fault_with_its_place(
    criteria: object, expected: tuple[str, str]
) -> None:
    assert problem(criteria) == expected


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ([{"met": 1}, {"met": 0}], ("labels.criteria", "at most 1, one for each criterion")),
        ([{"met": "partly"}], ("labels.criteria[0].met", "0, 1, true, false or null")),
        (["met"], ("labels.criteria[0]", "an object of labels")),
        ("met", ("labels.criteria", "a list with an object of labels for each criterion")),
    ],
)
def test_a_label_is_about_a_criterion_that_is_there(
    labels: object, expected: tuple[str, str]
) -> None:
    assert problem(DEADLINE, labels={"criteria": labels}) == expected
    assert one(DEADLINE, labels={"criteria": [{"met": None}]}).criteria == (DEADLINE,)


def test_a_cell_of_a_table_holds_a_list_and_any_column_may_be_mapped(tmp_path: Path) -> None:
    file = tmp_path / "answers.csv"
    file.write_text('answer,asks\n31 July,"[""Mentions the deadline""]"\nSoon,\n', "utf-8")
    first, second = read(file, columns={"criteria": "asks"})
    assert (first.criteria, second.criteria) == ((DEADLINE,), ())


def test_guidelines_of_mlflow_and_rubrics_of_promptfoo_are_criteria() -> None:
    (of_mlflow,) = read([{"inputs": "When?", "outputs": "a", "expectations": {"guidelines": BOTH}}])
    assert of_mlflow.criteria == BOTH
    asserted = [
        {"type": "llm-rubric", "value": DEADLINE},
        {"type": "llm-rubric", "value": "Names {{customer}}"},
        {"type": "equals", "value": "31 July"},
        {"type": "llm-rubric", "value": DEADLINE},
        {"type": "llm-rubric", "value": CUSTOMER},
    ]
    row = {"promptIdx": 0, "provider": "echo", "prompt": {"raw": "p"}, "vars": {"question": "?"},
           "response": {"output": "a"}, "testCase": {"assert": asserted}}  # fmt: skip
    (of_promptfoo,) = read([row])
    assert (of_promptfoo.criteria, of_promptfoo.reference) == (BOTH, ("31 July",))


@pytest.mark.parametrize("name", ["a.jsonl", "a.csv", "a.parquet"])
def test_what_is_written_is_read_back(name: str, tmp_path: Path) -> None:
    examples = [one(BOTH), one(None, id="2")]
    write(examples, tmp_path / name)
    assert [example.criteria for example in read(tmp_path / name)] == [BOTH, ()]
    assert as_record(examples[0])["criteria"] == list(BOTH)


def test_a_judgement_of_production_is_made_anew_where_criteria_changed() -> None:
    assert text_hash(one(BOTH)) != text_hash(one(DEADLINE)) != text_hash(one(None))
    assert text_hash(one([])) == text_hash(one(None))
