"""People corrections: what people's labels say of the judge's means, and what to do for more."""

from collections.abc import Sequence
from dataclasses import dataclass

from ragstone.annotation.queue.form import QueueForm
from ragstone.annotation.queue.work_progress import QueueWork, queue_work
from ragstone.monitor.send_to_people import drawn_queues, labels_for, labels_of_metric
from ragstone.monitor.series.compare_windows import CorrectedNow, MeanWithInterval, MetricNow
from ragstone.report.number_format import counted, ends, number
from ragstone.report.sentences.judge_words import asked_in_words
from ragstone.web.asked import queue_path
from ragstone.web.drawing import minus
from ragstone.web.runs_folder import RunsFolder

from .metric_names import said_metric


@dataclass(frozen=True, slots=True)
class JudgeBesidePeople:
    """A metric by the judge, and by people.

    Attributes:
        name: As it is said.
        raw: The judge's mean; with its interval.
        corrected: The same corrected by people's labels; a dash where there is none.
        n: Labelled answers.
    """

    name: str
    raw: tuple[str, str]
    corrected: tuple[str, str]
    n: str


@dataclass(frozen=True, slots=True)
class PeopleCorrections:
    """What people's labels make of the metrics that are judged.

    Attributes:
        rows: The metrics that labels settle, where an answer is labelled.
        settled: What the metrics that labels settle are called, in words; empty if there is none.
        left: The same of those that labels do not settle.
        far: How far the labelling is, in words; empty where nothing was sent.
        asked: What people are asked, in words.
        path: Of the queue.
    """

    rows: tuple[JudgeBesidePeople, ...]
    settled: str
    left: str
    far: str
    asked: str
    path: str


def people_corrections(
    place: RunsFolder, metrics: Sequence[str], shown: Sequence[MetricNow]
) -> PeopleCorrections:
    """What stands below the metrics of the first screen.

    Args:
        place: With the store of labels.
        metrics: That are judged.
        shown: Those that the screen shows.
    """
    settled = [one for one in metrics if labels_of_metric(one)]
    work = _work(place)
    return PeopleCorrections(
        tuple(_row(one.metric, one.corrected) for one in shown if one.corrected is not None),
        _listed(settled),
        _listed([one for one in metrics if one not in settled]),
        "" if work is None else _far(work),
        asked_in_words(QueueForm("", labels_for(metrics))),
        "" if work is None else queue_path(work.form.name, "progress"),
    )


def _work(place: RunsFolder) -> QueueWork | None:
    """How far the newest queue of drawn answers is."""
    with place.labels_to_read() as database:
        drawn = [] if database is None else drawn_queues(database)
        return queue_work(database, drawn[-1].name) if database is not None and drawn else None


def _far(work: QueueWork) -> str:
    sent = counted(work.items, "answer" if work.form.together else "item")
    return f"{work.labelled:,} of {sent} labelled"


def _row(metric: str, found: CorrectedNow) -> JudgeBesidePeople:
    return JudgeBesidePeople(
        said_metric(metric), _mean(found.raw), _mean(found.corrected), f"{found.labels.n:,}"
    )


def _mean(one: MeanWithInterval) -> tuple[str, str]:
    value = "–" if one.value is None else minus(number(one.value))
    return value, "" if one.low is None else minus(ends(one.low, one.high))


def _listed(metrics: Sequence[str]) -> str:
    names = [said_metric(one) for one in metrics]
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
