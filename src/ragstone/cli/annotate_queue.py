"""Annotation queues on the command line: their stores, and serving them with personal links."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from ragstone.core.errors import InputError

from .output import print_json, say, say_address, warn_of_network

if TYPE_CHECKING:
    from ragstone.annotation.queue.labels_store import LabelDatabase
    from ragstone.annotation.queue.queue import Queue
    from ragstone.web.security import Served, ServerAddress

RUNS = Path("runs")


def folder_of(source: Path) -> Path:
    """Return the folder of a source's labels: beside a run, or the folder of the runs."""
    from ragstone.core.files import RunEntry

    if (source / RunEntry.MANIFEST).is_file():
        return source.resolve().parent
    return RUNS


@contextmanager
def folder_for_store(store: str) -> Iterator[None]:
    """The folder of the runs, which is made for the store, unless no store comes of it."""
    is_made = Path(store) == RUNS and not RUNS.exists()
    if is_made:
        RUNS.mkdir()
    try:
        yield
    except BaseException:
        if is_made:
            with suppress(OSError):
                RUNS.rmdir()
        raise


def queue_names(store: str) -> set[str]:
    """The names of the queues of a store; none if there is no store yet."""
    from ragstone.annotation.queue.queue import queues
    from ragstone.core.database import POSTGRES

    is_there = store.startswith(POSTGRES) or _file_of(store).is_file()
    return {row.name for row in queues(open_store(store))} if is_there else set()


def existing_queue(name: str, store: str) -> "Queue":
    """A queue to go on with, where there is no file or folder of this name."""
    from ragstone.annotation.queue.queue import Queue

    known = queue_names(store)
    if name in known:
        return Queue(open_store(store), name)
    listed = f"The queues of {store} are {', '.join(sorted(known))}." if known else ""
    none = f"{store} has no queue yet; --labels names another store."
    raise InputError(
        f"There is no {name}: name a run, a dataset, a label sheet, or a queue. {listed or none}"
    )


def _file_of(store: str) -> Path:
    from ragstone.annotation.queue.labels_store import FILE

    return Path(store) / FILE if Path(store).is_dir() else Path(store)


def open_store(store: str, queue: str = "") -> "LabelDatabase":
    """The store, which has to be there."""
    from ragstone.annotation.queue.labels_store import open_labels
    from ragstone.core.database import POSTGRES

    address = store or str(RUNS)
    file = _file_of(address)
    if not address.startswith(POSTGRES) and not file.is_file():
        also = f", and no {queue}" if queue else ""
        raise InputError(
            f"There is no store of labels {file}{also}. `ragstone annotate RUN` makes one beside "
            "the runs; --labels names another."
        )
    return open_labels(address)


def named_queue(name: str, store: str) -> tuple[str, str]:
    """The name and the store of a queue, which ``STORE#QUEUE`` names both."""
    address, mark, queue = name.rpartition("#")
    return (queue, address) if mark and not store else (name, store)


def open_queue(name: str, store: str) -> tuple["Queue", str]:
    """A queue and its store, which ``STORE#QUEUE`` names both."""
    from ragstone.annotation.queue.queue import Queue

    name, store = named_queue(name, store)
    return Queue(open_store(store, name), name), store


def own_name() -> str:
    """The name of who types the command."""
    from getpass import getuser

    try:
        return getuser()
    except (KeyError, OSError):
        return "me"


def serve_queue(
    queue: "Queue",
    store: str,
    source: Path,
    annotators: list[str],
    at: "ServerAddress",
    no_browser: bool,
    json: bool,
    *,
    is_new: bool,
) -> None:
    """Serve a queue with a link for everybody who has none yet."""
    linked = {person.name for person in queue.people() if person.revoked is None}
    if not annotators and not (linked - {own_name()}):
        links = {own_name(): queue.invite(own_name())}
    else:
        links = {name: queue.invite(name) for name in annotators if name not in linked}
    if not json:
        say(
            f"{'Made' if is_new else 'Going on with'} the queue {queue.name} of {source}: "
            f"{', '.join(question.label for question in queue.form.asked)}. {_size(queue)}"
        )
        for name in annotators:
            if name in linked:
                say(
                    f"{name} has a link already; a new one: ragstone annotate extend {queue.name} "
                    f"--annotators {name}"
                )
    mine = links.get(own_name()) if list(links) == [own_name()] else None
    start = f"/a/{mine}" if mine else f"/annotate/{queue.name}/progress"
    open_in_browser(queue, store, links, at, no_browser, json, start=start)


def _size(queue: "Queue") -> str:
    from ragstone.report.number_format import counted

    form = queue.form
    words = f"{counted(queue.to_come(), 'screen')} to answer"
    units = {(label.task, label.unit) for label in form.asked}
    has_parts = len(units) > 1 or form.asked[0].unit != "answer"
    if form.most is None or form.together or not has_parts:
        return f"{words}."
    examples = min(form.most, len({id for id, _ in queue.places().values()}))
    parts = f"one for each part of {counted(examples, 'example')}"
    return f"{words}, {parts}; --together shows the parts of an example on one screen."


def open_in_browser(
    queue: "Queue",
    store: str,
    links: dict[str, str],
    at: "ServerAddress",
    no_browser: bool,
    json: bool,
    *,
    start: str,
) -> None:
    from ragstone.core.database import POSTGRES
    from ragstone.web.entry_points import view

    folder = Path(store)
    if store.startswith(POSTGRES):
        folder = RUNS if RUNS.is_dir() else Path()
    elif not folder.is_dir():
        folder = folder.parent

    def told(served: "Served") -> None:
        if json:
            people = {who: served.link(token) for who, token in links.items()}
            print_json({"queue": queue.name, "address": served.owner, "links": people})
            warn_of_network(served)
            return
        say_address(served, "Ragstone is at")
        for who, token in links.items():
            say(f"  {who}: {served.link(token)}")
        if links and served.alone:
            say("Only this machine can open these links; --host 0.0.0.0 lets others in.")

    view(
        folder,
        labels="" if Path(store).is_dir() else store,
        at=at,
        browser=not no_browser,
        told=told,
        start=start,
    )
