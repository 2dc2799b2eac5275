"""One answer judged by a model: the numbers of evaluate, and nothing left behind."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ragstone import evaluate, evaluate_one
from ragstone.core.errors import InputError
from ragstone.models.chat import ChatFailure
from ragstone.testing import ScriptedModel

Model = Callable[..., ScriptedModel]
Rows = list[dict[str, Any]]


def without_names(row: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name not in ("id", "system")}


@pytest.mark.parametrize("suite", ["quick", "rubric", "taxonomy"])
def test_a_model_gives_one_answer_the_scores_of_evaluate(
    scripted: Model, pier: Rows, suite: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = evaluate(pier[:1], suites=suite, judge=scripted(), offline=True)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "scratch"))
    (tmp_path / "scratch").mkdir()
    scores = evaluate_one(**without_names(pier[0]), suite=suite, judge=scripted(), offline=True)
    rows = {str(row["metric"]): row for row in run.scores().iter_rows(named=True)}
    assert {name: rows[name]["value"] for name in scores} == scores
    assert {name: str(rows[name]["status"]) for name in scores} == scores.status
    assert any(status == "value" for status in scores.status.values())
    assert not list((tmp_path / "scratch").iterdir())


def test_a_reply_is_asked_for_once(scripted: Model, pier: Rows) -> None:
    model = scripted(real=True)
    answer = without_names(pier[0])
    first = evaluate_one(**answer, metrics="faithfulness", judge=["human", model])
    asked = len(model.requests)
    assert first["faithfulness"] is not None
    assert asked
    assert evaluate_one(**answer, metrics="faithfulness", judge=model) == first
    assert len(model.requests) == asked


def test_a_model_that_fails_leaves_the_score_missing_and_says_why(pier: Rows) -> None:
    def fail(_: object) -> Any:
        raise ChatFailure("rejected", "no")

    model = ScriptedModel(fail, name="refuses")
    scores = evaluate_one(**without_names(pier[0]), metrics="faithfulness", judge=model)
    assert scores == {"faithfulness": None}
    assert scores.status == {"faithfulness": "missing"}
    assert scores.reasons["faithfulness"]


@pytest.mark.parametrize("judge", [object(), 3, [object()], None])
def test_an_object_that_is_no_judge_is_refused(judge: Any, pier: Rows) -> None:
    with pytest.raises(InputError, match="expected text, a ChatModel, a function or a list"):
        evaluate_one(**without_names(pier[0]), judge=judge)


def test_a_label_file_beside_a_model_is_for_many_examples(
    scripted: Model, pier: Rows, tmp_path: Path
) -> None:
    file = tmp_path / "labels.csv"
    file.write_text("id,helpful\n1,1\n")
    with pytest.raises(InputError, match="as fields"):
        evaluate_one(**without_names(pier[0]), judge=[f"human:{file}", scripted()])
