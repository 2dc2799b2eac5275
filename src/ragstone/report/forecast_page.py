"""Forecast page: what a run would ask of models, as ``ragstone evaluate --dry-run`` prints it."""

from collections.abc import Mapping
from typing import Protocol

from rich.console import Group, RenderableType
from rich.text import Text

from .calls import cost
from .facts import DIM, HEAD, Paragraph
from .render.grid import Grid, GridCell, GridColumn, cell


class Expected(Protocol):
    """What one task takes."""

    calls: int
    known: int
    prompt: int
    completion: int
    usd: float | None


class Forecast(Protocol):
    """What a run takes."""

    @property
    def examples(self) -> int: ...
    @property
    def tasks(self) -> Mapping[tuple[str, str], Expected]: ...
    @property
    def total(self) -> Expected: ...
    @property
    def notes(self) -> tuple[str, ...]: ...


def forecast_page(found: Forecast) -> RenderableType:
    """Calls, tokens and cost by judge and task, and all together."""
    total = found.total
    rows = [
        [cell(judge), cell(task), *_numbers(one, "")] for (judge, task), one in found.tasks.items()
    ]
    head = ["judge", "task", "calls", "answered before", "tokens sent", "tokens back", "cost"]
    each = total.calls / found.examples if found.examples else 0.0
    return Group(
        Grid(
            [GridColumn(), GridColumn(), *[GridColumn("right")] * 5],
            [
                [cell(name, DIM) for name in head],
                *rows,
                [cell("all", HEAD), cell(), *_numbers(total, HEAD)],
            ],
        ),
        Text(),
        Paragraph(
            Text(
                f"{found.examples:,} examples, {each:.1f} calls each. Nothing was sent. Tokens are "
                "four characters each, those that come back a guess; retries, and what a server's "
                "own cache makes cheaper, are not counted.",
                DIM,
            )
        ),
        *(Paragraph(Text(note, DIM)) for note in found.notes),
    )


def _numbers(one: Expected, style: str) -> list[GridCell]:
    counts = (one.calls, one.known, one.prompt, one.completion)
    words = [f"{count:,}" for count in counts]
    return [cell(word, style) for word in [*words, cost(one.usd) if one.calls else "–"]]
