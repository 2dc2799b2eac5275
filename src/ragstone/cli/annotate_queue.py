"""Annotation queues on the command line: their stores, and serving them with personal links."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from .output import print_json, say, say_address, warn_of_network

if TYPE_CHECKING:
    from ragstone.annotation.queue.labels_store import LabelDatabase
    from ragstone.annotation.queue.queue import Queue
    from ragstone.web.security import Served, ServerAddress

RUNS = Path("runs")


def folder_of(source: Path) -> Path:
    """Where the labels of a source are kept: beside a run, or in the folder of the runs."""
    from ragstone.core.files import RunEntry

    if (source / RunEntry.MANIFEST).is_file():
        return source.resolve().parent
    return RUNS


@contextmanager
def folder_for_store(place: str) -> Iterator[None]:
    """The folder of the runs, which is made for the store, unless no store comes of it."""
    is_made = Path(place) == RUNS and not RUNS.exists()
    if is_made:
        RUNS.mkdir()
    try:
        yield
    except BaseException:
        if is_made:
            with suppress(OSError):
                RUNS.rmdir()
        raise


def queue_names(place: str) -> set[str]:
    """The names of the queues of a store; none if there is no store yet."""
    from ragstone.annotation.queue.queue import queues
    from ragstone.core.database import POSTGRES

    is_there = place.startswith(POSTGRES) or _file_of(place).is_file()
    return {one.name for one in queues(open_store(place))} if is_there else set()


def existing_queue(name: str, place: str) -> "Queue":
    """A queue to go on with.

    Raises:
        InputError: There is none of this name, and no file or folder either.
    """
    from ragstone.annotation.queue.queue import Queue
    from ragstone.core.errors import InputError

    known = queue_names(place)
    if name in known:
        return Queue(open_store(place), name)
    there = f"The queues of {place} are {', '.join(sorted(known))}." if known else ""
    none = f"{place} has no queue yet; --labels names another store."
    raise InputError(
        f"There is no {name}: name a run, a dataset, a label sheet, or a queue. {there or none}"
    )


def _file_of(place: str) -> Path:
    """The file of a store that is no address."""
    from ragstone.annotation.queue.labels_store import FILE

    return Path(place) / FILE if Path(place).is_dir() else Path(place)


def open_store(store: str, wanted: str = "") -> "LabelDatabase":
    """The store, which has to be there.

    Raises:
        InputError: It is not, so ``wanted`` is not either.
    """
    from ragstone.annotation.queue.labels_store import open_labels
    from ragstone.core.database import POSTGRES
    from ragstone.core.errors import InputError

    place = store or str(RUNS)
    file = _file_of(place)
    if not place.startswith(POSTGRES) and not file.is_file():
        also = f", and no {wanted}" if wanted else ""
        raise InputError(
            f"There is no store of labels {file}{also}. `ragstone annotate RUN` makes one beside "
            "the runs; --labels names another."
        )
    return open_labels(place)


def named_queue(name: str, store: str) -> tuple[str, str]:
    """The name and the store of a queue, which ``STORE#QUEUE`` names both."""
    place, mark, queue = name.rpartition("#")
    return (queue, place) if mark and not store else (name, store)


def open_queue(name: str, store: str) -> "Queue":
    from ragstone.annotation.queue.queue import Queue

    return Queue(open_store(store, name), name)


def own_name() -> str:
    """The name of who types the command."""
    from getpass import getuser

    try:
        return getuser()
    except (KeyError, OSError):
        return "me"


def serve_queue(
    queue: "Queue",
    place: str,
    source: Path,
    annotators: list[str],
    at: "ServerAddress",
    no_browser: bool,
    json: bool,
    *,
    is_new: bool,
) -> None:
    """Serve a queue with a link for everybody who has none yet."""
    there = {one.name for one in queue.people() if one.revoked is None}
    if not annotators and not (there - {own_name()}):
        links = {own_name(): queue.invite(own_name())}
    else:
        links = {one: queue.invite(one) for one in annotators if one not in there}
    if not json:
        say(
            f"{'Made' if is_new else 'Going on with'} the queue {queue.name} of {source}: "
            f"{', '.join(one.label for one in queue.form.asked)}."
        )
        for one in annotators:
            if one in there:
                say(
                    f"{one} has a link already; a new one: ragstone annotate extend {queue.name} "
                    f"--annotators {one}"
                )
    mine = links.get(own_name()) if list(links) == [own_name()] else None
    start = f"/a/{mine}" if mine else f"/annotate/{queue.name}/progress"
    open_in_browser(queue, place, links, at, no_browser, json, start=start)


def open_in_browser(
    queue: "Queue",
    place: str,
    links: dict[str, str],
    at: "ServerAddress",
    no_browser: bool,
    json: bool,
    *,
    start: str,
) -> None:
    from ragstone.core.database import POSTGRES
    from ragstone.web.entry_points import view

    folder = Path(place)
    if place.startswith(POSTGRES):
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
        labels="" if Path(place).is_dir() else place,
        at=at,
        browser=not no_browser,
        told=told,
        start=start,
    )
