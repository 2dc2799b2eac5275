"""What is drawn from a handful of examples, and what is then asked, worked out by hand."""

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from ragstone import evaluate
from ragstone.analysis.label_sampling.asked_labels import expected_errors, labels_asked
from ragstone.analysis.label_sampling.draw_sample import draw_sample
from ragstone.analysis.label_sampling.queue_items import label_sheet
from ragstone.analysis.label_sampling.sample_designs import deviations
from ragstone.analysis.scored_run import Scored, reasons_of
from ragstone.annotation.queue.form import AskedLabel
from ragstone.core.errors import InputError
from ragstone.metrics import parse_metric
from ragstone.report.reason_words import explain
from ragstone.run import Run
from tests.analysis.conftest import MISSING, MadeRun, Make, Score


@pytest.fixture
def two(run: Make) -> Scored:
    """Three answers of each of two systems."""
    return Scored(run({"a": {"hit": [1.0, 0.0, 1.0]}, "b": {"hit": [0.0, 0.0, 0.0]}}))


def test_a_stratum_needs_one_draw_which_cannot_tell_how_much_it_varies(two: Scored) -> None:
    found = draw_sample(two, 2, by="stratified", strata=["system"])
    assert tuple(map(explain, found.notes)) == (
        "A stratum of which one unit is drawn cannot tell how much it varies: take a larger n= "
        "or fewer strata.",
    )
    assert draw_sample(two, 4, by="stratified", strata=["system"]).notes == ()
    assert draw_sample(two, 1).notes == ()
    with pytest.raises(InputError, match="There are 2 strata"):
        draw_sample(two, 1, by="stratified", strata=["system"])


def test_the_record_says_what_was_asked_and_what_was_drawn(two: Scored) -> None:
    record = draw_sample(two, 4, by="stratified", strata=["system"], seed=7).to_dict()
    assert record["strata"] == [
        {"name": f"system={name}", "there": 3, "drawn": 2, "inclusion_probability": 2 / 3}
        for name in "ab"
    ]
    asked = {"by": "stratified", "metric": None, "threshold": None, "strata_of": ["system"],
             "allocation": "proportional", "others": [], "cluster": None, "annotators": [],
             "overlap": 0.0, "seed": 7, "examples": 6, "n": 4, "questions": None}  # fmt: skip
    assert {name: record[name] for name in asked} == asked
    plain = draw_sample(two, 4, metric="hit").to_dict()
    assert (plain["allocation"], plain["strata_of"], plain["threshold"]) == (None, [], None)
    near = draw_sample(two, 4, by="near-threshold", metric="hit", threshold=0.25).to_dict()
    assert (near["allocation"], near["threshold"]) == (None, 0.25)


def test_on_the_threshold_is_nearer_than_an_example_without_a_score(run: Make) -> None:
    scores: list[Score] = [*[0.5] * 4, *[MISSING] * 4]
    found = draw_sample(Scored(run(mrr=scores)), 2, by="near-threshold", metric="mrr")
    assert found.chances[1] / found.chances[0] == pytest.approx(10)
    # 4 of 10 and 4 of 1 share two draws.
    assert found.chances == pytest.approx((2 / 44, 20 / 44))
    by_id = dict(found.rows.select("example_id", "inclusion_probability").iter_rows())
    for id, chance in by_id.items():
        assert chance == pytest.approx(
            20 / 44 if id in {f"q{at}-one" for at in range(4)} else 2 / 44
        )


@pytest.mark.parametrize(
    ("other", "ratio"),
    [([0.5, 0.5, 0.75, 0.75], 10), ([0.625, 0.625, 0.75, 0.75], 10**0.5), ([0.5] * 4, 1)],
)
def test_the_greatest_disagreement_is_ten_times_as_likely_as_none(
    tmp_path: Path, other: list[float], ratio: float
) -> None:
    """Half as far apart as the greatest is the root of ten times, however small the greatest."""
    first = Scored(MadeRun(tmp_path / "a", {"one": {"mrr": [0.5] * 4}}))
    second = Scored(MadeRun(tmp_path / "b", {"one": {"mrr": other}}))
    found = draw_sample(first, 2, by="disagreement", metric="mrr", others=[second])
    least, most = found.chances
    assert most / least == pytest.approx(ratio)


def test_of_a_share_nobody_knows_where_the_judge_errs(run: Make) -> None:
    """m (1 - m) is the most that scores of this mean can vary, though these do not vary at all."""
    of_halves = expected_errors(Scored(run(mrr=[0.5] * 4)), "mrr", None)
    assert of_halves == pytest.approx(np.full(4, 0.5))
    from_minus_one = expected_errors(
        Scored(run(answer_relevance=[-0.5, 0.5])), "answer_relevance", None
    )
    assert from_minus_one == pytest.approx(np.full(2, 0.5))
    assert not expected_errors(Scored(run(house_style=[3.0] * 4)), "house_style", None).any()


