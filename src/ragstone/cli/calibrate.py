"""``ragstone calibrate RUN --labels FILE``: the judge against people, and numbers they correct."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from . import options
from .column_names import column_names
from .output import print_json, print_notes, print_page, say
from .rating_scales import RatingScales, scale_ends
from .results import load_own, names_of

if TYPE_CHECKING:
    from ragstone.run import Run


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
    from ragstone import analysis as decisions
    from ragstone import report
    from ragstone.core.files import write_result
    from ragstone.report.pages.calibration_page import calibration_page, passport_page
    from ragstone.report.render.documents import as_markdown
    from ragstone.run import Run

    load_own(metrics_from or ())
    opened = Run.open(run)
    if passport is not None:
        raise typer.Exit(_check(passport, opened, json=json))
    if out is not None:
        report.format_of(out)
    found = decisions.calibrate(
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
