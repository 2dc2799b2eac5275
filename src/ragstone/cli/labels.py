"""Label commands: check label files, measure agreement, draw samples, calibrate a judge."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from ragstone.core.errors import InputError

from . import options
from .options import column_names, load_user_metrics, named_values, names_of, scale_ends
from .output import print_json, print_notes, print_page, say

if TYPE_CHECKING:
    from ragstone.annotation.label_names import Scale
    from ragstone.run import Run


LayoutOption = Literal["wide", "long", "per_task", "label_studio", "argilla"]


def labels(
    files: list[options.LabelSource],
    *,
    columns: list[str] | None = None,
    layout: LayoutOption = "wide",
    out: Path | None = None,
    json: bool = False,
) -> None:
    """Check LABELS, and write them in another layout.

    --out writes each annotator's labels as they are. `ragstone agreement LABELS --out FILE`
    writes the combined ones.

    Exit status: 0 done, 2 invalid input.

    Args:
        files (LABELS): Label files, exports of Argilla or Label Studio, a dataset that contains
            labels, or a store of them: labels.sqlite or postgresql://USER@HOST/DATABASE, with
            #QUEUE behind it for one queue; several are read as one.
        columns (--map FIELD=COLUMN): Read a column as this label; repeatable.
        layout (--as): wide: one row per annotator and unit; long: one row per label; per_task: a
            folder of CSV files, one for each sort of unit; label_studio, argilla: JSON that these
            platforms import.
        out (FILE): Write all labels to .csv, .jsonl or .parquet; for a platform to .json, for
            per_task to a folder.
    """
    from ragstone.annotation import read_label_table, write_labels
    from ragstone.report.pages.annotation_pages import labels_page

    table = read_label_table(files, columns=column_names(columns or ()))
    if out is None and layout != "wide":
        raise InputError(f"--as {layout} needs a name to write to: --out FILE.")
    if out is not None:
        if out.exists():
            raise InputError(f"{out} already exists and may hold labels. Choose another name.")
        write_labels(table, out, layout=layout)
    print_page(labels_page(table, out), json=json)


def agreement(
    labels: list[options.LabelSource],
    *,
    column: list[str] | None = None,
    columns: list[str] | None = None,
    scale: list[str] | None = None,
    cluster: str | None = None,
    out: Path | None = None,
    limit: Annotated[int, {"min": 0}] = 3,
    seed: Annotated[int, {"min": 0}] = 0,
    json: bool = False,
) -> None:
    """Measure how well the annotators in LABELS agree, label by label.

    Shows percent agreement, Cohen's and Fleiss' kappa, Krippendorff's alpha and
    Gwet's AC1, with intervals over items; each annotator against the others; and
    the most disputed items. Discarded rows are ignored. --out writes one row per
    item with the majority label (the mean for amounts); ties are left undecided.

    Exit status: 0 done, 2 invalid input.

    Args:
        labels (LABELS): Label files, a dataset that contains labels, or a store of them:
            labels.sqlite or postgresql://USER@HOST/DATABASE, with #QUEUE behind it for one queue.
        column (-c NAME): Show only this label; repeatable.
        columns (--map FIELD=COLUMN): Read a column as this label; repeatable.
        scale (NAME=SCALE): Scale of a label: nominal, ordinal or interval; repeatable.
        cluster (FIELD): Field that groups dependent rows. Default: the question.
        out: Write the annotators' combined labels to .jsonl, .csv or .parquet.
        limit (N): Number of disputed items to show per label; --json shows all.
        seed: Random seed of the intervals.
    """
    from ragstone.annotation import annotator_agreement
    from ragstone.annotation.label_export import write_adjudicated
    from ragstone.report.pages.agreement_page import agreement_page

    scales = _scales(scale or ())
    measured = annotator_agreement.agreement(
        labels,
        column=column or (),
        columns=column_names(columns or ()),
        scales=scales,
        cluster=cluster,
        seed=seed,
        limit=None if json else limit,
    )
    if out is not None:
        write_adjudicated(measured.labels, out, scales=scales)
    print_page(agreement_page(measured), json=json)
    if out is not None:
        n = len(measured.labels.ties(scales))
        ties = "1 tie stays" if n == 1 else f"{n:,} ties stay"
        print_notes([f"{out} holds what the annotators say together; {ties} open."])


def _scales(pairs: Sequence[str]) -> "dict[str, Scale]":
    from ragstone.annotation.label_names import SCALES

    scales: dict[str, Scale | None] = {scale: scale for scale in SCALES}
    return named_values(pairs, scales.get, f"NAME={'|'.join(SCALES)}", "--scale")


Way = Literal["random", "stratified", "near-threshold", "disagreement", "error"]

AllocationOption = Literal["proportional", "equal", "neyman"]


def sample(
    run: options.RunFolder,
    *,
    n: int,
    by: Way = "random",
    metric: str | None = None,
    threshold: float = 0.5,
    strata: list[str] | None = None,
    allocation: AllocationOption = "proportional",
    other: list[Path] | None = None,
    labels: list[options.LabelSource] | None = None,
    whole_questions: bool = False,
    annotators: str | None = None,
    overlap: float = 0.0,
    label: list[str] | None = None,
    language: str = "English",
    cluster: str | None = None,
    seed: int = 0,
    out: Path | None = None,
    metrics_from: list[Path] | None = None,
    json: bool = False,
) -> None:
    """Draw examples of RUN to label, each with a known probability.

    The sheet has one row per annotator and example. Once filled in, it can be read
    by `ragstone agreement` and `ragstone calibrate`. It shows neither systems nor
    verdicts (except in ids), so that annotators are not influenced.

    Exit status: 0 done, 2 invalid input.

    Args:
        n (N): Number of examples to draw; with --whole-questions, number of questions.
        by: random; stratified: a set number from each stratum; near-threshold: more often if the
            score is near the threshold; disagreement: more often if runs, or votes within the run,
            disagree; error: more often if the judge is likely to be wrong.
        metric (-m): Metric to calibrate: its scores steer the draw, and its labels are asked for.
        threshold: Score at which the metric turns from no to yes.
        strata (FIELD): Stratify by system, another field, or verdict (the judge's verdict on the
            metric). Repeat to cross strata.
        allocation: Examples per stratum: in proportion to its size (proportional), the same number
            (equal), or more where scores vary more (neyman).
        other (RUN2): Run of another judge on the same examples, for --by disagreement; repeatable.
        labels (LABELS): Human labels from a first sample, which show where the judge errs;
            repeatable.
        whole_questions: Draw whole questions, with all their examples.
        annotators (NAMES): Annotators, separated by commas: ann,ben,cy.
        overlap (SHARE): Share of the examples that goes to every annotator.
        label (NAME): Label to ask for: helpful, unsupported_claim_present, topically_relevant (for
            each context), support (for each claim), a metric, or a name of your own; repeatable.
            Default: the labels the metric needs.
        language: Language of the guideline that is written beside the sheet: English or German.
        cluster (FIELD): Field whose values --whole-questions draws. Default: the one the run was
            evaluated with.
        seed: Seed of the draw.
        out (FILE): Write the label sheet to .csv, .jsonl or .parquet.
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
        by=by,
        metric=name,
        threshold=threshold,
        strata=strata or (),
        allocation=allocation,
        others=[Scored(Run.open(path)) for path in other or ()],
        people=people_of(opened, labels, name) if labels and name else None,
        whole_questions=whole_questions,
        annotators=[name.strip() for name in annotators.split(",")] if annotators else (),
        overlap=overlap,
        seed=seed,
    )
    known = None if name is None else scored.metric(name) or name
    sheet = label_sheet(drawn, opened, labels_asked(label or (), known), language)
    if out is not None:
        write_sheet(sheet, out)
    print_page(sample_page(drawn, sheet, out), json=json)


