"""The golden vectors of retrieval and answer labels, all cases, to 1e-12."""

import json
from itertools import islice
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from ragstone.judgements import MISSING, VALUE, Answers, weight
from ragstone.metrics import Metric, Missing, Score, Undefined, parse_metric, score
from ragstone.stats import clopper_pearson, wilson
from ragstone.testing import Given, Rows, contexts, rows, score_all

NAMES = {
    "topical_precision_at_k": "precision",
    "sufficiency_hit_at_k": "sufficiency_hit",
    "sufficiency_rate_at_k": "sufficiency_rate",
    "misleading_context_rate_at_k": "misleading_rate",
    "mrr_at_k": "mrr",
    "ndcg_at_k": "list_ndcg",
    "ndcg_at_k_ideal_topk": "list_ndcg",
}
RATES = {
    "support_present_rate": "grounding_presence",
    "unsupported_claim_present_rate": "unsupported_claim",
    "contradicted_claim_present_rate": "contradiction",
    "source_cited_rate": "citation_presence",
    "proper_action_rate": "proper_action",
    "response_on_topic_rate": "on_topic",
    "helpful_rate": "helpfulness",
    "incomplete_rate": "incompleteness",
    "unsafe_content_rate": "unsafe_content",
    "conditional_fabrication_rate": "citation_fabrication",
}


@pytest.fixture(scope="module")
def golden(shared: Path) -> Any:
    return json.loads((shared / "golden" / "retrieval_labels.json").read_text())


def labelled(query: dict[str, list[int | None]]) -> list[Rows]:
    """A query's labels as rows of the contexts view, its weight formed as the view forms it."""
    bools = {
        name: [None if value is None else bool(value) for value in query[key]]
        for name, key in (("relevant", "t"), ("sufficient", "s"), ("misleading", "m"))
    }
    weights = [
        2 if s else None if s is None or t is None else int(t)
        for t, s in zip(query["t"], query["s"], strict=True)
    ]
    return [contexts(**bools, weight=weights)]


def metric_for(golden_name: str, k: int, policy: str) -> Metric:
    ideal = ', ideal="topk"' if golden_name.endswith("topk") else ""
    return parse_metric(f'{NAMES[golden_name]}(k={k}, gaps="{policy}"{ideal})')


def same(got: Score, expected: float | None) -> bool:
    if expected is None:
        return isinstance(got, Missing)
    return isinstance(got, float) and abs(got - expected) <= 1e-12


def test_all_46_retrieval_cases_hold_under_every_policy_for_gaps(golden: Any) -> None:
    cases = golden["retrieval_cases"]
    assert len(cases) == 46
    for k in sorted({case["k"] for case in cases}):
        of_k = [case for case in cases if case["k"] == k]
        metrics = {
            (policy, name): metric_for(name, k, policy)
            for policy in ("strict", "zero", "condense")
            for name in NAMES
        }
        given = [labelled(query) for case in of_k for query in case["queries"]]
        frames = score(Given(given), metrics.values())
        for (policy, name), metric in metrics.items():
            lines = frames[str(metric)].select("value", "status").iter_rows()
            for case in of_k:
                expected = case["expected"].get(policy, case["expected"]["strict"])["per_query"]
                for query, (value, status) in zip(expected, lines, strict=False):
                    said = (case["id"], policy, name)
                    assert status == (MISSING if query[name] is None else VALUE), said
                    assert value == pytest.approx(query[name], abs=1e-12), said
            assert next(lines, None) is None


def test_a_gap_in_the_top_k_is_named_as_the_reason(golden: Any) -> None:
    case = next(case for case in golden["retrieval_cases"] if case["id"] == "all_gaps")
    given = [labelled(query) for query in case["queries"]]
    for name in NAMES:
        assert score_all(metric_for(name, case["k"], "strict"), given) == [
            Missing("unlabelled_in_top_k")
        ]


def test_precision_over_retrieved_divides_by_what_there_is(golden: Any) -> None:
    for case in golden["retrieval_cases"]:
        expected = case["expected"]["strict"]["variant_precision_over_retrieved"]
        metric = parse_metric(f"precision_over_retrieved(k={case['k']})")
        got = score_all(metric, [labelled(query) for query in case["queries"]])
        for one, wanted in zip(got, expected, strict=True):
            if wanted["value"] is None:
                kind = Undefined if wanted["reason"] == "empty_retrieval" else Missing
                assert one == kind(wanted["reason"]), case["id"]
            else:
                assert same(one, wanted["value"]), case["id"]


def test_all_13_answer_cases_hold_with_their_intervals(golden: Any) -> None:
    cases = golden["answer_cases"]
    assert len(cases) == 13
    given = [
        [rows(Answers, **{name: [_bool(values[number])] for name, values in answers.items()})]
        for answers in (case["answers"] for case in cases)
        for number in range(len(answers["helpful"]))
    ]
    of_all = {name: iter(score_all(parse_metric(name), given)) for name in RATES.values()}
    for case in cases:
        for golden_name, name in RATES.items():
            expected = case["expected"][golden_name]
            scores = list(islice(of_all[name], len(case["answers"]["helpful"])))
            values = [one for one in scores if isinstance(one, float)]
            assert sum(values) == expected["numerator"], (case["id"], name)
            assert len(values) == expected["denominator"], (case["id"], name)
            assert len(scores) == expected["n_total"]
            if not values:
                assert expected["value"] is None
                continue
            assert sum(values) / len(values) == pytest.approx(expected["value"], abs=1e-12)
            for method, interval in (("wilson95", wilson), ("clopper_pearson95", clopper_pearson)):
                got = interval(sum(values), len(values))
                assert got is not None
                assert (got.low, got.high) == pytest.approx(tuple(expected[method]), abs=1e-12)


def _bool(value: int | None) -> bool | None:
    return None if value is None else bool(value)


def test_the_view_forms_the_weight_that_the_golden_grades_have() -> None:
    labels = pl.DataFrame(
        {
            "relevant": [True, True, False, None, None, False, True],
            "sufficient": [True, False, False, True, False, None, None],
            "grade": pl.Series([None] * 7, dtype=pl.Int32),
        }
    )
    expected = [2, 1, 0, 2, None, None, None]
    assert labels.select(weight=weight())["weight"].to_list() == expected
