"""One example at once: the numbers of evaluate, and nothing left behind."""

import json
import threading
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import ragstone
from ragstone import evaluate, evaluate_one
from ragstone.core.errors import DataError, InputError, UnknownName
from ragstone.data import cornwall
from ragstone.judgements import Claims
from ragstone.metrics import Range, metric
from ragstone.testing import ScriptedEncoder

PIER: dict[str, Any] = {
    "question": "How long is the pier?",
    "contexts": ["The pier is 90 m long."],
    "answer": "The pier is 90 m long. It was built by Brunel.",
}
STRINGS = "local:strings"


def demo() -> list[dict[str, Any]]:
    return [json.loads(line) for line in Path(cornwall()).read_text("utf-8").splitlines()]


@pytest.mark.parametrize("judge", [(), STRINGS])
def test_the_scores_are_those_of_evaluate(judge: Any) -> None:
    """Value, label, status and reason, over every third demo row; labels count."""
    suites = ["graphrag", "taxonomy"]
    run = evaluate(cornwall(), suites=["quick", *suites], judge=judge, offline=True)
    names = list(run.form.metrics)
    there = run.scores().filter(pl.col("metric").cast(pl.String).is_in(names))
    expected = {
        (id, str(metric)): (value, label, status, reason)
        for id, metric, value, label, status, reason in there.select(
            "example_id", "metric", "value", "label", "status", "reason"
        ).iter_rows()
    }
    assert len(expected) == 24 * len(names)
    for row in demo()[::3]:
        one = evaluate_one(**row, metrics=names, judge=judge, offline=True)
        for name in names:
            value, *others = expected[row["id"], name]
            assert one[name] == (None if value is None else pytest.approx(value, rel=1e-12))
            found = [one.labels.get(name), one.status[name], one.reasons.get(name)]
            assert found == others, (row["id"], name)


def test_quick_gives_the_metrics_with_a_value_and_the_same_numbers() -> None:
    run = evaluate(cornwall(), judge=STRINGS)
    values = {
        (id, str(metric)): value
        for id, metric, value in run.scores()
        .select("example_id", "metric", "value")
        .drop_nulls()
        .iter_rows()
    }
    for row in demo()[::3]:
        one = evaluate_one(**row, judge=STRINGS)
        assert None not in one.values()
        both = {name for name in one if (row["id"], name) in values}
        assert {"token_f1", "abstention", "answer_outcome"} <= both
        known = {name: values[row["id"], name] for name in both}
        assert {name: one[name] for name in both} == pytest.approx(known, rel=1e-12)


def test_a_plain_dict_of_numbers_says_why_there_is_none() -> None:
    """One of two claims is in the contexts."""
    asked = ["faithfulness", "context_recall", "helpfulness"]
    one = evaluate_one(**PIER, metrics=asked, judge=STRINGS)
    assert json.loads(json.dumps(one)) == {
        "faithfulness": 0.5, "context_recall": None, "helpfulness": None,
    }  # fmt: skip
    assert one.status == {
        "faithfulness": "value", "context_recall": "undefined", "helpfulness": "missing",
    }  # fmt: skip
    assert one.reasons["context_recall"] == "no_reference"
    claims = one.judged.tables.of("support/claim")
    assert claims["verdict"].to_list() == ["supported", "absent"]


@pytest.mark.usefixtures("registries")
def test_metrics_of_ones_own_and_suites_are_taken() -> None:
    @metric(over=Claims, range=Range(0, 100))
    def claims_here() -> pl.Expr:
        """How many claims there are."""
        return Claims.index.count()

    assert evaluate_one(**PIER, metrics=[claims_here], judge=STRINGS) == {"claims_here": 2.0}
    triad = evaluate_one(**PIER, suite="triad", judge=STRINGS)
    assert triad["groundedness"] == 0.5


