"""Queue said: who said what of each item, once the owner opened that."""

from ragstone.annotation.queue.queue import Queue
from ragstone.core.errors import InputError
from ragstone.web.asked import Asked
from ragstone.web.runs_folder import RunsFolder
from ragstone.web.web_page import NotThere, WebPage

from .queue_tabs import queue_tabs
from .queues import HERE

A_PAGE = 50


def said_page(place: RunsFolder, asked: Asked) -> WebPage:
    """What everybody said, the newest first.

    Raises:
        NotThere: The store has no such queue.
        InputError: The queue was not opened.
    """
    name = asked.names["queue"]
    with place.labels_to_read() as database:
        if database is None:
            raise NotThere(f"There is no queue called {name!r}.")
        queue = Queue(database, name)
        if not queue.form.opened:
            raise InputError(f"Who said what in {name!r} is closed. Open it on its page first.")
        said = sorted(queue.said(), key=lambda one: one.at, reverse=True)
    page = asked.list_page(len(said), A_PAGE)
    return WebPage(
        "queue_said.html",
        f"Who said what in {name}",
        {
            "queue": name,
            "said": said[page.rows],
            "count": len(said),
            "page": page,
            "tabs": queue_tabs(queue.form),
        },
        HERE,
    )
