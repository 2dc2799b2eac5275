"""What is kept of judged blocks and their shards, and what it is grouped by."""

from typing import Any

import polars as pl
import pytest

from ragstone.core.errors import InputError
from ragstone.data import Example, read
from ragstone.run.estimates.sums import origins
from ragstone.run.judging.judge_blocks import judge_block
from ragstone.run.judging.scoring import block_tables, check_fields, shard_tables
from ragstone.run.request import Request
from ragstone.run.run_plan import prepare
from ragstone.run.run_spec import RunSpec

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


def test_a_block_keeps_examples_scores_ledger_and_rows_each_with_the_number_of_its_shard() -> None:
    kept = tables(spec_of())
    assert {name for name in kept if "shard" in kept[name].columns} == {
        "examples", "scores", "ledger", "lexical",
    }  # fmt: skip
    assert all(set(kept[name]["shard"]) == {7} for name in ("examples", "scores", "lexical"))
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


def test_where_questions_come_from_follows_the_order_of_the_data() -> None:
    block = [Example(str(n), f"q{n}", "s", slices={"paper": f"p{n}"}) for n in range(100)]
    clusters = pl.Series("cluster", range(100), dtype=pl.UInt64)
    assert origins(block, clusters)["cluster"].to_list() == list(range(100))


def test_a_field_that_no_example_has_is_refused_with_those_that_there_are() -> None:
    with pytest.raises(InputError, match=r"No example has a field 'year'.*paper, topic"):
        check_fields(spec_of(by="year"), examples())


def test_a_field_of_too_many_values_is_refused() -> None:
    block = [Example(str(n), f"q{n}", f"s{n}") for n in range(201)]
    with pytest.raises(InputError, match="system: 201 values in the first 201 examples"):
        check_fields(spec_of(cluster="id"), block)


def kept_of(*found: tuple[str, str]) -> pl.DataFrame:
    """Rows of a kind: the subject, and what is said of it."""
    rows = [("support/claim", "local", *row) for row in found]
    return pl.DataFrame(rows, ["ask", "judge", "subject", "text"], orient="row")


def test_a_subject_that_was_judged_in_two_blocks_of_a_shard_is_kept_once_with_all_its_rows() -> (
    None
):
    first = {"claims": kept_of(("s1", "a"), ("s1", "b"), ("s2", "c"))}
    second = {"claims": kept_of(("s2", "c"), ("s3", "d"), ("s1", "a"), ("s1", "b"))}
    found = shard_tables([first, second])["claims"]
    assert found.select("subject", "text").rows() == [
        ("s1", "a"), ("s1", "b"), ("s2", "c"), ("s3", "d"),
    ]  # fmt: skip
    assert found.columns == first["claims"].columns


def test_what_two_judges_said_of_a_subject_in_two_blocks_is_all_kept() -> None:
    other = kept_of(("s1", "a")).with_columns(judge=pl.lit("human"))
    found = shard_tables([{"claims": kept_of(("s1", "a"))}, {"claims": other}])["claims"]
    assert found["judge"].to_list() == ["local", "human"]


def test_scores_and_examples_of_blocks_follow_one_another_and_an_origin_is_kept_once() -> None:
    blocks = [
        {"scores": pl.DataFrame({"value": [1.0, 2.0]}), "origins": pl.DataFrame({"value": [1, 2]})},
        {"scores": pl.DataFrame({"value": [1.0]}), "origins": pl.DataFrame({"value": [2, 3]})},
    ]
    found = shard_tables(blocks)
    assert found["scores"]["value"].to_list() == [1.0, 2.0, 1.0]
    assert found["origins"]["value"].to_list() == [1, 2, 3]


def test_a_table_that_only_a_later_block_has_is_in_the_shard() -> None:
    found = shard_tables([{"ledger": kept_of()}, {"claims": kept_of(("s1", "a"))}])
    assert found["claims"].height == 1
