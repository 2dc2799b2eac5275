"""New queue: which examples of a run people are to label, and what they are asked."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ragstone.analysis.label_sampling.asked_labels import tasks_known
from ragstone.analysis.label_sampling.make_queue import annotate
from ragstone.core.errors import InputError, RagstoneError
from ragstone.web.example_rows import example_rows
from ragstone.web.filters import ExampleFilter
from ragstone.web.page_request import Asked, Elsewhere, WebPage, queue_path, run_path
from ragstone.web.runs_folder import RunsFolder
from ragstone.web.templating import View

from .examples_view import baseline_of, ready, tag_lookup
from .judge_view import in_cell

NEW = "/annotate/new"
TYPED = ("labels", "n", "per_item", "overlap", "together", "name", "instructions")
"""The fields of the form, beside a box for each task."""

PATIENCE = 1.0
"""Seconds that the page waits for the rows of a run that was just opened."""


@dataclass(frozen=True, slots=True)
class ChosenExamples:
    """The examples that are going to be labelled.

    Attributes:
        ids: None: all of the run.
        how: By what they were chosen, in words; empty for all.
        count: How many they are.
    """

    ids: Sequence[str] | None
    how: str
    count: int


def new_queue_page(
    place: RunsFolder,
    asked: Asked,
    trouble: Sequence[str] = (),
    form: Mapping[str, str] | None = None,
) -> WebPage:
    """Show what is asked of which examples, before the queue is made."""
    name = asked.one("run")
    if not name:
        finished = [one.path.name for one in place.runs() if one.form and one.form.finished]
        shows = {"finished": finished, "run": "", "trouble": trouble}
        return WebPage("new_queue.html", "New queue", shows, here="Annotate")
    chosen = _chosen(place, asked, name)
    if chosen is None:
        shows = {"again": asked.but()}
        return WebPage("waits.html", "New queue", shows, here="Annotate")
    given = {**dict.fromkeys(TYPED, ""), **(form or {})}
    return WebPage(
        "new_queue.html",
        "New queue",
        {
            "run": name,
            "run_path": run_path(name),
            "chosen": chosen,
            "tasks": _tasks(given),
            "given": given,
            "trouble": trouble,
        },
        here="Annotate",
        status=400 if trouble else 200,
    )


def make(place: RunsFolder, asked: Asked, form: Mapping[str, str]) -> WebPage | Elsewhere:
    """Make the queue; the page again, with all that is wrong, if it cannot be made."""
    name = asked.one("run")
    chosen = _chosen(place, asked, name)
    if chosen is None:
        return new_queue_page(place, asked, (), form)
    try:
        queue = annotate(
            place.path(name),
            place.labels(),
            name=form.get("name", "").strip(),
            tasks=[one for one in tasks_known() if f"task {one}" in form],
            asked=[one.strip() for one in form.get("labels", "").split(",") if one.strip()],
            n=_number(form, "n", "How many examples"),
            examples=chosen.ids,
            chosen=chosen.how,
            per_item=_number(form, "per_item", "People an item"),
            overlap=_share(form),
            together="together" in form,
            instructions=form.get("instructions", "").strip(),
        )
    except RagstoneError as error:
        return new_queue_page(place, asked, error.text.splitlines(), form)
    return Elsewhere(queue_path(queue.name, "progress"))


def _chosen(place: RunsFolder, asked: Asked, name: str) -> ChosenExamples | None:
    """Return the examples that the address means; None while they are being found."""
    run = place.run(name)
    if cell := asked.one("cell"):
        label = asked.one("label")
        ids = in_cell(place, name, label, cell)
        how = f"people and the judge say {cell} of {label}"
        return None if ids is None else _found(ids, how, name)
    wanted = ExampleFilter.read(asked.one("within"))
    if not wanted.conditions:
        return ChosenExamples(None, "", run.form.data.examples)
    rows = example_rows(run)
    made = place.later.get(("rows", place.stamp(name)), rows.prepare, PATIENCE)
    if made is None or not ready(place, name, rows, wanted):
        return None
    chosen = wanted.chosen(rows, baseline_of(place, name), tag_lookup(place, name))
    return _found(chosen["id"].to_list(), wanted.words, name)


def _found(ids: Sequence[str], how: str, name: str) -> ChosenExamples:
    if not ids:
        raise InputError(f"No answer of {name} matches: {how}.")
    return ChosenExamples(ids, how, len(ids))


def _tasks(form: Mapping[str, str]) -> list[View]:
    seen: set[tuple[str, str]] = set()
    found = []
    for name, labels in tasks_known().items():
        named = {(one.label, one.unit) for one in labels}
        if not named <= seen:
            names = [one.label for one in labels]
            found.append(
                {
                    "name": name,
                    "labels": names,
                    "unit": labels[0].unit,
                    "chosen": f"task {name}" in form,
                }
            )
            seen |= named
    return found


def _number(form: Mapping[str, str], name: str, what: str) -> int | None:
    text = form.get(name, "").strip()
    if not text:
        return None
    if not (text.isascii() and text.isdigit() and int(text[:9]) > 0 and len(text) < 10):
        raise InputError(f"{what}: a whole number from 1 is expected, got {text!r}.")
    return int(text)


def _share(form: Mapping[str, str]) -> float | None:
    text = form.get("overlap", "").strip().removesuffix("%")
    if not text:
        return None
    try:
        return float(text) / 100
    except ValueError as error:
        raise InputError(f"Overlap: a share in percent is expected, got {text!r}.") from error
