"""``ragstone view [DIR]``: the runs in a browser."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .output import say
from .progress import bar

if TYPE_CHECKING:
    from ragstone.web.listening import Served


def view(
    folder: Annotated[
        Path, typer.Argument(metavar="[DIR]", help="A folder with runs in it, or one run.")
    ] = Path("runs"),
    port: Annotated[
        int, typer.Option(metavar="N", help="Port to listen on; 0 takes a free one.")
    ] = 8421,
    host: Annotated[
        str,
        typer.Option(metavar="ADDRESS", help="Address to listen on. Others than this machine's own "
                     "get a token, which the printed address carries."),
    ] = "127.0.0.1",
    no_browser: Annotated[
        bool, typer.Option("--no-browser", help="Only print the address.")
    ] = False,
    labels: Annotated[
        str,
        typer.Option(metavar="STORE", help="Store of human labels, if it is not labels.sqlite in "
                     "DIR: a file, or an address postgresql://…"),
    ] = "",
    static: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Folder for the app as files, to be opened from the disk, "
                     "instead of a server."),
    ] = None,
) -> None:  # fmt: skip
    """Show the runs in DIR in a browser: compare them, see where they fail, open an example.

    Needs the extra ui. Everything stays on this machine; Ctrl+C ends it.

    With --static: each run with its lists, and its examples, or the 1,000 worst of more
    than 5,000. The files need no server; searching and noting are left out.

    Exit status: 0 stopped or written, 2 no such folder or store, or the port is taken.
    """
    if static is not None:
        from ragstone.run import Progress
        from ragstone.web.static_files import write_static

        with bar("pages") as step:
            made = write_static(
                folder,
                static,
                progress=step and (lambda n, of: step(Progress("writing", n, n / of))),
            )
        say(f"Wrote {made.pages:,} pages ({made.size / 1e6:,.1f} MB). Open {made.start}")
        for line in made.left_out:
            say(line)
        return
    from ragstone.web.serving import view as serve

    serve(folder, labels=labels, port=port, host=host, browser=not no_browser, told=_say)


def _say(served: "Served") -> None:
    typer.echo(f"Ragstone is at {served.owner}")
