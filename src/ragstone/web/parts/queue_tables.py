"""Queue tables: labels side by side, agreement, corrected means, and labels still needed."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

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
from ragstone.core.files import RunEntry
from ragstone.monitor.send_to_people import drawn_queues, labels_for, labels_of_metric
from ragstone.monitor.series.baselines import MeanWithInterval
from ragstone.monitor.series.overview import CorrectedNow, MetricNow
from ragstone.report.number_format import counted, ends, number, short_name
from ragstone.report.reason_words import words
from ragstone.report.sentences.judge_words import asked_in_words, item_noun
from ragstone.run import Run
from ragstone.web.page_request import queue_path
from ragstone.web.runs_folder import RunsFolder
from ragstone.web.templating import minus

from .annotation_form import QUOTED, field_of, label_title, part_title
from .metric_bands import said_metric

DISCARDED = "discarded"
"""What is shown instead of a label where somebody discarded the item."""

Votes = Mapping[str, Sequence[tuple[str, Sequence[str]]]]
"""By the field of a label: what was said of it, and by whom."""


@dataclass(frozen=True, slots=True)
class ShownSpan:
    """Words that somebody's label rests on: the name of their text, where they are, and they."""

    text: str
    start: int
    end: int
    quote: str


@dataclass(frozen=True, slots=True)
class SideCell:
    """What somebody said of a label; empty if nothing."""

    value: str
    evidence: tuple[ShownSpan, ...]


@dataclass(frozen=True, slots=True)
class SideRow:
    """A label: of which part, its name, and what each person said of it."""

    part: str
    label: str
    cells: tuple[SideCell, ...]


@dataclass(frozen=True, slots=True)
class PersonSide:
    """Somebody who labelled the item, or decided it: their note, and why they discarded it."""

    name: str
    decides: bool
    note: str
    discarded: str


@dataclass(frozen=True, slots=True)
class AnnotatorColumns:
    """What people said, side by side.

    Attributes:
        people: Annotators in the order in which they answered, and those who decided.
        rows: The labels on which they differ.
        agreed: The others: part, label and what all say who say something.
        votes: What annotators said of each label.
    """

    people: tuple[PersonSide, ...]
    rows: tuple[SideRow, ...]
    agreed: tuple[tuple[str, str, str], ...]
    votes: Votes

    @property
    def has_notes(self) -> bool:
        """Whether somebody noted something or said why they discarded the item."""
        return any(one.note or one.discarded for one in self.people)


def sides_of(form: QueueForm, item: QueueItem, divided: DisputedItem) -> AnnotatorColumns:
    """What people said of an item, side by side."""
    said = (*divided.said, *divided.decisions)
    texts = texts_of(item)
    titles = {(str(one.unit), one.name): part_title(one, item) for one in item.parts}
    several = len(item.parts) > 1
    rows = [
        SideRow(
            titles.get(one.part, "") if several else "",
            label_title(one.label),
            tuple(_cell(each.answers, one.part, one.label, texts) for each in said),
        )
        for one in divided.labels
    ]
    agreed = [
        (titles.get(part, "") if several else "", label_title(label), value)
        for part, labels in divided.agreed.items()
        for label, value in labels.items()
    ]
    return AnnotatorColumns(
        tuple(
            PersonSide(
                one.person, one.role == "adjudicator", one.answers.note, one.answers.discarded
            )
            for one in said
        ),
        tuple(rows),
        tuple(agreed),
        _votes(form, item, divided.said),
    )


def _cell(
    answers: ItemAnswers, part: tuple[str, str], label: str, texts: Mapping[str, str]
) -> SideCell:
    if answers.discarded:
        return SideCell(DISCARDED, ())
    value = answers.labels.get(part, {}).get(label, "")
    return SideCell(value, tuple(_evidence(answers, part, label, texts)))


def _evidence(
    answers: ItemAnswers, part: tuple[str, str], label: str, texts: Mapping[str, str]
) -> Iterator[ShownSpan]:
    for one in answers.spans:
        name, start, end = str(one.get("text")), one.get("start"), one.get("end")
        mine = one.get("part") == list(part) and one.get("label") == label
        if mine and isinstance(start, int) and isinstance(end, int):
            yield ShownSpan(name, start, end, texts.get(name, "")[start:end][:QUOTED])


def _votes(form: QueueForm, item: QueueItem, said: Sequence[SavedItem]) -> Votes:
    found: dict[str, list[tuple[str, list[str]]]] = {}
    for at, part in enumerate(item.parts):
        for label in (one.label for one in form.asked if part.asks(one)):
            by_value: dict[str, list[str]] = {}
            for one in said:
                value = one.answers.labels.get((part.unit, part.name), {}).get(label, "")
                value = DISCARDED if one.answers.discarded else value
                if value:
                    by_value.setdefault(value, []).append(one.person)
            votes = sorted(by_value.items(), key=lambda vote: -len(vote[1]))
            found[field_of(at, label)] = votes
    return found


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
    sent = counted(work.items, item_noun(work.form))
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
        if name and (there / RunEntry.MANIFEST).is_file() and there.samefile(form.source):
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
