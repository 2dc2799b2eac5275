"""What waits is written together, and acknowledged only when it is on disk."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import monotonic
from typing import Any

import pytest

from ragstone.core.errors import StoreAway
from ragstone.data.traces.spans import TracePart
from ragstone.monitor.intake.group_commit import AcceptedBody, GroupCommit
from ragstone.monitor.store.rows import counted, last_lines, remembered
from ragstone.monitor.store.store import MonitorStore, open_store
from tests.monitor.intake.held import Held
from tests.monitor.intake.running import PROTOBUF, Answer, kept, running, traces


def taken(trace: str, body: bytes = b"x") -> AcceptedBody:
    return AcceptedBody([TracePart(trace, "example", body, 1)], counts={"received": 1})


def test_what_waits_is_one_transaction(store: MonitorStore) -> None:
    held: Any = Held(store)
    writer = GroupCommit(MonitorStore(held, store.folder, store.place))
    said: list[Exception | None] = []
    writer.put(taken("first"), said.append)
    held.begun.wait()
    for n in range(50):
        writer.put(taken(f"t{n}"), said.append)
    assert said == []
    held.go.set()
    writer.close()
    assert said == [None] * 51
    assert held.n == 2
    assert len(kept(store)) == 51
    with store.database.reading() as run:
        assert counted(run, 0) == {"received": 51}


def test_what_is_remembered_and_kept_aside_is_in_the_same_transaction(store: MonitorStore) -> None:
    writer = GroupCommit(store, now=lambda: 60.0)
    one = AcceptedBody(
        [TracePart("t", "example", b"x", 1)],
        [("body_not_json", b"y")],
        {"received": 2},
        {"position": {"offset": 7}},
    )
    writer.write(one)
    writer.note({"refused": 3})
    writer.close()
    with store.database.reading() as run:
        assert remembered(run, "position") == {"offset": 7}
        assert run("SELECT at, why FROM malformed") == [(60.0, "body_not_json")]
        assert counted(run, 60, 120) == {"received": 2, "refused": 3}


def test_one_that_cannot_be_written_does_not_keep_others_away(store: MonitorStore) -> None:
    held: Any = Held(store)
    writer = GroupCommit(MonitorStore(held, store.folder, store.place))
    said: dict[str, Exception | None] = {}
    writer.put(taken("first"), lambda error: said.update(first=error))
    held.begun.wait()
    unwritable = AcceptedBody([TracePart("bad", "example", object(), 1)])  # type: ignore[arg-type]
    object.__setattr__(unwritable.parts[0], "body", _Odd())
    writer.put(taken("second"), lambda error: said.update(second=error))
    writer.put(unwritable, lambda error: said.update(bad=error))
    writer.put(taken("third"), lambda error: said.update(third=error))
    held.go.set()
    writer.close()
    assert set(kept(store)) == {"first", "second", "third"}
    assert said.pop("bad") is not None
    assert said == {"first": None, "second": None, "third": None}


class _Odd:
    """Is no bytes, but has a length as they do."""

    def __len__(self) -> int:
        return 1


def test_what_is_said_is_in_the_log_and_nobody_waits_for_it(store: MonitorStore) -> None:
    held: Any = Held(store)
    writer = GroupCommit(MonitorStore(held, store.folder, store.place))
    writer.say("warning", "odd")
    held.go.set()
    writer.close()
    with store.database.reading() as run:
        assert [(level, text) for _, level, text in last_lines(run)] == [("warning", "odd")]


def test_nothing_is_taken_after_the_end(store: MonitorStore) -> None:
    writer = GroupCommit(store)
    writer.close()
    with pytest.raises(StoreAway):
        writer.write(taken("t"))


def test_a_full_disk_is_answered_503_and_all_is_well_when_there_is_room(tmp_path: Path) -> None:
    store = open_store(tmp_path / "store")
    body = traces(0, 100, "x" * 2_000).SerializeToString()
    with running(store) as (sender, app):
        assert sender.post("/v1/traces", body, PROTOBUF).status == 200
        limit_pages(store, 20)
        for _ in range(3):
            answer = sender.post(
                "/v1/traces", traces(100, 100, "y" * 2_000).SerializeToString(), PROTOBUF
            )
            assert (answer.status, answer.headers["retry-after"]) == (503, "2")
        assert app.writer.is_away
        ready = sender.get("/ready")
        assert (ready.status, ready.json) == (503, {"status": "store"})
        assert sender.get("/health").status == 200
        limit_pages(store, 1_000_000)
        again = sender.post("/v1/traces", traces(100, 100, "y").SerializeToString(), PROTOBUF)
        assert again.status == 200
        assert sender.get("/ready").status == 200
    assert len(kept(store)) == 200
    with store.database.reading() as run:
        assert counted(run, 0)["refused"] == 3
        said = [text for _, _, text in last_lines(run)]
    assert "can be written to again" in said[0]
    assert "the disk is full" in said[-1]
    store.close()


def test_a_locked_store_is_answered_503_in_time_and_taken_up_at_once(
    store: MonitorStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ragstone.core.database.PATIENCE", 0.5)

    def post(number: int) -> Answer:
        return sender.post("/v1/traces", traces(number, 1).SerializeToString(), PROTOBUF)

    another = open_store(store.place, folder=store.folder)
    with running(store) as (sender, _), ThreadPoolExecutor(20) as pool:
        with another.database.transaction():
            began = monotonic()
            answers = list(pool.map(post, range(20)))
            assert monotonic() - began < 10
            assert {(one.status, one.headers["retry-after"]) for one in answers} == {(503, "2")}
            assert sender.get("/ready").json == {"status": "store"}
            assert sender.get("/health").status == 200
        assert post(0).status == 200
        assert sender.get("/ready").status == 200
    another.close()
    assert len(kept(store)) == 1


def limit_pages(store: MonitorStore, more: int) -> None:
    """Let the file of a store grow by so many pages, as if the disk had no more."""
    with store.database.transaction() as run:
        ((pages,),) = run("PRAGMA page_count")
        run(f"PRAGMA max_page_count = {pages + more}")
