"""``ragstone weights RUN --preferences FILE``: a composite's weights, fitted to people."""

from pathlib import Path
from typing import Annotated

import typer

from . import options
from .output import print_notes, print_page
from .results import load_own, names_of


def weights(
    run: options.RunFolder,
    preferences: Annotated[
        Path,
        typer.Option(metavar="FILE", help="Human preferences or ratings, .csv or .jsonl. "
                     "Preferences: question_id, system_a, system_b (or id_a, id_b), preference "
                     "(from -2, a is much better, to 2, b is; or a, b, tie), annotator. Ratings: "
                     "id, rating, annotator."),
    ],
    metric: Annotated[
        list[str] | None,
        typer.Option("--metric", "-m", help="Metric of the run to weight; repeatable. Default: "
                     "those of --start, or all that can be combined."),
    ] = None,
    start: Annotated[
        str,
        typer.Option(metavar="WEIGHTS", help="Weights to keep unless the data show better ones: "
                     "equal, or a composite such as ragas_score."),
    ] = "equal",
    folds: Annotated[int, typer.Option(help="Number of cross-validation folds, made of whole "
                                       "questions.")] = 5,
    seed: Annotated[int, typer.Option(help="Random seed of the folds.")] = 0,
    level: Annotated[float, typer.Option(help="Confidence level of the gain's interval.")] = 0.95,
    cluster: options.Cluster = None,
    metrics_from: options.MetricsFrom = None,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write weights and results as JSON.")
    ] = None,
    json: options.Json = False,
) -> None:  # fmt: skip
    """Fit the weights of a composite metric to human preferences or ratings.

    The weights are at least 0 and sum to 1. They replace the starting weights only
    if they predict people better on questions they were not fitted on, with an
    interval above 0. To score the composite that is printed, run:
    ragstone score RUN --metric 'composite(…)'

    Exit status: 0 done, 2 invalid input.
    """
    from json import dumps

    from ragstone.analysis.composite_weights.fit_weights import fit_weights
    from ragstone.analysis.composite_weights.preferences import read_opinions
    from ragstone.analysis.scored_run import Scored
    from ragstone.core.files import write_result
    from ragstone.report.pages.comparison_page import weights_page
    from ragstone.run import Run

    load_own(metrics_from or ())
    found = fit_weights(
        Scored(Run.open(run), cluster=cluster),
        read_opinions(preferences),
        metrics=names_of(metric),
        start=start,
        folds=folds,
        seed=seed,
        level=level,
    )
    if out is not None:
        text = dumps(found.to_dict(), indent=2, ensure_ascii=False, allow_nan=False)
        write_result(out, text + "\n")
    print_page(weights_page(found), json=json)
    print_notes([f"written to {out}."] if out is not None else ())
