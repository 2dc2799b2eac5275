"""The command line: lists the commands, each group of which has a file.

Everything a command does is also possible in Python.

Exit status: 0 done or yes, 1 no, 2 bad input or usage, 3 cannot tell, 4 too much missing, 5 waiting
for batches, 130 interrupted.
"""

import sys
from collections.abc import Callable
from typing import Annotated

import typer

import ragstone
from ragstone.core.python_runtime import relax_garbage_collector

from .annotate import annotate
from .decide import compare, correct, gate, weights
from .demo import demo
from .doctor import doctor
from .evaluate import evaluate, score
from .guard import guard
from .labels import agreement, calibrate, labels, sample
from .lookup import formats, judges, metrics, models
from .monitor import monitor
from .options import with_kinds
from .output import Paneled, Start, group, guarded
from .plan import plan
from .runs import batches, export, report, runs, show, view

app = group(Start, name="ragstone", pretty_exceptions_enable=False)
PANELS: dict[str, tuple[Callable[..., None], ...]] = {
    "Start here": (demo, evaluate, view, compare, gate),
    "Look closer": (show, report, runs, score, correct, batches, export),
    "Human labels": (sample, labels, agreement, calibrate, weights),
    "Look up": (metrics, judges, models, formats, doctor),
}
for panel, commands in PANELS.items():
    for command in commands:
        app.command(cls=Paneled, rich_help_panel=panel)(guarded(with_kinds(command)))
app.add_typer(annotate, name="annotate", rich_help_panel="Human labels")
app.add_typer(monitor, name="monitor", rich_help_panel="Production")
app.add_typer(guard, name="guard", rich_help_panel="Production")
app.add_typer(plan, name="plan", rich_help_panel="Look up")


def _version(is_asked: bool) -> None:
    if is_asked:
        typer.echo(f"ragstone {ragstone.__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_version, is_eager=True, help="Show the version and exit."
        ),
    ] = False,
) -> None:
    """Measure RAG with intervals. To start: ragstone evaluate DATA"""


def main() -> None:
    """Run the command that was typed."""
    relax_garbage_collector()
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    app()
