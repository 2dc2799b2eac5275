"""``ragstone sample RUN``: examples for people to label, drawn with known chances."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from ragstone.core.errors import InputError

from . import options
from .output import print_page
from .results import load_own, names_of


class Way(StrEnum):
    """How examples are drawn."""

    random = "random"
    stratified = "stratified"
    near_threshold = "near-threshold"
    disagreement = "disagreement"
    error = "error"


class AllocationOption(StrEnum):
    """How a sample is shared out to strata."""

    proportional = "proportional"
    equal = "equal"
    neyman = "neyman"


def sample(
    run: options.RunFolder,
    n: Annotated[
        int,
        typer.Option("--n", metavar="N", help="Number of examples to draw; with "
                     "--whole-questions, number of questions."),
    ],
    by: Annotated[
        Way,
        typer.Option(help="random; stratified: a set number from each stratum; near-threshold: "
                     "more often if the score is near the threshold; disagreement: more often if "
                     "runs, or votes within the run, disagree; error: more often if the judge is "
                     "likely to be wrong."),
    ] = Way.random,
    metric: Annotated[
        str | None,
        typer.Option("--metric", "-m", help="Metric to calibrate: its scores steer the draw, and "
                     "its labels are asked for."),
    ] = None,
    threshold: Annotated[
        float, typer.Option(help="Score at which the metric turns from no to yes.")
    ] = 0.5,
    strata: Annotated[
        list[str] | None,
        typer.Option(metavar="FIELD", help="Stratify by system, another field, or verdict (the "
                     "judge's verdict on the metric). Repeat to cross strata."),
    ] = None,
    allocation: Annotated[
        AllocationOption,
        typer.Option(help="Examples per stratum: in proportion to its size (proportional), the "
                     "same number (equal), or more where scores vary more (neyman)."),
    ] = AllocationOption.proportional,
    other: Annotated[
        list[Path] | None,
        typer.Option(metavar="RUN2", help="Run of another judge on the same examples, for --by "
                     "disagreement; repeatable."),
    ] = None,
    labels: Annotated[
        list[options.LabelSource] | None,
        typer.Option(metavar="LABELS", help="Human labels from a first sample, which show where "
                     "the judge errs; repeatable."),
    ] = None,
    whole_questions: Annotated[
        bool, typer.Option("--whole-questions", help="Draw whole questions, with all their "
                           "examples.")
    ] = False,
    annotators: Annotated[
        str | None,
        typer.Option(metavar="NAMES", help="Annotators, separated by commas: ann,ben,cy."),
    ] = None,
    overlap: Annotated[
        float, typer.Option(metavar="SHARE", help="Share of the examples that goes to every "
                            "annotator.")
    ] = 0.0,
    label: Annotated[
        list[str] | None,
        typer.Option("--label", metavar="NAME", help="Label to ask for: helpful, "
                     "unsupported_claim_present, topically_relevant (for each context), support "
                     "(for each claim), a metric, or a name of your own; repeatable. Default: "
                     "the labels the metric needs."),
    ] = None,
    language: Annotated[
        str, typer.Option(help="Language of the guideline that is written beside the sheet: "
                          "English or German.")
    ] = "English",
    cluster: Annotated[
        str | None,
        typer.Option(metavar="FIELD", help="Field whose values --whole-questions draws. Default: "
                     "the one the run was evaluated with."),
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of the draw.")] = 0,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the label sheet to .csv, .jsonl or .parquet."),
    ] = None,
    metrics_from: options.MetricsFrom = None,
    json: options.Json = False,
) -> None:  # fmt: skip
    """Draw examples of RUN for people to label, each with a known probability.

    The sheet has one row per annotator and example. Once filled in, it can be read
    by `ragstone agreement` and `ragstone calibrate`. It shows neither systems nor
    verdicts (except in ids), so that annotators are not influenced.

    Exit status: 0 done, 2 invalid input.
    """
    from ragstone.analysis.calibration.labelled_run import people_of
    from ragstone.analysis.label_sampling.asked_labels import labels_asked
    from ragstone.analysis.label_sampling.draw_sample import draw_sample
    from ragstone.analysis.label_sampling.queue_items import label_sheet, write_sheet
    from ragstone.analysis.label_sampling.sample_designs import VERDICT
    from ragstone.analysis.scored_run import Scored
    from ragstone.report.pages.annotation_pages import sample_page
    from ragstone.run import Run

    load_own(metrics_from or ())
    opened = Run.open(run)
    name = names_of([metric])[0] if metric is not None else None
    if labels and name is None:
        raise InputError("--labels can only be used for one metric. Name it: --metric NAME.")
    fields = [field for field in strata or () if field not in (VERDICT, "system")]
    scored = Scored(opened, cluster=cluster, by=fields)
    drawn = draw_sample(
        scored,
        n,
        by=by.value,
        metric=name,
        threshold=threshold,
        strata=strata or (),
        allocation=allocation.value,
        others=[Scored(Run.open(one)) for one in other or ()],
        people=people_of(opened, labels, name) if labels and name else None,
        whole_questions=whole_questions,
        annotators=[one.strip() for one in annotators.split(",")] if annotators else (),
        overlap=overlap,
        seed=seed,
    )
    known = None if name is None else scored.metric(name) or name
    sheet = label_sheet(drawn, opened, labels_asked(label or (), known), language)
    if out is not None:
        write_sheet(sheet, out)
    print_page(sample_page(drawn, sheet, out), json=json)
