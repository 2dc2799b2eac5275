"""New queue: which examples of a run people are to label, and what they are asked."""

from collections.abc import Mapping, Sequence

from ragstone.analysis.label_sampling.asked_labels import tasks_known
from ragstone.analysis.label_sampling.make_queue import annotate
from ragstone.annotation.queue.form import AskedLabel
from ragstone.core.errors import InputError, RagstoneError
from ragstone.web.example_rows import example_rows
from ragstone.web.filters import ExampleFilter
from ragstone.web.page_request import (
    Asked,
    Elsewhere,
    WebPage,
    queue_path,
    waits_page,
    whole_number,
)
from ragstone.web.runs_folder import RunsFolder

from .examples_view import chosen_rows
from .judge_view import in_cell

NEW = "/annotate/new"
# The fields of the form, beside a box for each task.
TYPED = ("labels", "n", "per_item", "overlap", "together", "name", "instructions")

# Seconds that the page waits for the rows of a run that was just opened.
PATIENCE = 1.0


# The ids of the examples that are going to be labelled, None for all, and how they were chosen.
ChosenExamples = tuple[Sequence[str] | None, str]


def new_queue_page(
    folder: RunsFolder,
    request: Asked,
    trouble: Sequence[str] = (),
    form: Mapping[str, str] | None = None,
) -> WebPage:
    """Show what is asked of which examples, before the queue is made."""
    name = request.one("run")
    if not name:
        finished = [run.path.name for run in folder.runs() if run.form and run.form.finished]
        shows = {"finished": finished, "run": "", "trouble": trouble}
        return WebPage("new_queue.html", "New queue", shows, here="Annotate")
    chosen = _chosen(folder, request, name)
    if chosen is None:
        return waits_page(request, "New queue", "Annotate")
    ids, how = chosen
    typed = {**dict.fromkeys(TYPED, ""), **(form or {})}
    return WebPage(
        "new_queue.html",
        "New queue",
        {
            "run": name,
            "how": how,
            "count": folder.run(name).form.data.examples if ids is None else len(ids),
            "tasks": _tasks(),
            "given": typed,
            "trouble": trouble,
        },
        here="Annotate",
        status=400 if trouble else 200,
    )


def make(folder: RunsFolder, request: Asked, form: Mapping[str, str]) -> WebPage | Elsewhere:
    """Make the queue; the page again, with all that is wrong, if it cannot be made."""
    name = request.one("run")
    chosen = _chosen(folder, request, name)
    if chosen is None:
        return new_queue_page(folder, request, (), form)
    try:
        queue = annotate(
            folder.path(name),
            folder.labels(),
            name=form.get("name", "").strip(),
            tasks=[task for task in tasks_known() if f"task {task}" in form],
            asked=[label.strip() for label in form.get("labels", "").split(",") if label.strip()],
            n=_number(form, "n", "How many examples"),
            examples=chosen[0],
            chosen=chosen[1],
            per_item=_number(form, "per_item", "People an item"),
            overlap=_share(form),
            together="together" in form,
            instructions=form.get("instructions", "").strip(),
        )
    except RagstoneError as error:
        return new_queue_page(folder, request, error.text.splitlines(), form)
    return Elsewhere(queue_path(queue.name, "progress"))


def _chosen(folder: RunsFolder, request: Asked, name: str) -> ChosenExamples | None:
    """Return the examples that the address means; None while they are being found."""
    run = folder.run(name)
    if cell := request.one("cell"):
        label = request.one("label")
        ids = in_cell(folder, name, label, cell)
        how = f"people and the judge say {cell} of {label}"
        return None if ids is None else _found(ids, how, name)
    matching = ExampleFilter.read(request.one("within"))
    if not matching.conditions:
        return None, ""
    rows = example_rows(run)
    prepared = folder.later.get(("rows", folder.stamp(name)), rows.prepare, PATIENCE)
    chosen = chosen_rows(folder, name, rows, matching) if prepared else None
    return None if chosen is None else _found(chosen["id"].to_list(), matching.words, name)


def _found(ids: Sequence[str], how: str, name: str) -> ChosenExamples:
    if not ids:
        raise InputError(f"No answer of {name} matches: {how}.")
    return ids, how


def _tasks() -> Mapping[str, Sequence[AskedLabel]]:
    """Return the tasks with their labels, but for those that ask what others ask already."""
    seen: set[tuple[str, str]] = set()
    tasks = {}
    for name, labels in tasks_known().items():
        pairs = {(label.label, label.unit) for label in labels}
        if not pairs <= seen:
            tasks[name] = labels
            seen |= pairs
    return tasks


def _number(form: Mapping[str, str], name: str, what: str) -> int | None:
    text = form.get(name, "").strip()
    number = whole_number(text)
    if text and not number:
        raise InputError(f"{what}: a whole number from 1 is expected, got {text!r}.")
    return number


def _share(form: Mapping[str, str]) -> float | None:
    text = form.get("overlap", "").strip().removesuffix("%")
    if not text:
        return None
    try:
        return float(text) / 100
    except ValueError as error:
        raise InputError(f"Overlap: a share in percent is expected, got {text!r}.") from error
