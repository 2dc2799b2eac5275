"""Calm: what is made ready in the background waits while people are waiting for pages."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Condition
from time import monotonic

STILL = 1.0
"""Seconds without a request after which the app is calm."""

LONGEST = 60.0
"""Seconds after which the background no longer waits for that."""


class Calm:
    """Knows whether a page is being made."""

    def __init__(self) -> None:
        self._changed = Condition()
        self._running = 0
        self._last = 0.0

    @contextmanager
    def busy(self) -> Iterator[None]:
        """While a page is being made."""
        with self._changed:
            self._running += 1
        try:
            yield
        finally:
            with self._changed:
                self._running -= 1
                self._last = monotonic()
                self._changed.notify_all()

    def wait(self) -> None:
        """Wait until no page was made for a moment."""
        until = monotonic() + LONGEST
        with self._changed:
            while (now := monotonic()) < until:
                left = STILL if self._running else self._last + STILL - now
                if left <= 0:
                    return
                self._changed.wait(left)
