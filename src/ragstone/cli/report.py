"""``ragstone report RUN [RUN_B]``: what runs found as one HTML file to mail, or as figures."""

from pathlib import Path
from typing import Annotated

import typer

from . import options
from .output import say
from .results import load_own


def report(
    run: options.RunFolder,
    other: Annotated[
        Path | None,
        typer.Argument(metavar="[RUN_B]", callback=options.run_folder,
                       parser=options.read_place, help="A second run that "
                       "RUN is compared with."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The HTML file. Default: the name of RUN, here."),
    ] = None,
    baseline: options.Baseline = None,
    margin: options.Margin = None,
    charts: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Folder for each figure as an SVG file, instead of "
                     "the report; with --out both are written."),
    ] = None,
    png: Annotated[
        bool, typer.Option("--png", help="With --charts: write PNG files too. Needs the extra png.")
    ] = False,
    without_overrules: options.WithoutOverrules = False,
    metrics_from: options.MetricsFrom = None,
) -> None:  # fmt: skip
    """Write what RUN found as one HTML file that opens anywhere and loads nothing.

    The verdict, every estimate, the comparison of the systems or of two runs, slices,
    where answers go wrong, the worst ones with the reasons, all answers with filters,
    and how it was measured. At most 1.5 MB; what it leaves out for that it
    says. Needs the extra ui; --charts does not.

    Exit status: 0 done, 2 no such run or system.
    """
    if png and charts is None:
        raise typer.BadParameter("--png goes with --charts.")
    load_own(metrics_from or ())
    opened = options.read_run(run, without_overrules=without_overrules)
    second = other and options.read_run(other, without_overrules=without_overrules)
    if charts is not None:
        from ragstone.report.chart_files import write_charts

        files = write_charts(opened, charts, second, baseline=baseline, margin=margin, png=png)
        say(f"Wrote {len(files):,} files into {charts}.")
        if out is None:
            return
    from ragstone.web.write_report import write_report

    made = write_report(
        opened, out or Path(f"{run.resolve().name}.html"), second, baseline=baseline, margin=margin
    )
    say(f"Wrote {made.path} ({made.size / 1000:,.0f} kB).")
    for line in made.left_out:
        say(line)
