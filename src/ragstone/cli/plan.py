"""``ragstone plan``: how much to run, compare or label for a number that holds."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .column_names import column_names
from .failures import guarded
from .kinds import with_kinds
from .output import print_page
from .rating_scales import RatingScales, scale_ends
from .results import MetricsFrom, load_own, names_of

if TYPE_CHECKING:
    from ragstone.decisions.scored import Scored
    from ragstone.labels.table import LabelTable

plan = typer.Typer(
    no_args_is_help=True,
    help="Say how much to run or label: for a rate, a mean, a comparison, or labels of people.",
    context_settings={"help_option_names": ["-h", "--help"]},
)

RunFolder = Annotated[Path, typer.Argument(help="A run to go by, as `ragstone evaluate` makes it.")]
Metrics = Annotated[
    list[str] | None,
    typer.Option("--metric", "-m", help="A metric of the run; repeat for more. Default: all."),
]
HalfWidth = Annotated[
    float,
    typer.Option("--half-width", metavar="H", help="Half the width that the interval may have."),
]
Level = Annotated[float, typer.Option(help="Of the interval.")]
Cluster = Annotated[
    str | None,
    typer.Option(metavar="FIELD", help="Rows that share it are not independent. Default: the "
                 "run's own, question_id."),
]  # fmt: skip
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]


@plan.command()
@guarded
@with_kinds
def rate(
    value: Annotated[float, typer.Option("--value", help="The rate you expect, from 0 to 1.")],
    half_width: HalfWidth,
    level: Level = 0.95,
    json: Json = False,
) -> None:
    """How many rows a rate needs, one row a question.

    Solves Wilson's interval for n, which stays right for rare events.
    Example: ragstone plan rate --value 0.8 --half-width 0.03
    """
    from ragstone.decisions.planning.sizes import rate_size
    from ragstone.report.pages.plan import rate_page

    found = rate_size(value, half_width, level=level)
    print_page(rate_page(found), json=json)


@plan.command()
@guarded
@with_kinds
def mean(
    run: RunFolder,
    half_width: HalfWidth,
    metric: Metrics = None,
    system: Annotated[
        list[str] | None, typer.Option(help="A system of the run; repeat for more. Default: each.")
    ] = None,
    cluster: Cluster = None,
    level: Level = 0.95,
    metrics_from: MetricsFrom = None,
    json: Json = False,
) -> None:
    """How many questions the mean of a metric needs, going by how it varies in RUN.

    Example: ragstone plan mean RUN -m faithfulness --half-width 0.02
    """
    from ragstone.decisions.planning.sizes import mean_sizes
    from ragstone.report.pages.plan import mean_page

    load_own(metrics_from or ())
    scored = _scored(run, cluster)
    found = mean_sizes(scored, names_of(metric), half_width, systems=system or (), level=level)
    print_page(mean_page(str(run), found, cluster=scored.cluster), json=json)


@plan.command()
@guarded
@with_kinds
def paired(
    run: RunFolder,
    metric: Metrics = None,
    difference: Annotated[
        float | None,
        typer.Option(metavar="D", help="The difference to be found, in the metric's unit."),
    ] = None,
    n: Annotated[
        int | None,
        typer.Option("--n", metavar="N", help="So many questions: say what difference they find. "
                     "Default: as many as RUN has."),
    ] = None,
    baseline: Annotated[
        str | None, typer.Option(metavar="SYSTEM", help="Compare the others with this one.")
    ] = None,
    power: Annotated[float, typer.Option(help="How often the difference is to be found.")] = 0.8,
    single: Annotated[
        bool,
        typer.Option("--single", help="Plan for one test alone. Default: for one of all that "
                     "`ragstone compare RUN` tests, every metric and pair of systems."),
    ] = False,
    cluster: Cluster = None,
    level: Annotated[float, typer.Option(help="1 - the level of the tests together.")] = 0.95,
    metrics_from: MetricsFrom = None,
    json: Json = False,
) -> None:  # fmt: skip
    """How many questions tell two systems apart, or what difference so many find.

    Both answer the same questions, which differ as in RUN, and the test is that of
    `ragstone compare`: McNemar's exact one for rates, else by permutation, each at its part of
    the level. Example: ragstone plan paired RUN -m faithfulness --difference 0.03
    """
    from ragstone.decisions.planning.sizes import paired_sizes
    from ragstone.report.pages.plan import paired_page

    load_own(metrics_from or ())
    found = paired_sizes(
        _scored(run, cluster),
        names_of(metric),
        difference=difference,
        n=n,
        baseline=baseline,
        power=power,
        level=level,
        single=single,
    )
    print_page(paired_page(str(run), found), json=json)


@plan.command()
@guarded
@with_kinds
def labels(
    half_width: HalfWidth,
    run: Annotated[
        Path | None, typer.Argument(help="A run whose judge has read what is to be labelled.")
    ] = None,
    metric: Annotated[
        str | None, typer.Option("--metric", "-m", help="The metric of RUN to be corrected.")
    ] = None,
    labels: Annotated[
        list[Path] | None,
        typer.Option("--labels", metavar="FILE", help="What people said of some examples of RUN: "
                     "shows how good the judge is. Repeat for more."),
    ] = None,
    system: Annotated[str | None, typer.Option(help="Only this system of RUN.")] = None,
    rate: Annotated[
        float | None, typer.Option(help="The true rate you expect. Of a RUN: its own, corrected.")
    ] = None,
    sensitivity: Annotated[
        float | None, typer.Option(help="Share of the true that the judge calls true.")
    ] = None,
    specificity: Annotated[
        float | None, typer.Option(help="Share of the false that the judge calls false.")
    ] = None,
    correlation: Annotated[
        float | None,
        typer.Option(help="Of the judge's scores with people's, for a metric that is no rate."),
    ] = None,
    deviation: Annotated[
        float | None,
        typer.Option(help="Standard deviation of people's scores, where there is no RUN."),
    ] = None,
    judged: Annotated[
        int | None, typer.Option(metavar="N", help="Rows that the judge has read.")
    ] = None,
    columns: Annotated[
        list[str] | None,
        typer.Option("--map", metavar="FIELD=COLUMN",
                     help="The column of the labels that is a label or the value of a metric."),
    ] = None,
    scales: RatingScales = None,
    assurance: Annotated[
        float | None,
        typer.Option(metavar="A", help="Share of draws, such as 0.9, whose interval is to be as "
                     "narrow. Default: it is on average, so about half of all draws are wider."),
    ] = None,
    cluster: Cluster = None,
    level: Level = 0.95,
    metrics_from: MetricsFrom = None,
    json: Json = False,
) -> None:  # fmt: skip
    """How many answers people must label, with the judge's help and without.

    The corrected estimate is that of `ragstone calibrate` for so many labels. How wide its
    interval comes out is chance: `--assurance 0.9` asks for as many labels as make it narrow
    enough in 90 % of draws: 10 to 20 % more than on average where the judge's accuracy is known,
    up to half as many more where a hundred labels tell it. Examples:

    ragstone plan labels RUN -m unsupported_claim --labels labels.csv --half-width 0.05

    ragstone plan labels --rate 0.3 --sensitivity 0.9 --specificity 0.85 --judged 2000
    --half-width 0.05 --assurance 0.9
    """
    from dataclasses import replace

    from ragstone.decisions.planning.label_sizes import Accuracy, known_of_run, label_size
    from ragstone.errors import InputError
    from ragstone.report.pages.plan import labels_page

    load_own(metrics_from or ())
    if run is None:
        with_run = {"--metric": metric, "--labels": labels, "--system": system}
        given = [name for name, value in with_run.items() if value]
        if given:
            raise InputError(f"{', '.join(given)} needs a RUN.")
        if judged is None:
            raise InputError("Say how many rows the judge has read: --judged N, or name a RUN.")
        known = Accuracy(judged, rate, sensitivity, specificity, deviation, correlation)
    else:
        if metric is None:
            raise InputError("Say which metric of the run is to be corrected: --metric NAME.")
        metric = names_of([metric])[0]
        known = known_of_run(
            _scored(run, cluster),
            metric,
            system=system,
            labels=_labels(labels, columns, scales),
            rate=rate,
            sensitivity=sensitivity,
            specificity=specificity,
            correlation=correlation,
        )
        if judged is not None:
            known = replace(known, judged=judged)
    found = label_size(
        known, half_width, level=level, assurance=assurance, metric=metric, system=system
    )
    print_page(labels_page(found), json=json)


def _scored(run: Path, cluster: str | None) -> "Scored":
    from ragstone.decisions.scored import Scored
    from ragstone.run import Run

    return Scored(Run.open(run), cluster=cluster)


def _labels(
    files: list[Path] | None, columns: list[str] | None, scales: list[str] | None
) -> "LabelTable | None":
    from ragstone.labels.read import read_label_table

    if not files:
        return None
    ends = scale_ends(scales or ())
    return read_label_table(files, columns=column_names(columns or ()), scales=ends)
