"""``ragstone gate RUN --require ...``: may this be shipped?"""

import os
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from .column_names import column_names
from .output import print_page
from .rating_scales import RatingScales, scale_ends
from .results import MetricsFrom, load_own, names_of

STEP_SUMMARY = "GITHUB_STEP_SUMMARY"
"""Names the file in which GitHub collects the summary of a build step."""


class On(StrEnum):
    """What decides."""

    interval = "interval"
    point = "point"


def gate(
    run: Annotated[Path, typer.Argument(help="A run folder, as `ragstone evaluate` makes it.")],
    require: Annotated[
        list[str] | None,
        typer.Option("--require", "-r", metavar="'METRIC >= BAR'", help="What must hold, such as "
                     "'faithfulness >= 0.85', 'unsafe_content <= 1%'; >=, >, <= or <; repeat for "
                     "more."),
    ] = None,
    no_worse_than: Annotated[
        list[str] | None,
        typer.Option(metavar="BASELINE:MARGIN", help="A system of the run or another run's "
                     "folder: every metric that both have and that has a direction may be worse "
                     "by so much at most. Repeat for more."),
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(metavar="METRIC", help="Of --no-worse-than only this metric; repeat for "
                     "more."),
    ] = None,
    system: Annotated[
        list[str] | None,
        typer.Option(help="Only this system; repeat for more. Without it, all must pass."),
    ] = None,
    on: Annotated[
        On,
        typer.Option(help="point: decide by the value alone, for bars that no interval clears, "
                     "such as >= 1."),
    ] = On.interval,
    level: Annotated[
        float,
        typer.Option(help="One-sided: the chance to pass though a requirement is not met, and to "
                     "fail though all are; at most for rates, about for all else."),
    ] = 0.05,
    max_missing: Annotated[
        float, typer.Option(metavar="SHARE", help="So much of a requirement's scores may be "
                            "missing.")
    ] = 0.05,
    labels: Annotated[
        list[Path] | None,
        typer.Option(metavar="FILE", help="People's labels: decide on estimates corrected by "
                     "them. Repeat for more."),
    ] = None,
    assume_random: Annotated[
        bool,
        typer.Option("--assume-random", help="Decide by labels although they plainly are no "
                     "random sample of what was judged."),
    ] = False,
    anytime: Annotated[
        bool,
        typer.Option("--anytime", help="Labels keep coming in, drawn at random: decide by their "
                     "mean alone, with an interval that holds however often you look."),
    ] = False,
    columns: Annotated[
        list[str] | None,
        typer.Option("--map", metavar="FIELD=COLUMN",
                     help="The column of the labels that is a label or the value of a metric."),
    ] = None,
    scales: RatingScales = None,
    cluster: Annotated[
        str | None,
        typer.Option(metavar="FIELD", help="Field whose rows are not independent. "
                     "Default: as in the run."),
    ] = None,
    junit: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Also write JUnit XML.")
    ] = None,
    markdown: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Also write a Markdown summary.")
    ] = None,
    limit: Annotated[
        int,
        typer.Option(min=0, max=10, metavar="N", help="So many of the worst examples a "
                     "requirement."),
    ] = 3,
    metrics_from: MetricsFrom = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:  # fmt: skip
    """Decide whether RUN meets its requirements, every system of it.

    A requirement holds if its interval clears the bar, is broken if the opposite is shown,
    and else is open. In a GitHub action the summary stands on the page of the build.
    Exit status: 0 pass, 1 fail, 2 bad input, 3 cannot tell, 4 too much missing.
    """
    from ragstone.decisions.gating.gate import gate as decided
    from ragstone.report.failing import failing
    from ragstone.report.pages.gate import gate_page
    from ragstone.report.render.junit import as_junit
    from ragstone.report.render.markdown import as_markdown
    from ragstone.run import Run

    load_own(metrics_from or ())
    opened = Run.open(run)
    result = decided(
        opened,
        require or (),
        no_worse_than=no_worse_than or (),
        only=names_of(only),
        system=system or (),
        labels=labels or (),
        columns=column_names(columns or ()),
        scales=scale_ends(scales or ()),
        cluster=cluster,
        on=on.value,
        level=level,
        max_missing=max_missing,
        assume_random=assume_random,
        anytime=anytime,
    )
    page = gate_page(opened, result, failing(opened, result, limit=limit))
    if junit is not None:
        _write(junit, as_junit(page))
    summary = as_markdown(page)
    if markdown is not None:
        _write(markdown, summary.encode())
    if step := os.environ.get(STEP_SUMMARY):
        with Path(step).open("a", encoding="utf-8") as file:
            file.write(summary + "\n")
    print_page(page, json=json)
    raise typer.Exit(result.exit_status)


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
