"""Run spec: what a run is going to do, or did: its settings, metrics, judges and models."""

from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property

from ragstone.core.errors import UnknownName
from ragstone.judgements import Similarity
from ragstone.judges import Judge
from ragstone.metrics import QUICK, Metric, needed_asks, read_metric, suite_named
from ragstone.metrics.composite import component_metrics

from .folder.schemas import Manifest
from .settings import ModelNames, RunSettings, candidates


def each_once(*metrics: Metric) -> list[Metric]:
    """The metrics without those that were there before."""
    return list({str(metric): metric for metric in metrics}.values())


@dataclass(frozen=True, slots=True)
class Requested:
    """The requested metrics, each once, and the suites' names.

    ``quick`` among the suites adds what the data and the judges allow, which is
    not known yet.
    """

    metrics: tuple[Metric, ...]
    suites: tuple[str, ...]

    @property
    def scored(self) -> list[Metric]:
        """All metrics to score, including everything that ``quick`` may choose."""
        quick = candidates() if QUICK in self.suites else ()
        return each_once(*self.metrics, *quick)


@dataclass(frozen=True)
class RunSpec:
    """The plan of a run."""

    settings: RunSettings
    requested: Requested
    judges: tuple[Judge, ...]
    by: tuple[str, ...]
    models: ModelNames
    added: tuple[Metric, ...] = ()

    @cached_property
    def metrics(self) -> tuple[Metric, ...]:
        """All that is scored, in the order of the report."""
        return tuple(each_once(*self.requested.scored, *self.added))

    @cached_property
    def components(self) -> list[Metric]:
        """What composites of means combine, which is scored too."""
        return component_metrics(self.metrics)

    @cached_property
    def asks(self) -> list[str]:
        """The asks to judge; metrics added later use existing judgements."""
        return needed_asks(self.requested.scored)

    @cached_property
    def fields(self) -> list[str]:
        """Fields to group by, with those of the suites, which not all data have."""
        names = list(self.by)
        for suite in self.requested.suites:
            if suite != QUICK:
                names += suite_named(suite).by
        return list(dict.fromkeys(names))

    def owing(self, partly_answered: list[str]) -> "RunSpec":
        """The same where null answers of these systems are missing."""
        if not partly_answered:
            return self
        update = {"partly_answered": partly_answered}
        return replace(self, settings=self.settings.model_copy(update=update))

    def also_scoring(self, held: Manifest) -> tuple["RunSpec", list[str]]:
        """The same with metrics that were added to the run later.

        Returns:
            Also the metrics that cannot be scored here: of the user's own, or of similarities that
            are not computed.
        """
        added: list[Metric] = []
        left_out: list[str] = []
        mine = {str(metric) for metric in self.metrics}
        for name in (name for name in held.metrics if name not in mine):
            with suppress(UnknownName):
                metric = read_metric(name)
                compared = {ask for ask in metric.asks if ask.startswith(f"{Similarity.name}/")}
                if compared <= set(self.asks):
                    added.append(metric)
                    continue
            left_out.append(name)
        suites = [name for name in held.suites if name != QUICK]
        together = dict.fromkeys([*self.requested.suites, *suites])
        return replace(
            self, requested=replace(self.requested, suites=tuple(together)),
            by=grouped_by(*self.by, *held.by), added=tuple(added),
        ), left_out  # fmt: skip


def grouped_by(*fields: str) -> tuple[str, ...]:
    """The fields to group by, each once, without the system, which is always included."""
    names = dict.fromkeys(fields)
    names.pop("system", None)
    return tuple(names)
