"""Label queues: made or extended from a run, from data or from a label sheet."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from os import PathLike, fspath
from pathlib import Path

import numpy as np
import polars as pl

from ragstone.analysis.scored_run import Scored, known_metric
from ragstone.annotation.label_table import LabelTable
from ragstone.annotation.queue.assignment import Route, random_places, route_weight
from ragstone.annotation.queue.form import (
    LABEL,
    AskedLabel,
    Order,
    PlacedItem,
    QueueForm,
    QueueItem,
)
from ragstone.annotation.queue.labels_store import LabelDatabase, open_labels
from ragstone.annotation.queue.queue import Queue, queues
from ragstone.annotation.queue.queue_results import import_labels
from ragstone.annotation.read_labels import read_label_table
from ragstone.core.errors import InputError, UnknownName
from ragstone.core.files import RunEntry
from ragstone.core.messages import argument
from ragstone.data import from_frame, read
from ragstone.judgements import NO_ANSWER, Grounding, languages
from ragstone.metrics import Metric
from ragstone.metrics.metric_names import loaded_metric
from ragstone.run import Run

from .asked_labels import (
    by_task,
    instructions_of,
    labels_asked,
    task_labels,
    texts_shown,
    with_choices,
)
from .queue_items import (
    data_items,
    is_sheet,
    pair_items,
    run_items,
    sheet_items,
    sheet_labels,
    sheet_rows,
)
from .sample_designs import closeness

NOTHING: Mapping[str, float] = {}


def make_queue(
    database: LabelDatabase,
    form: QueueForm,
    items: Sequence[QueueItem],
    *,
    risk: Mapping[str, float] = NOTHING,
    doubt: Mapping[str, float] = NOTHING,
) -> Queue:
    """Make a queue of items.

    Args:
        items: Those without a part to label are left out. Each task of an example becomes an item
            of its own, and unless the form puts them together, each part of it.
        risk: By example, for the order of that name: the riskiest come first.
        doubt: By example, how much the judge is in doubt, from 0 to 1, for the route of that name.
    """
    labelled = labelled_items(form, items, risk, doubt)
    return Queue.make(database, form, placed(form, labelled, risk, doubt))


def labelled_items(
    form: QueueForm,
    items: Sequence[QueueItem],
    risk: Mapping[str, float] = NOTHING,
    doubt: Mapping[str, float] = NOTHING,
) -> list[QueueItem]:
    """The items with a part to label, if a queue can be made of them."""
    faults = []
    labelled = [item for item in items if item.parts]
    if not labelled:
        units = ", ".join(dict.fromkeys(label.unit for label in form.asked))
        faults.append(f"no example has what is to be labelled: {units}")
    if form.per_item < 1:
        faults.append(f"an item needs 1 person or more, got {form.per_item}")
    if not 0 <= form.overlap <= 1:
        faults.append(f"{argument('overlap', form.overlap)} is not from 0 to 1")
    if form.most is not None and form.most < 1:
        faults.append(f"{argument('n', form.most)} is not 1 or more")
    if form.order == "risk" and not risk:
        faults.append(f"the order by risk needs {argument('metric', 'METRIC')} of a run")
    if form.route == "doubt" and not doubt:
        faults.append(f"routing by doubt needs {argument('metric', 'METRIC')} of a run")
    if form.route == "doubt" and form.order == "risk":
        faults.append("items are given out by risk or by doubt, not by both")
    if faults:
        raise InputError(f"The queue cannot be made: {'; '.join(faults)}.")
    return labelled


def placed(
    form: QueueForm,
    items: Sequence[QueueItem],
    risk: Mapping[str, float] = NOTHING,
    doubt: Mapping[str, float] = NOTHING,
) -> Iterator[PlacedItem]:
    """Each item with its place, and how many people it wants; the items of an example together."""
    rng = np.random.default_rng(form.seed)
    ids = list(dict.fromkeys(item.id for item in items))
    weights = {id: route_weight(form.route, doubt.get(id)) for id in ids}
    places = dict(zip(ids, random_places([weights[id] for id in ids], rng), strict=True))
    order = sorted(ids, key=places.__getitem__)
    if form.order == "risk":
        order.sort(key=lambda id: -risk.get(id, 0.0))
        places = {id: float(at) for at, id in enumerate(order)}
    several = set(rng.permutation(len(ids))[: round(form.overlap * len(ids))].tolist())
    of_example: dict[str, list[QueueItem]] = {}
    for task_item in items:
        of_example.setdefault(task_item.id, []).append(task_item)
    number = 0
    tasks = by_task(form.asked)
    for at, id in enumerate(order):
        for task_item in (each for item in of_example[id] for each in _tasks(item, tasks)):
            for item in [task_item] if form.together else list(_alone(task_item)):
                number += 1
                yield PlacedItem(
                    replace(item, item=number), places[id], form.per_item if at in several else 1,
                    weights[id], doubt.get(id), form.most is None or at < form.most,
                )  # fmt: skip


def _tasks(item: QueueItem, tasks: Mapping[str, Sequence[AskedLabel]]) -> Iterator[QueueItem]:
    if item.hidden:
        yield item
        return
    for task, labels in tasks.items():
        seen = texts_shown(labels)
        units = {label.unit for label in labels}
        mark = task if len(tasks) > 1 else ""
        parts = tuple(replace(part, task=mark) for part in item.parts if part.unit in units)
        if parts:
            texts = {name: text for name, text in item.shown.items() if name in seen}
            yield replace(item, shown=texts, parts=parts)


def _alone(item: QueueItem) -> Iterator[QueueItem]:
    for part in item.parts:
        left_out = {"contexts"} if part.unit == "context" else set()
        texts = {name: text for name, text in item.shown.items() if name not in left_out}
        yield replace(item, shown=texts, parts=(part,))


# What of a form never changes once its queue is there.
AS_MADE = ("per_item", "overlap", "order", "chosen", "together", "seed")


# Of a queue to be made: its items, the labels that are asked, and those that are there.
Content = tuple[Sequence[QueueItem], tuple[AskedLabel, ...], LabelTable | None]


def annotate(
    source: str | PathLike[str],
    labels: LabelDatabase | str | PathLike[str],
    *,
    name: str = "",
    tasks: Sequence[str] = (),
    asked: Sequence[str] = (),
    optional: Sequence[str] = (),
    metric: str | None = None,
    threshold: float = 0.5,
    n: int | None = None,
    examples: Collection[str] | None = None,
    chosen: str = "",
    per_item: int | None = None,
    overlap: float | None = None,
    order: Order = "random",
    route: Route = "random",
    together: bool = False,
    instructions: str = "",
    guidelines: Path | None = None,
    seed: int = 0,
) -> Queue:
    """Make a queue of the examples of a run, of data, or of a label sheet.

    A queue of this name that was made in the same way is gone on with.

    Args:
        source: A run folder, a dataset, or a sheet written by ``ragstone sample``.
        labels: The store to keep it in: a folder, a file, or an address ``postgresql://…``.
        name: Of the queue; by default the source and what is asked.
        tasks: What to ask, see ``task_labels``.
        asked: Single labels, see ``labels_asked``.
        optional: Labels without which an item can be saved.
        metric: Of a run: without tasks and labels, those from which it can be computed are asked;
            its scores say where the judge is in doubt, and what is at risk.
        n: How many examples are given out; None: all.
        examples: Ids of those to choose from; None: all.
        chosen: By what these were chosen, in words, where that was not chance.
        per_item: How many people label an item; by default 1, or 2 where an overlap is given.
        overlap: The share of examples that several people label; by default all of them.
        order: ``random``, or ``risk``: the worst scores first.
        route: In random order, which are likelier to come first: all the same (``random``), or
            those on which the judge is in doubt (``doubt``).
        together: Whether all parts of an example are labelled on one screen for each task.
        instructions: The queue's own, in Markdown.
        guidelines: A folder with translations of guidelines, such as ``grounding.french.md``.

    Raises:
        InputError: There is no such source, or nothing to ask or to label.
    """
    path = Path(source)
    _check_guidelines(guidelines)
    items, asked_labels, labels_there = _source(path, tasks, asked, metric, examples, seed)
    questions = tuple(
        replace(each, required=each.label not in optional) for each in with_choices(asked_labels)
    )
    known = [label.label for label in questions]
    for label in optional:
        if label not in known:
            raise UnknownName("label of this queue", label, known)
    several = 1 if overlap is None else 2
    form = QueueForm(
        name or _name(path, tasks, known),
        questions,
        str(path),
        per_item if per_item is not None else several,
        1.0 if overlap is None else overlap,
        order,
        route,
        n,
        chosen,
        together,
        instructions,
        {
            language: text
            for language in languages(guidelines)
            if (text := instructions_of(questions, language, guidelines)[0])
        },
        seed=seed,
    )
    risk, doubt = NOTHING, NOTHING
    if metric is not None:
        scored = Scored(Run.open(path)).without_corrections()
        score = known_metric(scored, metric)
        near = closeness(scored, score, threshold).fill_null(0.0)
        doubt = dict(zip(scored.of(score)["example_id"], near, strict=True))
        risk = _risk(scored, score)
    # Before there is a store: wrong input leaves none behind.
    items = labelled_items(form, items, risk, doubt)
    store = open_labels(fspath(labels)) if isinstance(labels, (str, PathLike)) else labels
    same = next((queue for queue in queues(store) if queue.name == form.name), None)
    if same is not None and _is_same(same, form):
        return Queue(store, form.name)
    queue = Queue.make(store, form, placed(form, items, risk, doubt))
    if labels_there is not None:
        import_labels(queue, labels_there)
    return queue


def more_examples(queue: Queue, source: str | PathLike[str], by: str = "") -> int:
    """Add the examples of a source that a queue does not have yet; returns how many items."""
    form = queue.form
    names = tuple(dict.fromkeys(label.label for label in form.asked))
    items, _, _ = _source(Path(source), (), names, None, None, form.seed)
    return queue.extend(placed(form, items), by)


def _source(
    path: Path, tasks: Sequence[str], labels: Sequence[str], metric: str | None,
    examples: Collection[str] | None, seed: int,
) -> Content:  # fmt: skip
    if not path.exists():
        raise InputError(
            f"There is no {path}. Name a run folder, a dataset, or a sheet of `ragstone sample`."
        )
    if path.is_dir() and (path / RunEntry.MANIFEST).is_file():
        run = Run.open(path)
        name = None if metric is None else known_metric(Scored(run), metric)
        questions = _questions(tasks, labels, name and (loaded_metric(name) or name))
        if _of_pairs(questions):
            return pair_items(from_frame(run.examples()), ids=examples, seed=seed), questions, None
        return run_items(run, questions, examples), questions, None
    if metric is not None:
        raise InputError(
            f"{argument('metric', metric)} needs a run with its scores, and {path} is none: "
            f"name what to ask with {argument('tasks', 'NAME')}."
        )
    if is_sheet(path):
        return _of_sheet(path, tasks, labels, examples)
    chosen = [example for example in read(path) if examples is None or example.id in examples]
    questions = _questions(tasks, labels, None)
    if _of_pairs(questions):
        return pair_items(chosen, seed=seed), questions, None
    return data_items(chosen, questions), questions, None


def _of_sheet(
    path: Path, tasks: Sequence[str], labels: Sequence[str], examples: Collection[str] | None
) -> Content:
    rows = sheet_rows(path)
    items = [
        item for item in sheet_items(rows, str(path)) if examples is None or item.id in examples
    ]
    columns = sheet_labels(rows)
    if tasks or labels:
        questions = _questions(tasks, labels, None)
    else:
        units = dict.fromkeys(part.unit for item in items for part in item.parts)
        questions = labels_asked(columns, None)
        # A label of one's own is asked of what the rows are about.
        questions = tuple(
            each if each.unit in units or not units else replace(each, unit=next(iter(units)))
            for each in questions
        )
    has_labels = any(str(row.get(name) or "").strip() for row in rows for name in columns)
    return items, questions, read_label_table(path) if has_labels else None


def _questions(
    tasks: Sequence[str], labels: Sequence[str], metric: Metric | str | None
) -> tuple[AskedLabel, ...]:
    questions = task_labels(tasks)
    if labels or not questions:
        if not labels and metric is None:
            raise InputError(
                f"A queue needs to know what to ask: {argument('tasks', Grounding.name)}, "
                f"{argument('asked', 'helpful')}, or {argument('metric', 'METRIC')} of a run."
            )
        questions = tuple(dict.fromkeys((*questions, *labels_asked(labels, metric))))
    if _of_pairs(questions) and len(questions) > 1:
        raise InputError(
            f"Which of two answers is better is asked alone: make another queue for "
            f"{', '.join(label.label for label in questions if label.label != LABEL)}."
        )
    return questions


def _of_pairs(labels: Sequence[AskedLabel]) -> bool:
    return any(label.label == LABEL for label in labels)


def _is_same(before: QueueForm, now: QueueForm) -> bool:
    first = before.asked[: len(now.asked)]
    return (
        all(getattr(before, name) == getattr(now, name) for name in AS_MADE)
        and [(each.label, each.unit) for each in first]
        == [(each.label, each.unit) for each in now.asked]
        and Path(before.source).resolve() == Path(now.source).resolve()
        and now.most in (None, before.most)
    )


def _check_guidelines(folder: Path | None) -> None:
    if folder is None:
        return
    if not folder.is_dir():
        raise InputError(f"There is no folder {argument('guidelines', folder)}.")
    files = sorted(folder.glob("*.*.md"))
    if not files:
        raise InputError(
            f"{folder} has no translation, such as {Grounding.name}.french.md: the kind, and the "
            "language."
        )
    for file in files:
        try:
            file.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"{file} cannot be read as UTF-8: save it so. ({error})") from error


def _name(path: Path, tasks: Sequence[str], labels: Sequence[str]) -> str:
    """A name that fits into an address: the source and what is asked.

    >>> _name(Path("runs/mtrag"), ["grounding"], [])
    'mtrag-grounding'
    """
    words = [path.resolve().name.partition(".")[0], *(tasks or labels[:2])]
    return "-".join(
        "".join(letter if letter.isalnum() else "-" for letter in word) for word in words
    )[:80]


def _risk(scored: Scored, metric: str) -> dict[str, float]:
    """Rank each score from 0 to 1, the worst; where the judge failed nobody knows, which is 1.

    Where there is no answer there is nothing to label, which is 0.
    """
    scores, scale = scored.of(metric), scored.scale(metric)
    value = pl.col("value")
    low, high = value.min(), value.max()
    share = (value - low) / pl.when(high > low).then(high - low).otherwise(1.0)
    bad = share if scale.better == "-" else 1 - share
    failed = (pl.col("status") == "missing") & pl.col("reason").ne_missing(NO_ANSWER)
    rows = scores.select("example_id", pl.when(failed).then(1.0).otherwise(bad.fill_null(0.0)))
    return dict(rows.iter_rows())
