"""What a score can be: a value, undefined, or missing. None of them turns into another."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Undefined:
    """The definition gives no value here, such as the faithfulness of no claims."""

    reason: str


@dataclass(frozen=True, slots=True)
class Missing:
    """A value exists, but a judge failed or said nothing."""

    reason: str


Score = float | Undefined | Missing


@dataclass(frozen=True, slots=True)
class Range:
    """Where the values of a metric lie, and which end is better.

    ``better`` is ``+`` for the high end, ``-`` for the low one, ``0`` for
    neither. A ``rate`` has no values but 0 and 1.
    """

    low: float
    high: float
    better: Literal["+", "-", "0"] = "+"
    rate: bool = False
