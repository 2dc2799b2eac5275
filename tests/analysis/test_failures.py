"""The failure waterfall: the first stage of each answer, and how many are at each, by hand."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest

import ragstone
from ragstone.analysis import Failures, Scored, failures
from ragstone.analysis.summaries.failure_stages import (
    METRICS,
    STAGES,
    Faults,
    GroupFailures,
    StageFailures,
    group_failures,
    laid,
)
from ragstone.core.errors import InputError, UnknownName
from ragstone.stats.cluster_means import cluster_wilson

Said = dict[str, float | str]
WRONG: Said = {"answer_outcome": "wrong"}
RIGHT: Said = {"answer_outcome": "correct"}
SILENT: Said = {"answer_outcome": "dont_know"}
SCORES = {"example_id": pl.String, "metric": pl.String, "value": pl.Float64, "label": pl.String,
          "status": pl.String}  # fmt: skip


def lay(
    *scores: Said,
    contexts: list[int | None] | None = None,
    grades: list[int | None] | None = None,
    systems: str = "",
    claims: int = 2,
    reference: str = "Ninety metres.",
) -> pl.DataFrame:
    """The answers laid to stages; a word is the label of an outcome."""
    n = len(scores)
    examples = pl.DataFrame(
        {"example_id": [f"e{at}" for at in range(n)], "system": list(systems or "s" * n),
         "retrieved": contexts or [1] * n, "best_grade": grades or [None] * n,
         "first_reference": [reference] * n, "n_claims": [claims] * n},
        schema_overrides={"retrieved": pl.UInt32, "best_grade": pl.Int32},
    )  # fmt: skip
    rows = [
        (f"e{at}", metric, None if isinstance(said, str) else said,
         said if isinstance(said, str) else None, "value")
        for at, of in enumerate(scores)
        for metric, said in of.items()
    ]  # fmt: skip
    return laid(examples, pl.DataFrame(rows, SCORES, orient="row"))


def first(*scores: Said, **known: Any) -> list[str | None]:
    return lay(*scores, **known)["stage"].to_list()


def test_an_answer_counts_at_its_first_stage() -> None:
    found = first(
        WRONG,
        WRONG | {"context_recall": 0.0},
        WRONG | {"context_recall": 0.4, "mrr": 0.5},
        WRONG | {"context_recall": 0.5, "mrr": 0.9, "contradiction": 1.0},
        SILENT | {"mrr": 1.0, "context_utilization": 0.0, "contradiction": 1.0},
        WRONG | {"mrr": 1.0, "context_utilization": 0.0, "contradiction": 1.0},
        WRONG | {"context_utilization": 0.1, "contradiction": 1.0, "faithfulness": 0.0},
        WRONG | {"contradiction": 0.9, "faithfulness": 0.4},
        WRONG | {"faithfulness": 1.0, "reference_contradiction": 1.0},
        WRONG | {"faithfulness": 0.5, "reference_contradiction": 1.0},
        contexts=[0, 0, 1, 1, 1, 1, 1, 1, 1, 1],
        grades=[0, *[None] * 9],
    )
    assert found == [
        "not_in_corpus", "nothing_retrieved", "not_retrieved", "retrieved_too_low", "no_answer",
        "not_used", "contradicted", "unsupported", "bad_reference", "wrong",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("scores", "stage"),
    [
        (RIGHT | {"mrr": 0.5}, "no_fault"),
        ({"answer_outcome": "partial", "mrr": 0.5, "answer_coverage": 0.1}, "partial"),
        ({"answer_outcome": "partial", "faithfulness": 0.49}, "unsupported"),
        ({"faithfulness": 0.5, "mrr": 0.5}, "no_fault"),
        ({"faithfulness": 0.49}, "unsupported"),
        ({"expected_faithfulness": 0.51, "faithfulness": 0.0}, "no_fault"),
        ({"expected_faithfulness": 0.49, "faithfulness": 1.0}, "unsupported"),
        ({"answer_coverage": 0.0}, "wrong"),
        ({"answer_coverage": 0.49}, "partial"),
        ({"answer_coverage": 1.0}, "no_fault"),
        (RIGHT | {"answer_coverage": 0.0}, "no_fault"),
        ({"mrr": 0.0}, None),
    ],
)
def test_only_where_it_looks_bad(scores: Said, stage: str | None) -> None:
    assert first(scores) == [stage]


@pytest.mark.parametrize(("claims", "bound"), [(1, 0.6), (2, 0.5), (4, 0.45), (100, 0.402)])
def test_few_claims_have_to_be_more_certain(claims: int, bound: float) -> None:
    scores: list[Said] = [{"faithfulness": bound - 0.001}, {"faithfulness": bound + 0.001}]
    assert first(*scores, claims=claims) == ["unsupported", "no_fault"]


def test_an_answer_without_claims_is_judged_by_its_outcome_alone() -> None:
    assert first({"faithfulness": 0.0}, WRONG, claims=0) == [None, "wrong"]


@pytest.mark.parametrize(
    ("scores", "stage"),
    [
        (SILENT, "no_answer"),
        (SILENT | {"context_utilization": 0.0}, "no_answer"),
        (SILENT | {"contradiction": 1.0, "faithfulness": 0.0}, "no_answer"),
        (SILENT | {"reference_contradiction": 1.0, "faithfulness": 1.0}, "no_answer"),
        (SILENT | {"context_recall": 0.0, "context_utilization": 0.0}, "not_retrieved"),
    ],
)
def test_who_gives_no_answer_cannot_fail_to_use_what_was_retrieved(
    scores: Said, stage: str
) -> None:
    assert first(scores) == [stage]


def test_no_answer_is_right_where_the_reference_has_none_either() -> None:
    silent = SILENT | {"context_utilization": 0.0}
    assert first(silent, reference="I do not know.") == ["no_fault"]
    unsupported = SILENT | {"faithfulness": 0.0}
    assert first(unsupported, reference="I do not know.") == ["unsupported"]


def test_the_most_doubtful_answers_come_first() -> None:
    found = lay(
        {"faithfulness": 0.45},
        {"faithfulness": 0.1},
        WRONG | {"answer_coverage": 0.2, "faithfulness": 0.9},
        RIGHT,
    )
    assert found["doubt"].to_list() == pytest.approx([0.05, 0.4, 0.58, None])


def test_an_answer_with_a_claim_that_is_not_supported_is_counted_whether_bad_or_not() -> None:
    (whole, _) = groups_of(
        lay({"faithfulness": 0.9}, {"faithfulness": 1.0},
            {"faithfulness": 0.9, "unsupported_claim": 0.0}, WRONG),
        "abcd",
    )  # fmt: skip
    assert (whole.unsupported, whole.bad.n) == (1, 1)


def test_an_answer_is_not_in_the_corpus_where_no_judged_context_is_relevant() -> None:
    assert first(WRONG, WRONG, WRONG, grades=[0, 1, None]) == ["not_in_corpus", "wrong", "wrong"]


def test_without_any_context_nothing_is_known_of_retrieval() -> None:
    found = lay(WRONG, WRONG, contexts=[0, 0])
    assert found["stage"].to_list() == ["wrong", "wrong"]
    assert found["nothing_retrieved"].to_list() == [None, None]


def test_a_missing_score_is_no_fault_and_no_zero() -> None:
    found = lay(WRONG | {"reference_contradiction": 1.0}, WRONG | {"faithfulness": 0.6})
    assert found["bad_reference"].to_list() == [None, None]
    assert found["not_retrieved"].to_list() == [None, None]


def groups_of(answers: pl.DataFrame, clusters: str, **known: Any) -> tuple[GroupFailures, ...]:
    rows = answers.with_columns(cluster=pl.Series(list(clusters)))
    return group_failures(rows, known.pop("metrics", METRICS), **known)


def at(group: GroupFailures, stage: str) -> StageFailures:
    return next(one for one in group.stages if one.stage == stage)


def test_each_stage_has_its_count_of_all_judged_answers_with_an_interval() -> None:
    answers = lay(
        WRONG | {"mrr": 0.5}, WRONG | {"mrr": 0.5}, {"answer_outcome": "correct", "mrr": 0.5},
        {"answer_outcome": "correct", "mrr": 1.0}, {"mrr": 0.5},
    )  # fmt: skip
    (whole, _) = groups_of(answers, "abcde")
    assert (whole.judged, whole.clusters, whole.fine.n, whole.survived) == (4, 4, 2, 1)
    found = at(whole, "retrieved_too_low")
    assert found.first is not None
    assert (found.first.n, found.first.share, found.first.method) == (2, 0.5, "wilson")
    # (p + z²/2n ± z sqrt(p (1 - p) / n + z²/4n²)) / (1 + z²/n), p = 1/2, n = 4, z² = 3.8415
    assert found.first.low == pytest.approx(0.5 - 0.349961, abs=1e-5)
    assert found.first.high == pytest.approx(0.5 + 0.349961, abs=1e-5)
    assert (found.later, found.survived) == (0, 1)
    assert whole.bad == found.first


def test_a_good_answer_survives_faults_of_retrieval_alone() -> None:
    answers = lay(
        RIGHT,
        RIGHT,
        RIGHT | {"context_recall": 0.0},
        RIGHT | {"mrr": 0.5},
        RIGHT | {"context_utilization": 0.0},
        RIGHT | {"contradiction": 1.0},
        contexts=[1, 0, 1, 1, 1, 1],
        grades=[0, *[None] * 5],
    )
    (whole, _) = groups_of(answers, "abcdef")
    assert (whole.fine.n, whole.survived) == (6, 4)


def test_most_failed_at_the_earlier_of_two_stages_with_as_many() -> None:
    partial: Said = {"answer_outcome": "partial"}
    answers = lay(WRONG | {"mrr": 0.5}, WRONG | {"contradiction": 1.0}, partial, RIGHT)
    (whole, _) = groups_of(answers, "abcd")
    assert whole.faults == Faults(4, 2, 1, None, "retrieved_too_low", 1)
    (fine, _) = groups_of(lay(RIGHT), "a")
    assert fine.faults == Faults(1, 0, 0, None, "", 0)


def test_answers_to_one_question_are_a_cluster() -> None:
    answers = lay(*[WRONG] * 4, *[RIGHT] * 4)
    (whole, _) = groups_of(answers, "aabbccdd")
    by_hand = cluster_wilson([2, 2, 0, 0], [2, 2, 2, 2])
    assert by_hand is not None
    assert (whole.bad.low, whole.bad.high) == (by_hand.low, by_hand.high)
    assert (whole.clusters, whole.bad.method) == (4, "cluster_wilson")


def test_shares_of_all_stages_and_no_fault_add_up() -> None:
    partial: Said = {"answer_outcome": "partial"}
    answers = lay(
        WRONG, WRONG | {"mrr": 0.5}, {"faithfulness": 0.1}, {"faithfulness": 0.9}, partial
    )
    (whole, _) = groups_of(answers, "abcde")
    ns = [one.first.n for one in whole.stages if one.first is not None]
    assert sum(ns) == whole.bad.n == 3
    assert whole.bad.n + whole.partial.n + whole.fine.n == whole.judged == 5


def test_a_stage_that_cannot_be_known_has_a_reason_and_no_number() -> None:
    answers = lay(WRONG, {"faithfulness": 0.9}, contexts=[0, 0])
    (whole, _) = groups_of(answers, "ab", metrics={"answer_outcome", "faithfulness", "mrr"})
    assert {one.stage: one.why for one in whole.stages if one.first is None} == {
        "not_in_corpus": "corpus_not_told",
        "nothing_retrieved": "no_context_in_data",
        "not_retrieved": "metric_not_in_run?metric=context_recall",
        "retrieved_too_low": "metric_without_value?metric=mrr",
        "not_used": "metric_not_in_run?metric=context_utilization",
        "contradicted": "metric_not_in_run?metric=contradiction",
        "unsupported": "metric_without_value?metric=faithfulness",
        "bad_reference": "metric_not_in_run?metric=reference_contradiction",
    }


def test_an_answer_laid_further_down_may_have_failed_where_nothing_is_known_of_it() -> None:
    answers = lay(
        WRONG | {"context_recall": 0.0}, WRONG | {"context_recall": 1.0, "mrr": 0.5},
        WRONG | {"mrr": 0.5}, WRONG | {"mrr": 1.0}, {"answer_outcome": "correct"},
    )  # fmt: skip
    (whole, _) = groups_of(answers, "abcde")
    assert at(whole, "not_retrieved").untold == 2
    assert at(whole, "retrieved_too_low").untold == 0, "laid before, so it does not matter"


def test_a_later_stage_is_counted_beside_the_first() -> None:
    answers = lay(WRONG | {"mrr": 0.5, "faithfulness": 0.0}, WRONG | {"faithfulness": 0.0})
    (whole, _) = groups_of(answers, "ab")
    found = at(whole, "unsupported")
    assert found.first is not None
    assert (found.first.n, found.later) == (1, 1)


def test_a_system_that_answers_with_the_references_counts_in_its_own_group_alone() -> None:
    answers = lay(WRONG, WRONG, {"answer_outcome": "correct"}, systems="agg")
    whole, a, gold = groups_of(answers, "xyz", themselves=("g",))
    assert (whole.judged, whole.bad.n) == (1, 1)
    assert (a.group, a.judged) == ({"system": "a"}, 1)
    assert (gold.group, gold.judged, gold.bad.n) == ({"system": "g"}, 2, 1)


def test_where_nothing_tells_nobody_is_judged() -> None:
    (whole, _) = groups_of(lay({"mrr": 0.5}), "a")
    assert (whole.judged, whole.bad.n, whole.bad.share) == (0, 0, None)


PIER = "The pier at Hayle is ninety metres long."


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Failures:
    """Of a run with a good and a silent system."""
    data = [
        {"question": f"How long is pier {at}?", "question_id": f"q{at}", "system": system,
         "answer": answer, "reference": PIER, "retrieved": [PIER], "topic": "sea" if at else "land"}
        for at in range(3)
        for system, answer in (("good", "The pier at Hayle is ninety metres long, it says."),
                               ("off", "I went to the beach and saw gulls."))
    ]  # fmt: skip
    run = ragstone.evaluate(data, metrics=["answer_outcome", "context_recall"],
                            judge="local:strings", out=tmp_path_factory.mktemp("run") / "r",
                            by=["topic"])  # fmt: skip
    return failures(run, by=["topic"])


def test_failures_of_a_run_are_found_by_system_and_slice(found: Failures) -> None:
    off = at(found.of(system="off"), "wrong").first
    assert off is not None
    assert (off.n, found.of(system="off").judged) == (3, 3)
    assert found.of(system="good").fine.n == 3
    assert found.of(system="off", topic="sea").bad.n == 2
    assert found.of(topic="land").judged == 2
    with pytest.raises(UnknownName):
        found.of(system="on")


def test_the_answers_at_a_stage_are_listed(found: Failures) -> None:
    rows = found.examples("wrong")
    assert rows["system"].to_list() == ["off"] * 3
    assert rows["question_id"].to_list() == ["q0", "q1", "q2"]
    assert found.examples().equals(rows)
    assert found.examples("no_fault", system="good").height == 3
    assert found.examples(system="good").height == 0
    assert rows.columns == ["example_id", "question_id", "system", "stage", "doubt",
                            *(one.code for one in STAGES)]  # fmt: skip
    with pytest.raises(UnknownName):
        found.examples("wrang")
    with pytest.raises(UnknownName):
        found.examples(system="on")


def test_answers_that_are_the_references_are_listed_under_their_system_alone(
    tmp_path: Path,
) -> None:
    data = [
        {"question": f"How long is pier {at}?", "question_id": f"q{at}", "system": system,
         "answer": f"{PIER} {at}{said}", "reference": f"{PIER} {at}"}
        for at in range(12)
        for system, said in (("gold", ""), ("good", ", it says."))
    ]  # fmt: skip
    run = ragstone.evaluate(
        data, metrics=["answer_outcome"], judge="local:strings", out=tmp_path / "run"
    )
    found = failures(run)
    assert found.themselves == ("gold",)
    assert set(found.examples("no_fault")["system"]) == {"good"}
    assert found.examples("no_fault", system="gold").height == 12


def test_the_record_is_json_with_every_group(found: Failures) -> None:
    record = found.to_dict()
    assert record["by"] == ["topic"]
    assert [one["group"] for one in record["groups"]][:3] == [
        {}, {"system": "good"}, {"system": "off"},
    ]  # fmt: skip
    stages = {one["stage"]: one for one in record["groups"][0]["stages"]}
    assert stages["wrong"]["first"]["share"] == 0.5
    assert stages["bad_reference"]["first"] is None


def test_a_field_that_no_example_has_is_refused(found: Failures) -> None:
    with pytest.raises(InputError, match="No example"):
        failures(found.run, by=["nowhere"])


def test_a_folder_that_is_no_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError):
        failures(tmp_path)


def test_a_field_is_looked_for_in_slices_then_meta_then_labels(tmp_path: Path) -> None:
    data = [
        {"question": "q", "answer": "a", "reference": "a", "slices": {"sea": "calm", "n": 1},
         "meta": {"sea": "rough", "land": True}, "labels": {"tone": "dry"}},
        {"question": "q", "answer": "a", "reference": "a", "slices": {"sea": None},
         "meta": {"sea": "rough"}, "labels": {"land": ["a", "b"]}},
        {"question": "q", "answer": "a", "reference": "a", "meta": {"sea": "rough"}},
    ]  # fmt: skip
    run = ragstone.evaluate(data, metrics=["exact_match"], out=tmp_path / "run")
    facets = Scored(run, by=["sea", "land", "tone", "n"]).facets
    assert facets["by sea"].to_list() == ["calm", "(none)", "rough"]
    assert facets["by land"].to_list() == ["true", "a, b", "(none)"]
    assert facets["by tone"].to_list() == ["dry", "(none)", "(none)"]
    assert facets["by n"].to_list() == ["1", "(none)", "(none)"]
