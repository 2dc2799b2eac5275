"""``ragstone batches RUN``: the batches of a run."""

import re
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
QUERY = re.compile(r"(://[^?#]*)\?.*")
"""The query of a URL of data; what stands behind the ``#`` of a judge are its settings."""


def batches(
    run: options.RunFolder,
    as_known: Annotated[
        bool, typer.Option("--as-known", help="Ask no provider: show what was last known.")
    ] = False,
    forget: Annotated[
        str | None,
        typer.Option(
            metavar="ID",
            help="Give up a batch that cannot be read any more, such as one "
            "that was deleted: its questions are asked, and paid for, again.",
        ),
    ] = None,
    json: options.Json = False,
) -> None:
    """List the batches that RUN was asked in: how far they are, and what goes on with them.

    The keys of the providers are read from the environment.

    Exit status: 0 done, 2 no batches there.
    """
    from ragstone.report.pages.batches import batches_page
    from ragstone.run.batches.listed import batches as listed

    print_page(batches_page(listed(run, ask=not as_known, forget=forget)), json=json)


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
    """The command as it was typed, to be pasted into a shell; queries may be signatures."""
    name = Path(sys.argv[0]).name
    start = [sys.executable, "-m", "ragstone"] if name == "__main__.py" else ["ragstone"]
    return shlex.join([*start, *(QUERY.sub(r"\1?…", word) for word in sys.argv[1:])])
