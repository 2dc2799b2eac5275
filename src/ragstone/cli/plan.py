"""``ragstone plan``: how many questions or labels a result needs.

Args:
    half_width (H): Largest acceptable half-width of the interval.
    level: Confidence level of the interval.
    run: A run to plan from, made by `ragstone evaluate`.
    metric (-m): Metric of the run; repeatable. Default: all.
"""

from pathlib import Path
from typing import TYPE_CHECKING

from ragstone.core.errors import InputError

from . import options
from .options import column_names, load_user_metrics, names_of, scale_ends
from .output import Grouped, group, print_page

if TYPE_CHECKING:
    from ragstone.analysis.scored_run import Scored
    from ragstone.annotation.label_table import LabelTable

plan = group(Grouped, "Plan how many questions or labels a result needs.")


@options.in_group(plan)
def rate(*, value: float, half_width: float, level: float = 0.95, json: bool = False) -> None:
    """Number of rows needed to estimate a rate, with one row per question.

    Solves Wilson's interval for n, which is accurate for rare events too.
    Example: ragstone plan rate --value 0.8 --half-width 0.03

    Args:
        value: Expected rate, from 0 to 1.
    """
    from ragstone.analysis.sample_sizes.question_sizes import rate_size
    from ragstone.report.pages.sample_sizes_page import rate_page

    size = rate_size(value, half_width, level=level)
    print_page(rate_page(size), json=json)


@options.in_group(plan)
def mean(
    run: options.RunFolder,
    *,
    half_width: float,
    metric: list[str] | None = None,
    system: list[str] | None = None,
    cluster: str | None = None,
    level: float = 0.95,
    metrics_from: list[Path] | None = None,
    json: bool = False,
) -> None:
    """Number of questions needed to estimate a metric's mean, given its variance in RUN.

    Example: ragstone plan mean RUN -m faithfulness --half-width 0.02

    Args:
        system: System of the run; repeatable. Default: every system.
    """
    from ragstone.analysis.sample_sizes.question_sizes import mean_sizes
    from ragstone.report.pages.sample_sizes_page import mean_page

    load_user_metrics(metrics_from or ())
    scored = _scored(run, cluster)
    sizes = mean_sizes(scored, names_of(metric), half_width, systems=system or (), level=level)
    print_page(mean_page(str(run), sizes, cluster=scored.cluster), json=json)


@options.in_group(plan)
def paired(
    run: options.RunFolder,
    *,
    metric: list[str] | None = None,
    difference: float | None = None,
    n: int | None = None,
    baseline: str | None = None,
    power: float = 0.8,
    single: bool = False,
    cluster: str | None = None,
    level: float = 0.95,
    metrics_from: list[Path] | None = None,
    json: bool = False,
) -> None:
    """Number of questions needed to tell two systems apart, or the difference N can detect.

    Assumes that both systems answer the same questions, that differences vary as
    in RUN, and that they are tested as in `ragstone compare`: by McNemar's exact
    test for rates, otherwise by a permutation test, each at its share of the
    significance level. Example: ragstone plan paired RUN -m faithfulness
    --difference 0.03

    Args:
        difference (D): Difference to detect, in the metric's unit.
        n (N): Number of questions: show the difference they can detect. Default: as many as RUN
            has.
        baseline (SYSTEM): Compare the other systems with this one.
        power: Probability of detecting the difference.
        single: Plan for a single test. Default: plan for one of all the tests that `ragstone
            compare RUN` makes, over every metric and pair of systems.
        level: 1 minus the significance level of all tests together.
    """
    from ragstone.analysis.sample_sizes.question_sizes import paired_sizes
    from ragstone.report.pages.sample_sizes_page import paired_page

    load_user_metrics(metrics_from or ())
    sizes = paired_sizes(
        _scored(run, cluster),
        names_of(metric),
        difference=difference,
        n=n,
        baseline=baseline,
        power=power,
        level=level,
        single=single,
    )
    print_page(paired_page(str(run), sizes), json=json)


@options.in_group(plan)
def labels(
    run: options.OtherRun = None,
    *,
    half_width: float,
    metric: str | None = None,
    labels: list[options.LabelSource] | None = None,
    system: str | None = None,
    rate: float | None = None,
    sensitivity: float | None = None,
    specificity: float | None = None,
    correlation: float | None = None,
    deviation: float | None = None,
    judged: int | None = None,
    columns: list[str] | None = None,
    scales: list[str] | None = None,
    assurance: float | None = None,
    cluster: str | None = None,
    level: float = 0.95,
    metrics_from: list[Path] | None = None,
    json: bool = False,
) -> None:
    """Number of answers people must label, with and without the judge's help.

    The corrected estimate is the one `ragstone calibrate` makes from that many
    labels. The width of its interval varies by chance: with --assurance 0.9, it is
    narrow enough in 90 % of samples. That takes 10 to 20 % more labels than being
    so on average if the judge's accuracy is known, and up to half as many more if
    it was measured on a hundred labels. Examples:

    ragstone plan labels RUN -m unsupported_claim --labels labels.csv --half-width 0.05

    ragstone plan labels --rate 0.3 --sensitivity 0.9 --specificity 0.85 --judged 2000
    --half-width 0.05 --assurance 0.9

    Args:
        run: A run whose judge has judged the rows to be labelled.
        metric (-m): Metric of RUN to correct.
        labels (LABELS): Human labels for some examples of RUN, which show how accurate the judge
            is. Repeatable.
        system: Only this system of RUN.
        rate: Expected true rate. Default with RUN: its corrected rate.
        sensitivity: Share of truly positive rows that the judge calls positive.
        specificity: Share of truly negative rows that the judge calls negative.
        correlation: Correlation of the judge's scores with people's, for a metric that is not a
            rate.
        deviation: Standard deviation of people's scores, if there is no RUN.
        judged (N): Number of rows the judge has judged.
        assurance (A): Probability, such as 0.9, that the interval is narrow enough. Default: it is
            so on average, so about half of all samples give a wider one.
    """
    from dataclasses import replace

    from ragstone.analysis.sample_sizes.label_sizes import Accuracy, known_of_run, label_size
    from ragstone.report.pages.sample_sizes_page import labels_page

    load_user_metrics(metrics_from or ())
    if run is None:
        with_run = {"--metric": metric, "--labels": labels, "--system": system}
        needless = [name for name, value in with_run.items() if value]
        if needless:
            raise InputError(f"{', '.join(needless)} can only be used with a RUN.")
        if judged is None:
            raise InputError(
                "Give the number of rows the judge has judged, --judged N, or name a RUN."
            )
        known = Accuracy(judged, rate, sensitivity, specificity, deviation, correlation)
    else:
        if metric is None:
            raise InputError("Name the metric to correct: --metric NAME.")
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
    size = label_size(
        known, half_width, level=level, assurance=assurance, metric=metric, system=system
    )
    print_page(labels_page(size), json=json)


def _scored(run: Path, cluster: str | None) -> "Scored":
    from ragstone.analysis.scored_run import Scored
    from ragstone.run import Run

    return Scored(Run.open(run), cluster=cluster)


def _labels(
    files: list[options.LabelSource] | None, columns: list[str] | None, scales: list[str] | None
) -> "LabelTable | None":
    from ragstone.annotation.read_labels import read_label_table

    if not files:
        return None
    ends = scale_ends(scales or ())
    return read_label_table(files, columns=column_names(columns or ()), scales=ends)
