"""Ranking: several systems in order of strength, from paired wins on the same questions."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragstone.stats.comparison.preference_models import bradley_terry

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Ranked:
    """A system's place on one metric.

    ``strength`` is the log-odds of beating a system of average strength,
    ``win_probability`` the same as a probability; both are None, and ``reason``
    says why, where no finite strengths fit. ``win_share`` is what share of its
    comparisons it won, a tie counted half.
    """

    metric: str
    system: str
    strength: float | None
    low: float | None
    high: float | None
    win_probability: float | None
    win_low: float | None
    win_high: float | None
    win_share: float
    n: int
    method: str | None
    reason: str | None

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, slots=True, eq=False)
class Met:
    """The pairs of two systems: 1 where the first wins, 0 where the second does, .5 for a tie."""

    first: str
    second: str
    outcome: Floats
    cluster: Ints


def ranking(metric: str, met: Sequence[Met], *, level: float) -> list[Ranked]:
    """The systems of a metric, the strongest first."""
    systems = list(dict.fromkeys(name for one in met for name in (one.first, one.second)))
    number = {name: place for place, name in enumerate(systems)}
    first = np.concatenate([np.full(len(one.outcome), number[one.first]) for one in met])
    second = np.concatenate([np.full(len(one.outcome), number[one.second]) for one in met])
    outcome = np.concatenate([one.outcome for one in met])
    cluster = np.concatenate([one.cluster for one in met])
    found = bradley_terry(first, second, outcome, cluster, systems=len(systems), level=level)
    size = len(systems)
    games = np.bincount(first, minlength=size) + np.bincount(second, minlength=size)
    won = np.bincount(first, outcome, size) + np.bincount(second, 1 - outcome, size)
    ranked = []
    for name, place in number.items():
        one = None if found.strengths is None else found.strengths[place]
        interval = None if one is None else one.interval
        ranked.append(
            Ranked(
                metric=metric,
                system=name,
                strength=None if one is None else one.value,
                low=None if interval is None else interval.low,
                high=None if interval is None else interval.high,
                win_probability=None if one is None else one.win_probability,
                win_low=None if one is None else one.win_low,
                win_high=None if one is None else one.win_high,
                win_share=float(won[place] / max(1, games[place])),
                n=int(games[place]),
                method=None if interval is None else interval.method,
                reason=found.reason,
            )
        )
    return sorted(ranked, key=lambda one: (-(one.strength or 0.0), -one.win_share))
