"""A full disk is said to be full; the same command goes on."""

import errno
import json
import os
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import ragstone
from ragstone.analysis.label_sampling.queue_items import LabelSheet, write_sheet
from ragstone.annotation.label_export import write_labels
from ragstone.annotation.label_table import LabelTable
from ragstone.core.errors import DiskFull, ModelError, room_for
from ragstone.core.files import write_result
from ragstone.core.parquet import sink_parquet, write_parquet
from ragstone.models.chat import ChatReply
from ragstone.report.reason_words import explain
from ragstone.report.run_contents import write_table
from ragstone.run.folder.checksums import File, write_json
from ragstone.run.folder.run_tally import RunTally
from ragstone.run.folder.schemas import Counted, ShardForm
from ragstone.run.folder.shards import Shards
from ragstone.run.judging import sharding as blocks
from ragstone.testing import ScriptedModel, asked, reply_to

FULL = Path("/dev/full")

ROWS = [
    {
        "id": f"r{number}",
        "question": f"How long is pier {number}?",
        "contexts": [f"Pier {number} is {number} m long.", "The beach is wide."],
        "answer": f"It is {number} m long.",
        "labels": {"contexts": [{"topically_relevant": 0, "evidence_sufficient": 1}] * 2},
    }
    for number in range(40)
]
GIVEN: dict[str, Any] = {"metrics": ["precision", "mrr"], "judge": ["human", "local:strings"]}


def fill(disk: Path, *, left: int) -> Path:
    """A file that leaves so many bytes of room."""
    filler = disk / "filler"
    room = os.statvfs(disk).f_bavail * os.statvfs(disk).f_frsize
    filler.write_bytes(bytes(room - left))
    return filler


@pytest.mark.skipif(not FULL.exists(), reason="needs /dev/full, which Linux has")
def test_a_table_for_which_there_is_no_room_is_no_damaged_one() -> None:
    table = pl.DataFrame({"number": range(10_000)})
    with pytest.raises(DiskFull, match="the disk is full"):
        write_parquet(table, FULL)
    with pytest.raises(DiskFull, match="the disk is full"):
        sink_parquet(table.lazy(), FULL, rows_at_once=1_000)


def test_wherever_the_disk_gets_full_the_same_command_goes_on(disk: Path) -> None:
    whole = ragstone.evaluate(ROWS, **GIVEN)
    stopped = set()
    for left in range(0, 1 << 20, 4096):
        filler, out = fill(disk, left=left), disk / f"run{left}"
        with suppress(DiskFull):
            ragstone.evaluate(ROWS, out=out, **GIVEN)
            break
        filler.unlink()
        stopped.add(len([*out.rglob("*")]))
        run = ragstone.evaluate(ROWS, out=out, **GIVEN)
        assert run.scores().equals(whole.scores())
        assert run.manifest["finished"]
        shutil.rmtree(out)
    assert len(stopped) > 3, "it stopped at several places"


