"""How many traces an intake acknowledges in a second, on one core, each of them on disk.

    python benchmarks/intake.py [--seconds 60] [--senders 4] [--postgres]

Starts an intake on one core, redaction on and full sync, and sends it batches of 100 traces from
another: 4 spans and 8 kB each, protobuf, gzip. Prints traces a second, processor time a trace,
the time until a reply, and memory. In the end the store is read: exit status 1 if a trace that was
acknowledged is not in it.
"""

import http.client
import os
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import numpy as np
from intake_server import IntakeProcess
from measure import ROOT, defined_in, memory, run
from traffic import BATCH, HEADERS, batch, packed, trace_id

from ragstone.monitor.store.store import open_store


def main(seconds: float = 60.0, senders: int = 4, postgres: bool = False) -> None:
    cores = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, set(cores[1:]) or set(cores))
    with ExitStack() as stack:
        if postgres:
            server_of_its_own = defined_in(
                ROOT / "tests" / "programs" / "postgres.py", "server_of_its_own"
            )
            place = stack.enter_context(server_of_its_own()).database()
        else:
            place = stack.enter_context(tempfile.TemporaryDirectory()) + "/store"
        server = IntakeProcess(place, cores[0])
        server.start()
        before, small = server.cpu_seconds, memory(pid=server.pid)
        begun = time.monotonic()
        with ThreadPoolExecutor(senders) as threads:
            sent = threads.map(
                lambda number: send(server.port, number, senders, begun + seconds), range(senders)
            )
            replies = [reply for batches in sent for reply in batches]
        took = time.monotonic() - begun
        cpu, large = server.cpu_seconds - before, memory(pid=server.pid)
        server.stop()
        lost = missing(place, [first for first, _, _ in replies])
    n = len(replies) * BATCH
    print(f"a trace           {len(batch(0)) / BATCH / 1000:.1f} kB, "
          f"{len(packed(0)) / BATCH / 1000:.1f} kB packed")  # fmt: skip
    print(f"acknowledged      {n:,} traces in {took:.1f} s")
    print(f"traces a second   {n / took:,.0f}")
    print(f"processor         {cpu / n * 1e6:.0f} µs a trace, {cpu / took:.0%} of a core")
    p50, p95 = np.quantile([taken for _, taken, _ in replies], [0.5, 0.95]) * 1000
    print(f"until the reply   {p50:.0f} ms median, {p95:.0f} ms p95")
    print(f"refused at first  {sum(refused for _, _, refused in replies)} batches")
    print(f"memory            {small / 1e6:.0f} MB before, {large / 1e6:.0f} MB after")
    print(f"lost              {lost}")
    sys.exit(0 if n and not lost else 1)


def send(port: int, number: int, senders: int, until: float) -> list[tuple[int, float, int]]:
    """Send batches for so long, and each of them until it is taken.

    Returns:
        Of each batch the number of its first trace, the seconds until the reply, and how often it
        was refused before.
    """
    replies = []
    line = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    first = number * BATCH
    while time.monotonic() < until:
        body, refused = packed(first), 0
        while True:
            begun = time.monotonic()
            line.request("POST", "/v1/traces", body, HEADERS)
            answer = line.getresponse()
            text = answer.read()
            if answer.status == 200 and not text:
                break
            if answer.status not in (429, 503):
                raise RuntimeError(f"{answer.status} {text!r}")
            refused += 1
            time.sleep(float(answer.headers["retry-after"]))
        replies.append((first, time.monotonic() - begun, refused))
        first += senders * BATCH
    line.close()
    return replies


def missing(place: str, acknowledged: list[int]) -> int:
    """How many traces that were acknowledged are not in a store."""
    opened = open_store(place, folder=Path(place) if "://" not in place else Path.cwd())
    with opened.database.reading() as query:
        there = {str(trace) for (trace,) in query("SELECT trace FROM received")}
    opened.close()
    return sum(
        trace_id(first + n).hex() not in there for first in acknowledged for n in range(BATCH)
    )


if __name__ == "__main__":
    run(main)
