"""The shards of a run under way: each there whole or not at all."""

from pathlib import Path

import polars as pl
import pytest

from ragstone.core.errors import DamagedRun
from ragstone.judgements import KINDS
from ragstone.run.folder.schemas import Counted, ShardForm, columns_of
from ragstone.run.folder.shards import ShardLedger, Shards, write_ledger


def form(number: int, examples: int = 1) -> ShardForm:
    return ShardForm(shard=number, examples=examples, files={}, counted=Counted(judged=[]))


def scores(*rows: tuple[str, float]) -> dict[str, pl.DataFrame]:
    return {"scores": pl.DataFrame(list(rows), ["metric", "value"], orient="row")}


def test_a_table_is_read_in_the_order_of_the_data_however_its_shards_came(tmp_path: Path) -> None:
    shards = Shards(tmp_path)
    shards.add(form(1), scores(("mrr", 3.0)))
    shards.add(form(0), scores(("mrr", 1.0), ("hit", 2.0)))
    assert shards.scan("scores").collect()["value"].to_list() == [1.0, 2.0, 3.0]
    assert [one.shard for one in Shards(tmp_path).ledger] == [0, 1]


def test_a_shard_that_is_not_done_has_no_examples_yet(tmp_path: Path) -> None:
    ledger = Shards(tmp_path).ledger
    for number in (0, 1, 3):
        ledger.add(form(number))
    assert [ledger.examples_of(number) for number in range(5)] == [1, 1, None, 1, None]
    assert len(ledger) == 3


def test_what_was_written_of_a_shard_without_its_line_is_no_shard(tmp_path: Path) -> None:
    shards = Shards(tmp_path)
    shards.add(form(0), scores(("mrr", 1.0)))
    shards.file("scores", 1).write_bytes(b"half a file")
    again = Shards(tmp_path)
    again.leave_out_damaged()
    assert again.files_of("scores") == [again.file("scores", 0)]


def test_a_line_that_was_cut_off_is_written_over(tmp_path: Path) -> None:
    file = tmp_path / "shards.jsonl"
    ledger = ShardLedger(file)
    ledger.add(form(0, 5))
    whole = file.read_bytes()
    ledger.add(form(1, 6))
    both = file.read_bytes()
    for cut in range(len(whole), len(both)):
        file.write_bytes(both[:cut])
        again = ShardLedger(file)
        assert [one.examples for one in again] == [5]
        again.add(form(1, 7))
        assert [one.examples for one in ShardLedger(file)] == [5, 7]


def test_a_shard_that_is_written_again_counts_as_it_was_last(tmp_path: Path) -> None:
    ledger = ShardLedger(tmp_path / "shards.jsonl")
    for examples in (5, 6):
        ledger.add(form(0, examples))
    assert [one.examples for one in ShardLedger(ledger.file)] == [6]
    assert len(ledger) == 1


def test_any_other_letter_in_a_line_is_damage(tmp_path: Path) -> None:
    file = tmp_path / "shards.jsonl"
    write_ledger(file, [form(0), form(1)])
    whole = file.read_bytes()
    for at in range(len(whole)):
        if whole[at : at + 1] == b"\n":
            continue
        file.write_bytes(whole[:at] + b"~" + whole[at + 1 :])
        with pytest.raises(DamagedRun):
            ShardLedger(file)


def test_a_shard_with_a_file_that_is_gone_or_shorter_is_not_done(tmp_path: Path) -> None:
    shards = Shards(tmp_path)
    for number in range(3):
        shards.add(form(number), scores(("mrr", 1.0)))
    file = shards.file("scores", 0)
    file.write_bytes(file.read_bytes()[:-1])
    shards.file("scores", 1).unlink()
    again = Shards(tmp_path)
    again.leave_out_damaged()
    assert [one.shard for one in again.ledger] == [2]
    assert again.ledger.examples_of(0) is None


def test_a_table_of_the_right_size_that_was_changed_is_damage(tmp_path: Path) -> None:
    shards = Shards(tmp_path)
    row = pl.DataFrame(schema=dict(columns_of("scores"))).clear(1)
    shards.add(form(0), {"scores": row})
    Shards(tmp_path).verify("scores")
    file = shards.file("scores", 0)
    file.write_bytes(file.read_bytes()[:-1] + b"~")
    with pytest.raises(DamagedRun, match="checksum"):
        Shards(tmp_path).verify("scores")


def test_a_table_that_only_some_shards_have_is_read_over_those(tmp_path: Path) -> None:
    shards = Shards(tmp_path)
    shards.add(form(0), scores(("mrr", 1.0)))
    shards.add(form(1), {**scores(("mrr", 2.0)), "origins": pl.DataFrame({"field": ["doc"]})})
    assert shards.files_of("origins") == [shards.file("origins", 1)]


def test_a_table_is_changed_elsewhere_and_stays_here(tmp_path: Path) -> None:
    shards, other = Shards(tmp_path / "a"), Shards(tmp_path / "b")
    shards.path.mkdir()
    shards.add(form(0), {**scores(("mrr", 1.0), ("hit", 2.0)), "facets": pl.DataFrame({"a": [1]})})
    shards.change("scores", lambda _, rows: rows.filter(pl.col("metric") == "hit"), other.path)
    assert other.scan("scores").collect().rows() == [("hit", 2.0)]
    assert shards.scan("scores").collect().height == 2
    (here,), (there,) = shards.ledger, other.ledger
    assert here.files["facets"] == there.files["facets"]
    assert there.files["scores"].rows == 1
    assert not (other.path / "facets").exists()


def test_the_files_of_a_shard_are_noted_in_the_order_of_their_names(tmp_path: Path) -> None:
    """So that the same data give the same bytes."""
    shards = Shards(tmp_path)
    named = ["ledger", "claims", "scores", "facets", "examples", "quality", "origins", "response"]
    shards.add(form(0), dict.fromkeys(named, pl.DataFrame({"a": [1]})))
    (noted,) = shards.ledger
    assert list(noted.files) == sorted(named)


@pytest.mark.parametrize(
    ("table", "column"), [("facets", "contexts"), ("scores", "value"), ("origins", "field")]
)
def test_a_table_has_the_columns_of_its_form(table: str, column: str) -> None:
    assert column in columns_of(table)


def test_judgements_have_the_columns_of_their_kind_beside_shard_and_ask() -> None:
    own = set(columns_of("claims")) - set(KINDS["claims"].schema())
    assert own == {"shard", "ask"}
    assert columns_of("notes") == {}
