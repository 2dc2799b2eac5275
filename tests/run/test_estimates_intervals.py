"""Which interval an estimate gets, and when a run says that its clusters are too fine."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ragstone import evaluate, rescore
from ragstone.core.messages import in_python
from ragstone.report.reason_words import words
from ragstone.run import Estimate, Run
from ragstone.run.estimates.cautions import of_sizes


def rows(
    questions: int = 40, place: str = "meta", **fields: Callable[[int], object]
) -> list[dict[str, Any]]:
    """Two systems answer each question; the fields are functions of its number."""
    return [
        {
            "id": f"{system}{number}",
            "question_id": f"q{number}",
            "system": system,
            "question": f"When was lighthouse {number} built?",
            "answer": f"In 18{number:02d}" if number % 3 else "In 1999",
            "reference": f"In the year 18{number:02d}",
            place: {name: value(number) for name, value in fields.items()},
        }
        for system in "ab"
        for number in range(questions)
    ]


def of(run: Run, metric: str, **group: str) -> Estimate:
    return next(e for e in run.estimate_list if e.metric == metric and e.group == group)


def warnings(run: Run) -> list[str]:
    return [
        told
        for line in run.manifest["remarks"]
        if (told := in_python(words(line))).startswith("Intervals take")
    ]


def ten_a_document(number: int) -> str:
    return f"d{number // 10}"


def test_a_mean_in_a_range_has_wilson_on_the_rows_it_is_worth() -> None:
    run = evaluate(rows(), metrics=["token_f1", "exact_match"])
    together, alone = of(run, "token_f1"), of(run, "token_f1", system="a")
    assert (together.method, alone.method) == ("bounded_wilson", "bounded_wilson")
    assert (together.n, together.clusters) == (80, 40)
    # Both systems answer alike, so 80 rows tell little more than 40.
    assert alone.low is not None
    assert together.low == pytest.approx(alone.low, abs=0.01)
    assert of(run, "exact_match").method == "cluster_wilson"


def test_a_document_that_holds_several_questions_is_told() -> None:
    run = evaluate(rows(document_id=ten_a_document), metrics=["token_f1"])
    assert warnings(run) == [
        "Intervals take questions as independent, but 40 questions come from 4 values of "
        'document_id: cluster="document_id".'
    ]
    clustered = evaluate(
        rows(document_id=ten_a_document), metrics=["token_f1"], cluster="document_id"
    )
    assert warnings(clustered) == []
    assert of(clustered, "token_f1").clusters == 4


@pytest.mark.parametrize("place", ["meta", "slices", "labels"])
def test_the_field_may_stand_anywhere_in_any_case(place: str) -> None:
    records = rows(place=place, Document_ID=lambda number: number // 20)
    run = evaluate(records, metrics=["token_f1"])
    assert [line.endswith('2 values of Document_ID: cluster="Document_ID".') for line in
            warnings(run)] == [True]  # fmt: skip


def test_the_coarsest_of_several_fields_is_told() -> None:
    records = rows(article=lambda number: number // 4, document=ten_a_document)
    [warning] = warnings(evaluate(records, metrics=["token_f1"]))
    assert warning.endswith('cluster="document".')


@pytest.mark.parametrize(
    "fields",
    [
        {"document": lambda _: "the only one"},
        {"document": lambda number: f"d{number}"},
        {"document": lambda number: "d1" if number == 5 else None},
        {"topic": ten_a_document},
    ],
    ids=["one value", "one question a value", "few have it", "another name"],
)
def test_fields_that_are_not_coarser_are_not_told(
    fields: dict[str, Callable[[int], object]],
) -> None:
    assert warnings(evaluate(rows(40, "meta", **fields), metrics=["token_f1"])) == []


def test_questions_that_lie_in_several_documents_are_not_told() -> None:
    records = rows()
    for number, record in enumerate(records):
        record["meta"] = {"document": f"d{number // 16}"}
    assert warnings(evaluate(records, metrics=["token_f1"])) == []


def test_questions_without_a_document_are_counted() -> None:
    records = rows(document=lambda number: ten_a_document(number) if number < 30 else None)
    [warning] = warnings(evaluate(records, metrics=["token_f1"]))
    assert "30 of 40 questions come from 3 values" in warning


def test_blocks_are_put_together_and_a_later_score_says_it_again(tmp_path: Path) -> None:
    records = rows(700, document_id=lambda number: f"d{number % 7}")
    run = evaluate(records, metrics=["exact_match"], out=tmp_path / "run")
    [warning] = warnings(run)
    assert "700 questions come from 7 values" in warning
    assert warnings(rescore(run.path, metrics=["token_f1"])) == [warning]


def test_means_of_few_questions_are_said_to_be_rough() -> None:
    answers = [
        {
            "question": f"How long is {pier}?",
            "system": system,
            "answer": "90 m",
            "reference": "90 m",
        }
        for pier, system in (("one", "a"), ("two", "a"), ("three", "a"), ("one", "b"))
    ]
    run = evaluate(answers, metrics=["token_f1"], judge="rules")
    assert [in_python(words(one)) for one in of_sizes(run.estimate_list, "question_id")] == [
        "No interval for token_f1 of b: one question is too few for an interval.",
        "Intervals of 3 questions are rough; from 10 on they hold better.",
    ]


def test_one_question_is_called_one(tmp_path: Path) -> None:
    record = {"question": "How long is it?", "answer": "I do not know."}
    run = evaluate([record], metrics=["abstention"], out=tmp_path / "run")
    said = "Intervals of 1 question are rough; from 10 on they hold better."
    assert [in_python(words(one)) for one in of_sizes(run.estimate_list, "question_id")] == [said]
    [group] = of_sizes(run.estimate_list, "topic")
    assert in_python(words(group)) == said.replace("question", "value of topic")
