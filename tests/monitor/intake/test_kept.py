"""What was acknowledged is kept, whatever happens to the server, its database or its disk."""

import random
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from http.client import HTTPException
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from opentelemetry.proto.trace.v1.trace_pb2 import TracesData

from ragstone.monitor.store.store import open_store
from tests.monitor.intake.running import Sender
from tests.programs.postgres import PostgresServer
from tests.scripts import script
from tests.small_disk import small_disk
from tests.waiting import until

if TYPE_CHECKING:
    from intake_server import IntakeProcess

SERVER, TRAFFIC = script("intake_server"), script("traffic")

SENDERS = 4
CALM = 0.3
"""Seconds between two kills, at least; as long again at most."""


@dataclass
class Sending:
    """What one sender did: the first traces of batches that were acknowledged, batches sent again,
    and statuses that no exporter sends again."""

    acknowledged: list[int] = field(default_factory=list)
    repeated: int = 0
    others: list[int] = field(default_factory=list)


@pytest.mark.kill
@pytest.mark.parametrize("where", ["sqlite", "postgres"])
def test_nothing_acknowledged_is_lost_when_the_server_is_killed(
    where: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """Senders send without a pause; what is not acknowledged they send again, as exporters do."""
    postgres: PostgresServer | None = None
    place = str(tmp_path / "store")
    if where == "postgres":
        postgres = request.getfixturevalue("own_postgres")
        place = postgres.database()
    server, over = SERVER.IntakeProcess(place), threading.Event()
    server.start()
    sendings = [Sending() for _ in range(SENDERS)]
    threads = [
        threading.Thread(target=send, args=(server.port, number, over, sending), daemon=True)
        for number, sending in enumerate(sendings)
    ]
    for one in threads:
        one.start()
    draw = random.Random(0)
    try:
        for number in range(3):
            until_more(sendings)
            time.sleep(CALM * (1 + draw.random()))
            if postgres is not None and number == 2:
                postgres.stop("immediate")
                postgres.start()
            else:
                server.kill()
                server.start()
        until_more(sendings)
    finally:
        over.set()
        for one in threads:
            one.join()
        server.kill()
    assert missing(place, [first for sending in sendings for first in sending.acknowledged]) == 0
    assert [sending.others for sending in sendings] == [[]] * SENDERS
    assert sum(sending.repeated for sending in sendings) > 0, "it was killed between batches"


def until_more(sendings: list[Sending]) -> None:
    """Wait until each sender was told once more that its traces are kept."""
    before = [len(one.acknowledged) for one in sendings]
    until(lambda: all(len(one.acknowledged) > n for one, n in zip(sendings, before, strict=True)))


def send(port: int, number: int, over: threading.Event, sending: Sending) -> None:
    sender, first = Sender(port), number * TRAFFIC.BATCH
    while not over.is_set():
        try:
            status = sender.post("/v1/traces", TRAFFIC.packed(first), TRAFFIC.HEADERS).status
        except (OSError, HTTPException):
            status = 0
        if status == 200:
            sending.acknowledged.append(first)
            first += SENDERS * TRAFFIC.BATCH
            continue
        sending.repeated += 1
        if status not in (0, 429, 503):
            sending.others.append(status)
            return
        time.sleep(0.05)


def missing(place: str, acknowledged: list[int]) -> int:
    """How many traces that were acknowledged are not in a store with all of their spans."""
    opened = open_store(place, folder=Path(place) if "://" not in place else Path.cwd())
    whole = set()
    with opened.database.reading() as run:
        through = 0
        while rows := run(
            "SELECT number, trace, body FROM received WHERE number > ? ORDER BY number LIMIT 1000",
            through,
        ):
            through = rows[-1][0]
            for _, trace, body in rows:
                (group,) = TracesData.FromString(bytes(body)).resource_spans
                ids = {span.span_id for scope in group.scope_spans for span in scope.spans}
                if len(ids) == TRAFFIC.SPANS:
                    whole.add(trace)
    opened.close()
    sent = [first + n for first in acknowledged for n in range(TRAFFIC.BATCH)]
    return sum(TRAFFIC.trace_id(number).hex() not in whole for number in sent)


SMALL = 3_000_000


@contextmanager
def limited(folder: Path) -> Iterator[tuple[str, Callable[["IntakeProcess"], None]]]:
    """A store whose files may only grow so far, and what lets them grow on."""
    yield str(folder / "store"), lambda process: process.limit_files(None)


@contextmanager
def nearly_full_disk(_: Path) -> Iterator[tuple[str, Callable[["IntakeProcess"], None]]]:
    """A store on a disk that is nearly full, and what makes room there."""
    with small_disk(3 * SMALL) as disk:
        ballast = disk / "ballast"
        ballast.write_bytes(bytes(2 * SMALL))
        yield str(disk / "store"), lambda _process: ballast.unlink()


Disk = Callable[[Path], AbstractContextManager[tuple[str, Callable[["IntakeProcess"], None]]]]


@pytest.mark.parametrize("disk", [limited, nearly_full_disk])
def test_a_full_disk_is_answered_503_and_loses_nothing_acknowledged(
    disk: "Disk", tmp_path: Path
) -> None:
    with disk(tmp_path) as (place, make_room):
        process = SERVER.IntakeProcess(place)
        process.start()
        if disk is limited:
            process.limit_files(SMALL)
        sender = Sender(process.port)
        acknowledged, number, full = [], 0, 0
        while full < 3 and number < 100:
            answer = sender.post("/v1/traces", TRAFFIC.packed(number * 100), TRAFFIC.HEADERS)
            assert answer.status in (200, 503)
            if answer.status == 200:
                assert not full, "a full disk has no room for another batch"
                acknowledged.append(number * 100)
            else:
                assert answer.headers["retry-after"]
                full += 1
            number += 1
        assert acknowledged
        assert full == 3
        assert sender.get("/ready").status == 503
        assert sender.get("/health").status == 200
        make_room(process)
        assert sender.post("/v1/traces", TRAFFIC.packed(50_000), TRAFFIC.HEADERS).status == 200
        assert sender.get("/ready").status == 200
        process.kill()
        assert missing(place, [*acknowledged, 50_000]) == 0
