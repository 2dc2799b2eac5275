"""New metrics on stored judgements, without a judge."""

from pathlib import Path
from typing import Any

import pytest

from ragstone import evaluate, rescore
from ragstone.core.errors import InputError, UnknownName
from ragstone.data import cornwall
from ragstone.run import Run


def test_new_metrics_are_what_a_fresh_run_would_have_given(tmp_path: Path) -> None:
    names = ["faithfulness", "answer_outcome", "precision"]
    more = ["hallucination", "citation_recall", "mrr(k=3)", "factual_accuracy"]
    evaluate(cornwall(), metrics=names, out=tmp_path / "run", by=["question_type"])
    fresh = evaluate(cornwall(), metrics=[*names, *more], by=["question_type"])
    added = rescore(tmp_path / "run", metrics=["hallucination", "mrr(k=3)"])
    expected = {
        (e.metric, *e.group.items()): (e.value, e.low, e.high, e.n, e.n_undefined)
        for e in fresh.estimate_list
    }
    assert {e.metric for e in added.estimate_list} == {*names, "hallucination", "mrr(k=3)"}
    for e in added.estimate_list:
        got = (e.value, e.low, e.high, e.n, e.n_undefined)
        assert got == expected[e.metric, *e.group.items()]
    assert Run.open(tmp_path / "run").manifest["metrics"] == [*names, "hallucination", "mrr(k=3)"]


@pytest.mark.parametrize(
    "more", [['answer_outcome(by="phrases_8")', 'abstention(by="phrases_12")'], ["bleu", "rouge_2"]]
)
def test_what_is_counted_is_counted_on_a_finished_run(tmp_path: Path, more: list[str]) -> None:
    evaluate(cornwall(), metrics=["answer_outcome"], out=tmp_path / "run")
    fresh = evaluate(cornwall(), metrics=["answer_outcome", *more])
    for _ in range(2):
        scored = rescore(tmp_path / "run", metrics=more)
        assert scored.estimate_list == fresh.estimate_list
    scored = rescore(tmp_path / "run", metrics=["chrf"])
    assert {one.n_missing for one in scored.estimate_list} == {0}


def test_a_metric_whose_judgements_were_not_made_is_missing(tmp_path: Path) -> None:
    evaluate(cornwall(), metrics=["exact_match"], out=tmp_path / "run")
    run = rescore(tmp_path / "run", metrics=["faithfulness"])
    faithful = [e for e in run.estimate_list if e.metric == "faithfulness"]
    assert all(e.n == 0 and e.n_missing + e.n_undefined == e.total for e in faithful)
    assert run.exit_status == 4


def test_a_field_to_group_by_can_be_added(tmp_path: Path) -> None:
    evaluate(cornwall(), metrics=["exact_match"], out=tmp_path / "run")
    run = rescore(tmp_path / "run", by=["question_type"])
    assert any("question_type" in e.group for e in run.estimate_list)


def test_a_run_is_scored_as_its_folder_is_a_temporary_one_too() -> None:
    run = evaluate(cornwall(), metrics=["exact_match"])
    run = rescore(run, metrics=["token_f1"])
    assert {e.metric for e in run.estimate_list} == {"exact_match", "token_f1"}
    assert set(run.scores()["metric"]) == {"exact_match", "token_f1"}
    path = run.path
    del run
    assert not path.exists()


def test_the_command_that_made_the_run_still_opens_it(tmp_path: Path) -> None:
    evaluate(cornwall(), metrics=["exact_match"], out=tmp_path / "run")
    rescore(tmp_path / "run", metrics=["token_f1"], by=["question_type"])
    again = evaluate(cornwall(), metrics=["exact_match"], out=tmp_path / "run")
    assert {e.metric for e in again.estimate_list} == {"exact_match", "token_f1"}


def test_only_a_finished_run_can_be_scored_and_names_are_checked(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no run"):
        rescore(tmp_path, metrics=["mrr"])
    evaluate(cornwall(), metrics=["exact_match"], out=tmp_path / "run")
    with pytest.raises(UnknownName):
        rescore(tmp_path / "run", metrics=["mmr"])
    assert Run.open(tmp_path / "run").manifest["metrics"] == ["exact_match"]
    assert not (tmp_path / "run" / "rescored").exists()


def test_a_metric_that_came_to_nothing_is_said_once_and_not_for_ever(tmp_path: Path) -> None:
    given: dict[str, Any] = {"metrics": "exact_match", "judge": "rules", "out": tmp_path / "run"}
    assert evaluate(cornwall(), **given).exit_status == 0
    assert rescore(tmp_path / "run", metrics="faithfulness").exit_status == 4
    assert rescore(tmp_path / "run", metrics="rouge_l").exit_status == 0
    assert rescore(tmp_path / "run", by="question_type").exit_status == 0
    assert evaluate(cornwall(), **given).exit_status == 0
    opened = Run.open(tmp_path / "run")
    assert opened.exit_status == 0
    assert list(opened.too_much_missing) == ["faithfulness"]
    assert rescore(tmp_path / "run", metrics="faithfulness").exit_status == 4


def test_what_a_run_was_made_for_is_said_whenever_it_is_opened(tmp_path: Path) -> None:
    made_for: dict[str, Any] = {"metrics": ["exact_match", "faithfulness"], "judge": "rules"}
    given = {**made_for, "out": tmp_path / "run"}
    assert evaluate(cornwall(), **given).exit_status == 4
    assert rescore(tmp_path / "run", metrics="rouge_l").exit_status == 0
    assert evaluate(cornwall(), **given).exit_status == 4
    assert Run.open(tmp_path / "run").exit_status == 4
