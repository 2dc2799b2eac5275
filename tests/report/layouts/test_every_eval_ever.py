"""A run as records of Every Eval Ever: the fields its schema 0.3.0 asks for, and what they say."""

import json
import re
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

import ragstone
from ragstone.report.layouts import report_as, write_report
from ragstone.report.layouts.every_eval_ever import _model_ids, _safe
from ragstone.report.layouts.layout import Report
from ragstone.run import Run

Content = dict[str, Any]

PIER = "The pier is ninety metres long."
ROWS: list[Content] = [
    {"id": f"{system}-{at}", "question_id": f"q{at}", "system": system, "answer": answer,
     "question": f"How long is pier {at}?\u2028Say it.", "contexts": [f"{PIER} {at}"],
     "reference": [PIER] if at else []}
    for at in range(3)
    for system, answer in (("acme/one", PIER), ("two", "I went to the beach and saw gulls."))
]  # fmt: skip
METRICS = ["exact_match", "token_f1", "hallucination", "abstention", "answer_outcome"]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return ragstone.evaluate(ROWS, metrics=METRICS, judge="local:strings",
                             out=tmp_path_factory.mktemp("r") / "run")  # fmt: skip


@pytest.fixture(scope="module")
def report(run: Run) -> Report:
    return report_as(run, "every-eval-ever")


def records(report: Report) -> list[Content]:
    return [json.loads(one.content) for one in report.files if one.name.endswith(".json")]


def lines(report: Report) -> list[Content]:
    """As its own validator splits them, at every character that Unicode ends a line with."""
    return [
        json.loads(line)
        for one in report.files if one.name.endswith("_samples.jsonl")
        for line in one.content.decode().splitlines()
    ]  # fmt: skip


RECORD = {
    "": "schema_version evaluation_id retrieved_timestamp source_metadata model_info eval_library "
    "evaluation_results",
    "source_metadata": "source_type source_organization_name evaluator_relationship",
    "eval_library": "name version",
    "model_info": "name id additional_details",
    "model_info.additional_details": "deployment_type model_availability",
    "evaluation_results[]": "evaluation_name source_data metric_config score_details",
    "evaluation_results[].source_data": "dataset_name source_type",
    "evaluation_results[].metric_config": "lower_is_better",
    "evaluation_results[].score_details": "score",
    "detailed_evaluation_results": "format file_path",
}
LINE = {
    "": "schema_version evaluation_id model_id evaluation_name sample_id interaction_type input "
    "answer_attribution evaluation",
    "input": "raw reference",
    "output": "raw",
    "answer_attribution[]": "turn_idx source extracted_value extraction_method is_terminal",
    "evaluation": "score is_correct",
}
"""The required fields of each object, from the schemas that the package every-eval-ever has."""

KNOWN = {*" ".join((RECORD[""], "evaluation_timestamp detailed_evaluation_results")).split()}
KNOWN_OF_LINES = {*" ".join(
    (LINE[""], "evaluation_result_id sample_hash output messages metadata")
).split()}  # fmt: skip
"""No other field is allowed at the top."""


def at(content: Any, path: str) -> Iterator[Content]:
    head, _, tail = path.partition(".")
    if not head:
        yield content
        return
    found = content.get(head.removesuffix("[]"))
    for one in found if head.endswith("[]") else [found]:
        yield from at(one, tail)


def lacking(content: Content, required: dict[str, str]) -> list[str]:
    return [f"{path}.{name}" for path, names in required.items() for one in at(content, path)
            for name in names.split() if name not in one]  # fmt: skip


def test_a_record_has_what_the_schema_requires(report: Report) -> None:
    assert len(records(report)) == 2
    for one in records(report):
        assert lacking(one, RECORD) == []
        assert set(one) <= KNOWN
        assert one["schema_version"] == "0.3.0"
        assert one["source_metadata"]["source_type"] in ("documentation", "evaluation_run")
        assert one["source_metadata"]["evaluator_relationship"] == "other"
        for result in one["evaluation_results"]:
            config = result["metric_config"]
            if config["score_type"] == "continuous":
                assert {"min_score", "max_score"} <= set(config)
            assert all(isinstance(v, str) for v in result["score_details"]["details"].values())


def test_a_line_has_what_the_schema_requires(report: Report) -> None:
    for one in lines(report):
        assert lacking(one, LINE) == []
        assert set(one) <= KNOWN_OF_LINES
        assert one["interaction_type"] == "single_turn"
        assert one["messages"] is None
        assert isinstance(one["evaluation"]["is_correct"], bool)
        assert all(isinstance(value, str) for value in one["metadata"].values())


