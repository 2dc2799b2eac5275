"""A run as InspectorRAGet's JSON: what its validator asks for, and that it reads back as it was."""

import json
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

import ragstone
from ragstone.annotation import read_label_table
from ragstone.core.errors import DataError
from ragstone.report.layouts import report_as, write_report
from ragstone.report.layouts.layout import Report
from ragstone.run import Run

PIER = "The pier is ninety metres long."
ROWS: list[dict[str, Any]] = [
    {
        "id": f"{system}-{at}", "question_id": f"q{at}", "system": system,
        "question": f"How long is pier {at}?", "answer": answer,
        "reference": ["Ninety metres."],
        "contexts": [{"id": "1", "text": f"{PIER} {at}", "score": 0.5},
                     {"id": "2", "text": "Sea."}],
        "slices": {"topic": "sea" if at else "land"},
        "labels": {"fluency": {"ann": 4, "ben": 3}, "token_f1": {"ann": 1},
                   "tone": {"ann": "dry"}},
    }
    for at in range(2)
    for system, answer in (("a", PIER), ("b", "Very long."))
]  # fmt: skip
METRICS = ["token_f1", "exact_match", "answer_outcome", "faithfulness", "context_recall"]

Content = dict[str, Any]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Callable[[list[Content]], Run]:
    def run(rows: list[Content]) -> Run:
        return ragstone.evaluate(rows, metrics=METRICS, judge="local:strings",
                                 out=tmp_path_factory.mktemp("r") / "run")  # fmt: skip

    return run


@pytest.fixture(scope="module")
def report(made: Callable[[list[Content]], Run]) -> Report:
    return report_as(made(ROWS), "inspectorraget")


@pytest.fixture(scope="module")
def content(report: Report) -> Content:
    (file,) = report.files
    found: Content = json.loads(file.content)
    return found


def faults(content: Content) -> list[str]:
    """What InspectorRAGet's validator asks of a file of schema 2."""
    found = []
    for one in content["models"]:
        found += [f"model {name}" for name in ("model_id", "name", "owner") if name not in one]
    for one in content["metrics"]:
        found += ["author"] if one["author"] not in ("human", "algorithm") else []
        found += ["type"] if one["type"] not in ("numerical", "categorical", "text") else []
        if one["type"] == "categorical":
            values = one.get("values") or [{}]
            found += [
                "values" for v in values if not isinstance(v.get("numeric_value"), int | float)
            ]
        if one["type"] == "numerical" and one.get("aggregator") == "majority":
            found.append("aggregator")
    for one in content["tasks"]:
        found += [f"task {name}" for name in ("task_id", "input") if name not in one]
        found += ["task type"] if one["task_type"] not in ("qa", "generation", "rag") else []
        found += ["contexts"] if one["task_type"] == "qa" and "contexts" not in one else []
    found += ["document" for one in content["documents"] if "document_id" not in one]
    known = {one["task_id"] for one in content["tasks"]}
    found += ["result" for one in content["results"] if one["task_id"] not in known]
    return found  # fmt: skip


def test_a_file_is_valid(content: Content) -> None:
    assert content["schema_version"] == 2
    assert faults(content) == []


def test_a_question_is_a_task_and_a_system_a_model(content: Content) -> None:
    assert [one["model_id"] for one in content["models"]] == ["a", "b"]
    assert [one["task_id"] for one in content["tasks"]] == ["q0", "q1"]
    assert content["tasks"][1]["topic"] == "sea"
    assert content["filters"] == ["topic"]
    assert [(one["task_id"], one["model_id"]) for one in content["results"]] == [
        ("q0", "a"), ("q0", "b"), ("q1", "a"), ("q1", "b"),
    ]  # fmt: skip


