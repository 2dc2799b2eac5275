"""Progress: how far a run is."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Progress:
    """``fraction`` is from 0 to 1, None where the whole is not known."""

    stage: str
    examples: int
    fraction: float | None


Report = Callable[[Progress], None]
