"""A monitor in use for a while: all that is sent is kept, and neither memory nor replies grow.

    python benchmarks/soak.py [--seconds 1200] [--rate 20] [--postgres]

Starts ``ragstone monitor serve`` and sends it --rate traces a second as apps do: protobuf and
packed, some in two requests with the later spans first, some twice, and answers by the recorder.
In the end it is told to stop, and its store is read. Prints what came of it; exit status 1 if
something acknowledged is lost or not folded, a reply was neither 200 nor asked to send it again, or
memory grew by more than a quarter and 24 MB after the first third.
"""

import argparse
import http.client
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np
from intake import HEADERS, store
from traffic import packed, split, trace_id

from ragstone.monitor.intake.recorder import Recorder, sender_to
from ragstone.monitor.store.rows import counted, last_lines
from ragstone.monitor.store.store import open_store

BATCH = 10
SAMPLES = 60
"""How often memory is looked at."""

MB = 2**20


@dataclass
class Soaked:
    """What came of it: ``recorded`` are answers of the recorder that were taken, ``replies``
    seconds until each, ``memory`` bytes of the server and its worker over time, ``faults`` lines of
    the log that tell of an error."""

    acknowledged: list[int] = field(default_factory=list)
    recorded: int = 0
    statuses: Counter[int] = field(default_factory=Counter)
    replies: list[float] = field(default_factory=list)
    memory: list[int] = field(default_factory=list)
    lost: int = 0
    unfolded: int = 0
    faults: list[str] = field(default_factory=list)
    status: int | None = None

    @property
    def grown(self) -> float:
        """MB by which memory grew beyond a quarter of what it was after the first third."""
        third = len(self.memory) // 3
        return (max(self.memory[third:]) - 1.25 * max(self.memory[: third + 1])) / MB

    @property
    def is_well(self) -> bool:
        """Whether all is as it should be."""
        return (
            not (self.lost or self.unfolded or self.faults or self.status)
            and bool(self.acknowledged and self.recorded)
            and set(self.statuses) <= {200, 429, 503}
            and self.grown < 24
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seconds", type=float, default=1200.0)
    parser.add_argument("--rate", type=float, default=20.0)
    parser.add_argument("--postgres", action="store_true")
    given = parser.parse_args()
    with store(given.postgres) as (place, _):
        found = soak(place, given.seconds, given.rate)
    p50, p95 = np.quantile(found.replies, [0.5, 0.95]) * 1000
    print(f"acknowledged     {len(found.acknowledged):,}, {found.recorded:,} by the recorder")
    print(f"statuses         {dict(found.statuses)}")
    print(f"until the reply  {p50:.0f} ms median, {p95:.0f} ms p95")
    memory = ", ".join(f"{one / MB:.0f}" for one in found.memory[:: max(1, SAMPLES // 12)])
    print(f"memory in MB     {memory}")
    print(f"lost {found.lost}, not folded {found.unfolded}, ended with {found.status}")
    for line in found.faults[:10]:
        print(line)
    sys.exit(not found.is_well)


def soak(place: str, seconds: float, rate: float) -> Soaked:
    """Run a monitor over a store for so long, and send it so many traces a second."""
    found = Soaked()
    command = [sys.executable, "-m", "ragstone", "monitor", "serve", "--store", place,
               "--port", "0"]  # fmt: skip
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        address = urlsplit(process.stdout.readline().split()[-1])
        assert address.hostname
        recorder = Recorder(sender_to(f"http://{address.netloc}", ""))
        line = http.client.HTTPConnection(address.hostname, address.port, timeout=60)
        begun = time.monotonic()
        number = 0
        while (now := time.monotonic() - begun) < seconds:
            for body in _bodies(number):
                _post(line, body, found)
            found.acknowledged += range(number * BATCH, (number + 1) * BATCH)
            recorder.record({"question": f"q{number}", "answer": "It is so.", "id": f"r{number}"})
            if len(found.memory) < SAMPLES * now / seconds:
                found.memory.append(_memory(process.pid))
            number += 1
            time.sleep(max(0.0, number * BATCH / rate - (time.monotonic() - begun)))
        recorder.close(60)
        found.recorded = recorder.sent
        line.close()
        process.send_signal(signal.SIGTERM)
        found.status = process.wait(120)
    _read(place, found, number)
    return found


def _bodies(number: int) -> Sequence[bytes]:
    """What is sent of a batch: whole, twice, or in two requests with the later spans first."""
    first = number * BATCH
    match number % 5:
        case 3:
            return [packed(first, BATCH)] * 2
        case 4:
            return split(first, BATCH)
    return [packed(first, BATCH)]


def _post(line: http.client.HTTPConnection, body: bytes, found: Soaked) -> None:
    """Send a body until it is taken, as an exporter does."""
    while True:
        begun = time.monotonic()
        line.request("POST", "/v1/traces", body, HEADERS)
        answer = line.getresponse()
        answer.read()
        found.replies.append(time.monotonic() - begun)
        found.statuses[answer.status] += 1
        if answer.status not in (429, 503):
            return
        time.sleep(1)


def _memory(process: int) -> int:
    """Bytes of a process and its children."""
    children = Path(f"/proc/{process}/task/{process}/children").read_text(encoding="ascii").split()
    return sum(_own(one) for one in (process, *map(int, children)))


def _own(process: int) -> int:
    try:
        lines = Path(f"/proc/{process}/status").read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        return 0
    return sum(int(one.split()[1]) * 1024 for one in lines if one.startswith("VmRSS"))


def _read(place: str, found: Soaked, batches: int) -> None:
    """See what is in the store."""
    opened = open_store(place, folder=Path(place) if "://" not in place else Path.cwd())
    with opened.database.reading() as run:
        there = {trace for (trace,) in run("SELECT DISTINCT trace FROM received")}
        folded = {trace for (trace,) in run("SELECT trace FROM examples")}
        found.faults += [one.text for one in last_lines(run, 1_000) if one.level == "error"]
        counts = counted(run, 0)
    opened.close()
    sent = {trace_id(one).hex() for one in found.acknowledged}
    sent |= {f"r{number}" for number in range(batches)}
    found.lost = len(sent - there)
    found.unfolded = len((sent & there) - folded)
    if counts.get("malformed"):
        found.faults.append(f"{counts['malformed']} were malformed")


if __name__ == "__main__":
    main()
