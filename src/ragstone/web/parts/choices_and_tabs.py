"""Choices and tabs: choices between views of a page, and the tabs of a run, queue or monitor."""

from collections.abc import Iterable
from dataclasses import dataclass

from ragstone.annotation.queue.form import QueueForm
from ragstone.web.page_request import Asked, query, queue_path, run_path

FEW = 5
"""So many stand side by side; more are a list to choose from."""


@dataclass(frozen=True, slots=True)
class Option:
    """One of them: its value in the address, its name, and the address that chooses it."""

    value: str
    name: str
    path: str


@dataclass(frozen=True, slots=True)
class ViewChoice:
    """Several views of which one is shown.

    Attributes:
        field: Of the query.
        label: What is chosen, for who cannot see it.
        options: All of them.
        chosen: The value of the one that is shown.
    """

    field: str
    label: str
    options: tuple[Option, ...]
    chosen: str

    @property
    def few(self) -> bool:
        """Whether they stand side by side."""
        return len(self.options) <= FEW


def choice(
    asked: Asked, field: str, label: str, options: Iterable[tuple[str, str]], chosen: str, at: str
) -> ViewChoice:
    """The choice of a field of the query.

    Args:
        asked: The request, whose address is kept but for this.
        field: The field.
        label: What is chosen.
        options: The values and names.
        chosen: The value that is shown.
        at: The id of the part of the page that it changes.
    """
    made = (Option(value, name, f"{asked.but(**{field: value})}#{at}") for value, name in options)
    return ViewChoice(field, label, tuple(made), chosen)


def run_tabs(run: str) -> list[tuple[str, str]]:
    """The address and the name of each page of a run."""
    return [
        (run_path(run), "Overview"),
        (f"{run_path(run)}#examples", "Examples"),
        (f"/compare{query([('runs', run)])}", "Compare"),
        (run_path(run, "judge"), "Judge"),
        (run_path(run, "report.html"), "Report"),
    ]


def queue_tabs(form: QueueForm) -> list[tuple[str, str]]:
    """The address and the name of each page of a queue."""
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
