"""Scores go back now and then, with the mean of their day, and only where that was asked for."""

from dataclasses import dataclass, field

import pytest

from ragstone.monitor import exports
from ragstone.monitor.duties.periodic_steps import write_scores_back
from ragstone.monitor.exports import NotTaken, begin_write_back
from ragstone.monitor.settings import MonitorSettings, WriteBackSettings
from ragstone.monitor.store.store import MonitorStore
from ragstone.monitor.worker import MonitorWorker
from tests.availability import import_or_skip
from tests.monitor.stored import put_example, put_score

NOW = 1_000_000.0
pb = import_or_skip("opentelemetry.proto.logs.v1.logs_pb2")


@dataclass
class Sink:
    """Takes what is posted, while it is open."""

    bodies: list[tuple[WriteBackSettings, bytes]] = field(default_factory=list)
    is_open: bool = True

    def __call__(self, to: WriteBackSettings, body: bytes) -> None:
        if not self.is_open:
            raise NotTaken("closed")
        self.bodies.append((to, body))


@pytest.fixture
def sink(monkeypatch: pytest.MonkeyPatch) -> Sink:
    found = Sink()
    monkeypatch.setattr(exports, "post", found)
    return found


def test_a_score_goes_back_with_the_mean_of_its_day(store: MonitorStore, sink: Sink) -> None:
    settings = WriteBackSettings("http://localhost:4318/v1/logs")
    begin_write_back(store)
    for at, value in enumerate((1.0, 0.0, 1.0, 1.0)):
        put_example(store, f"e{at}", NOW - 3600 - at * 25_000)
        put_score(store, f"e{at}", "faithfulness", value, at=NOW - 3600 - at * 25_000)
    put_example(store, "old", NOW - 200_000)
    put_score(store, "old", "faithfulness", 0.0, at=NOW - 200_000)
    assert write_scores_back(store, settings, lambda: NOW) == 5
    ((_, body),) = sink.bodies
    record = pb.LogsData.FromString(body).resource_logs[0].scope_logs[0].log_records[0]
    told = {one.key: one.value for one in record.attributes}
    assert told["ragstone.window.mean"].double_value == 0.75
    assert told["ragstone.window.n"].int_value == 4
    assert 0.1 < told["ragstone.window.low"].double_value < 0.75


def test_it_is_done_every_fifteen_seconds_and_again_where_it_was_refused(
    store: MonitorStore, sink: Sink
) -> None:
    clock = [NOW]
    settings = MonitorSettings(write_back=WriteBackSettings("http://h/v1/logs"))
    worker = MonitorWorker(store, settings, now=lambda: clock[0])
    put_example(store, "a", NOW)
    put_score(store, "a", "m1", 1.0)
    sink.is_open = False
    assert worker.send() == 0
    with store.database.reading() as run:
        ((text,),) = run("SELECT text FROM lines WHERE level = 'error'")
    assert text.startswith("Writing scores back failed (closed)")
    sink.is_open = True
    clock[0] += 2
    assert worker.send() == 1
    put_score(store, "a", "m2", 1.0)
    clock[0] += 14.9
    assert worker.send() == 0
    clock[0] += 0.1
    assert worker.send() == 1


def test_nothing_goes_anywhere_unasked(store: MonitorStore, sink: Sink) -> None:
    put_example(store, "a", NOW)
    put_score(store, "a", "m1", 1.0)
    assert MonitorWorker(store, now=lambda: NOW).send() == 0
    assert sink.bodies == []
