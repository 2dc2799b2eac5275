"""``ragstone score RUN``: new metrics on stored judgements."""

from pathlib import Path
from typing import Annotated

import typer

from .progress import bar
from .results import (
    Bertscore,
    CrossEncoder,
    Embedder,
    MetricsFrom,
    Offline,
    finish,
    load_own,
    requested,
)


def score(
    run: Annotated[Path, typer.Argument(help="A run folder, as `ragstone evaluate` makes it.")],
    metric: Annotated[
        list[str] | None, typer.Option("--metric", "-m", help="A metric; repeat for more.")
    ] = None,
    suite: Annotated[
        list[str] | None, typer.Option(help="A suite of metrics; repeat for more.")
    ] = None,
    metrics_from: MetricsFrom = None,
    by: Annotated[
        list[str] | None,
        typer.Option(metavar="FIELD", help="Also show results by this field."),
    ] = None,
    embedder: Embedder = None,
    cross_encoder: CrossEncoder = None,
    bertscore: Bertscore = "",
    offline: Offline = False,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:  # fmt: skip
    """Score new metrics on the stored judgements of RUN; nobody judges again.

    What was not judged is missing. Only similarities that RUN lacks are computed,
    with its own encoder; where that did not answer, it is asked again, for which
    RUN alone will do. Exit status: 0 done, 2 bad input, 4 over a tenth of a
    metric's scores missing.
    """
    from ragstone.run import rescore

    own = load_own(metrics_from or ())
    metrics, suites, notes = requested(metric or (), suite or (), own, quick=False)
    with bar() as progress:
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
    finish(scored, notes, json=json)
