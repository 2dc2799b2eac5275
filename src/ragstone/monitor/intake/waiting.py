"""Waiting: how much may wait to be written. Who finds no place is told to come later."""

from threading import Lock


class WaitingRoom:
    """Counts the requests that are being taken in, and the bytes that they hold.

    Args:
        most: Requests.
        most_bytes: Of all of them.
    """

    def __init__(self, most: int, most_bytes: int) -> None:
        self._most, self._most_bytes = most, most_bytes
        self._lock = Lock()
        self.requests = self.bytes = 0

    def enter(self) -> "WaitingPlace | None":
        """A place for one request; None where all are taken."""
        with self._lock:
            if self.is_full:
                return None
            self.requests += 1
            return WaitingPlace(self)

    @property
    def is_full(self) -> bool:
        """Whether nobody else finds a place."""
        return self.requests >= self._most or self.bytes >= self._most_bytes

    def fits(self, more: int) -> bool:
        """Take so many bytes, or less if negative; False, with nothing taken, if it is too much."""
        with self._lock:
            if more > 0 and self.bytes + more > self._most_bytes:
                return False
            self.bytes += more
            return True

    def leave(self) -> None:
        """One request less."""
        with self._lock:
            self.requests -= 1


class WaitingPlace:
    """The place of one request, until it is left."""

    def __init__(self, room: WaitingRoom) -> None:
        self._room = room
        self._bytes = 0

    def grow(self, size: int) -> bool:
        """Hold so many bytes more; False where there is no room for them."""
        if not self._room.fits(size):
            return False
        self._bytes += size
        return True

    def leave(self) -> None:
        """Make room for another."""
        self._room.fits(-self._bytes)
        self._room.leave()
