"""Calm: pages are made one after the other, and what nobody waits for is made when all is still.

What somebody waits for in the background, such as a comparison, counts as a page does.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import BoundedSemaphore, Condition
from time import monotonic

STILL = 1.0
"""Seconds after the last page or result after which the app is calm."""

LONGEST = 60.0
"""Seconds after which the background no longer waits for calm."""

POLITE = 0.4
"""Seconds that a page waits for its turn; one that takes long does not keep the others."""


class Calm:
    """Knows whether something is made for a person: a page, or a result that a page waits for."""

    def __init__(self) -> None:
        self._changed = Condition()
        self._running = 0
        self._last = 0.0
        # Python runs one thread at a time: pages that are made side by side are all late.
        self._turn = BoundedSemaphore()

    @contextmanager
    def busy(self) -> Iterator[None]:
        """While something is done for a person."""
        with self._changed:
            self._running += 1
        try:
            yield
        finally:
            with self._changed:
                self._running -= 1
                self._last = monotonic()
                self._changed.notify_all()

    @contextmanager
    def in_turn(self) -> Iterator[None]:
        """While a page is made; the next one waits for that, though not for long."""
        with self.busy():
            mine = self._turn.acquire(timeout=POLITE)
            try:
                yield
            finally:
                if mine:
                    self._turn.release()

    def wait(self) -> None:
        """Wait until nothing was made for a person for ``STILL`` seconds, at most ``LONGEST``."""
        until = monotonic() + LONGEST
        with self._changed:
            while (now := monotonic()) < until:
                left = STILL if self._running else self._last + STILL - now
                if left <= 0:
                    return
                self._changed.wait(left)
