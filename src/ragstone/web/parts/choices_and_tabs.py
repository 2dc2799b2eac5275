"""Choices and tabs: choices between views of a page, and the tabs of a run, queue or monitor."""

from collections.abc import Callable, Iterable, Sequence

import polars as pl

from ragstone.annotation.queue.form import QueueForm
from ragstone.web.page_request import Asked, query, queue_path, run_path
from ragstone.web.templating import View

# So many stand side by side; more are a list to choose from.
FEW = 5


def choice(
    request: Asked, field: str, label: str, options: Iterable[tuple[str, str]], chosen: str, at: str
) -> View:
    """Return the choice of a field of the query, for the macro ``choice``."""
    choices = [
        {"value": value, "name": name, "path": f"{request.but(**{field: value})}#{at}"}
        for value, name in options
    ]
    few = len(choices) <= FEW
    return {"field": field, "label": label, "options": choices, "chosen": chosen, "few": few}


def walk(
    ids: Sequence[str] | pl.Series, at: int | None, path: Callable[[str], str], words: str, up: str
) -> View:
    """Return where something stands among ``ids``, with the addresses of those beside it."""
    here = -2 if at is None else at
    before, after = (
        path(ids[index]) if 0 <= index < len(ids) else "" for index in (here - 1, here + 1)
    )
    return {
        "place": 0 if at is None else at + 1,
        "of": len(ids),
        "words": words,
        "before": before,
        "after": after,
        "up": up,
    }


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
    opened = [(queue_path(form.name, "said"), "Who said what")] if form.opened else []
    pages = [("progress", "Progress"), ("adjudicate", "Adjudicate"), ("tags", "Failure tags")]
    return [*((queue_path(form.name, path), name) for path, name in pages), *opened]


HERE = "Monitor"

# The address and the name of each.
MONITOR_TABS = (
    ("/monitor", "Overview"),
    ("/monitor/examples", "Answers"),
    ("/monitor/drift", "Drift"),
    ("/monitor/rules", "Rules"),
    ("/monitor/log", "Log"),
)
