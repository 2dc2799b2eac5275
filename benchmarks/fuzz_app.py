"""Random and mutated requests to the intake of a monitor: none is answered 5xx, and memory is flat.

    python benchmarks/fuzz_app.py [--bodies 100000] [--seed 1]

The bodies are those of fuzz_intake.py; one in four is packed besides, and of these some are broken
again, and one in ten goes to another address, or says of itself what it is not. Each goes through
the app, redacted and into a store. Prints the statuses and the memory after each tenth; exit status
1 for a status from 500 on, an answer that is neither protobuf nor JSON, or more than 32 MB that
memory grew after the first fifth.
"""

import argparse
import asyncio
import gzip
import json
import random
import sys
import tempfile
import zlib
from collections import Counter
from collections.abc import MutableMapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fuzz_intake import LIMITS, REDACTION, body_of, memory
from mutations import changed_bytes

from ragstone.monitor.intake.group_commit import IntakeSettings
from ragstone.monitor.intake.intake_app import PATHS, IntakeApp, make_intake
from ragstone.monitor.store.store import open_store

PROTOBUF, JSON = "application/x-protobuf", "application/json"
KINDS = (PROTOBUF, JSON, "application/x-ndjson", "text/plain", "", "\xff", "application/json;" * 99)
ENCODINGS = ("gzip", "deflate", "identity", "br", "", "\xff")
LENGTHS = ("0", "-1", "9" * 40, "x", "1", "99999999999999")
AT_ONCE = 8
GROWN = 32
"""MB by which memory may grow after the first fifth."""


@dataclass(frozen=True)
class FuzzedRequest:
    """One request."""

    method: str
    path: str
    headers: list[tuple[bytes, bytes]]
    body: bytes


@dataclass
class Answers:
    """What came of them.

    Attributes:
        statuses: How often each.
        faults: What may not happen.
        memory: MB after each tenth.
    """

    statuses: Counter[int] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)
    memory: list[float] = field(default_factory=list)

    @property
    def grown(self) -> float:
        """MB by which memory grew after the first fifth."""
        return max(self.memory[1:]) - self.memory[1]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--bodies", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    found = fuzzed(given.bodies, given.seed, loud=True)
    for status, n in sorted(found.statuses.items()):
        print(f"{status}  {n:8,}")
    print(f"memory grew by {found.grown:.0f} MB after the first fifth")
    for fault in found.faults[:20]:
        print(fault)
    sys.exit(bool(found.faults) or found.grown > GROWN)


def fuzzed(bodies: int, seed: int, *, loud: bool = False) -> Answers:
    """Send so many requests to an intake over a new store."""
    with tempfile.TemporaryDirectory() as folder:
        store = open_store(Path(folder) / "store")
        app = make_intake(store, IntakeSettings(redaction=REDACTION, limits=LIMITS))
        try:
            return asyncio.run(_all(app, bodies, seed, loud))
        finally:
            app.close()
            store.close()


async def _all(app: IntakeApp, bodies: int, seed: int, loud: bool) -> Answers:
    found = Answers()
    tenth = max(AT_ONCE, bodies // 10)
    for first in range(0, bodies, AT_ONCE):
        numbers = range(first, min(first + AT_ONCE, bodies))
        await asyncio.gather(*(_one(app, seed, number, found) for number in numbers))
        if first // tenth != (first + AT_ONCE) // tenth:
            found.memory.append(memory())
            if loud:
                print(f"{first + AT_ONCE:,} requests, {found.memory[-1]:,.0f} MB", flush=True)
    return found


async def _one(app: IntakeApp, seed: int, number: int, found: Answers) -> None:
    request = request_of(seed, number)
    try:
        status, headers, body = await answered(app, request)
    except Exception as error:
        found.faults.append(f"{number}: {type(error).__name__}: {error}"[:300])
        return
    found.statuses[status] += 1
    if status >= 500:
        found.faults.append(f"{number}: {status} {body[:100]!r}")
    if request.method == "HEAD":
        return
    if headers[b"content-type"] == JSON.encode():
        json.loads(body)
    elif request.method == "POST" and headers[b"content-type"] != PROTOBUF.encode():
        found.faults.append(f"{number}: answered as {headers[b'content-type']!r}")


def request_of(seed: int, number: int) -> FuzzedRequest:
    """The request with that number."""
    sort, body = body_of(seed, number)
    drawn = random.Random(f"{seed} {number} sent")
    is_json = "JSON" in sort.name or sort.name == "examples"
    path = f"/v1/{sort.name.split()[0]}"
    headers = {"content-type": JSON if is_json else PROTOBUF}
    if drawn.random() < 0.25:
        headers["content-encoding"] = drawn.choice(ENCODINGS[:2])
        pack = gzip.compress if headers["content-encoding"] == "gzip" else zlib.compress
        body = pack(body)
        if drawn.random() < 0.3:
            body = changed_bytes(body, drawn)
    method = "POST"
    if drawn.random() < 0.1:
        match drawn.randrange(5):
            case 0:
                headers["content-type"] = drawn.choice(KINDS)
            case 1:
                headers["content-encoding"] = drawn.choice(ENCODINGS)
            case 2:
                headers["content-length"] = drawn.choice(LENGTHS)
            case 3:
                path = drawn.choice((*sorted(PATHS), "/v1", "/v1/traces/", "//", "/v1/\ud800"))
            case 4:
                method = drawn.choice(("GET", "PUT", "HEAD", "OPTIONS", "X"))
    raw = [(name.encode(), value.encode("latin-1")) for name, value in headers.items()]
    return FuzzedRequest(method, path, raw, body)


async def answered(app: IntakeApp, request: FuzzedRequest) -> tuple[int, dict[bytes, bytes], bytes]:
    """What the app answers to a request, as a server would hand it in: piece by piece."""
    half = len(request.body) // 2
    pieces = [request.body[:half], request.body[half:]]
    sent: list[MutableMapping[str, Any]] = []

    async def receive() -> MutableMapping[str, Any]:
        return {"type": "http.request", "body": pieces.pop(0), "more_body": bool(pieces)}

    async def send(message: MutableMapping[str, Any]) -> None:
        sent.append(message)

    scope = {
        "type": "http",
        "method": request.method,
        "path": request.path,
        "headers": request.headers,
    }
    await app(scope, receive, send)
    start, body = sent
    return start["status"], dict(start["headers"]), body["body"]


if __name__ == "__main__":
    main()