def test_one_stratum_of_several_may_not_vary(two: Scored) -> None:
    place = np.array([0, 0, 0, 1, 1, 1])
    found = deviations(two, "hit", np.arange(6), place, 2)
    assert found == pytest.approx([np.std([1, 0, 1]), 0])
    with pytest.raises(InputError, match="does not vary"):
        deviations(two, "hit", np.arange(6), np.array([0, 1, 0, 1, 1, 1]), 2)


# Sheets ---------------------------------------------------------------------------------------


def test_a_metric_of_sufficient_contexts_asks_whether_they_suffice() -> None:
    found = labels_asked((), parse_metric("sufficiency_rate"))
    assert found == (AskedLabel("evidence_sufficient", "context"),)


def claims(out: Path, answers: Sequence[str]) -> tuple[Any, Any]:
    rows = [
        {"id": str(at), "question": "How long is the pier?", "answer": answer,
         "contexts": ["The pier is 90 metres long."],
         "reference": ["The pier is long.", "Gulls are loud."]}
        for at, answer in enumerate(answers)
    ]  # fmt: skip
    run = evaluate(rows, metrics=["faithfulness", "context_recall"], judge="local", out=out)
    return run, draw_sample(Scored(run), len(rows))


def test_an_example_without_a_unit_to_label_is_noted(tmp_path: Path) -> None:
    run, sample = claims(tmp_path / "one", ["It is 90 metres long.", "I don't know."])
    sheet = label_sheet(sample, run, labels_asked((), parse_metric("faithfulness")))
    assert [*map(explain, sheet.notes)] == ["1 example of the sample has no claim and so no row."]
    run, sample = claims(tmp_path / "two", ["I don't know.", "I cannot say.", "It is long."])
    sheet = label_sheet(sample, run, labels_asked((), parse_metric("faithfulness")))
    assert [*map(explain, sheet.notes)] == ["2 examples have no claim and so no row."]


class Stated(Run):
    """A run of which the statements are given: the second reference has one more."""

    def judgements(self, kind: str) -> pl.DataFrame:
        assert kind == "statements"
        rows = [
            ("0", 1, 0, "Gulls are loud."),
            ("0", 0, 0, "The pier is long."),
            ("0", 1, 1, "So."),
        ]
        return pl.DataFrame(rows, ["example_id", "reference", "index", "text"], orient="row")


def test_statements_are_those_of_the_first_reference(tmp_path: Path) -> None:
    run, sample = claims(tmp_path / "run", ["It is 90 metres long."])
    sheet = label_sheet(sample, Stated(run.path), [AskedLabel("support", "statement")])
    assert sheet.frame.select("statement", "text").rows() == [("1", "The pier is long.")]


# Scores of a run ------------------------------------------------------------------------------


def test_reasons_are_counted_where_there_are_any() -> None:
    scores = pl.DataFrame(
        {"status": ["value", "missing", "missing", "undefined", "missing"],
         "reason": ["kept", "late", None, "no_claims", "late"]}
    )  # fmt: skip
    assert reasons_of(scores) == {"late": 2, "no_claims": 1}


class AskedTwice(MadeRun):
    """Questions q0 and q1 read the same. How often the scores are read is counted."""

    read = 0

    def column(self, name: str) -> pl.Expr:
        if name == "question":
            same = pl.when(pl.col("question_id") == "q2").then(pl.lit("Where?"))
            return same.otherwise(pl.lit("Who?")).alias("question")
        if name == "history":
            return pl.lit("[]").alias("history")
        return super().column(name)

    def scores(
        self,
        metrics: Collection[str] | None = None,
        columns: Sequence[str | pl.Expr] | None = None,
        shards: Collection[int] | None = None,  # noqa: ARG002
    ) -> pl.DataFrame:
        self.read += 1
        return super().scores(metrics, columns)


def test_one_question_under_two_ids_is_one_cluster(tmp_path: Path) -> None:
    scored = Scored(AskedTwice(tmp_path, {"a": {"hit": [1.0, 0.0, 1.0]}}))
    assert scored.facets["cluster"].to_list() == ["q0", "q0", "q2"]
    assert scored.facets["question_id"].to_list() == ["q0", "q1", "q2"]


def test_a_run_without_some_examples_does_not_read_its_scores_again(tmp_path: Path) -> None:
    made = AskedTwice(tmp_path, {"a": {"hit": [1.0, 0.0, 1.0]}})
    rest = Scored(made).without(pl.Series(["q0-a"]))
    assert rest.of("hit")["value"].to_list() == [0.0, 1.0]
    assert made.read == 1
