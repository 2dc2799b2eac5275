"""Queue numbers: how far people agree in a queue, and how many labels are still needed."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from ragstone.analysis.label_sampling.asked_labels import labels_asked
from ragstone.analysis.sample_sizes.label_sizes import known_of_run, label_size
from ragstone.analysis.sample_sizes.question_sizes import labels_left
from ragstone.analysis.scored_run import Scored
from ragstone.annotation.label_table import LabelTable
from ragstone.annotation.queue.form import QueueForm
from ragstone.annotation.queue.queue import Queue
from ragstone.annotation.queue.work_progress import QueueWork
from ragstone.annotation.read_labels import labels_in_queue
from ragstone.annotation.running_agreement import LabelSoFar, choice_ends, queue_so_far
from ragstone.core.errors import InputError
from ragstone.report.number_format import short_name
from ragstone.report.reason_words import words
from ragstone.run import Run
from ragstone.run.folder.locks import MANIFEST
from ragstone.web.runs_folder import RunsFolder

HALF_WIDTH = 0.03
"""Of the interval for which labels are counted."""

STEPS = 50
"""How often the numbers are computed anew while a queue fills: at its end that takes seconds."""


@dataclass(frozen=True, slots=True)
class StillNeeded:
    """How many labels a mean needs for an interval of ± ``HALF_WIDTH``.

    Attributes:
        name: Of the metric, or of the label.
        labelled: How many there are.
        needed: How many there must be; None if that is not known, or no number is enough.
        alone: How many without the judge's help; None if no judge helps.
        why: Why it is not known, or not enough; empty otherwise.
    """

    name: str
    labelled: int
    needed: int | None
    alone: int | None = None
    why: str = ""

    @property
    def still(self) -> int | None:
        """How many are lacking."""
        return None if self.needed is None else max(0, self.needed - self.labelled)


@dataclass(frozen=True, slots=True)
class QueueNumbers:
    """What the labels of a queue tell so far.

    Attributes:
        labels: Agreement and means, label by label.
        needed: How many labels means still need.
    """

    labels: tuple[LabelSoFar, ...]
    needed: tuple[StillNeeded, ...]


def queue_numbers(place: RunsFolder, work: QueueWork) -> QueueNumbers | None:
    """The numbers of a queue, of now or of a little before; None while there are none yet."""
    if not work.given:
        return QueueNumbers((), ())
    name = work.form.name
    step = max(1, work.given // STEPS)
    done = work.given == work.wanted
    # What was decided, changed or taken back is few, and changes all of it.
    few = work.version[1:] if work.given < STEPS else work.version[1]
    version = (work.given // step, step, done, few, len(work.form.asked))
    return place.later.newest(("queue", name), version, lambda: _computed(place, name))


def _computed(place: RunsFolder, name: str) -> QueueNumbers:
    with place.labels_to_read() as database:
        if database is None:
            return QueueNumbers((), ())
        queue = Queue(database, name)
        run = source_run(place, queue.form)
        scored = None if run is None else Scored(run)
        clusters: Mapping[str, str] = (
            queue.questions()
            if scored is None
            else dict(scored.facets.select("example_id", "cluster").iter_rows())
        )
        found = queue_so_far(database, queue, clusters=clusters)
        table = labels_in_queue(database, name)
        needed = [] if scored is None else list(_of_metrics(scored, queue.form, table))
        if not needed:
            needed = list(_of_labels(queue.form, table, clusters))
    return QueueNumbers(found, tuple(needed))


def source_run(place: RunsFolder, form: QueueForm) -> Run | None:
    """The run that a queue is made of, if it is one of this folder and finished."""
    name = Path(form.source).name
    there = place.folder / name
    try:
        if name and (there / MANIFEST).is_file() and there.samefile(form.source):
            return place.run(name)
    except (OSError, InputError):
        return None
    return None


def _of_metrics(scored: Scored, form: QueueForm, table: LabelTable) -> Iterator[StillNeeded]:
    """For each metric of the run that the labels of the queue are enough for."""
    asked = {(one.label, one.unit) for one in form.asked}
    for name in scored.metrics:
        needed = labels_asked((), scored.metric(name) or name)
        if not {(one.label, one.unit) for one in needed} <= asked:
            continue
        short = short_name(name)
        try:
            known = known_of_run(scored, name, labels=table)
            size = label_size(known, HALF_WIDTH, metric=name)
        except InputError as error:
            yield StillNeeded(short, 0, None, None, error.text)
            continue
        why = words(size.reason) if size.reason else ""
        yield StillNeeded(short, known.labels or 0, size.labels, size.labels_only, why)


def _of_labels(
    form: QueueForm, table: LabelTable, clusters: Mapping[str, str]
) -> Iterator[StillNeeded]:
    """For the mean of each label, or the share of its words, without a judge."""
    for one in labels_left(table, half_width=HALF_WIDTH, clusters=clusters, ends=choice_ends(form)):
        why = words(one.why) if one.why else ""
        # Of a rating from 1 to 5 it is that share of the scale.
        to = "" if one.half_width == HALF_WIDTH else f" to ± {one.half_width:.2g}"
        yield StillNeeded(f"{one.label}{to}", one.so_far, one.needed, None, why)
