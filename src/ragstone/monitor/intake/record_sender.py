"""Record sender: recorded examples go to a monitor over HTTP. The base install is enough for it."""

import http.client
import json
from collections.abc import Sequence
from typing import Protocol
from urllib.parse import SplitResult

TIMEOUT = 10.0
# The header in which a recorder says how many examples it dropped since it last said so.
DROPPED = "x-ragstone-dropped"

_AGAIN = (408, 429, 500, 502, 503, 504)


class TryLater(Exception):
    """The examples may be taken later.

    Attributes:
        seconds: When, as far as that is known; 0 if it is not.
    """

    def __init__(self, message: str, seconds: float = 0.0) -> None:
        self.seconds = seconds
        super().__init__(message)


class NoUse(Exception):
    """So many of the examples, ``lost``, are not taken, however often they are sent."""

    def __init__(self, message: str, lost: int) -> None:
        self.lost = lost
        super().__init__(message)


class RecordSender(Protocol):
    """Sends examples."""

    def send(self, lines: Sequence[bytes], dropped: int) -> None:
        """Send examples, each as JSON; they are kept when this returns.

        Args:
            dropped: How many were dropped since the process began.

        Raises:
            TryLater: The examples cannot be taken now.
            NoUse: All or some of them are never taken.
        """

    def anew(self) -> "RecordSender":
        """Return another sender to the same address, for a process that was forked."""

    def close(self) -> None:
        """Close the connection."""


class HttpSender:
    """Posts to ``/v1/examples`` of a monitor, on one connection."""

    def __init__(self, address: SplitResult, token: str) -> None:
        self._address, self._token = address, token
        self._host = f"{address.hostname}:{address.port or ''}".rstrip(":")
        self._line: http.client.HTTPConnection | None = None
        self._reported = 0

    def anew(self) -> "HttpSender":
        return HttpSender(self._address, self._token)

    def send(self, lines: Sequence[bytes], dropped: int) -> None:
        headers = {"content-type": "application/x-ndjson"}
        if self._token:
            headers["authorization"] = f"Bearer {self._token}"
        if dropped > self._reported:
            headers[DROPPED] = str(dropped - self._reported)
        status, after, body = self._post(b"\n".join(lines), headers)
        n = len(lines)
        if status in _AGAIN:
            seconds = float(after) if after.isdecimal() and len(after) < 5 else 0.0
            raise TryLater(f"{self._host} answered {status}", seconds)
        if status != 200:
            raise NoUse(f"{self._host} answered {status}", n)
        self._reported = dropped
        try:
            reply = json.loads(body)
            rejected, why = int(reply["rejected"]), str(reply.get("message", ""))
        except (ValueError, KeyError, TypeError, AttributeError):
            raise NoUse(f"{self._host} is no monitor", n) from None
        if rejected:
            raise NoUse(f"they are faulty: {why}", min(rejected, n))

    def close(self) -> None:
        if self._line is not None:
            self._line.close()
            self._line = None

    def _post(self, body: bytes, headers: dict[str, str]) -> tuple[int, str, bytes]:
        # The server may have closed a connection that was not used for a while.
        may_be_closed = self._line is not None
        try:
            return self._post_once(body, headers)
        except (OSError, http.client.HTTPException) as error:
            self.close()
            if may_be_closed and not isinstance(error, TimeoutError):
                return self._post(body, headers)
            raise TryLater(f"{self._host} cannot be reached ({type(error).__name__})") from None

    def _post_once(self, body: bytes, headers: dict[str, str]) -> tuple[int, str, bytes]:
        if self._line is None:
            is_https = self._address.scheme == "https"
            kind = http.client.HTTPSConnection if is_https else http.client.HTTPConnection
            self._line = kind(self._address.hostname or "", self._address.port, timeout=TIMEOUT)
        self._line.request("POST", f"{self._address.path.rstrip('/')}/v1/examples", body, headers)
        answer = self._line.getresponse()
        reply = answer.status, answer.getheader("retry-after", ""), answer.read(1_000_000)
        if answer.will_close or not answer.isclosed():
            self.close()
        return reply
