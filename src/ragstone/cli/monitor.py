"""``ragstone monitor``: how good a system in production is, and when it gets worse."""

import time
from pathlib import Path
from typing import Annotated

import typer

from . import options
from .failures import guarded
from .grouped import Grouped
from .monitor_alarms import alarms, resolve, rules, silence
from .monitor_doctor import doctor
from .monitor_keeping import backfill, forget
from .monitor_serve import serve
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

monitor.command("serve")(guarded(serve))
monitor.command("doctor")(guarded(doctor))
monitor.command("alarms")(guarded(alarms))
monitor.command("resolve")(guarded(resolve))
monitor.command("silence")(guarded(silence))
monitor.command("rules")(guarded(rules))
monitor.command("backfill")(guarded(backfill))
monitor.command("forget")(guarded(forget))


@monitor.command("status")
@guarded
def status(store: Store = "monitor", json: options.Json = False) -> None:
    """Show whether everything follows from what came: what was kept, checked, judged, and is late.

    Exit status: 0 shown, 2 no such store.
    """
    from ragstone.monitor import monitor_status, open_store

    from .monitor_standing import standing

    opened = open_store(store, make=False)
    now = time.time()
    with opened.database.reading() as run:
        found = monitor_status(run, now)
    opened.close()
    if json:
        print_json(found.to_dict())
        return
    for name, words in standing(found, now):
        say(f"{name:<14}{words}")


Since = Annotated[
    str | None,
    typer.Option("--since", metavar="T", help="From this time on: 2026-11-23, 2026-11-23T16:20 "
                 "(UTC), or 24h for a day ago. Default: from the beginning."),
]  # fmt: skip
Until = Annotated[
    str | None, typer.Option("--until", metavar="T", help="Up to this time. Default: now.")
]


@monitor.command("export")
@guarded
def export(
    out: Annotated[
        Path,
        typer.Option(
            "--out",
            metavar="FILE.jsonl",
            help="File to write; its folder is made where it is missing.",
        ),
    ],
    store: Store = "monitor",
    since: Since = None,
    until: Until = None,
    json: options.Json = False,
) -> None:
    """Write the answers of a window to a data set: ragstone evaluate FILE.jsonl reads it.

    Exit status: 0 written, 2 no such store, or the file cannot be written.
    """
    from ragstone.monitor import export as write
    from ragstone.monitor import open_store
    from ragstone.monitor.settings.settings_table import read_moment

    now = time.time()
    begin = 0.0 if since is None else read_moment(since, "since", now)
    end = now if until is None else read_moment(until, "until", now)
    opened = open_store(store, make=False)
    n = write(opened, out, since=begin, until=end)
    opened.close()
    if json:
        print_json({"file": str(out), "examples": n})
        return
    say(f"Wrote {n:,} answers to {out}. Next: ragstone evaluate {out}")
