"""Wrong tries: how often a client showed a token that nobody has."""

from collections import deque
from collections.abc import Callable
from ipaddress import IPv6Address, ip_address
from math import ceil
from time import monotonic

MOST, WITHIN = 10, 60.0
"""Wrong tokens, and the seconds in which so many may come from one address."""

KNOWN = 10_000
"""Addresses that are remembered; of more, the one that was quiet for longest is forgotten."""


class WrongTries:
    """The wrong tokens of the last minute, by client.

    Args:
        now: Seconds of a clock that never goes back.
    """

    def __init__(self, now: Callable[[], float] = monotonic) -> None:
        self._now = now
        self._at: dict[str, deque[float]] = {}

    def add(self, client: str) -> None:
        """One more by this client."""
        key = _network(client)
        times = self._at.pop(key, None) or deque(maxlen=MOST)
        times.append(self._now())
        self._at[key] = times
        if len(self._at) > KNOWN:
            del self._at[next(iter(self._at))]

    def wait(self, client: str) -> int:
        """Seconds until this client may try again; 0 if it may now."""
        times = self._at.get(_network(client))
        if times is None or len(times) < MOST:
            return 0
        return max(0, ceil(times[0] + WITHIN - self._now()))


def _network(client: str) -> str:
    """What one machine can choose its addresses from, which is half of an IPv6 address."""
    try:
        address = ip_address(client)
    except ValueError:
        return client
    if isinstance(address, IPv6Address) and address.ipv4_mapped is None:
        return f"{int(address) >> 64:x}/64"
    return client
