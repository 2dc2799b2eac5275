"""Percentiles of any number of values, in the memory of a few thousand."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import ceil, floor, log, log1p

from ragstone.core.errors import InputError

WIDTH = 0.001
"""The relative width of a bin."""


@dataclass(slots=True)
class ValueCounts:
    """Values of at least 0, counted in bins of a thousandth of their size.

    A bin is known by the least value in it, so that what is told occurred, and the order of the
    values does not matter.
    """

    n: int = 0
    _bins: dict[int | None, tuple[float, int]] = field(default_factory=dict)

    def add(self, value: float) -> None:
        """Count a value.

        Raises:
            InputError: It is below 0, or not finite.
        """
        if not 0 <= value < float("inf"):
            raise InputError(f"A value from 0 on is needed, got {value}.")
        bin = floor(log(value) / log1p(WIDTH)) if value else None
        least, count = self._bins.get(bin, (value, 0))
        self._bins[bin] = min(least, value), count + 1
        self.n += 1

    def percentiles(self, shares: Sequence[float]) -> tuple[float, ...]:
        """For each share the least value that so many percent do not exceed, within .1 %.

        Args:
            shares: In percent, in (0, 100].

        Returns:
            A value that occurred, at most .1 % below the exact one; none of no values.
        """
        if not self.n:
            return ()
        found, passed = [], 0
        ranks = sorted({ceil(self.n * share / 100) for share in shares})
        at: dict[int, float] = {}
        for least, count in sorted(self._bins.values()):
            passed += count
            while ranks and ranks[0] <= passed:
                at[ranks.pop(0)] = least
        found = [at[ceil(self.n * share / 100)] for share in shares]
        return tuple(found)
