"""What the table of means says of each, from estimates made by hand."""

import re
from collections.abc import Mapping
from typing import Any

from ragstone.analysis.calibration.checked_run import CheckedMetric, CheckedRun, CorrectedMean
from ragstone.metrics import parse_metric
from ragstone.run.folder.schemas import Estimate
from ragstone.web.parts.estimate_tables import shown_estimates
from ragstone.web.templating import View


def estimate(metric: str, value: float | None, group: Mapping[str, str], **known: Any) -> Estimate:
    made = parse_metric(metric)
    facts: dict[str, Any] = {
        "low": None, "high": None, "level": 0.95, "method": None, "n": 0 if value is None else 10,
        "n_undefined": 0, "n_missing": 0, "worst": None, "best": None, "clusters": 10,
        "labels": {}, "flags": {}, "reasons": {}, "signature": "",
    }  # fmt: skip
    return Estimate(
        metric, group, value, better=made.range.better, family=made.family, **facts | known
    )


def by_system(metric: str, *values: float | None, **known: Any) -> list[Estimate]:
    groups = [{"system": name} for name in "abcdefghijkl"[: len(values)]]
    return [
        estimate(metric, value, group, **known) for value, group in zip(values, groups, strict=True)
    ]


def shown(estimates: list[Estimate], **known: Any) -> View:
    return shown_estimates(estimates, path=lambda one: one, opens=lambda one: one, **known)


def only(estimates: list[Estimate], **known: Any) -> View:
    (family,) = shown(estimates, **known)["families"]
    metrics: list[View] = family["metrics"]
    return metrics[0] if len(metrics) == 1 else {}


def test_means_over_the_same_inputs_stand_once() -> None:
    (row,) = only(by_system("mrr", 0.5, 0.5, 0.5), same=["mrr"])["rows"]
    assert (row["who"], row["value"], row["shared"]) == ("all 3, same inputs", "0.500", True)


def test_means_that_differ_over_the_same_inputs_stand_apart() -> None:
    assert [one["who"] for one in only(by_system("mrr", 0.5, 0.6), same=["mrr"])["rows"]] == [
        "a",
        "b",
    ]


def test_a_system_compared_with_itself_is_marked_and_never_the_best() -> None:
    found = only(by_system("rouge_l", 1.0, *[0.1 * n for n in range(7)]),
                 themselves={"a": ["rouge_l"]}, opened=["rouge_l"])  # fmt: skip
    assert [one["itself"] for one in found["rows"]] == [True, *[False] * 7]
    assert found["best"] == "h"


def test_less_is_better_where_the_metric_says_so() -> None:
    assert only(by_system("contradiction", 0.3, 0.1, 0.2))["best"] == "b"


def test_nobody_is_best_where_all_are_alike_or_neither_end_is_better() -> None:
    assert only(by_system("mrr", 0.5, 0.5))["best"] == ""
    assert only(by_system("abstention", 0.1, 0.2))["best"] == ""


def test_several_with_the_best_mean_are_counted() -> None:
    assert only(by_system("mrr", 0.5, 0.9, 0.9))["best"] == "2 of them"


def test_more_than_six_groups_are_a_line_that_opens() -> None:
    many = by_system("mrr", *[0.1] * 7)
    closed, opened = only(many), only(many, opened=["mrr"])
    assert (closed["is_open"], closed["rows"]) == (False, [])
    assert (opened["is_open"], len(opened["rows"])) == (True, 7)
    assert len(re.findall('class="at', str(closed["ticks"]))) == 7
    assert not shown(by_system("mrr", *[0.1] * 6))["lines"]


def test_what_is_missing_says_between_what_the_mean_would_lie() -> None:
    (row,) = only(by_system("mrr", 0.5, n_missing=5, worst=1 / 3, best=2 / 3))["rows"]
    assert row["bounds"] == "0.333 – 0.667"
    (whole,) = only(by_system("mrr", 0.5, worst=0.5, best=0.5))["rows"]
    assert whole["bounds"] == ""


def test_what_labels_corrected_stands_below_the_judges_mean() -> None:
    whole, of_a = CorrectedMean(0.5, 0.25, 0.75, 80, 99), CorrectedMean(0, 0, 1, 9, 9)
    means: Any = (({}, whole), ({"system": "a"}, of_a))
    checked = CheckedRun({"mrr": CheckedMetric(("local",), 80, 0.5, None, means)}, 80, 2)
    a, b = only(by_system("mrr", 0.5, 0.6), checked=checked)["rows"]
    assert a["corrected"] == "0.000 (0.000 – 1.000) corrected by people"
    assert (a["below"], b["below"], b["corrected"]) == (True, False, "")
    (shared,) = only(by_system("mrr", 0.5, 0.5), same=["mrr"], checked=checked)["rows"]
    assert shared["corrected"] == "0.500 (0.250 – 0.750) corrected by people"


def test_a_composite_made_of_part_of_its_weight_says_so() -> None:
    rows = only(by_system("ragas_score", 0.5, 0.6), weights={("ragas_score", "a"): 0.7})["rows"]
    assert [one["weight"] for one in rows] == ["70 %", ""]


def test_each_reason_stands_with_how_many_the_most_frequent_first() -> None:
    reasons = {"no_claims": 2, "no_retrieval": 5, "no_reference": 1}
    (row,) = only(by_system("faithfulness", None, n_undefined=8, reasons=reasons))["rows"]
    assert (row["value"], row["why"]) == ("", "5: no retrieval; 2: no claims; 1 other reason")


def test_systems_without_any_value_for_the_same_reasons_stand_once() -> None:
    ones = by_system("faithfulness", None, None, n_undefined=4, reasons={"no_claims": 4})
    (row,) = only(ones)["rows"]
    assert (row["who"], row["why"], row["estimate"].total) == ("all 2", "8: no claims", 8)
    apart = [*ones[:1], *by_system("faithfulness", None, None, reasons={"no_retrieval": 4})[1:]]
    assert len(only(apart)["rows"]) == 2


def test_long_names_leave_out_what_they_begin_with_alike() -> None:
    names = [f"retriever=hybrid/reranker=none/seed={n}" for n in (1003, 1004)]
    ones = [estimate("mrr", 0.5, {"system": one}) for one in (*names, "gpt-4o")]
    assert [one["short"] for one in only(ones)["rows"]] == ["…seed=1003", "…seed=1004", "gpt-4o"]


def test_a_metric_of_another_range_than_its_family_says_so() -> None:
    ones = [*by_system("rouge_l", 0.5), *by_system("token_f1", 0.5),
            *by_system("semantic_similarity", 0.5)]  # fmt: skip
    (family,) = shown(ones)["families"]
    assert [one["scale"] for one in family["metrics"]] == ["", "", "−1 to 1"]
    assert "0.25" in str(family["axis"])
    (inside,) = shown(ones, suites=["graphrag"])["families"]
    assert inside["metrics"][2]["scale"] == "−100 to 100"


def test_retrieval_stands_last() -> None:
    found = shown([*by_system("mrr", 0.5), *by_system("faithfulness", 0.5)])
    assert [one["name"] for one in found["families"]] == ["Grounding", "Retrieval"]


def test_a_negative_mean_has_the_sign_of_subtraction() -> None:
    (row,) = only(by_system("semantic_similarity", -0.25, low=-0.5, high=-0.125))["rows"]
    assert (row["value"], row["interval"]) == ("−0.250", "−0.500 – −0.125")
