"""``ragstone sample RUN``: examples for people to label, drawn with known chances."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from ragstone.errors import InputError

from .output import print_page
from .results import MetricsFrom, load_own, names_of


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
    run: Annotated[Path, typer.Argument(help="A run folder, as `ragstone evaluate` makes it.")],
    n: Annotated[
        int,
        typer.Option("--n", metavar="N", help="So many examples; with --whole-questions so many "
                     "questions."),
    ],
    by: Annotated[
        Way,
        typer.Option(help="random; stratified: so many of each stratum; near-threshold: scores "
                     "near the threshold more often; disagreement: examples on which runs, or "
                     "votes in the run, disagree more often; error: what the judge is expected to "
                     "get wrong more often."),
    ] = Way.random,
    metric: Annotated[
        str | None,
        typer.Option("--metric", "-m", help="The metric to be calibrated: whose scores count, "
                     "and which labels are asked."),
    ] = None,
    threshold: Annotated[
        float, typer.Option(help="Where the metric's scores turn from no to yes.")
    ] = 0.5,
    strata: Annotated[
        list[str] | None,
        typer.Option(metavar="FIELD", help="system, another field, or verdict: what the judge "
                     "said by the metric. Repeat to cross them."),
    ] = None,
    allocation: Annotated[
        AllocationOption,
        typer.Option(help="To strata: as many as they have (proportional), the same number "
                     "(equal), or more where scores vary more (neyman)."),
    ] = AllocationOption.proportional,
    other: Annotated[
        list[Path] | None,
        typer.Option(metavar="RUN2", help="A run of another judge on the same examples, for "
                     "disagreement; repeat for more."),
    ] = None,
    labels: Annotated[
        list[Path] | None,
        typer.Option(metavar="FILE", help="What people said of a first sample: where the judge "
                     "errs; repeat for more."),
    ] = None,
    whole_questions: Annotated[
        bool, typer.Option("--whole-questions", help="Draw questions, with all their examples.")
    ] = False,
    annotators: Annotated[
        str, typer.Option(metavar="NAMES", help="Who labels, between commas: ann,ben,cy.")
    ] = "",
    overlap: Annotated[
        float, typer.Option(metavar="SHARE", help="Share that goes to every annotator.")
    ] = 0.0,
    label: Annotated[
        list[str] | None,
        typer.Option("--label", metavar="NAME", help="A label to ask for: helpful, "
                     "unsupported_claim_present, topically_relevant (of each context), support (of "
                     "each claim), a metric, or a word of your own; repeat for more. Default: what "
                     "the metric needs."),
    ] = None,
    cluster: Annotated[
        str | None,
        typer.Option(metavar="FIELD", help="What --whole-questions draws. Default: the run's own, "
                     "question_id."),
    ] = None,
    seed: Annotated[int, typer.Option(help="The same seed draws the same.")] = 0,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the sheet to fill in: .csv, .jsonl, .parquet."),
    ] = None,
    metrics_from: MetricsFrom = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:  # fmt: skip
    """Draw examples of RUN for people to label, each with a chance that is known and kept.

    The sheet has a row for each annotator and example, and is read back by `ragstone agreement`
    and `ragstone calibrate`. Beside the ids it names no system and no verdict, so that nobody
    is led.
    Exit status: 0 done, 2 bad input.
    """
    from ragstone.decisions.calibrating.labelled_run import people_of
    from ragstone.decisions.sampling.draw import draw_sample
    from ragstone.decisions.sampling.label_sheet import label_sheet, labels_asked, write_sheet
    from ragstone.decisions.sampling.strata import VERDICT
    from ragstone.decisions.scored import Scored
    from ragstone.report.pages.sample import sample_page
    from ragstone.run import Run

    load_own(metrics_from or ())
    opened = Run.open(run)
    name = names_of([metric])[0] if metric is not None else None
    if labels and name is None:
        raise InputError("--labels tells where the judge errs about a metric: --metric NAME.")
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
    sheet = label_sheet(drawn, opened, labels_asked(label or (), known))
    if out is not None:
        write_sheet(sheet, out)
    print_page(sample_page(drawn, sheet, out), json=json)