def test_metrics_have_their_types_and_ranges(content: Content) -> None:
    metrics = {one["name"]: one for one in content["metrics"]}
    assert metrics["token_f1"] == {
        "name": "token_f1", "display_name": "token_f1", "author": "algorithm", "type": "numerical",
        "aggregator": "average", "range": [0, 1], "description": "higher is better",
    }  # fmt: skip
    outcome = metrics["answer_outcome"]
    assert outcome["type"] == "categorical"
    assert {one["value"]: one["numeric_value"] for one in outcome["values"]}["correct"] == 1
    assert metrics["fluency"]["author"] == "human"
    assert metrics["fluency"]["range"] == [3, 4]
    assert metrics["token_f1 (human)"]["author"] == "human", "people rated what is measured, too"
    assert metrics["tone"]["type"] == "text"
    assert metrics["tone"]["values"] == [{"value": "dry"}]


def test_labels_stand_under_their_annotators(content: Content) -> None:
    scores = content["results"][0]["scores"]
    assert scores["fluency"] == {"ann": {"value": 4}, "ben": {"value": 3}}
    assert scores["token_f1 (human)"] == {"ann": {"value": 1}}
    assert scores["exact_match"] == {"rules": {"value": 0}}


def test_contexts_that_share_an_id_and_not_a_text_are_two_documents(content: Content) -> None:
    assert [(one["document_id"], one["text"]) for one in content["documents"]] == [
        ("1", f"{PIER} 0"), ("2", "Sea."), ("1 (2)", f"{PIER} 1"),
    ]  # fmt: skip
    assert content["results"][2]["contexts"] == [
        {"document_id": "1 (2)", "score": 0.5, "context_id": "1"},
        {"document_id": "2"},
    ]


def test_what_is_undefined_or_missing_is_not_there(made: Callable[[list[Content]], Run]) -> None:
    rows = [{**ROWS[0]}, {**ROWS[1], "reference": []}]
    found = report_as(made(rows), "inspectorraget")
    content = json.loads(found.files[0].content)
    assert [("exact_match" in one["scores"]) for one in content["results"]] == [True, False]
    metrics = {one["name"]: one for one in content["metrics"]}
    assert metrics["exact_match"]["type"] == "text", "half of the answers lack it"
    assert "exact_match" in ragstone.explain(found.notes[0])


def test_examples_and_labels_read_back_as_they_were(report: Report, tmp_path: Path) -> None:
    (file,) = write_report(report, tmp_path / "run.json")
    found = list(ragstone.read(file))
    given = list(ragstone.read(ROWS))
    fields = ("id", "question_id", "system", "question", "answer", "reference", "slices")
    for one, own in zip(sorted(found, key=lambda one: one.id), given[::2] + given[1::2],
                        strict=True):  # fmt: skip
        assert [getattr(one, name) for name in fields] == [getattr(own, name) for name in fields]
        assert one.contexts == own.contexts
        assert one.labels == own.labels
        assert one.meta["scores"]["exact_match"] in (0, 1)
    labels = read_label_table(file).frame
    assert set(labels["annotator"]) == {"ann", "ben"}


@pytest.mark.parametrize(
    ("contexts", "kind", "who", "what"),
    [(ROWS[0]["contexts"], "qa", "speaker", "text"), (None, "rag", "role", "content")],
)
def test_a_conversation_is_shown_with_its_contexts(
    contexts: Any, kind: str, who: str, what: str, made: Callable[[list[Content]], Run],
    tmp_path: Path,
) -> None:  # fmt: skip
    """As its view of qa has them; that of rag shows messages and no contexts."""
    history = [{"role": "user", "content": "A pier?"}, {"role": "assistant", "content": "Yes."}]
    rows = [{**ROWS[0], "contexts": contexts, "history": history}]
    report = report_as(made(rows), "inspectorraget")
    (task,) = json.loads(report.files[0].content)["tasks"]
    assert task["task_type"] == kind
    assert task["input"] == [
        {who: "user", what: "A pier?"}, {who: "assistant", what: "Yes."},
        {who: "user", what: "How long is pier 0?"},
    ]  # fmt: skip
    (example,) = ragstone.read(write_report(report, tmp_path)[0])
    assert [(turn.role, turn.text) for turn in example.history] == [
        ("user", "A pier?"), ("assistant", "Yes."),
    ]  # fmt: skip
    assert example.question == "How long is pier 0?"