@pytest.mark.parametrize(
    "name",
    ["run.json", "estimates.json", "shards.jsonl", "rejected.jsonl", "label_violations.jsonl"],
)
def test_each_file_that_is_no_table_says_so(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = Path.open

    def full(path: Path, mode: str = "r", *more: Any, **named: Any) -> Any:
        if path.name.startswith(name) and {*mode} & {*"wa+"}:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return opened(path, mode, *more, **named)

    given = GIVEN | {"out": tmp_path / "run", "skip_bad": True}
    rows = [*ROWS, {"id": 7, "contexts": 5}]
    monkeypatch.setattr(Path, "open", full)
    with pytest.raises(DiskFull, match="Make room; then run the same command again"):
        ragstone.evaluate(rows, **given)
    monkeypatch.undo()
    assert ragstone.evaluate(rows, **given).manifest["data"]["examples"] == len(ROWS)


def test_a_quick_run_without_room_at_its_very_end_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What all its examples lack, and it therefore left out of its tables, is still known then."""
    rows = [{"id": str(at), "question": "Q?", "answer": "A.", "reference": "A."} for at in range(9)]
    monkeypatch.setattr(blocks, "OF_A_SHARD", 4)
    whole = ragstone.evaluate(rows, out=tmp_path / "whole", suites="quick")
    written = write_json

    def full(path: Path, content: object) -> None:
        if path.name == "estimates.json":
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        written(path, content)

    with monkeypatch.context() as filled:
        filled.setattr("ragstone.run.folder.folder.write_json", full)
        with pytest.raises(DiskFull):
            ragstone.evaluate(rows, out=tmp_path / "run", suites="quick")
    run = ragstone.evaluate(rows, out=tmp_path / "run", suites="quick")
    assert run.estimates().equals(whole.estimates())
    assert run.scores().equals(whole.scores())


def test_scoring_more_on_a_full_disk_says_so_and_leaves_the_run_as_it_was(disk: Path) -> None:
    run = ragstone.evaluate(ROWS, out=disk / "run", **GIVEN)
    before = run.scores()
    filler = fill(disk, left=8192)
    with pytest.raises(DiskFull, match="Make room"):
        ragstone.rescore(disk / "run", metrics="hit(k=1)")
    filler.unlink()
    assert ragstone.Run.open(disk / "run").scores().equals(before)
    assert "hit(k=1)" in ragstone.rescore(disk / "run", metrics="hit(k=1)").manifest["metrics"]


@pytest.mark.parametrize("left", [0, 8192, 40_960])
def test_a_full_cache_stops_no_run(left: int, disk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Real(ScriptedModel):
        kept = True

    def reply(request: Any) -> ChatReply:
        text = reply_to(request, {one: {"verdict": "3", "details": []} for one in asked(request)})
        return ChatReply(json.dumps(text))

    monkeypatch.setenv("RAGSTONE_CACHE", str(disk / "cache"))
    fill(disk, left=left)
    run = ragstone.evaluate(ROWS, metrics="mrr", judge=Real(reply))
    assert run.exit_status == 0
    (said,) = [one for one in run.manifest["remarks"] if "replies_not_kept" in one]
    assert str(disk / "cache") in explain(said)


def test_a_shard_of_a_worker_for_which_there_is_no_room_says_so(disk: Path) -> None:
    fill(disk, left=4096)
    content = {"scores": np.zeros(100_000, np.uint8)}
    form = ShardForm(
        shard=0, examples=1, files={}, counted=Counted.model_validate(RunTally().counted)
    )
    with pytest.raises(DiskFull, match="Make room"), room_for(disk):
        Shards(disk).add_made(form, {"scores": File(bytes=100_000, checksum="")}, content)


def test_words_of_a_server_about_its_disk_are_not_about_ours(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="its words"), room_for(tmp_path):
        raise ModelError("its words: No space left on device")


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
def test_a_result_for_which_there_is_no_room_is_named_and_can_be_written_again(
    ending: str, disk: Path
) -> None:
    table = pl.DataFrame({"id": [os.urandom(8).hex() for _ in range(2_000)]})
    sheet = LabelSheet(table, (), (), "# What is asked")
    filler = fill(disk, left=4096)
    writes: list[Callable[[], None]] = [
        lambda: write_sheet(sheet, disk / f"sheet.{ending}"),
        lambda: write_table(table, disk / f"s.{ending}"),
        lambda: write_labels(LabelTable("l", table), disk / f"labels.{ending}", layout="long"),
        lambda: write_result(disk / "page.html", "x" * 5_000),
    ]
    for write in writes:
        with pytest.raises(DiskFull, match=rf"{disk}/\w+\.\w+: the disk is full\. Make room"):
            write()
    assert [one.name for one in disk.iterdir() if one.suffix != ".md"] == ["filler"]
    filler.unlink()
    write_sheet(sheet, disk / f"sheet.{ending}")
    assert (disk / f"sheet.{ending}").stat().st_size
