"""An intake is killed with −9 in a burst, again and again: nothing that it acknowledged is lost.

    python benchmarks/intake_kept.py [--kills 10] [--postgres] [--seed 0]

Four senders send batches of 100 traces without a pause, as exporters do: a batch that is not
acknowledged is sent again. At moments drawn from --seed the server is killed and started again on
its port; with --postgres its database now and then is, too. In the end the store is read. Prints
the counts; exit status 1 if a trace that was acknowledged is missing, or is not as it was sent.
"""

import argparse
import http.client
import random
import sys
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

from intake import HEADERS, store
from intake_server import IntakeProcess
from opentelemetry.proto.trace.v1.trace_pb2 import TracesData
from postgres import PostgresServer
from traffic import BATCH, SPANS, packed, trace_id

from ragstone.monitor.store.store import open_store

SENDERS = 4
PATIENCE = 120
"""Seconds; a busy machine is far below it."""
CALM = 0.3
"""Seconds between two kills, at least; as long again at most."""


@dataclass
class Sending:
    """What one sender did: the first traces of batches that were acknowledged, batches sent again,
    and statuses that no exporter sends again."""

    acknowledged: list[int] = field(default_factory=list)
    repeated: int = 0
    others: list[int] = field(default_factory=list)


@dataclass(frozen=True)
class KeptTraces:
    """Traces acknowledged, and of those not in the store with all their spans; batches sent again;
    replies that are neither 200, 429 nor 503; kills of the server, and of its database."""

    acknowledged: int
    lost: int
    repeated: int
    others: int
    kills: int
    restarts: int


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--postgres", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    with store(given.postgres) as (place, server):
        found = kept(place, given.kills, given.seed, server)
    print(found)
    sys.exit(1 if found.lost or found.others or not found.acknowledged else 0)


def kept(place: str, kills: int, seed: int, postgres: PostgresServer | None = None) -> KeptTraces:
    """Send traces while the server is killed, and see what is in the store.

    Of so many kills every third is a restart of ``postgres``, if that has the store.
    """
    server = IntakeProcess(place)
    server.start()
    over = threading.Event()
    sendings = [Sending() for _ in range(SENDERS)]
    threads = [
        threading.Thread(target=_send, args=(server.port, number, over, sending), daemon=True)
        for number, sending in enumerate(sendings)
    ]
    for one in threads:
        one.start()
    draw = random.Random(seed)
    restarts = 0
    try:
        for number in range(kills):
            _until_more(sendings)
            time.sleep(CALM * (1 + draw.random()))
            if postgres is not None and number % 3 == 2:
                postgres.stop("immediate")
                postgres.start()
                restarts += 1
            else:
                server.kill()
                server.start()
        _until_more(sendings)
    finally:
        over.set()
        for one in threads:
            one.join()
        server.kill()
    acknowledged = [first for sending in sendings for first in sending.acknowledged]
    return KeptTraces(
        len(acknowledged) * BATCH,
        missing(place, acknowledged),
        sum(sending.repeated for sending in sendings),
        sum(len(sending.others) for sending in sendings),
        kills - restarts,
        restarts,
    )


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
                if len(ids) == SPANS:
                    whole.add(trace)
    opened.close()
    return sum(
        trace_id(first + n).hex() not in whole for first in acknowledged for n in range(BATCH)
    )


def _until_more(sendings: list[Sending]) -> None:
    """Wait until each sender was told once more that its traces are kept."""
    before = [len(one.acknowledged) for one in sendings]
    end = time.monotonic() + PATIENCE
    while any(len(one.acknowledged) <= n for one, n in zip(sendings, before, strict=True)):
        if time.monotonic() > end:
            raise TimeoutError(f"Nothing was acknowledged for {PATIENCE} s.")
        time.sleep(0.01)


def _send(port: int, number: int, over: threading.Event, sending: Sending) -> None:
    first = number * BATCH
    while not over.is_set():
        status = _status(port, packed(first))
        if status == 200:
            sending.acknowledged.append(first)
            first += SENDERS * BATCH
            continue
        sending.repeated += 1
        if status not in (0, 429, 503):
            sending.others.append(status)
            return
        time.sleep(0.05)


def _status(port: int, body: bytes) -> int:
    """The status of a reply; 0 where there is none."""
    line = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        line.request("POST", "/v1/traces", body, HEADERS)
        answer = line.getresponse()
        answer.read()
        return answer.status
    except (OSError, http.client.HTTPException):
        return 0
    finally:
        line.close()


if __name__ == "__main__":
    main()
