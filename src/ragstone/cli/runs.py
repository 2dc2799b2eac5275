"""``ragstone runs [DIR]``: which runs there are."""

from pathlib import Path
from typing import Annotated

import typer

from . import options
from .output import print_page


def runs(
    folder: Annotated[
        Path, typer.Argument(metavar="[DIR]", help="A folder with runs in it.")
    ] = Path("runs"),
    json: options.Json = False,
) -> None:
    """List the runs in DIR, the newest first.

    Every command that takes a RUN also takes the word latest: the newest finished run
    in runs/.

    Exit status: 0 done, 2 no such folder.
    """
    from ragstone.report.pages.runs_page import runs_page
    from ragstone.run.folder.run_list import runs_in

    print_page(runs_page(folder, runs_in(folder)), json=json)
