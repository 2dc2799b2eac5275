"""``ragstone calibrate RUN --labels FILE``: the judge against people, and numbers they correct."""

from pathlib import Path
from typing import Annotated

import typer

from .column_names import column_names
from .output import print_json, print_notes, print_page, say
from .rating_scales import RatingScales, scale_ends
from .results import MetricsFrom, load_own, names_of


def calibrate(
    run: Annotated[Path, typer.Argument(help="A finished run, not judged by these people.")],
    labels: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILE",
            help="What people said: .jsonl, .csv or .parquet; repeat for more. Default: the labels "
            "that the run's examples carry.",
        ),
    ] = None,
    columns: Annotated[
        list[str] | None,
        typer.Option(
            "--map",
            metavar="FIELD=COLUMN",
            help="The column of the labels that is a label or the value of a metric.",
        ),
    ] = None,
    scales: RatingScales = None,
    metric: Annotated[
        list[str] | None,
        typer.Option("--metric", "-m", help="Only this metric of the run; repeat for more."),
    ] = None,
    by: Annotated[
        list[str] | None, typer.Option(metavar="FIELD", help="Also correct by this field.")
    ] = None,
    cluster: Annotated[
        str | None,
        typer.Option(metavar="FIELD", help="Field whose rows are not independent. "
                     "Default: as in the run."),
    ] = None,
    method: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="How rates are corrected: poststratified, ppi_plus_plus or rogan_gladen. "
            "by_design: ppi_plus_plus where the judge gives few values and leads to expect five "
            "yes and five no among the labels, else poststratified. Means of other scores always "
            "by ppi_plus_plus.",
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
            help="The same data and judge asked anew (--no-cache): how often it changes its word.",
        ),
    ] = None,
    injected: Annotated[
        Path | None,
        typer.Option(
            metavar="RUN2",
            help="The same data with injected instructions: how often they move the judge.",
        ),
    ] = None,
    passport: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Check nothing anew: does this passport hold for the judge of RUN? Status 1: no.",
        ),
    ] = None,
    assume_random: Annotated[
        bool,
        typer.Option(
            "--assume-random",
            help="Correct by labels although they plainly are no random sample of what was judged.",
        ),
    ] = False,
    anytime: Annotated[
        bool,
        typer.Option(
            "--anytime",
            help="Labels keep coming in, drawn at random: the mean of the labels alone, with an "
            "interval that holds however often you look.",
        ),
    ] = False,
    level: Annotated[float, typer.Option(help="Of the intervals.")] = 0.95,
    seed: Annotated[int, typer.Option(help="Of everything redrawn.")] = 0,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Corrected scores of examples: .csv, .jsonl, .parquet."),
    ] = None,
    metrics_from: MetricsFrom = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:  # fmt: skip
    """Hold the judge of RUN against people, and correct its numbers by what they said.

    Each metric's mean comes three ways: by the judge, by the labels alone, and corrected, with
    how many labels that is worth. What is known of the judge is kept as RUN/judge_passport.json
    and .md; it is void when a model or a prompt changes.
    Exit status: 0 done, 1 the passport is void, 2 bad input.
    """
    from ragstone import decisions, report
    from ragstone.report.pages.calibration import calibration_page, passport_page
    from ragstone.report.render.markdown import as_markdown
    from ragstone.run import Run

    load_own(metrics_from or ())
    opened = Run.open(run)
    if passport is not None:
        changed = decisions.read_passport(passport).void_for(opened)
        if json:
            print_json({"valid": not changed, "changed": changed})
        elif changed:
            say(f"{passport} is void for {run}:")
            say("\n".join(f"  {line}" for line in changed))
        else:
            say(f"{passport} holds for {run}: models, prompts and plan are the same.")
        raise typer.Exit(1 if changed else 0)
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
    file.with_suffix(".md").write_text(as_markdown(passport_page(found)), encoding="utf-8")
    print_page(calibration_page(found), json=json)
    notes = [*found.notes, f"passport of the judge: {file} and .md"]
    if out is not None:
        report.write_table(found.scores, out)
        notes.append(f"corrected scores: {out}")
    print_notes(notes)
