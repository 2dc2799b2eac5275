"""``ragstone batches RUN``: the batches of a run."""

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from ragstone.core.messages import in_shell

from . import options
from .output import print_page, say

if TYPE_CHECKING:
    from ragstone.core.errors import BatchesWaiting

WAITING = 5
"""The exit status of a run that waits for batches."""


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
    from ragstone.report.pages.runs_page import batches_page
    from ragstone.run.batches.batch_follower import batches as listed

    print_page(batches_page(listed(run, ask=not as_known, forget=forget)), json=json)


def end_waiting(waiting: "BatchesWaiting", *, json: bool) -> NoReturn:
    """Print what a run waits for and the command that goes on, and end with status 5."""
    from ragstone.report.pages.runs_page import batches_page
    from ragstone.run.batches.batch_follower import batches as listed
    from ragstone.run.batches.batch_follower import keep_command

    keep_command(waiting.folder, typed())
    if not json:
        say(in_shell(waiting.text), err=True)
    print_page(batches_page(listed(waiting.folder, ask=False)), json=json)
    raise typer.Exit(WAITING)


def typed() -> str:
    """The command as it was typed, to be pasted into a shell; queries may be signatures."""
    name = Path(sys.argv[0]).name
    start = [sys.executable, "-m", "ragstone"] if name == "__main__.py" else ["ragstone"]
    return shlex.join([*start, *map(without_query, sys.argv[1:])])


def without_query(word: str) -> str:
    """A word of a command, a URL of data without its query, which may hold a signature.

    What stands behind the ``#`` of a judge are its settings.

    >>> without_query("https://host/rows.jsonl?sig=1"), without_query("http://host/v1#m?top_p=1")
    ('https://host/rows.jsonl?…', 'http://host/v1#m?top_p=1')
    """
    scheme, url, rest = word.partition("://")
    place, query, _ = rest.partition("?")
    return f"{scheme}{url}{place}?…" if query and "#" not in place else word
