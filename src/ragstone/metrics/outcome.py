"""What a score can be: a value, undefined, or missing. None of them turns into another."""

from dataclasses import dataclass
from math import isfinite
from typing import Literal


@dataclass(frozen=True, slots=True)
class Undefined:
    """The metric's definition gives no value, as for faithfulness without claims."""

    reason: str


@dataclass(frozen=True, slots=True)
class Missing:
    """A value exists, but is not known because a judge failed or gave no answer."""

    reason: str


Score = float | Undefined | Missing


@dataclass(frozen=True, slots=True)
class Range:
    """The range of a metric's values, and which end is better.

    ``better`` is ``+`` if higher is better, ``-`` if lower is better, ``0`` if
    neither is. If ``rate`` is true, the only values are 0 and 1.
    """

    low: float
    high: float
    better: Literal["+", "-", "0"] = "+"
    rate: bool = False

    @property
    def ends(self) -> tuple[float | None, float | None]:
        """``low`` and ``high``; None for an end that the range does not have."""
        return self.low if isfinite(self.low) else None, self.high if isfinite(self.high) else None
