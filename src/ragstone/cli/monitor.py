"""``ragstone monitor``: how good a system in production is, and when it gets worse."""

import time
from typing import Annotated

import typer

from . import options
from .failures import guarded
from .grouped import Grouped
from .output import print_json, say

monitor = typer.Typer(
    cls=Grouped,
    rich_markup_mode=None,
    no_args_is_help=True,
    help="Watch a system in production: its traces, how good its answers are, and when they get "
    "worse.",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)

Store = Annotated[
    str,
    typer.Option("--store", metavar="STORE", help="Where everything is kept: a folder, or an "
                 "address postgresql://…"),
]  # fmt: skip
DAY = 86_400


@monitor.command("status")
@guarded
def status(store: Store = "monitor", json: options.Json = False) -> None:
    """Show how much came and was judged in the last 24 hours.

    Exit status: 0 shown, 2 no such store.
    """
    from ragstone.monitor import open_store
    from ragstone.monitor.store.counts import counted

    opened = open_store(store, make=False)
    with opened.database.reading() as run:
        found = counted(run, time.time() - DAY)
    opened.close()
    if json:
        print_json({"last_24_h": found})
        return
    for what, n in sorted(found.items()):
        say(f"{what}: {n:,}")
