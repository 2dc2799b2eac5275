"""Time grid: the steps in time at which windows end."""

from dataclasses import dataclass
from math import ceil, floor
from typing import Self

from ragstone.core.errors import InputError
from ragstone.core.messages import argument
from ragstone.monitor.store.slots import WIDTH

MOST_WINDOWS = 240
WINDOWS_ABREAST = 24
"""So many windows that do not overlap, by default, make up what is shown: of a day an hour each."""


@dataclass(frozen=True, slots=True)
class TimeGrid:
    """Steps that begin at whole multiples of their length since the epoch.

    It is the same however often a page is made within a step, so that its windows are too.

    Attributes:
        slots: Of the store, that make up a step.
        first: The number of the first step with which a window ends.
        last: The number behind the last one.
        abreast: How many steps a window is wide.
    """

    slots: int
    first: int
    last: int
    abreast: int

    @classmethod
    def of(
        cls, since: float, until: float, *, buckets: int = MOST_WINDOWS, window: float | None = None
    ) -> Self:
        """The grid for a stretch of time.

        Args:
            since: In seconds since the epoch.
            until: Later than that.
            buckets: Number of steps, at most 240. None is shorter than two minutes, so there may be
                fewer.
            window: Width of a window in seconds, rounded to whole steps; by default the 24th part.

        Raises:
            InputError: An argument is out of its range.
        """
        if not since < until:
            raise InputError(
                f"{argument('since', since)} must be before {argument('until', until)}."
            )
        if not 1 <= buckets <= MOST_WINDOWS:
            raise InputError(f"There are 1 to {MOST_WINDOWS} windows, got {buckets}.")
        slots = max(1, ceil((until - since) / (buckets * WIDTH)))
        step = slots * WIDTH
        wide = (until - since) / WINDOWS_ABREAST if window is None else window
        last = ceil(until / step)
        first = last - ceil((until - since) / step)
        return cls(slots, first, last, max(1, floor(wide / step + 0.5)))

    @property
    def step(self) -> float:
        """Seconds of a step."""
        return float(self.slots * WIDTH)

    @property
    def begin(self) -> int:
        """The number of the step with which the first window begins."""
        return self.first - self.abreast + 1

    @property
    def since(self) -> float:
        """Where the first step with which a window ends begins, in seconds since the epoch."""
        return self.first * self.step

    @property
    def until(self) -> float:
        """Where the last one ends."""
        return self.last * self.step