def calibrate(
    run: options.RunFolder,
    *,
    labels: list[options.LabelSource] | None = None,
    columns: list[str] | None = None,
    scales: list[str] | None = None,
    metric: list[str] | None = None,
    by: list[str] | None = None,
    cluster: str | None = None,
    method: str = "by_design",
    criterion: str = "youden",
    repeat: list[Path] | None = None,
    injected: Path | None = None,
    passport: Path | None = None,
    assume_random: bool = False,
    anytime: bool = False,
    level: float = 0.95,
    seed: int = 0,
    out: Path | None = None,
    metrics_from: list[Path] | None = None,
    json: bool = False,
) -> None:
    """Check the judge of RUN by human labels, and correct its numbers.

    Each metric's mean is given three ways: from the judge, from the labels alone,
    and corrected, with the number of labels the correction is worth. What is known
    of the judge is saved as RUN/judge_passport.json and .md; this passport becomes
    void when a model or a prompt changes.

    Exit status: 0 done, 1 the passport is void, 2 invalid input.

    Args:
        run: A finished run that these people did not judge.
        labels (LABELS): Human labels: .jsonl, .csv or .parquet, or a store of them, labels.sqlite
            or postgresql://USER@HOST/DATABASE; repeatable. Default: the labels in the run's
            examples.
        metric (-m): Calibrate only this metric; repeatable.
        by (FIELD): Also correct within each value of this field; repeatable.
        method (NAME): How rates are corrected: poststratified, ppi_plus_plus, rogan_gladen or
            by_design. by_design is ppi_plus_plus if the judge gives few distinct values and at
            least five yes and five no are expected among the labels, otherwise poststratified.
            Means of other scores are always corrected by ppi_plus_plus.
        criterion (NAME): What the best threshold maximises: youden, f1, accuracy or kappa.
        repeat (RUN2): The same data judged again by the same judge with --no-cache, to measure how
            often its verdicts change; repeatable.
        injected (RUN2): The same data with injected instructions, to measure how often they change
            the judge's verdicts.
        passport (FILE): Only check whether this passport is valid for the judge of RUN; exit status
            1 if it is not.
        assume_random: Correct with labels even though they are clearly not a random sample of the
            judged examples.
        anytime: For labels that keep arriving as random draws: the mean of the labels alone, with
            an interval that stays valid however often you look.
        level: Confidence level of the intervals.
        seed: Seed for all resampling.
        out (FILE): Write each example's corrected scores to .csv, .jsonl or .parquet.
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
    calibrated = analysis.calibrate(
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
    file = calibrated.passport.write(opened.path)
    write_result(file.with_suffix(".md"), as_markdown(passport_page(calibrated)))
    print_page(calibration_page(calibrated), json=json)
    notes = [*calibrated.notes, f"passport of the judge: {file} and .md"]
    if out is not None:
        report.write_table(calibrated.scores, out)
        notes.append(f"corrected scores: {out}")
    print_notes(notes)


def _check(passport: Path, run: "Run", *, json: bool) -> int:
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
