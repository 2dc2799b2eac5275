"""Writing back: scores go to where the traces went, a while after they were given."""

from collections.abc import Callable
from time import time

from ragstone.monitor.numbers.over_time import over_time
from ragstone.monitor.settings import WriteBackSettings
from ragstone.monitor.store.store import MonitorStore
from ragstone.monitor.write_back import WindowMean, begin_write_back, write_back

EVERY = 15.0
"""Seconds between two times."""

HOURS = 24.0
"""The window whose mean is told beside each score."""


class WritingBack:
    """Sends the scores that were not sent yet, now and then.

    Args:
        store: Where they are.
        settings: Where they go; None for nowhere.
        now: Seconds since the epoch.
    """

    def __init__(
        self,
        store: MonitorStore,
        settings: WriteBackSettings | None,
        now: Callable[[], float] = time,
    ) -> None:
        self._store, self._settings, self._now = store, settings, now
        self._last = float("-inf")
        if settings is not None:
            begin_write_back(store)

    def step(self) -> int:
        """Send what there is, if it is time; gives how many scores that were.

        Raises:
            InputError: A header's environment variable is not set.
            NotTaken: The receiver refused them or is away.
        """
        now = self._now()
        if self._settings is None or now - self._last < EVERY:
            return 0
        sent = write_back(
            self._store, self._settings.open(), lambda metric: self._mean(metric, now)
        )
        self._last = now
        return sent

    def _mean(self, metric: str, now: float) -> WindowMean | None:
        found = over_time(
            self._store, metric, since=now - HOURS * 3600, until=now, window=HOURS * 3600,
        ).now  # fmt: skip
        if found is None or found.value is None:
            return None
        return WindowMean(found.value, found.low, found.high, found.n, HOURS)
