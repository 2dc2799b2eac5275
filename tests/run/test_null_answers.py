"""Null answers: missing where the system answers elsewhere, undefined where it only retrieves."""

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from ragstone import evaluate, rescore
from ragstone.analysis.summaries.run_summary import summarise
from ragstone.metrics import load_metrics
from ragstone.run import Estimate
from tests.run.test_evaluate import one


def asked(*answers: str | None, system: str = "s", **other: Any) -> list[dict[str, Any]]:
    """Questions with the reference x."""
    return [
        {"id": f"{system}{n}", "system": system, "question": f"Q{n}?", "answer": answer}
        | {"reference": "x", **other}
        for n, answer in enumerate(answers)
    ]


def outcome(one: Estimate) -> tuple[int, int, int, float | None, float | None]:
    return one.n, one.n_undefined, one.n_missing, one.worst, one.best


@pytest.mark.parametrize("form", ["mappings", "jsonl", "absent", "csv", "pandas", "polars"])
def test_a_null_answer_of_a_system_that_answers_elsewhere_is_missing(
    form: str, tmp_path: Path
) -> None:
    """Also if the nulls come first, and in every form; an empty text is an answer, and wrong."""
    records = asked(None, None, "x", "x")
    frame = pl.DataFrame(records)
    data: Any = {"mappings": records, "pandas": frame.to_pandas(), "polars": frame}.get(form)
    if form == "csv":
        data = tmp_path / "data.csv"
        frame.write_csv(data)
    if data is None:
        drop = None if form == "jsonl" else "answer"
        lines = [{k: v for k, v in row.items() if v is not None or k != drop} for row in records]
        data = tmp_path / "data.jsonl"
        data.write_text("\n".join(map(json.dumps, lines)))
    run = evaluate(data, metrics="exact_match")
    assert outcome(one(run, "exact_match")) == (2, 0, 2, 0.5, 1.0)
    assert one(run, "exact_match").reasons == {"no_answer": 2}
    assert run.exit_status == 4
    run = evaluate([*asked("", "", "x", "x")], metrics="exact_match")
    assert outcome(one(run, "exact_match")) == (4, 0, 0, 0.5, 0.5)


def test_a_null_answer_counts_in_the_last_shard_too(tmp_path: Path) -> None:
    """No data are read ahead before the first null answer."""
    run = evaluate(asked(*["x"] * 2500, None), metrics="exact_match", out=tmp_path / "run")
    assert outcome(one(run, "exact_match"))[:3] == (2500, 0, 1)
    assert run.form.settings.partly_answered == ["s"]


def test_a_system_that_never_answers_only_retrieves() -> None:
    rows = [*asked("x", None), *asked(None, None, system="r", contexts=["x"])]
    run = evaluate(rows, metrics=["exact_match", "context_recall"])
    assert outcome(one(run, "exact_match", system="s")) == (1, 0, 1, 0.5, 1.0)
    assert outcome(one(run, "exact_match", system="r")) == (0, 2, 0, None, None)
    assert one(run, "context_recall", system="r").n == 2
    assert summarise(run).null == 1


def test_a_null_answer_leaves_what_the_data_lack_undefined_and_its_retrieval_is_no_excuse() -> None:
    """A call that failed has neither an answer nor contexts."""
    pier = "The pier is long."
    rows = [
        *asked(pier, None, contexts=[pier], reference=pier),
        *asked(None, system="s", reference=None, contexts=["x"], id="b"),
        *asked(None, system="s", reference="x", id="c"),
    ]
    both = 'composite(weights="faithfulness precision"{})'
    composites = [both.format(""), both.format(', missing="renormalise"')]
    mine = 'composite(weights="exact_match")'
    run = evaluate(rows, metrics=["exact_match", "faithfulness", "precision", *composites, mine])
    assert outcome(one(run, "exact_match"))[:3] == (1, 1, 2)
    assert outcome(one(run, "faithfulness"))[:3] == (1, 0, 3)
    assert outcome(one(run, "precision"))[:3] == (3, 1, 0)
    assert [outcome(one(run, name))[:3] for name in composites] == [(1, 0, 3)] * 2
    assert outcome(one(run, mine))[:3] == (1, 1, 2)


@pytest.mark.usefixtures("registries")
def test_a_null_answer_is_missing_in_a_metric_added_later_and_in_one_of_ones_own(
    tmp_path: Path,
) -> None:
    (tmp_path / "own.py").write_text(
        "from ragstone.judgements import ExampleTexts\n"
        "from ragstone.metrics import metric\n"
        "@metric(over=ExampleTexts)\n"
        "def some_answer():\n"
        "    return (ExampleTexts.answer != '').any(ignore_nulls=False)\n"
    )
    own = load_metrics(tmp_path / "own.py")[0]
    run = evaluate(asked("x", None), metrics="exact_match", out=tmp_path / "run")
    run = rescore(run, metrics=["token_f1", own])
    for name in ("token_f1", "some_answer"):
        assert outcome(one(run, name))[:3] == (1, 0, 1)
