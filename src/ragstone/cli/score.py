"""``ragstone score RUN``: new metrics on stored judgements."""

import sys
from contextlib import redirect_stdout
from typing import Annotated

import typer

from . import options
from .progress import bar
from .results import finish, load_own, requested


def score(
    run: options.RunFolder,
    metric: Annotated[
        list[str] | None, typer.Option("--metric", "-m", help="Metric to compute; repeatable.")
    ] = None,
    suite: Annotated[
        list[str] | None, typer.Option(help="Suite of metrics; repeatable.")
    ] = None,
    metrics_from: options.MetricsFrom = None,
    by: Annotated[
        list[str] | None,
        typer.Option(metavar="FIELD", help="Also report results for each value of this field; "
                     "repeatable."),
    ] = None,
    embedder: options.Embedder = None,
    cross_encoder: options.CrossEncoder = None,
    bertscore: options.Bertscore = "",
    offline: options.Offline = False,
    without_overrules: options.WithoutOverrules = False,
    full: options.Full = False,
    pooled: options.Pooled = False,
    json: options.Json = False,
) -> None:  # fmt: skip
    """Compute new metrics from the judgements stored in RUN, without judging again.

    Scores that need a judgement RUN does not hold are missing. The exception is
    similarities: those that RUN lacks are computed with its own encoder. If that
    encoder failed before, it is tried again; naming RUN alone is enough for that.

    Exit status: 0 done, 2 invalid input, 4 more than a tenth of a metric's scores
    are missing.
    """
    from ragstone.run.rescore import rescore

    own = load_own(metrics_from or ())
    metrics, suites, notes = requested(metric or (), suite or (), own, quick=False)
    with bar() as progress, redirect_stdout(sys.stderr):
        scored = rescore(
            run,
            metrics=metrics,
            suites=suites,
            by=tuple(by or ()),
            embedder=embedder,
            cross_encoder=cross_encoder,
            bertscore=bertscore,
            offline=offline,
            progress=progress,
        )
    scored = scored.without_overrules() if without_overrules else scored
    finish(scored, notes, full=full, pooled=pooled, json=json)
