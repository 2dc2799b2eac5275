"""Label commands: check label files, measure agreement, draw samples, calibrate a judge."""

from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ragstone.core.errors import InputError

from . import options
from .options import RatingScales, column_names, load_user_metrics, names_of, scale_ends
from .output import print_json, print_notes, print_page, say

if TYPE_CHECKING:
    from ragstone.annotation.label_names import Scale
    from ragstone.run import Run


class LayoutOption(StrEnum):
    """How labels are written."""

    wide = "wide"
    long = "long"
    per_task = "per_task"
    label_studio = "label_studio"
    argilla = "argilla"


def labels(
    files: Annotated[
        list[options.LabelSource],
        typer.Argument(metavar="LABELS", help="Label files, exports of Argilla or Label Studio, "
                       "a dataset that contains labels, or a store of them: labels.sqlite or "
                       "postgresql://USER@HOST/DATABASE, with #QUEUE behind it for one queue; "
                       "several are read as one."),
    ],
    columns: Annotated[
        list[str] | None,
        typer.Option(
            "--map", metavar="FIELD=COLUMN", help="Read a column as this label; repeatable."
        ),
    ] = None,
    layout: Annotated[
        LayoutOption,
        typer.Option("--as", help="wide: one row per annotator and unit; long: one row per label; "
                     "per_task: a folder of CSV files, one for each sort of unit; label_studio, "
                     "argilla: JSON that these platforms import."),
    ] = LayoutOption.wide,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write all labels to .csv, .jsonl or .parquet; for a "
                     "platform to .json, for per_task to a folder."),
    ] = None,
    json: options.Json = False,
) -> None:  # fmt: skip
    """Check LABELS, say how complete they are, and write them in another layout.

    Every annotator's labels stay as they are; --out adds nothing up. The annotators'
    combined labels are written by `ragstone agreement LABELS --out FILE`.

    Exit status: 0 done, 2 invalid input.
    """
    from ragstone.annotation import read_label_table, write_labels
    from ragstone.report.pages.annotation_pages import labels_page

    table = read_label_table(files, columns=column_names(columns or ()))
    if out is None and layout is not LayoutOption.wide:
        raise InputError(f"--as {layout.value} needs a name to write to: --out FILE.")
    if out is not None:
        if out.exists():
            raise InputError(f"{out} already exists and may hold labels. Choose another name.")
        write_labels(table, out, layout=layout.value)
    print_page(labels_page(table, out), json=json)


def agreement(
    labels: Annotated[
        list[options.LabelSource],
        typer.Argument(metavar="LABELS", help="Label files, a dataset that contains labels, or "
                       "a store of them: labels.sqlite or postgresql://USER@HOST/DATABASE, with "
                       "#QUEUE behind it for one queue."),
    ],
    column: Annotated[
        list[str] | None,
        typer.Option("--column", "-c", metavar="NAME", help="Show only this label; repeatable."),
    ] = None,
    columns: Annotated[
        list[str] | None,
        typer.Option(
            "--map", metavar="FIELD=COLUMN", help="Read a column as this label; repeatable."
        ),
    ] = None,
    scale: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=SCALE", help="Scale of a label: nominal, ordinal or interval; "
            "repeatable."
        ),
    ] = None,
    cluster: Annotated[
        str | None,
        typer.Option(metavar="FIELD", help="Field that groups dependent rows. Default: the "
                     "question."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Write the annotators' combined labels to .jsonl, .csv or .parquet."),
    ] = None,
    limit: Annotated[
        int,
        typer.Option(min=0, metavar="N", help="Number of disputed items to show per label; "
                     "--json shows all."),
    ] = 3,
    seed: Annotated[int, typer.Option(min=0, help="Random seed of the intervals.")] = 0,
    json: options.Json = False,
) -> None:  # fmt: skip
    """Measure how well the annotators in LABELS agree, label by label.

    Shows percent agreement, Cohen's and Fleiss' kappa, Krippendorff's alpha and
    Gwet's AC1, with intervals over items; each annotator against the others; and
    the most disputed items. Discarded rows are ignored. --out writes one row per
    item with the majority label (the mean for amounts); ties are left undecided.

    Exit status: 0 done, 2 invalid input.
    """
    from ragstone.annotation import annotator_agreement
    from ragstone.annotation.write_labels import write_adjudicated
    from ragstone.report.pages.agreement_page import agreement_page

    scales = _scales(scale or ())
    found = annotator_agreement.agreement(
        labels,
        column=column or (),
        columns=column_names(columns or ()),
        scales=scales,
        cluster=cluster,
        seed=seed,
        limit=None if json else limit,
    )
    if out is not None:
        write_adjudicated(found.labels, out, scales=scales)
    print_page(agreement_page(found), json=json)
    if out is not None:
        n = len(found.labels.ties(scales))
        ties = "1 tie stays" if n == 1 else f"{n:,} ties stay"
        print_notes([f"{out} holds what the annotators say together; {ties} open."])


