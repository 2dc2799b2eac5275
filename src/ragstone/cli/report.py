"""``ragstone report RUN``: the run as one HTML file to mail or attach."""

from pathlib import Path
from typing import Annotated

import typer

from . import options
from .output import say
from .results import load_own


def report(
    run: options.RunFolder,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE.html", help="The file. Default: the name of RUN, here."),
    ] = None,
    charts: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Write each figure as an SVG file into this folder "
                     "instead; with --out also the report."),
    ] = None,
    png: Annotated[
        bool, typer.Option("--png", help="With --charts: write PNG files too. Needs the extra png.")
    ] = False,
    without_overrules: options.WithoutOverrules = False,
    metrics_from: options.MetricsFrom = None,
) -> None:  # fmt: skip
    """Write what RUN found as one HTML file that opens anywhere and loads nothing.

    The verdict, every estimate, the worst answers with the reasons, all answers with
    filters, and how it was measured. At most 1.5 MB; what it leaves out for that it
    says. Needs the extra ui; --charts does not.

    Exit status: 0 done, 2 no such run.
    """
    if png and charts is None:
        raise typer.BadParameter("--png goes with --charts.")
    load_own(metrics_from or ())
    opened = options.read_run(run, without_overrules=without_overrules)
    if charts is not None:
        from ragstone.report.drawings import write_charts

        files = write_charts(opened, charts, png=png)
        say(f"Wrote {len(files):,} files into {charts}.")
        if out is None:
            return
    from ragstone.web.write_report import write_report

    made = write_report(opened, out or Path(f"{run.resolve().name}.html"))
    say(f"Wrote {made.path} ({made.size / 1000:,.0f} kB).")
    for line in made.left_out:
        say(line)