def test_a_context_whose_text_is_not_known_has_no_document(
    made: Callable[[list[Content]], Run], tmp_path: Path
) -> None:
    rows = [{**ROWS[0], "contexts": None, "context_ids": ["d1", "d2"]}]
    report = report_as(made(rows), "inspectorraget")
    assert json.loads(report.files[0].content)["documents"] == []
    (example,) = ragstone.read(write_report(report, tmp_path)[0])
    assert [(one.id, one.text) for one in example.contexts or ()] == [("d1", None), ("d2", None)]


def test_a_second_answer_of_a_system_is_a_task_of_its_own(
    made: Callable[[list[Content]], Run], tmp_path: Path
) -> None:
    rows = [ROWS[0], {**ROWS[0], "id": "again"}]
    report = report_as(made(rows), "inspectorraget")
    found = list(ragstone.read(write_report(report, tmp_path)[0]))
    assert [(one.id, one.question_id) for one in found] == [("a-0", "q0"), ("again", "q0")]


def test_version_1_is_read(tmp_path: Path) -> None:
    """As in the files that come with the tool: evaluations, annotations, flat targets."""
    values = [{"value": str(n), "display_value": "?", "numeric_value": n} for n in range(1, 5)]
    content = {
        "name": "n", "filters": ["kind"],
        "models": [{"model_id": "m", "name": "M", "owner": "o"}],
        "metrics": [
            {"name": "faithfulness", "author": "human", "type": "categorical", "values": values},
            {"name": "why", "author": "human", "type": "text"},
            {"name": "RougeL", "author": "algorithm", "type": "numerical"},
        ],
        "documents": [{"document_id": "d", "text": PIER, "title": "t"}],
        "tasks": [{"task_id": "t1", "task_type": "rag", "kind": "x",
                   "input": [{"speaker": "user", "text": "How long?"}],
                   "contexts": [{"document_id": "d"}], "targets": [{"text": "90 m"}]}],
        "evaluations": [{"task_id": "t1", "model_id": "m", "model_response": "Long.",
                         "annotations": {"faithfulness": {"p1": {"value": "4"},
                                                          "p2": {"value": "1"}},
                                         "why": {"p1": {"value": "so"}},
                                         "RougeL": {"system": {"value": 0.25}}}}],
    }  # fmt: skip
    file = tmp_path / "v1.json"
    file.write_text(json.dumps(content), encoding="utf-8")
    (one,) = ragstone.read(file)
    assert (one.id, one.question_id, one.system) == ("t1::m", "t1", "m")
    assert (one.question, one.answer, one.reference) == ("How long?", "Long.", ("90 m",))
    assert [(c.id, c.text) for c in one.contexts or ()] == [("d", PIER)]
    assert one.labels == {"faithfulness": {"p1": 4, "p2": 1}}
    assert one.slices == {"kind": "x"}
    assert one.meta == {"comments": {"why": {"p1": "so"}}, "scores": {"RougeL": 0.25}}


@pytest.mark.parametrize("odd", [5, "text", None, {"a": 1}, [5, None]])
def test_odd_values_are_no_crash(odd: object, tmp_path: Path) -> None:
    """Anything may stand anywhere: it is read as an example or refused with its place."""
    task = {"task_id": "t", "input": odd, "contexts": odd, "targets": odd}
    result = {"task_id": "t", "model_id": "m", "output": odd, "scores": {"x": odd}}
    content = {"models": [odd], "metrics": odd, "documents": odd, "filters": odd,
               "tasks": [task], "results": [result]}  # fmt: skip
    file = tmp_path / "odd.json"
    file.write_text(json.dumps(content), encoding="utf-8")
    with suppress(DataError):
        assert len(list(ragstone.read(file))) == 1
