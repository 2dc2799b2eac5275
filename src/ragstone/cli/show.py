"""``ragstone show RUN [EXAMPLE]``: where a run is worst, and one example in full."""

from typing import Annotated

import typer

from . import options
from .output import print_page
from .results import load_own, print_run


def show(
    run: options.RunFolder,
    example: Annotated[str | None, typer.Argument(help="Id of an example to show in full.")] = None,
    metric: Annotated[
        list[str] | None,
        typer.Option("--metric", "-m", help="Show the worst examples of this metric; repeatable."),
    ] = None,
    limit: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="Number of examples. Default: 5; 3 per --metric."),
    ] = None,
    prompts: Annotated[
        bool,
        typer.Option("--with-prompts", help="With EXAMPLE: also show the prompts that models "
                     "received."),
    ] = False,
    failures: Annotated[
        bool,
        typer.Option("--failures", help="Show at which stage of the pipeline answers that fell "
                     "short first went wrong."),
    ] = False,
    conversations: Annotated[
        bool,
        typer.Option("--conversations", help="Show the worst turn, the mean of the turns and the "
                     "share resolved of whole sessions."),
    ] = False,
    bar: Annotated[
        float | None,
        typer.Option(metavar="SCORE", help="With --conversations and --metric: a conversation is "
                     "resolved if its last turn is answered and its score is not worse than "
                     "this."),
    ] = None,
    by: Annotated[
        list[str] | None,
        typer.Option(metavar="FIELD", help="With --failures: field to slice by; repeatable."),
    ] = None,
    without_overrules: options.WithoutOverrules = False,
    stage: Annotated[
        str | None,
        typer.Option(metavar="STAGE", help="With --failures: list the answers that failed at this "
                     "stage first, such as not_used."),
    ] = None,
    metrics_from: options.MetricsFrom = None,
    full: options.Full = False,
    json: options.Json = False,
) -> None:  # fmt: skip
    """Show the worst examples in RUN, over all its metrics, or one EXAMPLE in full.

    Each with the claims, statements or contexts that made it bad, and why. With
    --metric: the worst examples of that metric. With --failures: the failure waterfall. With
    --conversations: whole sessions.
        For one example: its claims, verdicts, evidence, reasons and scores, and each
    question to a model with its replies and their cost.

    Exit status: 0 done, 2 no such run, example or metric.
    """
    from ragstone import report
    from ragstone.analysis.scored_run import metric_among

    load_own(metrics_from or ())
    opened = options.read_run(run, without_overrules=without_overrules)
    if example is not None:
        found = report.dossier(opened, example)
        print_page(report.example_page(found, prompts=prompts), json=json)
        return
    if (by or stage) and not failures:
        raise typer.BadParameter("--by and --stage go with --failures.")
    if bar is not None and not conversations:
        raise typer.BadParameter("--bar goes with --conversations.")
    if conversations:
        from ragstone.analysis import conversations as found_of
        from ragstone.report.pages.failures_page import conversations_page

        sessions = found_of(opened, metrics=metric or (), bar=bar)
        print_page(conversations_page(sessions, limit=limit), json=json)
        return
    if failures:
        from ragstone.analysis.summaries.failure_stages import failures as found_in
        from ragstone.report.pages.failures_page import failures_page, stage_page

        faults = found_in(opened, by=by or ())
        if stage is None:
            print_page(failures_page(faults), json=json)
        else:
            print_page(stage_page(opened, faults, stage, limit=limit), json=json)
        return
    if full:
        print_run(opened, (), full=True, json=json)
        return
    scored = list(dict.fromkeys(one.metric for one in opened.estimate_list))
    chosen = [metric_among(one, scored, "metric of this run", run=run) for one in metric or ()]
    print_page(report.worst_page(opened, metrics=chosen, limit=limit), json=json)
