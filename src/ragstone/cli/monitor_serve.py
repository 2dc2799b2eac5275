"""``ragstone monitor serve``: takes traces, judges a sample of them, and shows what came."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from ragstone.web.listening import Served


def serve(
    store: Annotated[
        str,
        typer.Option("--store", metavar="STORE", help="Where everything is kept: a folder, or an "
                     "address postgresql://…"),
    ] = "monitor",
    port: Annotated[
        int, typer.Option(metavar="N", help="Port to listen on; 0 takes a free one.")
    ] = 8431,
    host: Annotated[
        str,
        typer.Option(metavar="ADDRESS", help="Address to listen on. Others than this machine's own "
                     "need a token, from senders and from visitors."),
    ] = "127.0.0.1",
    token: Annotated[
        str,
        typer.Option(metavar="TOKEN", envvar="RAGSTONE_TOKEN", show_envvar=False,
                     help="The token; it can be in RAGSTONE_TOKEN. Default: one is made where it "
                     "is needed, and printed with the address."),
    ] = "",
    rules: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Settings in TOML: what is judged, and what alarms are "
                     "raised for."),
    ] = None,
    judge: Annotated[
        list[str],
        typer.Option(metavar="NAME", help="Who judges, in place of what FILE says; repeat for "
                     "more. Default: the local judge."),
    ] = [],  # noqa: B006
    sample: Annotated[
        float | None,
        typer.Option(metavar="P", help="Judge every answer with this probability, in place of what "
                     "FILE says. Default: 0.1."),
    ] = None,
    tail: Annotated[
        list[Path],
        typer.Option(metavar="FILE.jsonl", help="Follow this file of JSON lines besides, also "
                     "when it rotates; repeat for more."),
    ] = [],  # noqa: B006
) -> None:  # fmt: skip
    """Take traces over OTLP, judge a sample, raise alarms, and show it all in a browser.

    Prints its address, and is quiet then: its log lies in the store and on the page Log.
    Needs the extra ui. Ctrl+C or SIGTERM ends it; what was acknowledged is kept.

    Exit status: 0 stopped, 2 wrong settings, a store that cannot be used, or a port that is taken.
    """
    from ragstone.web.monitor_server import serve_monitor

    serve_monitor(
        store,
        port=port,
        host=host,
        token=token,
        rules=rules,
        judge=judge,
        sample=sample,
        tail=tail,
        told=_say,
    )


def _say(served: "Served") -> None:
    typer.echo(f"Ragstone monitors at {served.owner}")
