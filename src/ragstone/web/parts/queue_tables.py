"""Queue tables: labels side by side, agreement, corrected means, and labels still needed."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple

from ragstone.analysis.label_sampling.asked_labels import labels_asked
from ragstone.analysis.sample_sizes.label_sizes import known_of_run, label_size
from ragstone.analysis.sample_sizes.question_sizes import labels_left
from ragstone.analysis.scored_run import Scored
from ragstone.annotation.label_table import LabelTable
from ragstone.annotation.queue.form import ItemAnswers, QueueForm, QueueItem, SavedItem, texts_of
from ragstone.annotation.queue.queue import Queue
from ragstone.annotation.queue.queue_results import DisputedItem
from ragstone.annotation.queue.work_progress import QueueWork, queue_work
from ragstone.annotation.read_labels import labels_in_queue
from ragstone.annotation.running_agreement import LabelSoFar, choice_ends, queue_so_far
from ragstone.core.errors import InputError
from ragstone.monitor.send_to_people import drawn_queues, labels_for, labels_of_metric
from ragstone.monitor.series.overview import MetricNow
from ragstone.report.number_format import short_name, with_and
from ragstone.report.reason_words import words
from ragstone.report.sentences.judge_words import asked_in_words, item_noun
from ragstone.run import Run
from ragstone.web.runs_folder import RunsFolder, run_of_queue
from ragstone.web.templating import View

from .annotation_form import field_of, label_title, marked_words, part_title

# What is shown instead of a label where somebody discarded the item.
DISCARDED = "discarded"

# By the field of a label: what was said of it, and by whom.
Votes = Mapping[str, Sequence[tuple[str, Sequence[str]]]]


def sides_of(form: QueueForm, item: QueueItem, divided: DisputedItem) -> View:
    """Return what people said of an item, side by side, and the votes on each label."""
    answers = (*divided.said, *divided.decisions)
    texts = texts_of(item)
    titles = {(str(part.unit), part.name): part_title(part, item) for part in item.parts}
    if len(titles) == 1:
        titles = {}
    return {
        "people": answers,
        "has_notes": any(each.answers.note or each.answers.discarded for each in answers),
        "rows": [
            {
                "part": titles.get(label.part, ""),
                "label": label_title(label.label),
                "cells": [_cell(each.answers, label.part, label.label, texts) for each in answers],
            }
            for label in divided.labels
        ],
        "agreed": [
            (titles.get(part, ""), label_title(label), value)
            for part, labels in divided.agreed.items()
            for label, value in labels.items()
        ],
        "votes": _votes(form, item, divided.said),
    }


def _cell(
    answers: ItemAnswers, part: tuple[str, str], label: str, texts: Mapping[str, str]
) -> tuple[str, list[tuple[str, int, int, str]]]:
    """Return what somebody said of a label, and the words that they marked for it."""
    if answers.discarded:
        return DISCARDED, []
    value = answers.labels.get(part, {}).get(label, "")
    return value, list(marked_words(answers, part, label, texts))


def _votes(form: QueueForm, item: QueueItem, answers: Sequence[SavedItem]) -> Votes:
    by_field: dict[str, list[tuple[str, list[str]]]] = {}
    for at, part in enumerate(item.parts):
        for label in (label.label for label in form.asked if part.asks(label)):
            by_value: dict[str, list[str]] = {}
            for saved in answers:
                value = saved.answers.labels.get((part.unit, part.name), {}).get(label, "")
                value = DISCARDED if saved.answers.discarded else value
                if value:
                    by_value.setdefault(value, []).append(saved.person)
            votes = sorted(by_value.items(), key=lambda vote: -len(vote[1]))
            by_field[field_of(at, label)] = votes
    return by_field


def people_corrections(
    folder: RunsFolder, metrics: Sequence[str], bands: Sequence[MetricNow]
) -> View:
    """Return what stands below the metrics of the first screen."""
    settled = [metric for metric in metrics if labels_of_metric(metric)]
    work = _work(folder)
    return {
        "rows": [metric for metric in bands if metric.corrected is not None],
        "settled": with_and(list(map(short_name, settled))),
        "left": with_and([short_name(metric) for metric in metrics if metric not in settled]),
        "work": work,
        "noun": item_noun(work.form) if work else "",
        "asked": asked_in_words(QueueForm("", labels_for(metrics))),
    }


def _work(folder: RunsFolder) -> QueueWork | None:
    with folder.labels_to_read() as database:
        drawn = [] if database is None else drawn_queues(database)
        return queue_work(database, drawn[-1].name) if database is not None and drawn else None


# Of the interval for which labels are counted.
HALF_WIDTH = 0.03

# How often the numbers are computed anew while a queue fills: at its end that takes seconds.
STEPS = 50


class StillNeeded(NamedTuple):
    """The labels that a mean needs for ± ``HALF_WIDTH``, with a judge's help and ``alone``."""

    name: str
    labelled: int
    needed: int | None
    alone: int | None = None
    why: str = ""

    @property
    def still(self) -> int | None:
        """The number of labels that are lacking."""
        return None if self.needed is None else max(0, self.needed - self.labelled)


