"""``ragstone annotate SOURCE``: queues of examples that people label in the browser.

Args:
    annotators (NAMES): People who label, separated by commas: ann,ben. Each gets a link.
    store (--labels STORE): Where labels are kept: a folder, a file, or an address postgresql://…
        Default: labels.sqlite in the folder of the runs.
    no_browser: Only print the addresses.
    queue (QUEUE): The name of a queue, or STORE#QUEUE.
    author (NAME): Who does it, for the audit log.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Literal

from ragstone.core.errors import InputError

from . import annotate_queue, options
from .labels import LayoutOption, labels
from .options import load_user_metrics
from .output import SourceFirst, group, print_json, print_page, say

if TYPE_CHECKING:
    from ragstone.annotation.queue.note_tags import QueueTags
    from ragstone.annotation.queue.queue import Queue
    from ragstone.web.security import ServerAddress

annotate = group(
    SourceFirst,
    "Let people label examples in the browser. "
    "Labels are kept in labels.sqlite beside the runs, or in PostgreSQL.",
)


Order = Literal["random", "risk"]

Route = Literal["random", "doubt"]


@options.in_group(annotate, "new")
@options.with_server(8421)
def new(
    source: str,
    *,
    tasks: str | None = None,
    label: list[str] | None = None,
    optional: list[str] | None = None,
    metric: str | None = None,
    threshold: float = 0.5,
    n: int | None = None,
    only: str = "",
    annotators: str | None = None,
    per_item: int | None = None,
    overlap: float | None = None,
    order: Order = "random",
    route: Route = "random",
    together: bool = False,
    name: str = "",
    instructions: Path | None = None,
    guidelines: Path | None = None,
    store: str = "",
    no_browser: bool = False,
    seed: int = 0,
    metrics_from: list[Path] | None = None,
    json: bool = False,
    at: "ServerAddress",
) -> None:
    """Make a queue of RUN, DATA or SHEET, or go on with QUEUE, and open it in the browser.

    Each annotator sees one item per screen, and never a judge's verdict, a system, or
    others' labels. Each label is saved at once.

    Example: ragstone annotate runs/mtrag --tasks grounding --annotators ann,ben
    --overlap .2

    Ctrl+C ends it; nothing is lost, and `ragstone annotate QUEUE`
    goes on.

    Exit status: 0 stopped, 2 invalid input.

    Args:
        source (RUN|DATA|SHEET|QUEUE): A run, a dataset, a sheet of `ragstone sample`, or a queue to
            go on with.
        tasks (NAMES): What to ask, separated by commas: retrieval, grounding, generation, claims,
            statements, preference, or a kind.
        label (NAME): A single label to ask for: helpful, rating.tone, critique.rude, or a word of
            your own; repeatable.
        optional (NAME): A label that may be left out; repeatable.
        metric (-m): Metric of RUN: asks for the labels it needs; its scores steer --route and
            --order.
        threshold: Score at which the metric turns from no to yes.
        n (N): How many examples are labelled. Default: all.
        only (--filter QUERY): Only examples of RUN that match what follows the ? in the address of
            the run's page, such as where=faithfulness:..0.5&stage=not_grounded.
        per_item (N): How many people label an item. Default: 1; with --overlap 2.
        overlap (SHARE): Share of the examples that several people label. Default: all.
        order: random, or risk: the worst scores first.
        route: Which examples are likelier to come first: all the same (random), or those on which
            the judge is in doubt (doubt).
        together: Label all parts of an example, such as its passages, on one screen.
        name (NAME): Name of the queue. Default: source and tasks.
        instructions (FILE): Instructions of your own, in Markdown, shown with the guideline.
        guidelines (DIR): Folder with translations of guidelines, such as grounding.french.md.
            English and German are built in.
        seed: Seed of the order and of the overlap.
    """
    from ragstone.analysis.label_sampling import make_queue
    from ragstone.annotation.queue.labels_store import check_person
    from ragstone.web.entry_points import check_address

    # Before anything is made, for a queue without its people or its app would be left behind.
    for annotator in _names(annotators):
        check_person(annotator)
    check_address(at)
    guidance = "" if instructions is None else _text(instructions)
    load_user_metrics(metrics_from or ())
    path = options.run_folder(Path(source)) or Path(source)
    if not path.exists():
        source, store = annotate_queue.named_queue(source, store)
    address = store or str(annotate_queue.folder_of(path))
    if not path.exists():
        queue, is_new = annotate_queue.existing_queue(source, address), False
    else:
        examples, chosen = _filtered(path, only) if only else (None, "")
        with annotate_queue.folder_for_store(address):
            before = annotate_queue.queue_names(address)
            queue = make_queue.annotate(
                path,
                address,
                examples=examples,
                chosen=chosen,
                name=name,
                tasks=_names(tasks),
                asked=label or (),
                optional=optional or (),
                metric=metric,
                threshold=threshold,
                n=n,
                per_item=per_item,
                overlap=overlap,
                order=order,
                route=route,
                together=together,
                instructions=guidance,
                guidelines=guidelines,
                seed=seed,
            )
        is_new = queue.name not in before
    annotate_queue.serve_queue(
        queue, address, path, _names(annotators), at, no_browser, json, is_new=is_new
    )


@options.in_group(annotate, "list")
def list_queues(*, store: str = "", json: bool = False) -> None:
    """List the queues and how far they are.

    Exit status: 0 done, 2 invalid input.
    """
    from ragstone.annotation.queue.queue import queues
    from ragstone.annotation.queue.work_progress import queue_work
    from ragstone.report.pages.annotation_pages import queues_page

    database = annotate_queue.open_store(store)
    works = [queue_work(database, row.name) for row in queues(database)]
    print_page(queues_page(database.name, works), json=json)


@options.in_group(annotate)
def progress(queue: str, *, store: str = "", json: bool = False) -> None:
    """Show who has labelled how much of QUEUE, and what changed in it.

    Exit status: 0 done, 2 invalid input.
    """
    _print_progress(*annotate_queue.open_queue(queue, store), json=json)


@options.in_group(annotate)
def extend(
    queue: str,
    source: Path | None = None,
    *,
    n: int | None = None,
    every: bool = False,
    annotators: str | None = None,
    label: list[str] | None = None,
    route: Route | None = None,
    author: str = "",
    store: str = "",
    json: bool = False,
) -> None:
    """Give QUEUE more examples, people or labels, or another routing.

    What was said stays as it is. A person who has a link gets a new one, and the old
    one ends; `ragstone annotate QUEUE` prints where links begin.

    Exit status: 0 done, 2 invalid input.

    Args:
        source ([SOURCE]): A run, data or a sheet with more examples.
        n (N): How many examples are labelled in all.
        every (--all): Label all examples.
        label (NAME): Another label, asked for from now on; repeatable.
        route: Route the examples that are left by this from now on.
    """
    from ragstone.analysis.label_sampling.asked_labels import labels_asked, with_choices
    from ragstone.analysis.label_sampling.make_queue import more_examples
    from ragstone.annotation.queue.labels_store import check_person

    opened, store = annotate_queue.open_queue(queue, store)
    for who in _names(annotators):
        check_person(who)
    if source is not None:
        say(f"{more_examples(opened, source, author):,} items added.", err=True)
    for added in with_choices(labels_asked(label, None)) if label else ():
        opened.ask(added, author)
    if n is not None or every:
        opened.limit(None if every else n, author)
    if route is not None:
        opened.route(route, author)
    links = {who: opened.invite(who, by=author) for who in _names(annotators)}
    _print_progress(opened, store, links, json=json)


@options.in_group(annotate)
def revoke(
    queue: str, person: str, *, author: str = "", store: str = "", json: bool = False
) -> None:
    """End a person's link to QUEUE at once; what they said stays.

    Exit status: 0 done, 2 nobody of this name.

    Args:
        person: Whose link ends.
    """
    opened, store = annotate_queue.open_queue(queue, store)
    opened.revoke(person, author)
    _print_progress(opened, store, json=json)


@options.in_group(annotate)
@options.with_server(8421)
def adjudicate(
    queue: str,
    *,
    name: str = "",
    store: str = "",
    no_browser: bool = False,
    json: bool = False,
    at: "ServerAddress",
) -> None:
    """Open the items that divide people, to decide them.

    A decision is a label of its own with its author, and counts in place of the others.

    Exit status: 0 stopped, 2 invalid input.

    Args:
        name (NAME): Who decides.
    """
    from ragstone.web.entry_points import check_address

    # A new link ends the old one.
    check_address(at)
    opened, store = annotate_queue.open_queue(queue, store)
    person = name or annotate_queue.own_name()
    links = {person: opened.invite(person, "adjudicator")}
    address, start = store or str(annotate_queue.RUNS), f"/annotate/{opened.name}/adjudicate"
    annotate_queue.open_in_browser(opened, address, links, at, no_browser, json, start=start)


@options.in_group(annotate, "import")
def take_labels(
    queue: str,
    files: list[options.LabelSource],
    *,
    author: str = "",
    store: str = "",
    json: bool = False,
) -> None:
    """Take over labels that people gave elsewhere, as theirs.

    What somebody said in QUEUE stays as it is.

    Exit status: 0 done, 2 invalid input.

    Args:
        files (LABELS): Label files, exports of Argilla or Label Studio, or a dataset with labels.
    """
    from ragstone.annotation import read_label_table
    from ragstone.annotation.queue.queue_results import import_labels
    from ragstone.report.number_format import counted

    opened, _ = annotate_queue.open_queue(queue, store)
    imported, left_out = import_labels(opened, read_label_table(files), author)
    people = list(dict.fromkeys(imported))
    if json:
        print_json({"answers": len(imported), "people": people, "left_out": left_out})
        return
    left = (
        f"; left out {counted(left_out, 'row')} that {opened.name} does not ask for"
        if left_out
        else ""
    )
    say(f"Took over {counted(len(imported), 'item')} of {', '.join(people) or 'nobody'}{left}.")


@options.in_group(annotate)
def export(
    queue: str,
    *,
    out: Path,
    layout: LayoutOption = "wide",
    tags: bool = False,
    store: str = "",
    json: bool = False,
) -> None:
    """Write what people said in QUEUE to a file.

    `ragstone agreement`, `calibrate` and `gate --labels` read the store itself.

    Exit status: 0 done, 2 invalid input.

    Args:
        out (FILE): File to write: .csv, .jsonl or .parquet; for a platform .json, for per_task a
            folder.
        layout (--as): wide: one row per annotator and unit; long: one row per label; per_task: a
            folder of CSV files, one for each sort of unit, with a manifest; label_studio, argilla:
            JSON that these platforms import.
        tags: Write failure tags instead: a row an example that is labelled, a column tag:NAME a
            tag, yes or no.
    """
    from ragstone.annotation.queue.note_tags import QueueTags
    from ragstone.core.database import POSTGRES

    opened, store = annotate_queue.open_queue(queue, store)
    if tags:
        _write_tags(QueueTags(annotate_queue.open_store(store), opened), out, json=json)
        return
    address = store if store.startswith(POSTGRES) else annotate_queue.open_store(store).name
    labels([f"{address}#{opened.name}"], layout=layout, out=out, json=json)


def _write_tags(tags: "QueueTags", out: Path, *, json: bool) -> None:
    from ragstone.annotation.label_export import write_rows
    from ragstone.report.number_format import counted

    labelled, by_tag = tags.examples()
    columns = {f"tag:{tag}": ids for tag, ids in by_tag.items()}
    rows = [
        {"id": id, **{name: "yes" if id in ids else "no" for name, ids in columns.items()}}
        for id in sorted(labelled)
    ]
    write_rows(rows, ["id", *columns], out)
    if json:
        print_json({"examples": len(rows), "tags": list(by_tag), "out": out})
        return
    say(f"{counted(len(by_tag), 'tag')} of {counted(len(rows), 'example')}: {out}")


def _filtered(path: Path, only: str) -> tuple[list[str], str]:
    """The examples of a run that a filter finds, and the filter in words."""
    from ragstone.run import Run
    from ragstone.web.example_rows import example_rows
    from ragstone.web.filters import ExampleFilter

    condition = ExampleFilter.read(only.removeprefix("?"))
    if not condition.conditions:
        raise InputError(
            f"--filter {only} names no condition, such as where=faithfulness:..0.5 or "
            "stage=not_grounded."
        )
    rows = condition.chosen(example_rows(Run.open(path)))
    if rows.is_empty():
        raise InputError(f"No answer in {path} matches: {condition.words}.")
    return rows["id"].to_list(), condition.words


def _names(text: str | None) -> list[str]:
    return [name.strip() for name in text.split(",")] if text else []


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise InputError(
            f"{file} is no text in UTF-8. Save it as UTF-8, or name another."
        ) from None


def _print_progress(
    queue: "Queue", store: str, links: dict[str, str] | None = None, *, json: bool
) -> None:
    from ragstone.annotation.queue.work_progress import queue_work
    from ragstone.report.pages.annotation_pages import progress_page

    page = progress_page(
        queue_work(annotate_queue.open_store(store), queue.name), queue.events(), links
    )
    print_page(page, json=json)