def test_a_score_has_its_metric_and_interval(report: Report) -> None:
    first = records(report)[0]
    assert first["model_info"]["id"] == "acme/one"
    results = {one["metric_config"]["metric_name"]: one for one in first["evaluation_results"]}
    exact = results["exact_match"]
    assert exact["metric_config"]["score_type"] == "binary"
    assert exact["score_details"]["score"] == 1
    # Wilson for 2 of 2: from 1 / (1 + z²/2) to 1, z² = 3.8415.
    interval = exact["score_details"]["uncertainty"]["confidence_interval"]
    assert interval["lower"] == pytest.approx(1 / (1 + 3.8415 / 2), abs=1e-4)
    assert (interval["upper"], interval["confidence_level"]) == (1, 0.95)
    details = exact["score_details"]["details"]
    assert (details["n"], details["n_undefined"], details["n_missing"]) == ("2", "1", "0")
    assert results["hallucination"]["metric_config"]["lower_is_better"] is True
    assert "neither" in results["abstention"]["metric_config"]["additional_details"]["direction"]


def test_what_is_undefined_has_no_line(report: Report) -> None:
    exact = [one for one in lines(report) if one["evaluation_name"].endswith("exact_match")]
    assert [one["sample_id"] for one in exact] == ["q1", "q2"] * 2
    assert [one["evaluation"]["score"] for one in exact] == [1, 1, 0, 0]


def test_an_answer_is_correct_as_its_outcome_says(report: Report) -> None:
    found = {(one["model_id"], one["sample_id"]): one["evaluation"]["is_correct"]
             for one in lines(report) if one["evaluation_name"].endswith("token_f1")}  # fmt: skip
    assert found["acme/one", "q1"] is True
    assert found["private/two", "q1"] is False


def test_a_line_points_to_its_result(report: Report) -> None:
    known = {result["evaluation_result_id"] for one in records(report)
             for result in one["evaluation_results"]}  # fmt: skip
    assert {one["evaluation_result_id"] for one in lines(report)} <= known


def test_files_stand_where_the_data_store_has_them(report: Report, tmp_path: Path) -> None:
    written = write_report(report, tmp_path)
    uuid4 = r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"
    for record in records(report):
        detail = record["detailed_evaluation_results"]
        assert re.fullmatch(rf"data/[^/]+/[^/]+/[^/]+/{uuid4}_samples\.jsonl", detail["file_path"])
        content = (tmp_path / detail["file_path"]).read_bytes()
        assert detail["checksum"] == sha256(content).hexdigest()
        assert detail["total_rows"] == len(content.decode().splitlines())
    assert len(written) == 4


def test_the_same_run_is_written_alike(run: Run, report: Report) -> None:
    assert report_as(run, "every-eval-ever") == report


def test_a_conversation_is_a_list_of_messages(tmp_path: Path) -> None:
    history = [{"role": "user", "content": "A pier?"}, {"role": "assistant", "content": "Yes."}]
    run = ragstone.evaluate([{**ROWS[2], "history": history}], metrics=["exact_match"],
                            out=tmp_path / "run")  # fmt: skip
    (one,) = lines(report_as(run, "every-eval-ever"))
    assert (one["interaction_type"], one["output"]) == ("multi_turn", None)
    assert [(turn["turn_idx"], turn["role"]) for turn in one["messages"]] == [
        (0, "user"), (1, "assistant"), (2, "user"), (3, "assistant"),
    ]  # fmt: skip
    assert one["answer_attribution"][0]["turn_idx"] == 3


@pytest.mark.parametrize(
    ("name", "safe"),
    [("gpt-4o", "gpt-4o"), ("../../etc", "etc"), ("a b/c", "a-b-c"), ("", "x"), ("..", "x"),
     ("CON", "x-CON"), ("data", "x-data"), ("nul.txt", "x-nul.txt"), ("日本", "x")],
)  # fmt: skip
def test_a_name_is_one_that_every_folder_may_have(name: str, safe: str) -> None:
    assert _safe(name) == safe


def test_systems_with_names_alike_have_ids_of_their_own() -> None:
    assert list(_model_ids(["a b", "a-b", "x/y/z"]).values()) == [
        "private/a-b", "private/a-b-2", "y/z",
    ]  # fmt: skip