# What the labels of a queue tell so far, and how many more their means need.
QueueNumbers = tuple[Sequence[LabelSoFar], Sequence[StillNeeded]]


def queue_numbers(folder: RunsFolder, work: QueueWork) -> QueueNumbers | None:
    """Return the numbers of a queue, of now or a little before; None while there are none."""
    if not work.given:
        return (), ()
    name = work.form.name
    step = max(1, work.given // STEPS)
    done = work.given == work.wanted
    # What was decided, changed or taken back is few, and changes all of it.
    few = work.version[1:] if work.given < STEPS else work.version[1]
    version = (work.given // step, step, done, few, len(work.form.asked))
    return folder.later.newest(("queue", name), version, lambda: _computed(folder, name))


def _computed(folder: RunsFolder, name: str) -> QueueNumbers:
    with folder.labels_to_read() as database:
        if database is None:
            return (), ()
        queue = Queue(database, name)
        run = source_run(folder, queue.form)
        scored = None if run is None else Scored(run)
        clusters: Mapping[str, str] = queue.questions()
        if scored is not None:
            clusters = dict(scored.facets.select("example_id", "cluster").iter_rows())
        agreement = queue_so_far(database, queue, clusters=clusters)
        table = labels_in_queue(database, name)
        needed = [] if scored is None else list(_of_metrics(scored, queue.form, table))
        if not needed:
            needed = list(_of_labels(queue.form, table, clusters))
    return agreement, needed


def source_run(runs_folder: RunsFolder, form: QueueForm) -> Run | None:
    """Return the run that a queue is made of, if it is one of this folder and finished."""
    name = run_of_queue(runs_folder, form)
    with suppress(OSError, InputError):
        return runs_folder.run(name) if name else None
    return None


def _of_metrics(scored: Scored, form: QueueForm, table: LabelTable) -> Iterator[StillNeeded]:
    labels = {(label.label, label.unit) for label in form.asked}
    for name in scored.metrics:
        needed = labels_asked((), scored.metric(name) or name)
        if not {(label.label, label.unit) for label in needed} <= labels:
            continue
        short = short_name(name)
        try:
            known = known_of_run(scored, name, labels=table)
            size = label_size(known, HALF_WIDTH, metric=name)
        except InputError as error:
            yield StillNeeded(short, 0, None, why=error.text)
            continue
        why = words(size.reason) if size.reason else ""
        yield StillNeeded(short, known.labels or 0, size.labels, size.labels_only, why)


def _of_labels(
    form: QueueForm, table: LabelTable, clusters: Mapping[str, str]
) -> Iterator[StillNeeded]:
    ends = choice_ends(form)
    for left in labels_left(table, half_width=HALF_WIDTH, clusters=clusters, ends=ends):
        why = words(left.why) if left.why else ""
        # Of a rating from 1 to 5 it is that share of the scale.
        to = "" if left.half_width == HALF_WIDTH else f" to ± {left.half_width:.2g}"
        yield StillNeeded(f"{left.label}{to}", left.so_far, left.needed, why=why)
