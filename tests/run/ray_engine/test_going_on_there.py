"""What a cluster judged is gone on with as if it had never been stopped.

The engine is the real one; its workers judge in this process, in any order.
"""

import gzip
import json
import pickle
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from shutil import copytree
from types import SimpleNamespace
from typing import Any

import pytest

from ragstone.core.errors import DataError
from ragstone.run import Run
from ragstone.run.evaluate import evaluate
from ragstone.run.folder.run_list import Progress
from ragstone.run.judging import sharding as blocks
from ragstone.run.ray_engine import engine as engine_file
from ragstone.run.ray_engine.pool import Made
from ragstone.run.ray_engine.shard_worker import ShardTask, ShardWorker, Tables
from tests.availability import import_or_skip

cloudpickle = import_or_skip("ray.cloudpickle")
ENGINES = ("local", "ray")
SIZE = 10


class Pool:
    """Two workers that take turns by chance."""

    def __init__(self, ray: Any, assignment: Any, relay: Any) -> None:  # noqa: ARG002
        self._worker = ShardWorker(pickle.loads(pickle.dumps(assignment)), None)
        self._tasks: list[ShardTask] = []
        self._draw = random.Random(0)

    def __len__(self) -> int:
        return 2

    def fill(self) -> None:
        """All are there."""

    def free(self) -> int:
        return 4 - len(self._tasks)

    def give(self, task: ShardTask) -> None:
        self._tasks.append(task)

    def events(self, seconds: float) -> Iterator[Made]:  # noqa: ARG002
        if not self._tasks:
            return
        task = self._tasks.pop(self._draw.randrange(len(self._tasks)))
        sent = task.without_bytes() if task.may_be_read else task
        brief, tables = pickle.loads(pickle.dumps(self._worker.make(sent)))
        yield Made(task, brief, tables)

    def fetched(self, tables: Tables) -> Tables:
        return tables

    def close(self) -> None:
        """None has a process."""


@pytest.fixture(autouse=True)
def _in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    @contextmanager
    def connected(address: str) -> Iterator[Any]:  # noqa: ARG001
        yield SimpleNamespace(cloudpickle=cloudpickle)

    monkeypatch.setattr(engine_file, "connected", connected)
    monkeypatch.setattr(engine_file, "Pool", Pool)
    monkeypatch.setattr(blocks, "OF_A_SHARD", SIZE)


def rows(number: int) -> list[dict[str, Any]]:
    return [{"id": f"r{at}", "question": f"Q{at}?", "answer": f"It is {at}.", "reference": "It is."}
            for at in range(number)]  # fmt: skip


def write(path: Path, records: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(one) + "\n" for one in records))
    return path


def kept(out: Path) -> int:
    ledger = out / "parts" / "shards.jsonl"
    return ledger.read_bytes().count(b"\n") if ledger.is_file() else 0


def stopped(data: Path, out: Path, shards: int, **how: Any) -> None:
    """A run that is stopped as soon as so many shards are kept."""

    def look(told: Progress) -> None:
        if told.stage == "estimating" or kept(out) >= shards:
            raise KeyboardInterrupt

    with suppress(KeyboardInterrupt, DataError):
        evaluate(data, out=out, progress=look, metrics="exact_match", **how)


def content(run: Run) -> dict[str, bytes]:
    left_out = ("run.json", ".lock")
    files = (one for one in run.path.rglob("*") if one.is_file() and one.name not in left_out)
    return {str(one.relative_to(run.path)): one.read_bytes() for one in files}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("bad", [3, 14, 23])
