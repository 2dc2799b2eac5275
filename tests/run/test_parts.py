"""The blocks of a run under way: each there whole or not at all, and put together at the end."""

import json
from pathlib import Path

import polars as pl
import pytest

from ragstone.errors import DamagedRun
from ragstone.judgements import KINDS
from ragstone.run.forms import columns_of
from ragstone.run.parts import Parts


def block(*rows: tuple[str, float]) -> dict[str, pl.DataFrame]:
    scores = pl.DataFrame(list(rows), ["metric", "value"], orient="row")
    return {"scores": scores, "facets": pl.DataFrame({"system": ["a"] * len(rows)})}


def names(parts: Parts) -> list[str]:
    return [part.name for part in parts.all()]


def test_blocks_count_up_to_the_first_that_is_not_there(tmp_path: Path) -> None:
    parts = Parts(tmp_path / "parts")
    for number in (0, 1, 3):
        parts.add(number, block(("mrr", number)))
    assert names(parts) == ["000000", "000001"]
    parts.drop_what_does_not_follow()
    assert sorted(file.name for file in parts.path.iterdir()) == ["000000", "000001"]


def test_what_was_being_written_when_a_run_was_stopped_is_no_block(tmp_path: Path) -> None:
    parts = Parts(tmp_path / "parts")
    parts.add(0, block(("mrr", 1)))
    (parts.path / "000001.unfinished").mkdir()
    assert names(parts) == ["000000"]
    parts.drop_what_does_not_follow()
    assert [file.name for file in parts.path.iterdir()] == ["000000"]


def test_tables_are_joined_in_the_order_of_the_blocks_with_the_metrics_asked_for(
    tmp_path: Path,
) -> None:
    parts = Parts(tmp_path / "parts")
    parts.add(0, block(("mrr", 1.0), ("hit", 2.0)))
    parts.add(1, block(("hit", 3.0), ("mrr", 4.0)))
    parts.join(tmp_path, ["mrr"])
    assert pl.read_parquet(tmp_path / "scores.parquet").rows() == [("mrr", 1.0), ("mrr", 4.0)]
    assert not (tmp_path / "facets.parquet").exists()
    assert not (tmp_path / "scores.unfinished").exists()


def test_a_table_that_only_some_blocks_have_is_read_over_those(tmp_path: Path) -> None:
    parts = Parts(tmp_path / "parts")
    parts.add(0, block(("mrr", 1.0)))
    parts.add(1, {**block(("mrr", 2.0)), "origins": pl.DataFrame({"field": ["doc"]})})
    assert [file.parent.name for file in parts.files_of("origins")] == ["000001"]
    assert parts.scan("scores").collect()["value"].to_list() == [1.0, 2.0]


def test_a_block_without_its_scores_says_which_to_delete(tmp_path: Path) -> None:
    parts = Parts(tmp_path / "parts")
    parts.add(0, block(("mrr", 1.0)))
    (parts.path / "000000" / "scores.parquet").unlink()
    with pytest.raises(DamagedRun) as caught:
        parts.checked()
    assert f"Delete {parts.path / '000000'}" in str(caught.value)


@pytest.mark.parametrize("lacking", ["examples", "facets", "ledger", "scores"])
def test_a_block_must_have_what_every_block_has(tmp_path: Path, lacking: str) -> None:
    parts = Parts(tmp_path / "parts")
    names = {"examples", "facets", "ledger", "scores"} - {lacking}
    parts.add(0, dict.fromkeys(names, pl.DataFrame({"system": ["a"]})))
    with pytest.raises(DamagedRun, match=f"files.{lacking}"):
        parts.checked()


def test_a_block_under_another_number_is_damaged(tmp_path: Path) -> None:
    parts = Parts(tmp_path / "parts")
    parts.add(1, block(("mrr", 1.0)))
    (parts.path / "000001").rename(parts.path / "000000")
    with pytest.raises(DamagedRun, match="block"):
        parts.checked()


def test_the_files_of_a_block_are_noted_in_their_order(tmp_path: Path) -> None:
    """So that the same data give the same bytes, whatever order a file system has."""
    parts = Parts(tmp_path / "parts")
    named = ["ledger", "claims", "scores", "facets", "examples", "quality", "origins", "response"]
    parts.add(0, dict.fromkeys(named, pl.DataFrame({"a": [1]})))
    noted = json.loads((parts.path / "000000" / "part.json").read_text())
    assert list(noted["files"]) == sorted(f"{name}.parquet" for name in named)
    assert noted["block"] == 0


@pytest.mark.parametrize(
    ("table", "column"), [("facets", "contexts"), ("scores", "value"), ("origins", "field")]
)
def test_a_table_of_a_block_has_the_columns_of_its_form(table: str, column: str) -> None:
    assert column in columns_of(table)


def test_judgements_have_the_columns_of_their_kind_beside_block_and_ask() -> None:
    own = set(columns_of("claims")) - set(KINDS["claims"].schema())
    assert own == {"block", "ask"}
    assert columns_of("notes") == {}


def test_blocks_that_are_put_together_are_gone_and_a_second_time_does_no_harm(
    tmp_path: Path,
) -> None:
    parts = Parts(tmp_path / "parts")
    parts.make()
    parts.make()
    parts.add(0, block(("mrr", 1.0)))
    parts.drop()
    assert not parts.path.exists()
    parts.drop()
    assert parts.all() == []
