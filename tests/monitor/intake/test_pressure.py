"""Who sends too much or too often is told so, and keeps nobody else from sending."""

import gzip
import socket
import threading
from collections.abc import Iterator
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from ragstone.monitor.intake.group_commit import IntakeSettings
from ragstone.monitor.intake.http_request import WaitingRoom
from ragstone.monitor.intake.intake_app import IntakeApp
from ragstone.monitor.store.store import MonitorStore
from tests.monitor.intake.held import Held
from tests.monitor.intake.running import PROTOBUF, Answer, Sender, kept, running, serving, traces
from tests.monitor.intake.small_things import Shape, shapes
from tests.scripts import script
from tests.waiting import until

if TYPE_CHECKING:
    from intake_server import IntakeProcess

SERVER, MEASURE = script("intake_server"), script("measure")
SHAPES = list(shapes())

LONGEST = 60.0
"""Seconds that nothing here takes on any machine."""


def test_a_full_queue_is_answered_429_and_what_waits_is_kept(store: MonitorStore) -> None:
    held: Any = Held(store)
    app = IntakeApp(MonitorStore(held, store.folder, store.place), IntakeSettings(waiting=3))
    answers: list[Answer] = []

    def post(number: int) -> None:
        body = traces(number, 1).SerializeToString()
        answers.append(sender.post("/v1/traces", body, PROTOBUF))

    with serving(app) as sender:
        senders = [threading.Thread(target=post, args=(number,)) for number in range(3)]
        for one in senders:
            one.start()
        until(lambda: app.room.requests == 3)
        full = sender.post("/v1/traces", traces(9, 1).SerializeToString(), PROTOBUF)
        ready = sender.get("/ready")
        held.go.set()
        for one in senders:
            one.join()
        again = sender.post("/v1/traces", traces(9, 1).SerializeToString(), PROTOBUF)
    app.close()
    assert (full.status, full.headers["retry-after"], full.body[0]) == (429, "2", 8)
    assert (ready.status, ready.json) == (503, {"status": "full"})
    assert [one.status for one in answers] == [200] * 3
    assert again.status == 200
    assert len(kept(store)) == 4


def test_more_bytes_than_may_wait_are_answered_429(store: MonitorStore) -> None:
    with running(store, IntakeSettings(waiting_bytes=5_000)) as (sender, app):
        large = traces(0, 1, "x" * 10_000).SerializeToString()
        assert sender.post("/v1/traces", large, PROTOBUF).status == 429
        assert sender.post("/v1/traces", traces(0, 1).SerializeToString(), PROTOBUF).status == 200
        assert (app.room.requests, app.room.bytes) == (0, 0)


def test_a_waiting_room_counts_what_is_in_it() -> None:
    room = WaitingRoom(2, 100)
    one, two = room.enter(), room.enter()
    assert one is not None
    assert two is not None
    assert room.enter() is None
    assert room.grow(one, 60)
    assert not room.grow(two, 60)
    assert room.grow(two, 40)
    room.leave(one)
    assert (room.requests, room.bytes) == (1, 40)
    assert room.enter() is not None


def connected(sender: Sender) -> socket.socket:
    return socket.create_connection(("127.0.0.1", sender.port), timeout=LONGEST)


def head(length: int) -> bytes:
    return (
        b"POST /v1/traces HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
        b"Content-Length: %d\r\n\r\n" % length
    )


def test_a_sender_that_goes_away_leaves_its_place(store: MonitorStore) -> None:
    with running(store) as (sender, app):
        with closing(connected(sender)) as gone:
            gone.sendall(head(100) + b"{")
            until(lambda: app.room.requests == 1)
        until(lambda: app.room.requests == 0)
        assert app.room.bytes == 0


@pytest.fixture(scope="module")
def intake(tmp_path_factory: pytest.TempPathFactory) -> Iterator["IntakeProcess"]:
    process = SERVER.IntakeProcess(str(tmp_path_factory.mktemp("intake") / "store"))
    process.start()
    yield process
    process.stop()


SMALL, LARGE = 1_990_000, 31_000_000
"""Bytes of which some shapes are just within the limits, and none is."""


@pytest.mark.parametrize(
    ("shape", "size"),
    [
        *((shape, SMALL) for shape in SHAPES),
        *((shape, LARGE) for shape in SHAPES if shape.name.endswith((" objects", " attributes"))),
    ],
    ids=lambda given: getattr(given, "name", given),
)
def test_many_small_things_take_little_memory_and_time(
    intake: "IntakeProcess", shape: Shape, size: int
) -> None:
    packed = gzip.compress(shape.body(size), 1)
    headers = {**shape.headers, "content-encoding": "gzip"}
    MEASURE.forget_peak(intake.pid)
    before = intake.cpu_seconds
    answer = Sender(intake.port).post(shape.path, packed, headers)
    assert answer.status in (200, 413)
    assert intake.cpu_seconds - before < 2
    assert MEASURE.memory("VmHWM", intake.pid) < 300e6
