"""``ragstone compare RUN [RUN_B]``: is one system better than another, or can one not tell?"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from . import options
from .output import print_page
from .results import load_own, names_of

if TYPE_CHECKING:
    from ragstone.analysis.comparison.comparison_result import Adjust


def compare(
    run: options.RunFolder,
    other: Annotated[
        Path | None,
        typer.Argument(metavar="[RUN_B]", callback=options.run_folder,
                       parser=options.read_place, help="A second run: its "
                       "systems are b, those of RUN are a."),
    ] = None,
    baseline: options.Baseline = None,
    metric: Annotated[
        list[str] | None,
        typer.Option("--metric", "-m", help="Compare only this metric; repeatable."),
    ] = None,
    by: Annotated[
        list[str] | None,
        typer.Option(metavar="FIELD", help="Also compare within each value of this field; "
                     "repeatable."),
    ] = None,
    cluster: options.Cluster = None,
    margin: options.Margin = None,
    adjust: Annotated[
        str,
        typer.Option(metavar="holm|bh", help="Adjustment of p-values for multiple tests: holm "
                     "limits the chance of any false finding, bh the share of false findings."),
    ] = "holm",
    force: Annotated[
        bool,
        typer.Option("--force", help="Also compare metrics that the two runs judged or defined "
                     "differently."),
    ] = False,
    without_overrules: options.WithoutOverrules = False,
    metrics_from: options.MetricsFrom = None,
    json: options.Json = False,
) -> None:  # fmt: skip
    """Compare the systems of RUN, or RUN with RUN_B, question by question.

    For each metric: the difference with its interval, a test, and a verdict. The
    verdict is better, worse, equivalent (within --margin) or cannot tell; for the
    last, the number of pairs needed is shown. p-values are adjusted for all
    comparisons shown.

    Exit status: 0 done, 2 invalid input.
    """
    from ragstone.analysis.comparison.compare import compare as compared
    from ragstone.report.pages.comparison_page import comparison_page

    load_own(metrics_from or ())
    alone = without_overrules
    found = compared(
        options.read_run(run, without_overrules=alone),
        None if other is None else options.read_run(other, without_overrules=alone),
        baseline=baseline,
        metrics=names_of(metric) or None,
        by=tuple(by or ()),
        cluster=cluster,
        margin=margin,
        adjust=cast("Adjust", adjust),
        force=force,
    )
    print_page(comparison_page(found), json=json)
