"""``ragstone compare RUN [RUN_B]``: is one system better than another, or can one not tell?"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from .output import print_page
from .results import MetricsFrom, load_own, names_of

if TYPE_CHECKING:
    from ragstone.decisions.comparing.compared import Adjust


def compare(
    run: Annotated[Path, typer.Argument(help="A run folder.")],
    other: Annotated[
        Path | None,
        typer.Argument(metavar="[RUN_B]", help="Another: its systems are b, those of RUN are a."),
    ] = None,
    baseline: Annotated[
        str | None,
        typer.Option(metavar="SYSTEM", help="Every system of RUN against this one, not of RUN_B."),
    ] = None,
    metric: Annotated[
        list[str] | None,
        typer.Option("--metric", "-m", help="Only this metric; repeat for more."),
    ] = None,
    by: Annotated[
        list[str] | None,
        typer.Option(metavar="FIELD", help="Also compare by this field, value by value."),
    ] = None,
    cluster: Annotated[
        str | None,
        typer.Option(metavar="FIELD", help="Field whose rows are not independent. "
                     "Default: as in RUN."),
    ] = None,
    margin: Annotated[
        float | None,
        typer.Option(metavar="X", help="A difference too small to matter, in the metric's unit."),
    ] = None,
    adjust: Annotated[
        str,
        typer.Option(metavar="holm|bh", help="What p-values are adjusted for: no false finding "
                     "among all (holm), or few among the findings (bh)."),
    ] = "holm",
    force: Annotated[
        bool,
        typer.Option("--force", help="Compare also what the runs judged or defined otherwise."),
    ] = False,
    metrics_from: MetricsFrom = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:  # fmt: skip
    """Compare the systems of RUN, or RUN with RUN_B, question by question.

    Each metric has a difference with an interval, a test, and a verdict: better, worse,
    equivalent (within --margin) or cannot tell, and then how many pairs it would take.
    p-values are adjusted for all that is shown. Exit status: 0 done, 2 bad input.
    """
    from ragstone.decisions.comparing.compare import compare as compared
    from ragstone.report.pages.comparison import comparison_page

    load_own(metrics_from or ())
    found = compared(
        run,
        other,
        baseline=baseline,
        metrics=names_of(metric) or None,
        by=tuple(by or ()),
        cluster=cluster,
        margin=margin,
        adjust=cast("Adjust", adjust),
        force=force,
    )
    print_page(comparison_page(found), json=json)
