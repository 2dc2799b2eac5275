"""``ragstone weights RUN --preferences FILE``: a composite's weights, fitted to people."""

from pathlib import Path
from typing import Annotated

import typer

from .output import print_notes, print_page
from .results import MetricsFrom, load_own, names_of


def weights(
    run: Annotated[Path, typer.Argument(help="A run folder, as `ragstone evaluate` makes it.")],
    preferences: Annotated[
        Path,
        typer.Option(metavar="FILE", help="What people said, .csv or .jsonl. Preferences: "
                     "question_id, system_a, system_b (or id_a, id_b), preference (-2 a is much "
                     "better, to 2 b is; or a, b, tie), annotator. Ratings: id, rating, "
                     "annotator."),
    ],
    metric: Annotated[
        list[str] | None,
        typer.Option("--metric", "-m", help="A metric of the run to weigh; repeat for more. "
                     "Default: those of --start, else all that fit in one composite."),
    ] = None,
    start: Annotated[
        str,
        typer.Option(metavar="WEIGHTS", help="What is kept unless people show better: equal, or a "
                     "composite such as ragas_score."),
    ] = "equal",
    folds: Annotated[int, typer.Option(help="Parts of the questions to validate on in turn.")] = 5,
    seed: Annotated[int, typer.Option(help="Of the folds.")] = 0,
    level: Annotated[float, typer.Option(help="Of the gain's interval.")] = 0.95,
    cluster: Annotated[
        str | None,
        typer.Option(metavar="FIELD", help="Rows that share it are not independent. Default: the "
                     "run's own, question_id."),
    ] = None,
    metrics_from: MetricsFrom = None,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write weights and findings as JSON.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:  # fmt: skip
    """Fit a composite's weights to people's preferences or ratings.

    The weights are at least 0 and sum to 1. They are kept only if, on questions they were not
    fitted on, they foretell people better than the starting weights, with an interval above 0.
    The composite that is printed is a metric: ragstone score RUN --metric 'composite(…)'.
    Exit status: 0 done, 2 bad input.
    """
    from json import dumps

    from ragstone.decisions.scored import Scored
    from ragstone.decisions.weighing.opinions import read_opinions
    from ragstone.decisions.weighing.weights import fit_weights
    from ragstone.report.pages.weights import weights_page
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
        out.write_text(text + "\n", encoding="utf-8")
    print_page(weights_page(found), json=json)
    print_notes([f"written to {out}."] if out is not None else ())