def _scales(pairs: Sequence[str]) -> "dict[str, Scale]":
    """Name to scale, split at the last ``=``, because names such as ``ndcg(k=10)`` have one."""
    from ragstone.annotation.label_names import SCALES

    scales: dict[str, Scale] = {}
    for pair in pairs:
        name, _, word = pair.rpartition("=")
        scale = next((scale for scale in SCALES if scale == word.strip()), None)
        if not name.strip() or scale is None:
            expected = f"NAME={'|'.join(SCALES)}"
            raise typer.BadParameter(f"{pair!r} is not {expected}.", param_hint="--scale")
        scales[name.strip()] = scale
    return scales


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

    load_user_metrics(metrics_from or ())
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


def calibrate(
    run: Annotated[
        Path,
        typer.Argument(callback=options.run_folder, parser=options.read_place,
                       help="A finished run that these people did "
                       "not judge."),
    ],
    labels: Annotated[
        list[options.LabelSource] | None,
        typer.Option(
            metavar="LABELS",
            help="Human labels: .jsonl, .csv or .parquet, or a store of them, labels.sqlite or "
            "postgresql://USER@HOST/DATABASE; repeatable. Default: the labels in the run's "
            "examples.",
        ),
    ] = None,
    columns: options.LabelColumns = None,
    scales: RatingScales = None,
    metric: Annotated[
        list[str] | None,
        typer.Option("--metric", "-m", help="Calibrate only this metric; repeatable."),
    ] = None,
    by: Annotated[
        list[str] | None, typer.Option(metavar="FIELD", help="Also correct within each value of "
                                       "this field; repeatable.")
    ] = None,
    cluster: options.Cluster = None,
    method: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="How rates are corrected: poststratified, ppi_plus_plus, rogan_gladen or "
            "by_design. by_design is ppi_plus_plus if the judge gives few distinct values and at "
            "least five yes and five no are expected among the labels, otherwise poststratified. "
            "Means of other scores are always corrected by ppi_plus_plus.",
        ),
    ] = "by_design",
    criterion: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="What the best threshold maximises: youden, f1, accuracy or kappa.",
        ),
    ] = "youden",
    repeat: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="RUN2",
            help="The same data judged again by the same judge with --no-cache, to measure how "
            "often its verdicts change; repeatable.",
        ),
    ] = None,
    injected: Annotated[
        Path | None,
        typer.Option(
            metavar="RUN2",
            help="The same data with injected instructions, to measure how often they change the "
            "judge's verdicts.",
        ),
    ] = None,
    passport: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Only check whether this passport is valid for the judge of RUN; exit status 1 "
            "if it is not.",
        ),
    ] = None,
    assume_random: Annotated[
        bool,
        typer.Option(
            "--assume-random",
            help="Correct with labels even though they are clearly not a random sample of the "
            "judged examples.",
        ),
    ] = False,
    anytime: Annotated[
        bool,
        typer.Option(
            "--anytime",
            help="For labels that keep arriving as random draws: the mean of the labels alone, "
            "with an interval that stays valid however often you look.",
        ),
    ] = False,
    level: Annotated[float, typer.Option(help="Confidence level of the intervals.")] = 0.95,
    seed: Annotated[int, typer.Option(help="Seed for all resampling.")] = 0,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write each example's corrected scores to .csv, .jsonl "
                     "or .parquet."),
    ] = None,
    metrics_from: options.MetricsFrom = None,
    json: options.Json = False,
) -> None:  # fmt: skip
    """Check the judge of RUN against human labels, and correct its numbers with them.

    Each metric's mean is given three ways: from the judge, from the labels alone,
    and corrected, with the number of labels the correction is worth. What is known
    of the judge is saved as RUN/judge_passport.json and .md; this passport becomes
    void when a model or a prompt changes.

    Exit status: 0 done, 1 the passport is void, 2 invalid input.
    """
    from ragstone import analysis, report
    from ragstone.core.files import write_result
    from ragstone.report.pages.calibration_page import calibration_page, passport_page
    from ragstone.report.render.documents import as_markdown
    from ragstone.run import Run

    load_user_metrics(metrics_from or ())
    opened = Run.open(run)
    if passport is not None:
        raise typer.Exit(_check(passport, opened, json=json))
    if out is not None:
        report.format_of(out)
    found = analysis.calibrate(
        opened,
        labels or (),
        metrics=names_of(metric),
        by=by or (),
        cluster=cluster,
        columns=column_names(columns or ()),
        scales=scale_ends(scales or ()),
        method=method,
        criterion=criterion,
        repeats=repeat or (),
        injected=injected,
        assume_random=assume_random,
        anytime=anytime,
        level=level,
        seed=seed,
    )
    file = found.passport.write(opened.path)
    write_result(file.with_suffix(".md"), as_markdown(passport_page(found)))
    print_page(calibration_page(found), json=json)
    notes = [*found.notes, f"passport of the judge: {file} and .md"]
    if out is not None:
        report.write_table(found.scores, out)
        notes.append(f"corrected scores: {out}")
    print_notes(notes)


def _check(passport: Path, run: "Run", *, json: bool) -> int:
    """Print whether a passport holds for the judge of a run, and return the exit status."""
    from ragstone.analysis import read_passport

    changed = read_passport(passport).void_for(run)
    if json:
        print_json({"valid": not changed, "changed": changed})
    elif changed:
        say(f"{passport} is void for {run.path}:")
        say("\n".join(f"  {line}" for line in changed))
    else:
        say(f"{passport} holds for {run.path}: models, prompts and plan are the same.")
    return 1 if changed else 0
