"""Progress: how far a run is."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .calls.counts import Counts


@dataclass(frozen=True, slots=True)
class Progress:
    """``fraction`` is from 0 to 1, None if the total is not known.

    ``calls`` counts model calls, None if there are none. ``note`` is what a user should know
    before it is done, such as what a batch is expected to cost. ``workers`` counts those of a
    cluster that are at work, None if there is no cluster.
    """

    stage: str
    examples: int
    fraction: float | None
    calls: "Counts | None" = None
    note: str | None = None
    workers: int | None = None


Report = Callable[[Progress], None]
