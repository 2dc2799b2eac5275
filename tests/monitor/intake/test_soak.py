"""A monitor in use keeps all that it is sent, and needs no more memory with time.

``ragstone monitor serve`` is sent traces as apps do: protobuf and packed, some in two requests with
the later spans first, some twice, and answers by the recorder. RAGSTONE_SOAK says for how many
seconds.
"""

import http.client
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import closing, suppress
from pathlib import Path
from urllib.parse import urlsplit

from ragstone.core.database import Database
from ragstone.monitor.intake.recorder import Recorder, sender_to
from ragstone.monitor.store.rows import counted, last_lines
from ragstone.monitor.store.store import open_store
from tests.scripts import script
from tests.waiting import until

TRAFFIC = script("traffic")

SECONDS = float(os.environ.get("RAGSTONE_SOAK", "20"))
RATE, BATCH = 20, 10
SAMPLES = 60
"""How often memory is looked at."""
MB = 2**20


def test_all_that_is_sent_for_a_while_is_kept_and_folded(tmp_path: Path) -> None:
    store = str(tmp_path / "store")
    statuses, memory = set[int](), list[int]()
    command = [sys.executable, "-m", "ragstone", "monitor", "serve", "--store", store,
               "--port", "0"]  # fmt: skip
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        address = urlsplit(process.stdout.readline().split()[-1])
        assert address.hostname
        recorder = Recorder(sender_to(f"http://{address.netloc}", ""))
        line = http.client.HTTPConnection(address.hostname, address.port, timeout=60)
        begun = time.monotonic()
        number = 0
        while (now := time.monotonic() - begun) < SECONDS:
            for body in _bodies(number):
                _post(line, body, statuses)
            recorder.record({"question": f"q{number}", "answer": "It is so.", "id": f"r{number}"})
            if len(memory) < SAMPLES * now / SECONDS:
                memory.append(_memory(process.pid))
            number += 1
            time.sleep(max(0.0, number * BATCH / RATE - (time.monotonic() - begun)))
        recorder.close(60)
        line.close()
        sent = {TRAFFIC.trace_id(one).hex() for one in range(number * BATCH)}
        sent |= {f"r{batch}" for batch in range(number)}
        with closing(open_store(store, folder=Path(store)).database) as database:
            until(lambda: _traces(database, "examples") >= sent)
        process.send_signal(signal.SIGTERM)
        status = process.wait(120)
    with closing(open_store(store, folder=Path(store)).database) as database:
        there = _traces(database, "received")
        with database.reading() as run:
            faults = [text for _, level, text in last_lines(run, 1_000) if level == "error"]
            malformed = counted(run, 0).get("malformed")
    assert (status, faults, malformed) == (0, [], None)
    assert there >= sent
    assert recorder.sent > 0
    assert statuses <= {200, 429, 503}
    # After the first third it grows by less than a quarter and 24 MB.
    third = len(memory) // 3
    assert max(memory[third:]) < 1.25 * max(memory[: third + 1]) + 24 * MB


def _traces(database: Database, table: str) -> set[str]:
    with database.reading() as run:
        return {trace for (trace,) in run(f"SELECT DISTINCT trace FROM {table}")}


def _bodies(number: int) -> Sequence[bytes]:
    """What is sent of a batch: whole, twice, or in two requests with the later spans first."""
    first = number * BATCH
    if number % 5 == 4:
        return [*TRAFFIC.split(first, BATCH)]
    return [TRAFFIC.packed(first, BATCH)] * (2 if number % 5 == 3 else 1)


def _post(line: http.client.HTTPConnection, body: bytes, statuses: set[int]) -> None:
    """Send a body until it is taken, as an exporter does."""
    while True:
        line.request("POST", "/v1/traces", body, TRAFFIC.HEADERS)
        answer = line.getresponse()
        answer.read()
        statuses.add(answer.status)
        if answer.status not in (429, 503):
            return
        time.sleep(1)


def _memory(process: int) -> int:
    """Bytes of a process and its children."""
    children = Path(f"/proc/{process}/task/{process}/children").read_text(encoding="ascii").split()
    total = 0
    for one in (process, *children):
        with suppress(FileNotFoundError):
            lines = Path(f"/proc/{one}/status").read_text(encoding="utf-8").splitlines()
            total += sum(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmRSS"))
    return total
