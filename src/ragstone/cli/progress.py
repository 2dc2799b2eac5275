"""Progress: a bar with the time left on standard error, if that is a terminal."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ragstone.run import Counts, Progress


@contextmanager
def bar(noun: str = "rows") -> Iterator["Callable[[Progress], None] | None"]:
    """The callback for each step; None if the bar would not be visible."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.progress import (
        BarColumn,
        TaskProgressColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )
    from rich.progress import Progress as Bar

    from ragstone.report import terminal

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TextColumn(f"{{task.fields[examples]:,}} {noun}{{task.fields[more]}}"),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    with Bar(*columns, console=terminal(sys.stderr), transient=True) as shown:
        task = shown.add_task("reading", total=None, examples=0, more="")

        stage = "reading"

        def step(progress: "Progress") -> None:
            nonlocal stage
            if progress.stage != stage:
                stage = progress.stage
                shown.reset(task)
            shown.update(
                task,
                description=progress.stage,
                examples=progress.examples,
                more=_workers(progress.workers) + _calls(progress.calls),
                completed=progress.fraction or 0.0,
                total=None if progress.fraction is None else 1.0,
            )

        yield step


def _workers(workers: int | None) -> str:
    """How many workers of a cluster are at work."""
    return "" if workers is None else f", {workers:,} worker{'' if workers == 1 else 's'}"


def _calls(counts: "Counts | None") -> str:
    """The progress of requests to models."""
    if counts is None:
        return ""
    parts = [f"{counts.calls:,} calls", f"{counts.in_flight:,} in flight"]
    if counts.from_journal + counts.from_cache:
        parts.append(f"{counts.from_journal + counts.from_cache:,} known")
    if counts.rate_limits:
        parts.append(f"{counts.rate_limits:,} × 429")
    if counts.failed:
        parts.append(f"{counts.failed:,} failed")
    if counts.usd is not None:
        parts.append(f"${counts.usd:,.4f}" if counts.usd < 1 else f"${counts.usd:,.2f}")
    return ", " + ", ".join(parts)
