"""Criteria of each example, labelled by people: in a queue, on a sheet, in files, for a judge."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest

import ragstone
from ragstone.analysis.calibration.calibrate import calibrate
from ragstone.analysis.label_sampling.asked_labels import labels_asked
from ragstone.analysis.label_sampling.draw_sample import draw_sample
from ragstone.analysis.label_sampling.make_queue import annotate
from ragstone.analysis.label_sampling.queue_items import label_sheet
from ragstone.analysis.scored_run import Scored
from ragstone.annotation import read_label_table, write_labels
from ragstone.annotation.queue.form import ItemPart
from ragstone.core.errors import DataError
from ragstone.metrics import parse_metric
from ragstone.testing import ScriptedModel, asked, reply_to

CRITERIA = ["Mentions the deadline", "Names no customer"]
DATA: list[dict[str, Any]] = [
    {"id": f"q{n}", "question": f"When, {n}?", "contexts": ["31 July."], "answer": "31 July.",
     "criteria": CRITERIA}
    for n in range(3)
] + [{"id": "bare", "question": "Who?", "answer": "Harvey."}]  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    judge = ScriptedModel(
        lambda request: reply_to(request, {id: {"verdict": "yes"} for id in asked(request)})
    )
    path = tmp_path_factory.mktemp("runs") / "run"
    ragstone.evaluate(DATA, metrics="criteria", judge=judge, out=path)
    return path


def labels(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("asks", [{"metric": "criteria"}, {"tasks": ["criteria"]}])
def test_people_read_question_answer_and_one_criterion(
    folder: Path, asks: dict[str, Any], tmp_path: Path
) -> None:
    queue = annotate(folder, tmp_path / "labels.sqlite", **asks)
    items = [queue.item(number) for number in range(1, 7)]
    assert {item.parts for item in items} == {
        (ItemPart("criterion", str(number), text),) for number, text in enumerate(CRITERIA, 1)
    }
    assert {item.id for item in items} == {"q0", "q1", "q2"}
    assert all(set(item.shown) == {"question", "answer"} for item in items)
    (label,) = queue.form.asked
    assert (label.label, label.unit, label.choices) == ("met", "criterion", ("yes", "no"))


def test_a_sheet_has_a_row_for_each_criterion(folder: Path) -> None:
    run = ragstone.Run.open(folder)
    sample = draw_sample(Scored(run), n=3, metric="criteria")
    sheet = label_sheet(sample, run, labels_asked([], parse_metric("criteria")))
    rows = sheet.frame.filter(pl.col("id") == "q0").select("criterion", "text", "answer", "met")
    assert rows.rows() == [
        (str(number), text, "31 July.", None) for number, text in enumerate(CRITERIA, 1)
    ]
    assert sheet.guideline.startswith("# Criteria")


def test_labels_of_criteria_are_written_and_read_back(tmp_path: Path) -> None:
    text = "id,annotator,criterion,met\nq0,ann,1,yes\nq0,ann,2,no\nq1,ben,1,no\n"
    table = read_label_table(labels(tmp_path / "labels.csv", text))
    rows = ("kind", "column", "unit", "annotator", "value")
    assert table.used.select(rows).rows() == [
        ("criteria", "met", "criterion 1", "ann", "true"),
        ("criteria", "met", "criterion 2", "ann", "false"),
        ("criteria", "met", "criterion 1", "ben", "false"),
    ]
    write_labels(table, tmp_path / "wide.csv")
    write_labels(table, tmp_path / "long.csv", layout="long")
    write_labels(table, tmp_path / "tasks", layout="per_task")
    for name in ("wide.csv", "long.csv", "tasks/criteria.csv"):
        assert read_label_table(tmp_path / name).frame.equals(table.frame)


def test_a_label_needs_its_criterion_and_one_that_the_example_has(tmp_path: Path) -> None:
    no_unit = labels(tmp_path / "no.csv", "id,met,criterion\nq0,yes,\nq0,yes,1\n")
    with pytest.raises(DataError, match="expected a claim, a statement or a criterion beside it"):
        read_label_table(no_unit)
    beyond = labels(tmp_path / "beyond.csv", "id,criterion,met\nq0,3,yes\n")
    with pytest.raises(DataError, match="expected one of the 2 criteria of 'q0', counted from 1"):
        ragstone.evaluate(DATA, metrics="criteria", judge=f"human:{beyond}")
    bare = labels(tmp_path / "bare.csv", "id,criterion,met\nbare,1,yes\n")
    with pytest.raises(DataError, match="no label of a criterion, for 'bare' has none"):
        ragstone.evaluate(DATA, metrics="criteria", judge=f"human:{bare}")


def test_a_label_file_is_a_judge_and_what_it_leaves_open_is_missing(tmp_path: Path) -> None:
    text = "id,criterion,met\nq0,1,yes\nq0,2,no\nq1,2,yes\n"
    file = labels(tmp_path / "labels.csv", text)
    run = ragstone.evaluate(DATA, metrics="criteria", judge=f"human:{file}")
    scores = dict(run.scores().select("example_id", "value").iter_rows())
    assert scores == {"q0": 0.5, "q1": None, "q2": None, "bare": None}


def test_people_correct_the_mean_of_a_judge_by_examples_labelled_in_full(
    folder: Path, tmp_path: Path
) -> None:
    text = "id,criterion,met\nq0,1,yes\nq0,2,no\nq1,1,yes\nq1,2,yes\nq2,1,no\n"
    checked = calibrate(ragstone.Run.open(folder), labels(tmp_path / "labels.csv", text))
    (mean,) = checked.estimates
    assert (mean.metric, mean.judge.value, mean.labels.value) == ("criteria", 1, 0.75)
    assert list(checked.units) == ["criteria.met"]
    said = checked.units["criteria.met"].select("unit", "people", "judge").rows()
    assert len(said) == 5
    assert ("criterion 2", "no", "yes") in said
