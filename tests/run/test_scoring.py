"""What is kept of a judged block, and what it is grouped by."""

from typing import Any

import polars as pl
import pytest

from ragstone.errors import InputError
from ragstone.examples import Example, read
from ragstone.metrics import parse_metric
from ragstone.run.judging import judge_block
from ragstone.run.request import Request
from ragstone.run.scoring import block_tables, check_fields, component_metrics
from ragstone.run.spec import RunSpec, prepare

ROWS: list[dict[str, Any]] = [
    {"id": f"e{n}", "system": "a", "question": f"q{n}?", "answer": answer, "reference": "Harvey",
     "meta": {"paper": "p1"}, "slices": {"topic": "sea"} if n else {}}
    for n, answer in enumerate(["Harvey", "Trevithick"])
]  # fmt: skip


def spec_of(**given: Any) -> RunSpec:
    return prepare(Request(ROWS, judge="rules", **{"metrics": "exact_match", **given})).spec


def examples() -> list[Example]:
    return list(read(ROWS))


def tables(spec: RunSpec) -> dict[str, pl.DataFrame]:
    block = examples()
    return block_tables(spec, 7, block, judge_block(block, spec.judges, spec.asks))


def test_a_block_keeps_examples_scores_ledger_and_rows_each_with_its_number() -> None:
    kept = tables(spec_of())
    assert {name for name in kept if "block" in kept[name].columns} == {
        "examples", "scores", "ledger", "lexical",
    }  # fmt: skip
    assert all(set(kept[name]["block"]) == {7} for name in ("examples", "scores", "lexical"))
    assert kept["scores"].select("example_id", "value", "status").rows() == [
        ("e0", 1.0, "value"),
        ("e1", 0.0, "value"),
    ]


def test_an_example_without_the_field_is_in_a_group_and_a_cluster_of_its_own() -> None:
    facets = tables(spec_of(by="topic", cluster="topic"))["facets"]
    assert facets["by topic"].to_list() == ["(none)", "sea"]
    assert facets["cluster"].n_unique() == 2


def test_where_questions_come_from_is_kept_if_questions_are_the_clusters() -> None:
    found = tables(spec_of())["origins"]
    assert found["field"].to_list() == ["paper", "paper"]
    assert found["value"].n_unique() == 1
    assert found["cluster"].n_unique() == 2
    assert "origins" not in tables(spec_of(cluster="paper"))


def test_a_field_that_no_example_has_is_refused_with_those_that_there_are() -> None:
    with pytest.raises(InputError, match=r"No example has a field 'year'.*paper, topic"):
        check_fields(spec_of(by="year"), examples())


def test_a_field_of_too_many_values_is_refused() -> None:
    block = [Example(str(n), f"q{n}", f"s{n}") for n in range(201)]
    with pytest.raises(InputError, match="system: 201 values in the first 201 examples"):
        check_fields(spec_of(cluster="id"), block)


def test_components_are_those_of_composites_over_means_each_once() -> None:
    assert component_metrics(spec_of().metrics) == []
    found = component_metrics([parse_metric("ragas_harmonic")] * 2)
    assert [str(metric) for metric in found] == [
        "faithfulness",
        "answer_relevance",
        "context_precision",
    ]