def test_the_thresholds_of_the_embedding_suite_are_set_by_name() -> None:
    """Cosines with the context: 1 of the first sentence, 0 of the second; question at .6 of it."""
    embedder = ScriptedEncoder({
        PIER["question"]: (0.6, 0.8), PIER["contexts"][0]: (1, 0), PIER["answer"]: (1, 0),
        "It was built by Brunel.": (0, 1),
    }, dimensions=2)  # fmt: skip

    def sufficiency_and_hallucination(**given: Any) -> list[float | None]:
        one = evaluate_one(**PIER, suite="embedding", embedder=embedder, **given)
        return [one[name] for name in one if "sufficiency" in name or "hallucination" in name]

    assert sufficiency_and_hallucination() == [1.0, 0.5]
    assert sufficiency_and_hallucination(thresholds=(0.5, 0.4)) == [1.0, 0.5]
    assert sufficiency_and_hallucination(thresholds=[0.7, -0.5]) == [0.0, 0.0]
    for wrong in (0.5, (0.5,), (0.5, "much")):
        with pytest.raises(InputError, match=r"threshold"):
            sufficiency_and_hallucination(thresholds=wrong)
    with pytest.raises(InputError, match="thresholds are those of the suite embedding"):
        evaluate_one(**PIER, suite="triad", thresholds=(0.5, 0.4))


def test_labels_of_people_count_first() -> None:
    claims = [{"text": "It is 90 m.", "support": "contradicted"}]
    one = evaluate_one(**PIER, labels={"claims": claims}, metrics="faithfulness")
    assert one == {"faithfulness": 0.0}


@pytest.mark.parametrize("said", ["maybe", "yes", 4, {"ann": 1, "ben": 0}])
def test_a_label_of_the_answer_that_is_not_read_is_refused(said: object) -> None:
    with pytest.raises(DataError, match=r"labels\.helpful  expected 0, 1, true, false or null"):
        evaluate_one(**PIER, labels={"helpful": said}, metrics="helpfulness")
    own = evaluate_one(**PIER, labels={"tone": said, "helpful": 0}, metrics="helpfulness")
    assert own == {"helpfulness": 0.0}


def test_fields_may_have_the_names_that_files_have() -> None:
    asked: dict[str, Any] = {"metrics": "faithfulness", "judge": STRINGS}
    ragas = {"user_input": PIER["question"], "response": PIER["answer"],
             "retrieved_contexts": PIER["contexts"], "topic": "piers"}  # fmt: skip
    assert evaluate_one(**ragas, **asked) == evaluate_one(**PIER, **asked)


def test_threads_get_what_one_thread_gets() -> None:
    rows = demo()[:4]
    alone = [evaluate_one(**row, judge=STRINGS) for row in rows]
    found: dict[int, Any] = {}

    def work(at: int) -> None:
        found[at] = [evaluate_one(**row, judge=STRINGS) for row in rows]

    threads = [threading.Thread(target=work, args=(at,)) for at in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(found[at] == alone for at in range(4))


def test_nothing_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    evaluate_one(**PIER, judge=STRINGS)
    assert list(tmp_path.iterdir()) == []


def test_what_cannot_be_is_said() -> None:
    with pytest.raises(UnknownName, match="faithfulnes"):
        evaluate_one(**PIER, metrics="faithfulnes")
    with pytest.raises(UnknownName, match="quicker"):
        evaluate_one(**PIER, suite="quicker")
    with pytest.raises(InputError, match=r"faithfulnes'.*\n.*wrongness'.*\n.*quicker'"):
        evaluate_one(**PIER, metrics=["faithfulnes", "mrr", "wrongness"], suite="quicker")
    with pytest.raises(InputError, match="by is an argument of evaluate, not of evaluate_one"):
        evaluate_one(**PIER, by=["language"])
    with pytest.raises(UnknownName, match=r"argument of evaluate_one is called 'metric'.*metrics"):
        evaluate_one(**PIER, metric="faithfulness")
    with pytest.raises(UnknownName, match="Did you mean suite"):
        evaluate_one(**PIER, suites="quick")
    with pytest.raises(DataError):
        evaluate_one(question="Only this?")
    with pytest.raises(UnknownName, match="locally"):
        evaluate_one(**PIER, judge="locally")


def test_a_label_file_is_for_many_examples(tmp_path: Path) -> None:
    file = tmp_path / "labels.csv"
    file.write_text("id,helpful\n1,1\n")
    with pytest.raises(InputError, match="as fields"):
        evaluate_one(**PIER, judge=f"human:{file}")


def test_it_is_offered_at_the_top() -> None:
    assert "evaluate_one" in ragstone.__all__
