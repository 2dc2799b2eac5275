"""``ragstone gate RUN --require ...``: may this be shipped?"""

import os
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from . import options
from .column_names import column_names
from .output import print_page
from .rating_scales import RatingScales, scale_ends
from .results import load_own, names_of

if TYPE_CHECKING:
    from ragstone.report.page import Page

STEP_SUMMARY = "GITHUB_STEP_SUMMARY"
"""Names the file in which GitHub collects the summary of a build step."""


class On(StrEnum):
    """What decides."""

    interval = "interval"
    point = "point"


def gate(
    run: options.RunFolder,
    require: Annotated[
        list[str] | None,
        typer.Option("--require", "-r", metavar="'METRIC >= BAR'", help="Requirement, such as "
                     "'faithfulness >= 0.85' or 'unsafe_content <= 1%', with >=, >, <= or <; "
                     "repeatable."),
    ] = None,
    no_worse_than: Annotated[
        list[str] | None,
        typer.Option(metavar="BASELINE:MARGIN", help="A system of the run, or another run's "
                     "folder. Every metric that both have and that has a better direction may be "
                     "worse by at most MARGIN. Repeatable."),
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(metavar="METRIC", help="Apply --no-worse-than to this metric only; "
                     "repeatable."),
    ] = None,
    system: Annotated[
        list[str] | None,
        typer.Option(help="Check only this system; repeatable. Default: every system must "
                     "pass."),
    ] = None,
    on: Annotated[
        On,
        typer.Option(help="interval: decide by the confidence interval; point: decide by the "
                     "value alone, for thresholds no interval can clear, such as >= 1."),
    ] = On.interval,
    level: Annotated[
        float,
        typer.Option(help="One-sided error rate: the chance to pass although a requirement is "
                     "not met, and to fail although all are. An upper limit for rates, "
                     "approximate for other metrics."),
    ] = 0.05,
    max_missing: Annotated[
        float, typer.Option(metavar="SHARE", help="Largest share of a requirement's scores that "
                            "may be missing.")
    ] = 0.05,
    labels: Annotated[
        list[options.LabelSource] | None,
        typer.Option(metavar="LABELS", help="Human labels: decide on estimates corrected by them. "
                     "Repeatable."),
    ] = None,
    assume_random: Annotated[
        bool,
        typer.Option("--assume-random", help="Use labels even though they are clearly not a "
                     "random sample of the judged examples."),
    ] = False,
    anytime: Annotated[
        bool,
        typer.Option("--anytime", help="For labels that keep arriving as random draws: decide by "
                     "their mean alone, with an interval that stays valid however often you "
                     "look."),
    ] = False,
    columns: options.LabelColumns = None,
    scales: RatingScales = None,
    cluster: options.Cluster = None,
    junit: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Also write JUnit XML.")
    ] = None,
    markdown: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Also write a Markdown summary.")
    ] = None,
    limit: Annotated[
        int,
        typer.Option(min=0, max=10, metavar="N", help="Number of worst examples to show per "
                     "requirement."),
    ] = 3,
    without_overrules: options.WithoutOverrules = False,
    metrics_from: options.MetricsFrom = None,
    json: options.Json = False,
) -> None:  # fmt: skip
    """Decide whether every system of RUN meets its requirements.

    A requirement is met if its whole interval is on the right side of the
    threshold, not met if the opposite is shown, and otherwise undecided. Where people
    overruled judgements, the decision without that is printed beside. In GitHub
    Actions, the summary is added to the job's page.

    Exit status: 0 pass, 1 fail, 2 invalid input, 3 cannot tell, 4 too many scores
    missing.
    """
    from ragstone.analysis.release_gate.release_gate import gate as decided
    from ragstone.report.pages.release_gate_page import gate_page
    from ragstone.report.worst_examples import failing

    load_own(metrics_from or ())
    result = decided(
        options.read_run(run, without_overrules=without_overrules),
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
    page = gate_page(result.run, result, failing(result.run, result, limit=limit))
    _write_files(page, junit, markdown)
    print_page(page, json=json)
    raise typer.Exit(result.exit_status)


def _write_files(page: "Page", junit: Path | None, markdown: Path | None) -> None:
    """Write the page to the files that were asked for, and to the summary of a CI step."""
    from ragstone.core.files import write_result
    from ragstone.report.render.documents import as_junit, as_markdown

    if junit is not None:
        write_result(junit, as_junit(page))
    summary = as_markdown(page)
    if markdown is not None:
        write_result(markdown, summary)
    if step := os.environ.get(STEP_SUMMARY):
        with Path(step).open("a", encoding="utf-8") as file:
            file.write(summary + "\n")
