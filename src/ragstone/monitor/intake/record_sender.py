"""Record sender: recorded examples go to a monitor over HTTP. The base install is enough for it."""

import http.client
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol
from urllib.parse import SplitResult

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
