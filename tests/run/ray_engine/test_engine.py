"""Shards come back in any order and are kept in that of the data."""

from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest

from ragstone.data import Example
from ragstone.run.folder.run_tally import RunTally
from ragstone.run.ray_engine import engine
from ragstone.run.ray_engine.engine import CrashCandidates
from ragstone.run.ray_engine.pool import Died, Made
from ragstone.run.ray_engine.shard_worker import Brief, ShardTask


class Kept:
    """A run that writes down which shards it keeps."""

    def __init__(self) -> None:
        self.shards: list[int] = []
        self.tally = SimpleNamespace(examples=0)

    def keep_made(self, form: Any, files: Any, content: Any) -> None:  # noqa: ARG002
        self.shards.append(form.shard)


class Data:
    """Five shards of one example each."""

    def shards(self) -> Any:
        one = partial(Example, question_id="q", system="s", question="", answer="")
        return ((number, [one(id=str(number))]) for number in range(5))

    def piece(self, shard: int) -> None:
        """Nothing is kept of it."""


def work() -> tuple[Any, Kept]:
    kept, data = Kept(), Data()
    made = engine._Work(kept, data, CrashCandidates(0))  # type: ignore[arg-type]
    return made, kept


def made(task: ShardTask) -> Made:
    files: Any = {"scores": None}
    return Made(task, Brief(task.shard, 1, RunTally().counted, files), {})


def taken(work: Any) -> dict[int, ShardTask]:
    """All that can be given out now."""
    found = {}
    while (task := work.next()) is not None:
        found[task.shard] = task
    return found


def fetched(tables: Any) -> Any:
    return tables


def test_shards_are_kept_in_order_and_each_once() -> None:
    there, kept = work()
    tasks = taken(there)
    for shard in (3, 1, 0, 4, 2):
        assert not there.done
        there.hear(made(tasks[shard]), fetched)
    assert kept.shards == [0, 1, 2, 3, 4]
    assert there.done


def test_what_a_worker_could_not_read_is_given_out_first() -> None:
    there, kept = work()
    tasks = taken(there)
    unread = Brief(0, 0, {}, {}, unread=True)
    there.hear(Made(tasks[0], unread, {}), fetched)
    assert not kept.shards
    assert not there.done
    again = taken(there)
    assert list(again) == [0]
    for task in (tasks | again).values():
        there.hear(made(task), fetched)
    assert kept.shards == [0, 1, 2, 3, 4]


def test_what_died_and_what_was_lost_is_made_again_first() -> None:
    there, kept = work()
    tasks = taken(there)
    there.hear(Died([tasks[0]], [tasks[1]], "worker_ended"), fetched)
    there.hear(made(tasks[2]), fetched)
    assert list(taken(there)) == [1, 0]
    there.hear(made(tasks[0]), lambda _: None)
    assert not kept.shards, "its tables were lost with their node"
    assert list(taken(there)) == [0]
    for shard in (0, 1, 3, 4):
        there.hear(made(tasks[shard]), fetched)
    assert kept.shards == [0, 1, 2, 3, 4]
    assert there.done


def test_nothing_new_is_given_out_while_too_many_wait_for_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(engine, "MOST_AHEAD", 2)
    there, kept = work()
    tasks = {shard: there.next() for shard in range(3)}
    for shard in (1, 2):
        there.hear(made(tasks[shard]), fetched)
    assert there.next() is None
    assert not there.done
    there.hear(made(tasks[0]), fetched)
    assert kept.shards == [0, 1, 2]
    assert sorted(taken(there)) == [3, 4]
