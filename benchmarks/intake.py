"""How many traces an intake acknowledges in a second, on one core, each of them on disk.

    python benchmarks/intake.py [--seconds 60] [--senders 4] [--postgres]

Starts an intake on one core, redaction on and full sync, and sends it batches of 100 traces from
another: 4 spans and 8 kB each, protobuf, gzip. Prints traces a second, processor time a trace,
the time until a reply, and memory. In the end the store is read: exit status 1 if a trace that was
acknowledged is not in it.
"""

import argparse
import http.client
import os
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from intake_server import IntakeProcess
from traffic import BATCH, HEADERS, batch, packed, trace_id

from ragstone.monitor.store.store import open_store

sys.path.append(str(Path(__file__).parents[1]))
from tests.programs.postgres import server_of_its_own


@dataclass
class Burst:
    """What senders saw.

    Attributes:
        acknowledged: The number of the first trace of each batch that was.
        replies: Seconds until each reply.
        refused: Batches that were not taken at first.
    """

    acknowledged: list[int] = field(default_factory=list)
    replies: list[float] = field(default_factory=list)
    refused: int = 0


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--senders", type=int, default=4)
    parser.add_argument("--postgres", action="store_true")
    given = parser.parse_args()
    cores = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, set(cores[1:]) or set(cores))
    with store(given.postgres) as place:
        server = IntakeProcess(place, cores[0])
        server.start()
        before, memory = server.cpu_seconds, server.memory
        begun = time.monotonic()
        burst = send(server.port, given.seconds, given.senders)
        took = time.monotonic() - begun
        cpu, most = server.cpu_seconds - before, server.memory
        server.stop()
        lost = missing(place, burst.acknowledged)
    n = len(burst.acknowledged) * BATCH
    plain, small = len(batch(0)) / BATCH / 1000, len(packed(0)) / BATCH / 1000
    print(f"a trace           {plain:.1f} kB, {small:.1f} kB packed")
    print(f"acknowledged      {n:,} traces in {took:.1f} s")
    print(f"traces a second   {n / took:,.0f}")
    print(f"processor         {cpu / n * 1e6:.0f} µs a trace, {cpu / took:.0%} of a core")
    p50, p95 = np.quantile(burst.replies, [0.5, 0.95]) * 1000
    print(f"until the reply   {p50:.0f} ms median, {p95:.0f} ms p95")
    print(f"refused at first  {burst.refused} batches")
    print(f"memory            {memory / 1e6:.0f} MB before, {most / 1e6:.0f} MB after")
    print(f"lost              {lost}")
    sys.exit(0 if n and not lost else 1)


@contextmanager
def store(in_postgres: bool) -> Iterator[str]:
    """The place of an empty store."""
    if in_postgres:
        with server_of_its_own() as server:
            yield server.database()
    else:
        with tempfile.TemporaryDirectory() as folder:
            yield str(Path(folder) / "store")


def send(port: int, seconds: float, senders: int) -> Burst:
    """Send batches for so long, from so many connections."""
    bursts = [Burst() for _ in range(senders)]
    until = time.monotonic() + seconds
    threads = [
        threading.Thread(target=_send, args=(port, number, senders, until, burst))
        for number, burst in enumerate(bursts)
    ]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    return Burst(
        [first for burst in bursts for first in burst.acknowledged],
        [seconds for burst in bursts for seconds in burst.replies],
        sum(burst.refused for burst in bursts),
    )


def _send(port: int, number: int, senders: int, until: float, burst: Burst) -> None:
    line = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    first = number * BATCH
    while time.monotonic() < until:
        body = packed(first)
        while True:
            begun = time.monotonic()
            line.request("POST", "/v1/traces", body, HEADERS)
            answer = line.getresponse()
            said = answer.read()
            if answer.status == 200 and not said:
                break
            if answer.status not in (429, 503):
                raise RuntimeError(f"{answer.status} {said!r}")
            burst.refused += 1
            time.sleep(float(answer.headers["retry-after"]))
        burst.replies.append(time.monotonic() - begun)
        burst.acknowledged.append(first)
        first += senders * BATCH
    line.close()


def missing(place: str, acknowledged: list[int]) -> int:
    """How many traces that were acknowledged are not in a store."""
    opened = open_store(place, folder=Path(place) if "://" not in place else Path.cwd())
    with opened.database.reading() as run:
        there = {str(trace) for (trace,) in run("SELECT trace FROM received")}
    opened.close()
    return sum(
        trace_id(first + n).hex() not in there for first in acknowledged for n in range(BATCH)
    )


if __name__ == "__main__":
    main()
