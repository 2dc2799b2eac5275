"""Queue tabs: the owner's pages of one queue."""

from ragstone.annotation.queue.form import QueueForm
from ragstone.web.asked import queue_path


def queue_tabs(form: QueueForm) -> list[tuple[str, str]]:
    """The address and the name of each page of a queue."""
    said = [(queue_path(form.name, "said"), "Who said what")] if form.opened else []
    own = [("progress", "Progress"), ("adjudicate", "Adjudicate"), ("tags", "Failure tags")]
    return [*((queue_path(form.name, path), name) for path, name in own), *said]
