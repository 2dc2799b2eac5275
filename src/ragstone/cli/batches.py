"""``ragstone batches RUN``: the batches of a run."""

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from ragstone.argument import in_shell

from . import options
from .output import print_page, say

if TYPE_CHECKING:
    from ragstone.errors import BatchesWaiting

WAITING = 5
"""The exit status of a run that waits for batches."""


def batches(
    run: options.RunFolder,
    as_known: Annotated[
        bool, typer.Option("--as-known", help="Ask no provider: show what was last known.")
    ] = False,
    json: options.Json = False,
) -> None:
    """List the batches that RUN was asked in: how far they are, and what goes on with them.

    The keys of the providers are read from the environment.

    Exit status: 0 done, 2 no batches there.
    """
    from ragstone.report.pages.batches import batches_page
    from ragstone.run.batches.listed import batches as listed

    print_page(batches_page(listed(run, ask=not as_known)), json=json)


def end_waiting(waiting: "BatchesWaiting", *, json: bool) -> NoReturn:
    """Print what a run waits for and the command that goes on, and end with status 5."""
    from ragstone.report.pages.batches import batches_page
    from ragstone.run.batches.listed import batches as listed
    from ragstone.run.batches.listed import keep_command

    keep_command(waiting.folder, typed())
    if not json:
        say(in_shell(waiting.text), err=True)
    print_page(batches_page(listed(waiting.folder, ask=False)), json=json)
    raise typer.Exit(WAITING)


def typed() -> str:
    """The command as it was typed, to be pasted into a shell."""
    name = Path(sys.argv[0]).name
    start = [sys.executable, "-m", "ragstone"] if name == "__main__.py" else ["ragstone"]
    return shlex.join([*start, *sys.argv[1:]])
