"""Record senders: recorded examples go to a monitor over HTTP, or straight into a store.

Examples for a store are redacted as the intake does by default.
"""

import http.client
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol
from urllib.parse import SplitResult, urlsplit

from ragstone.core.database import POSTGRES
from ragstone.core.errors import InputError, MissingDependency, StoreAway
from ragstone.monitor.store.store import MonitorStore, open_store
from ragstone.monitor.traces.spans import UnreadableBody

from .group_commit import IntakeSettings, write_taken
from .otlp_http import EXAMPLES, taken_from

TIMEOUT = 10.0
DROPPED = "x-ragstone-dropped"
"""The header in which a recorder says how many examples it dropped since it last said so."""

_AGAIN = (408, 429, 500, 502, 503, 504)


@dataclass(frozen=True, slots=True)
class Recorded:
    """What is sent together.

    Attributes:
        lines: Examples as JSON.
        dropped: How many were dropped since the process began.
    """

    lines: Sequence[bytes]
    dropped: int


class TryLater(Exception):
    """It may be taken later.

    Attributes:
        seconds: When, as far as that is known; 0 if it is not.
    """

    def __init__(self, message: str, seconds: float = 0.0) -> None:
        self.seconds = seconds
        super().__init__(message)


class NoUse(Exception):
    """It is not taken, however often it is sent.

    Attributes:
        lost: So many of the examples.
    """

    def __init__(self, message: str, lost: int) -> None:
        self.lost = lost
        super().__init__(message)


class RecordSender(Protocol):
    """Sends examples."""

    def send(self, recorded: Recorded) -> None:
        """Send them; they are kept when it returns.

        Raises:
            TryLater: Not now.
            NoUse: All or some of them never.
        """

    def anew(self) -> "RecordSender":
        """Another one to the same place, for a process that was forked."""

    def close(self) -> None:
        """Let go of the place."""


def sender_to(place: str, token: str) -> RecordSender:
    """A sender to an address ``http://…``, or into a store.

    Raises:
        InputError: It is neither.
        MissingDependency: Of the store.
    """
    shown = place.rpartition("@")[2]
    if place.startswith(("http://", "https://")):
        try:
            address = urlsplit(place)
            has_port = address.port is None or address.port > 0
        except ValueError:
            has_port = False
        if not (has_port and address.hostname):
            raise InputError(f"{shown} is no address of a monitor, such as http://127.0.0.1:8431.")
        return HttpSender(address, token)
    if "://" in place and not place.startswith(POSTGRES):
        raise InputError(
            f"{shown} is neither a monitor, http://…, nor a store: a folder, or postgresql://…"
        )
    try:
        # What reads examples and writes them is not in the base install.
        pass
    except ModuleNotFoundError as error:
        raise MissingDependency("A recorder that writes into a store", "ui") from error
    return StoreSender(place)


class HttpSender:
    """Posts to ``/v1/examples`` of a monitor, on one connection.

    Args:
        address: Of the monitor.
        token: What it asks for; empty for nothing.
    """

    def __init__(self, address: SplitResult, token: str) -> None:
        self._address, self._token = address, token
        self._line: http.client.HTTPConnection | None = None
        self._told = 0

    def anew(self) -> "HttpSender":
        """The same, with a connection of its own."""
        return HttpSender(self._address, self._token)

    def send(self, recorded: Recorded) -> None:
        """Post them as JSON lines."""
        headers = {"content-type": "application/x-ndjson"}
        if self._token:
            headers["authorization"] = f"Bearer {self._token}"
        if recorded.dropped > self._told:
            headers[DROPPED] = str(recorded.dropped - self._told)
        status, after, body = self._post(b"\n".join(recorded.lines), headers)
        n = len(recorded.lines)
        if status in _AGAIN:
            seconds = float(after) if after.isdecimal() and len(after) < 5 else 0.0
            raise TryLater(f"{self._place} answered {status}", seconds)
        if status != 200:
            raise NoUse(f"{self._place} answered {status}", n)
        self._told = recorded.dropped
        self._check(body, n)

    def close(self) -> None:
        """Hang up."""
        self._hang_up()

    def _check(self, body: bytes, n: int) -> None:
        try:
            said = json.loads(body)
            rejected, why = int(said["rejected"]), str(said.get("message", ""))
        except (ValueError, KeyError, TypeError, AttributeError):
            raise NoUse(f"{self._place} is no monitor", n) from None
        if rejected:
            raise NoUse(f"they are faulty: {why}", min(rejected, n))

    @property
    def _place(self) -> str:
        return f"{self._address.hostname}:{self._address.port or ''}".rstrip(":")

    def _post(self, body: bytes, headers: dict[str, str]) -> tuple[int, str, bytes]:
        kept = self._line is not None
        try:
            return self._once(body, headers)
        except (OSError, http.client.HTTPException) as error:
            self._hang_up()
            if not kept or isinstance(error, TimeoutError):
                raise self._away(error) from None
        # The server may have closed a connection that was not used for a while.
        try:
            return self._once(body, headers)
        except (OSError, http.client.HTTPException) as error:
            self._hang_up()
            raise self._away(error) from None

    def _once(self, body: bytes, headers: dict[str, str]) -> tuple[int, str, bytes]:
        if self._line is None:
            kind: type[http.client.HTTPConnection] = http.client.HTTPConnection
            if self._address.scheme == "https":
                kind = http.client.HTTPSConnection
            self._line = kind(self._address.hostname or "", self._address.port, timeout=TIMEOUT)
        self._line.request("POST", f"{self._address.path.rstrip('/')}/v1/examples", body, headers)
        answer = self._line.getresponse()
        found = answer.status, answer.getheader("retry-after", ""), answer.read(1_000_000)
        if answer.will_close or not answer.isclosed():
            self._hang_up()
        return found

    def _away(self, error: Exception) -> TryLater:
        return TryLater(f"{self._place} cannot be reached ({type(error).__name__})")

    def _hang_up(self) -> None:
        if self._line is not None:
            self._line.close()
            self._line = None


_PARENTS: list[MonitorStore | None] = []
"""What belongs to the process that was forked: to close a file of SQLite here would unlock it."""


class StoreSender:
    """Writes into a store of this machine or a server.

    Args:
        place: Of the store.

    Raises:
        InputError: It cannot be opened.
    """

    def __init__(self, place: str) -> None:
        self._place = place
        self._store: MonitorStore | None = open_store(place)
        self._settings = IntakeSettings()

    def anew(self) -> "StoreSender":
        """The same, with a connection of its own. The old one is the parent's and stays open."""
        _PARENTS.append(self._store)
        child = StoreSender.__new__(StoreSender)
        child._place, child._store, child._settings = self._place, None, self._settings
        return child

    def send(self, recorded: Recorded) -> None:
        """Write them."""
        now = time.time()
        body = b"\n".join(recorded.lines)
        try:
            taken = taken_from(EXAMPLES, body, json=True, settings=self._settings, now=now)
            self._store = self._store or open_store(self._place)
            with self._store.database.transaction() as run:
                write_taken(run, now, [taken], taken.counts)
        except StoreAway as error:
            raise TryLater(str(error)) from None
        except UnreadableBody as error:
            raise NoUse(str(error), len(recorded.lines)) from None
        if taken.malformed:
            raise NoUse("they are faulty", len(taken.malformed))

    def close(self) -> None:
        """Close the store."""
        if self._store is not None:
            self._store.close()
            self._store = None
