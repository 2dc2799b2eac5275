"""Run spec: what a run is going to do, or did: its settings, metrics, judges and models."""

from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property

from ragstone.core.errors import UnknownName
from ragstone.judgements import Similarity
from ragstone.judges import Judge
from ragstone.metrics import QUICK, Metric, needed_asks, read_metric, suite_named

from .folder.schemas import Manifest
from .settings import ModelNames, RunSettings, candidates


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
        return list({str(metric): metric for metric in [*self.metrics, *quick]}.values())


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
        every = {str(metric): metric for metric in [*self.requested.scored, *self.added]}
        return tuple(every.values())

    @cached_property
    def asks(self) -> list[str]:
        """The asks to judge; metrics added later use existing judgements."""
        return needed_asks(self.requested.scored)

    @property
    def cluster(self) -> str:
        """The field whose equal values mark rows that are not independent."""
        return self.settings.cluster

    @cached_property
    def fields(self) -> list[str]:
        """Fields to group by, with those of the suites, which not all data have."""
        suites = [name for name in self.requested.suites if name != QUICK]
        of_suites = [suite_named(name).by for name in suites]
        return list(dict.fromkeys([*self.by, *(name for by in of_suites for name in by)]))

    @property
    def chat_judges(self) -> list[str]:
        return [] if self.settings.llm is None else list(self.settings.llm.judges)

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
    return tuple(name for name in dict.fromkeys(fields) if name != "system")
