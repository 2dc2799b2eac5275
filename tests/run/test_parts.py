"""The blocks of a run under way: each there whole or not at all, and put together at the end."""

from pathlib import Path

import polars as pl
import pytest

from ragstone.errors import DamagedRun
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
