"""Baseline run: what was measured before release, beside what is measured now."""

from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path

import polars as pl

from ragstone.analysis.scored_run import Scored, known_metric, known_system, mean_of
from ragstone.core.errors import UnknownName
from ragstone.run import Run
from ragstone.stats import Interval


@dataclass(frozen=True)
class BaselineMean:
    """The mean of a metric in a run.

    Attributes:
        scored: The run.
        metric: Its text form there.
        system: Of the run; None: all.
    """

    scored: Scored
    metric: str
    system: str | None

    @cached_property
    def value(self) -> float | None:
        """The mean; None if no answer has a score."""
        return mean_of(self._scores, self.scored.scale(self.metric)).value

    @cached_property
    def n(self) -> int:
        """Answers with a score."""
        return int((self._scores["status"] == "value").sum())

    def once(self, level: float) -> Interval | None:
        """Its interval, by the clusters of the run."""
        return mean_of(self._scores, self.scored.scale(self.metric), level=level).interval

    @cached_property
    def _scores(self) -> pl.DataFrame:
        scores = self.scored.of(self.metric)
        return scores if self.system is None else scores.filter(pl.col("system") == self.system)


@lru_cache(maxsize=256)
def baseline_mean(path: Path, system: str | None, metric: str) -> BaselineMean | None:
    """A metric of a finished run, which is read once; None if it was not measured there.

    Args:
        path: The run's folder.
        system: Of the run; None: all.
        metric: Any form of its name.

    Raises:
        InputError: It is no finished run, or lacks the system.
    """
    scored = _scored(path)
    try:
        form = known_metric(scored, metric)
    except UnknownName:
        return None
    return BaselineMean(scored, form, None if system is None else known_system(scored, system))


@lru_cache(maxsize=4)
def _scored(path: Path) -> Scored:
    return Scored(Run.open(path))
