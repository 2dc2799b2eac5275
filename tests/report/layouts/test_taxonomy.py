"""The sixteen metrics of the label taxonomy, from labels as the taxonomy writes them."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from ragstone import evaluate
from ragstone.core.errors import InputError, UnknownName
from ragstone.metrics import SUITES, parse_metric, suite_named
from ragstone.report.layouts import Report, report_as

Read = Callable[[Report, str], list[list[dict[str, str]]]]

NAMES = [
    *(f"{name}@K" for name in (
        "TopicalPrecision", "SufficiencyHit", "SufficiencyRate", "MisleadingContextRate", "MRR",
        "NDCG",
    )),
    "GroundingPresenceRate", "UnsupportedClaimRate", "ContradictionRate", "CitationPresenceRate",
    "ConditionalFabricationRate", "ProperActionRate", "OnTopicRate", "HelpfulnessRate",
    "IncompletenessRate", "UnsafeContentRate",
]  # fmt: skip

YES = {"topically_relevant": 1, "evidence_sufficient": 1, "misleading": 0}
NO = {"topically_relevant": 0, "evidence_sufficient": 0, "misleading": 1}
ANSWER = {
    "support_present": 1, "unsupported_claim_present": 0, "contradicted_claim_present": 0,
    "source_cited": 1, "fabricated_source": 0, "proper_action": 1, "response_on_topic": 1,
    "helpful": 1, "incomplete": 0, "unsafe_content": 0,
}  # fmt: skip
ROWS = [
    {"id": "1", "question": "How long?", "answer": "90 m [1].",
     "chunks": [{"text": "90 m.", **YES}, {"text": "Gulls.", **NO}], **ANSWER},
    {"id": "2", "question": "How wide?", "answer": "4 m [7].",
     "chunks": [{"text": "Gulls.", **NO}, {"text": "4 m.", **YES}],
     **ANSWER, "fabricated_source": 1, "incomplete": 1, "support_present": 0},
]  # fmt: skip
"""The relevant chunk stands first, then second."""


def test_the_labels_and_chunks_are_read_as_they_are(tmp_path: Path, read: Read) -> None:
    run = evaluate(ROWS, suites="taxonomy(k=2)", out=tmp_path / "r")
    (rows,) = read(report_as(run, "taxonomy"), "metrics.csv")
    assert [one["metric"] for one in rows] == NAMES
    assert list(rows[0])[:7] == ["family", "metric", "k", "value", "n", "undefined", "missing"]
    values = {one["metric"]: float(one["value"]) for one in rows}
    assert values == {
        "TopicalPrecision@K": 0.5, "SufficiencyHit@K": 1.0, "SufficiencyRate@K": 0.5,
        "MisleadingContextRate@K": 0.5, "MRR@K": 0.75,
        # Gain 3 at rank 2 of what would stand at rank 1: 1 / log2(3).
        "NDCG@K": pytest.approx((1 + 0.63093) / 2, abs=1e-5),
        "GroundingPresenceRate": 0.5, "UnsupportedClaimRate": 0.0, "ContradictionRate": 0.0,
        "CitationPresenceRate": 1.0, "ConditionalFabricationRate": 0.5, "ProperActionRate": 1.0,
        "OnTopicRate": 1.0, "HelpfulnessRate": 1.0, "IncompletenessRate": 0.5,
        "UnsafeContentRate": 0.0,
    }  # fmt: skip
    assert [one["k"] for one in rows] == ["2"] * 6 + [""] * 10
    assert {one["family"] for one in rows[6:11]} == {"grounding"}


def test_every_k_and_system_has_its_row(tmp_path: Path, read: Read) -> None:
    rows = [row | {"id": f"{row['id']}-{system}", "system": system}
            for row in ROWS for system in ("a", "b")]  # fmt: skip
    run = evaluate(rows, metrics=["MRR@1", "MRR@2"], out=tmp_path / "r")
    (found,) = read(report_as(run, "taxonomy"), "metrics.csv")
    mrr = [one for one in found if one["metric"] == "MRR@K"]
    assert [(one["k"], one["system"], one["value"]) for one in mrr] == [
        ("1", "a", "0.5"), ("1", "b", "0.5"), ("2", "a", "0.75"), ("2", "b", "0.75"),
    ]  # fmt: skip
    assert [one["value"] for one in found if one["metric"] == "NDCG@K"] == ["", ""]


@pytest.mark.parametrize("name", NAMES)
def test_each_name_of_the_taxonomy_is_a_metric_here(name: str) -> None:
    names = [str(one) for one in SUITES["taxonomy"].metrics()]
    assert str(parse_metric(name)) == names[NAMES.index(name)]
    if name.endswith("@K"):
        at_5 = parse_metric(name.replace("@K", "@5"))
        assert str(at_5) == f"{names[NAMES.index(name)]}(k=5)"


def test_labels_under_labels_are_read_without_their_places(tmp_path: Path) -> None:
    row = {"question": "q", "answer": "a", "chunks": ["c"],
           "labels": {"chunks": [{"topically_relevant": True}], "helpful": True}}  # fmt: skip
    file = tmp_path / "rows.jsonl"
    file.write_text(json.dumps(row))
    run = evaluate(str(file), metrics=["precision", "helpfulness"], out=tmp_path / "r")
    assert [one.value for one in run.estimate_list if not one.group] == [1.0, 1.0]


def test_a_suite_takes_its_own_parameters_alone() -> None:
    assert suite_named("taxonomy(k=5)").names[:2] == ("precision(k=5)", "sufficiency_hit(k=5)")
    assert suite_named("taxonomy(k=5)").names[6:] == SUITES["taxonomy"].names[6:]
    with pytest.raises(InputError, match=r"has no parameter n\. It takes: k"):
        suite_named("taxonomy(n=5)")
    with pytest.raises(InputError, match="k must be a whole number from 1"):
        suite_named("taxonomy(k=0)")
    with pytest.raises(InputError, match=r"is not a suite.*taxonomy\(k=5\)"):
        suite_named("taxonomy(k=x)")
    with pytest.raises(UnknownName, match="Did you mean taxonomy"):
        suite_named("taxonomie(k=5)")
