"""Choices and tabs: choices between views of a page, and the tabs of a run, queue or monitor."""

from collections.abc import Iterable

from ragstone.annotation.queue.form import QueueForm
from ragstone.web.page_request import Asked, query, queue_path, run_path
from ragstone.web.templating import View

FEW = 5
"""So many stand side by side; more are a list to choose from."""


def choice(
    asked: Asked, field: str, label: str, options: Iterable[tuple[str, str]], chosen: str, at: str
) -> View:
    """Return the choice of a field of the query, for the macro ``choice``."""
    choices = [
        {"value": value, "name": name, "path": f"{asked.but(**{field: value})}#{at}"}
        for value, name in options
    ]
    few = len(choices) <= FEW
    return {"field": field, "label": label, "options": choices, "chosen": chosen, "few": few}


def run_tabs(run: str) -> list[tuple[str, str]]:
    """Return the address and the name of each page of a run."""
    return [
        (run_path(run), "Overview"),
        (f"{run_path(run)}#examples", "Examples"),
        (f"/compare{query([('runs', run)])}", "Compare"),
        (run_path(run, "judge"), "Judge"),
        (run_path(run, "report.html"), "Report"),
    ]


def queue_tabs(form: QueueForm) -> list[tuple[str, str]]:
    """Return the address and the name of each page of a queue."""
    said = [(queue_path(form.name, "said"), "Who said what")] if form.opened else []
    own = [("progress", "Progress"), ("adjudicate", "Adjudicate"), ("tags", "Failure tags")]
    return [*((queue_path(form.name, path), name) for path, name in own), *said]


HERE = "Monitor"

MONITOR_TABS = (
    ("/monitor", "Overview"),
    ("/monitor/examples", "Answers"),
    ("/monitor/drift", "Drift"),
    ("/monitor/rules", "Rules"),
    ("/monitor/log", "Log"),
)
"""The address and the name of each."""
