"""Decision commands: compare systems, gate a release, fit weights, correct a judgement."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, cast

import typer

from ragstone.core.errors import InputError

from . import options
from .options import column_names, load_user_metrics, names_of, scale_ends
from .output import print_notes, print_page

if TYPE_CHECKING:
    from ragstone.analysis.comparison.comparison_result import Adjust
    from ragstone.report.page import Page


def compare(
    run: options.RunFolder,
    other: options.OtherRun = None,
    *,
    baseline: str | None = None,
    metric: list[str] | None = None,
    by: list[str] | None = None,
    cluster: str | None = None,
    margin: float | None = None,
    adjust: str = "holm",
    force: bool = False,
    without_corrections: bool = False,
    metrics_from: list[Path] | None = None,
    json: bool = False,
) -> None:
    """Compare the systems of RUN, or RUN with RUN_B.

    Question by question, for each metric: the difference with its interval, a test, and a verdict.
    The verdict is better, worse, equivalent (within --margin) or cannot tell. For cannot tell, you
    see how many pairs would show the difference, or equivalence. p-values are adjusted for all
    comparisons shown.

    Exit status: 0 done, 2 invalid input.

    Args:
        other ([RUN_B]): A second run: its systems are b, those of RUN are a.
        metric (-m): Compare only this metric; repeatable.
        by (FIELD): Also compare within each value of this field; repeatable.
        adjust (holm|bh): Adjustment of p-values for multiple tests: holm limits the chance of any
            false finding, bh the share of false findings.
        force: Also compare metrics that the two runs judged or defined differently.
    """
    from ragstone import analysis
    from ragstone.report.pages.comparison_page import comparison_page

    load_user_metrics(metrics_from or ())
    alone = without_corrections
    comparison = analysis.compare(
        options.read_run(run, without_corrections=alone),
        None if other is None else options.read_run(other, without_corrections=alone),
        baseline=baseline,
        metrics=names_of(metric) or None,
        by=tuple(by or ()),
        cluster=cluster,
        margin=margin,
        adjust=cast("Adjust", adjust),
        force=force,
    )
    print_page(comparison_page(comparison), json=json)


# Names the file in which GitHub collects the summary of a build step.
STEP_SUMMARY = "GITHUB_STEP_SUMMARY"


On = Literal["interval", "point"]


def gate(
    run: options.RunFolder,
    *,
    require: list[str] | None = None,
    no_worse_than: list[str] | None = None,
    only: list[str] | None = None,
    system: list[str] | None = None,
    on: On = "interval",
    level: float = 0.05,
    max_missing: float = 0.05,
    labels: list[options.LabelSource] | None = None,
    assume_random: bool = False,
    anytime: bool = False,
    columns: list[str] | None = None,
    scales: list[str] | None = None,
    cluster: str | None = None,
    junit: Path | None = None,
    markdown: Path | None = None,
    limit: Annotated[int, {"min": 0, "max": 10}] = 3,
    without_corrections: bool = False,
    metrics_from: list[Path] | None = None,
    json: bool = False,
) -> None:
    """Decide whether every system of RUN meets its requirements.

    A requirement is met if its whole interval is on the right side of the
    threshold, not met if the opposite is shown, and otherwise undecided. If people
    corrected judgements, the decision without their corrections is printed too. In GitHub
    Actions, the summary is added to the job's page.

    Exit status: 0 pass, 1 fail, 2 invalid input, 3 cannot tell, 4 too many scores
    missing.

    Args:
        require (-r 'METRIC >= BAR'): Requirement, such as 'faithfulness >= 0.85' or 'unsafe_content
            <= 1%', with >=, >, <= or <; repeatable.
        no_worse_than (BASELINE:MARGIN): A system of the run, or another run's folder. Every metric
            that both have and that has a better direction, or those that --only names, may be worse
            by at most MARGIN. Repeatable.
        only (METRIC): Apply --no-worse-than to this metric only; repeatable.
        system: Check only this system; repeatable. Default: every system must pass.
        on: interval: decide by the confidence interval; point: decide by the value alone, for
            thresholds no interval can clear, such as >= 1.
        level: One-sided error rate: the chance to pass although a requirement is not met, and to
            fail although all are. An upper limit for rates, approximate for other metrics.
        max_missing (SHARE): Largest share of a requirement's scores that may be missing.
        labels (LABELS): Human labels: decide on estimates corrected by them. Repeatable.
        assume_random: Use labels even though they are clearly not a random sample of the judged
            examples.
        anytime: For labels that keep arriving as random draws: decide by their mean alone, with an
            interval that stays valid however often you look.
        junit (FILE): Also write JUnit XML.
        markdown (FILE): Also write a Markdown summary.
        limit (N): Number of worst examples to show per requirement.
    """
    from ragstone import analysis
    from ragstone.report.pages.release_gate_page import gate_page
    from ragstone.report.worst_examples import failing

    load_user_metrics(metrics_from or ())
    result = analysis.gate(
        options.read_run(run, without_corrections=without_corrections),
        require or (),
        no_worse_than=no_worse_than or (),
        only=names_of(only),
        system=system or (),
        labels=labels or (),
        columns=column_names(columns or ()),
        scales=scale_ends(scales or ()),
        cluster=cluster,
        on=on,
        level=level,
        max_missing=max_missing,
        assume_random=assume_random,
        anytime=anytime,
    )
    page = gate_page(result.run, result, failing(result.run, result, limit=limit))
    _write_files(page, junit, markdown)
    print_page(page, json=json)
    raise typer.Exit(result.exit_status)


def _write_files(page: "Page", junit: Path | None, markdown: Path | None) -> None:
    from ragstone.core.files import write_result
    from ragstone.report.render.documents import as_junit, as_markdown

    if junit is not None:
        write_result(junit, as_junit(page))
    summary = as_markdown(page)
    if markdown is not None:
        write_result(markdown, summary)
    if step := os.environ.get(STEP_SUMMARY):
        with Path(step).open("a", encoding="utf-8") as file:
            file.write(summary + "\n")


def weights(
    run: options.RunFolder,
    *,
    preferences: Path,
    metric: list[str] | None = None,
    start: str = "equal",
    folds: int = 5,
    seed: int = 0,
    level: float = 0.95,
    cluster: str | None = None,
    metrics_from: list[Path] | None = None,
    out: Path | None = None,
    json: bool = False,
) -> None:
    """Fit the weights of a composite metric to what people prefer.

    The weights are at least 0 and sum to 1. They replace the starting weights only
    if they predict people better on questions they were not fitted on, with an
    interval above 0. To score the composite that is printed, run:
    ragstone score RUN --metric 'composite(…)'

    Exit status: 0 done, 2 invalid input.

    Args:
        preferences (FILE): Human preferences or ratings, .csv or .jsonl. Preferences: question_id,
            system_a, system_b (or id_a, id_b), preference (from -2, a is much better, to 2, b is;
            or a, b, tie), annotator. Ratings: id, rating, annotator.
        metric (-m): Metric of the run to weight; repeatable. Default: those of --start, or all that
            can be combined.
        start (WEIGHTS): Weights to keep unless the data show better ones: equal, or a composite
            such as ragas_score.
        folds: Number of cross-validation folds, made of whole questions.
        seed: Random seed of the folds.
        level: Confidence level of the gain's interval.
        out (FILE): Write weights and results as JSON.
    """
    from json import dumps

    from ragstone.analysis.composite_weights.fit_weights import fit_weights
    from ragstone.analysis.composite_weights.preferences import read_opinions
    from ragstone.analysis.scored_run import Scored
    from ragstone.core.files import write_result
    from ragstone.report.pages.comparison_page import weights_page
    from ragstone.run import Run

    load_user_metrics(metrics_from or ())
    fitted = fit_weights(
        Scored(Run.open(run), cluster=cluster),
        read_opinions(preferences),
        metrics=names_of(metric),
        start=start,
        folds=folds,
        seed=seed,
        level=level,
    )
    if out is not None:
        text = dumps(fitted.to_dict(), indent=2, ensure_ascii=False, allow_nan=False)
        write_result(out, text + "\n")
    print_page(weights_page(fitted), json=json)
    print_notes([f"written to {out}."] if out is not None else ())


def correct(
    run: options.RunFolder,
    example: str | None = None,
    judgement: str | None = None,
    values: list[str] | None = None,
    *,
    author: str = "",
    reason: str = "",
    seen: str | None = None,
    undo: bool = False,
    every: bool = False,
    metrics_from: list[Path] | None = None,
    json: bool = False,
) -> None:
    """Correct a judgement of RUN that you see is wrong.

    No judge is asked again. Scores and estimates follow at once, in every command; --without-
    corrections shows those of the judge alone. Corrections are never taken for labels: to measure
    the judge, draw a random sample with `ragstone sample`.

    Example: ragstone correct RUN q7 support/claim#3 verdict=contradicted
    --author Ann --reason "Passage 2 says 1859."

    Exit status: 0 done, 2 invalid input, or somebody else was quicker.

    Args:
        example: Id of the example. Alone: what can be corrected of it.
        judgement ([KIND[#UNIT]]): The judgement, such as support/claim#3, relevance#2 or response.
            Units count from 1, as `ragstone show` numbers them.
        values ([COLUMN=VALUE]...): What is right: verdict=contradicted, grade=2, evidence=d1,d3. Of
            a claim: text='new words', or dropped=true.
        author (NAME): Who corrects.
        reason (WHY): Why.
        seen (VERSION): Refuse if the judgement is not this version of it, which `ragstone correct
            RUN EXAMPLE` shows.
        undo: Take the latest correction of the judgement back.
        every (--list): List what was corrected in RUN, the newest first.
    """
    from ragstone.report.pages.example_page import can_be_page, done_page, list_page
    from ragstone.run import Run

    load_user_metrics(metrics_from or ())
    opened = Run.open(run)
    if every or example is None:
        print_page(list_page(opened.path, opened.corrections(), example), json=json)
        return
    if judgement is None:
        if undo or seen or author or reason:
            raise InputError(
                f"Name the judgement, such as response: ragstone correct RUN {example} lists them."
            )
        judgements = opened.correctable(example)
        print_page(can_be_page(opened.path, example, judgements), json=json)
        return
    kind, _, unit = judgement.partition("#")
    if undo:
        if values:
            raise InputError("--undo takes the latest correction back; it says nothing of its own.")
        done = opened.undo_correction(
            example, kind, unit=unit or None, author=author, reason=reason, seen=seen
        )
    else:
        done = opened.correct(
            example, kind, _pairs(values or ()), unit=unit or None, author=author, reason=reason,
            seen=seen,
        )  # fmt: skip
    print_page(done_page(opened, done), json=json)


def _pairs(texts: list[str] | tuple[()]) -> dict[str, object]:
    pairs: dict[str, object] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name.strip() or name in pairs:
            raise typer.BadParameter(
                f"{text!r} is not COLUMN=VALUE." if name not in pairs else f"{name} is said twice.",
                param_hint="COLUMN=VALUE",
            )
        pairs[name.strip()] = value
    return pairs