def test_data_that_have_to_be_refused_are_whenever_a_run_was_stopped(
    tmp_path: Path, engine: str, bad: int
) -> None:
    """No shard from the one of the bad record on is ever kept, so no run is stopped behind it."""
    records = rows(35)
    records[bad]["contexts"] = 5
    data, out = write(tmp_path / "rows.jsonl", records), tmp_path / "run"
    for shards in range(1, bad // SIZE + 2):
        stopped(data, out, shards, engine=engine)
        for then in ENGINES:
            again = tmp_path / f"{shards} {then}"
            if out.exists():
                copytree(out, again)
            with pytest.raises(DataError, match="contexts"):
                evaluate(data, out=again, metrics="exact_match", engine=then)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_file_that_is_broken_at_its_end_is_told_once(tmp_path: Path, engine: str) -> None:
    draw = random.Random(1)
    records = [one | {"answer": draw.randbytes(300).hex()} for one in rows(45)]
    packed = gzip.compress(write(tmp_path / "rows.jsonl", records).read_bytes())
    data = tmp_path / "rows.jsonl.gz"
    how: dict[str, Any] = {"engine": engine, "skip_bad": True}
    data.write_bytes(packed[: len(packed) * 2 // 3])
    whole = evaluate(data, out=tmp_path / "whole", metrics="exact_match", **how)
    assert whole.form.data.rejected == 1
    stopped(data, tmp_path / "run", 100, **how)
    run = evaluate(data, out=tmp_path / "run", metrics="exact_match", **how)
    assert content(run) == content(whole)
    assert run.form.data == whole.form.data


def a_record_that_cannot_be_read(records: list[dict[str, Any]]) -> None:
    """Its id is taken all the same."""
    records[3]["answer"] = {"no": 1}
    records[24]["id"] = "r3"


def numbers_as_ids(records: list[dict[str, Any]]) -> None:
    """What names a system and no id is known by its number, which is an id of no question."""
    for at, record in enumerate(records):
        del record["id"]
        record["system"] = "ab"[at % 2]
    records[24] |= {"id": "3", "system": "b"}


def some_numbers_as_ids(records: list[dict[str, Any]]) -> None:
    numbers_as_ids(records)
    records[1]["id"] = "one"


def an_id_of_two_systems(records: list[dict[str, Any]]) -> None:
    """It turns out to be that of a question when the second comes."""
    records[3]["system"] = "a"
    records[24] |= {"id": "r3", "system": "b"}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    "change",
    [a_record_that_cannot_be_read, numbers_as_ids, some_numbers_as_ids, an_id_of_two_systems],
)
def test_ids_are_taken_in_a_run_that_goes_on_as_in_one_that_was_not_stopped(
    tmp_path: Path, engine: str, change: Callable[[list[dict[str, Any]]], None]
) -> None:
    records = rows(35)
    change(records)
    data = write(tmp_path / "rows.jsonl", records)
    how: dict[str, Any] = {"engine": engine, "skip_bad": True, "metrics": "exact_match"}
    place = tmp_path / "whole"

    def look(_: Progress) -> None:
        """Keep what a kill would leave, while the run goes on."""
        for shards in range(1, min(kept(place), 3) + 1):
            if not (tmp_path / f"run{shards}").exists():
                copytree(place, tmp_path / f"run{shards}")

    whole = evaluate(data, out=place, progress=look, **how)
    for shards in range(1, 4):  # Of four: before the second of two records, and behind it.
        run = evaluate(data, out=tmp_path / f"run{shards}", **how)
        assert run.form.data.rejected == whole.form.data.rejected
        ours, theirs = content(run), content(whole)
        for files in (ours, theirs):
            files.pop("rejected.jsonl", None)  # It says where an id was before, or only that.
        assert ours == theirs


def test_of_every_repeat_the_first_is_named_whoever_reads(tmp_path: Path) -> None:
    records = rows(45)
    for at in (24, 26, 41):
        records[at]["id"] = "r3"
    data = write(tmp_path / "rows.jsonl", records)
    told = []
    for engine in ENGINES:
        out = tmp_path / engine
        evaluate(data, out=out, metrics="exact_match", engine=engine, skip_bad=True)
        told.append((out / "rejected.jsonl").read_text())
    assert told[0] == told[1]
    assert told[0].count("as in line 4") == 3
