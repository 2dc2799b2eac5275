"""Step sums: the sums over the scores of each step of a grid in time."""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from ragstone.core.database import Sql
from ragstone.monitor.store.score_sums import slot_sums
from ragstone.stats.monitoring.windows import WeightedSums

from .metric_over_time import Facet

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class StepSums:
    """Sums over the scores of each step, shape (K,).

    Attributes:
        first: The number of the first step.
        scores: Of the scores that have a value.
        undefined: How many are undefined.
        missing: How many are missing.
        missing_w: The weight of the missing ones.
    """

    first: int
    scores: WeightedSums
    undefined: Floats
    missing: Floats
    missing_w: Floats

    def over(self, steps: int) -> Self:
        """Of windows of so many steps each, the first of which ends with the step ``steps - 1``."""

        def total(values: Floats) -> Floats:
            return np.asarray(np.lib.stride_tricks.sliding_window_view(values, steps).sum(axis=1))

        others = (self.undefined, self.missing, self.missing_w)
        return type(self)(
            self.first + steps - 1, self.scores.over(steps), *(total(one) for one in others)
        )

    def since(self, first: int) -> Self:
        """Without the steps before one."""
        k = first - self.first
        others = (one[k:] for one in (self.undefined, self.missing, self.missing_w))
        return type(self)(first, self.scores.since(k), *others)

    @property
    def together(self) -> WeightedSums:
        """Of all steps, as of one window."""
        return self.scores.over(len(self.undefined))


def read_steps(
    run: Sql, metric: str, first: int, end: int, slots: int, slice: Facet | None
) -> StepSums:
    """The sums of the steps from ``first`` on and before ``end``.

    Args:
        run: A reading of the store.
        metric: Its text form.
        first: The number of a step, from the epoch on.
        end: Of a later one.
        slots: Of the store, that make up a step.
        slice: Of which traffic; None: of all.
    """
    table = np.zeros((end - first, 10))
    for one in slot_sums(run, metric, first * slots, end * slots, slice):
        row = table[one.slot // slots - first]
        most = max(row[6], one.most)
        row += one[1:]
        row[6] = most
    columns = table.T
    return StepSums(first, WeightedSums(*columns[:7]), *columns[7:])
