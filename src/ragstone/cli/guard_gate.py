"""``ragstone guard calibrate LABELLED`` and ``ragstone guard check GATE LABELLED``."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from . import options
from .guard import JudgeName, named_guard
from .output import print_page

if TYPE_CHECKING:
    from ragstone.guard import Guard

Labelled = Annotated[
    Path,
    typer.Argument(
        metavar="LABELLED",
        help="Answers of which people said whether they are faithful: rows with a score "
        "(score, faithful and perhaps cluster), or examples, which are scored as the guard does.",
    ),
]
Label = Annotated[
    str,
    typer.Option(metavar="NAME", help="The field that says whether an answer is faithful: yes or "
                 "no, or the votes of several people."),
]  # fmt: skip
Cluster = Annotated[
    str | None,
    typer.Option(metavar="FIELD", help="Field that groups dependent rows. Default: answers to one "
                 "question, or from one set of contexts, belong together."),
]  # fmt: skip
Seconds = Annotated[
    float,
    typer.Option("--deadline", metavar="S", help="Seconds for one answer, where answers are "
                 "scored; what takes longer has no score."),
]  # fmt: skip


def calibrate_file(
    labelled: Labelled,
    max_false_pass: Annotated[
        float,
        typer.Option(metavar="SHARE", help="The promise: of questions with an unfaithful answer, "
                     "the largest share that has one that passes."),
    ] = 0.05,
    confidence: Annotated[
        float, typer.Option(metavar="C", help="Confidence of the promises, from .5 to 1.")
    ] = 0.9,
    max_false_block: Annotated[
        float | None,
        typer.Option(metavar="SHARE", help="Also block: of questions with a faithful answer, the "
                     "largest share that has one that is blocked."),
    ] = None,
    judge: JudgeName = None,
    label: Label = "faithful",
    cluster: Cluster = None,
    deadline: Seconds = 10.0,
    offline: options.Offline = False,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE.json", help="Write the gate to this file.")
    ] = None,
    json: options.Json = False,
) -> None:  # fmt: skip
    """Find the thresholds at which answers pass or are blocked, with a promise.

    Tested exactly, from the strictest threshold down; of each question's unfaithful
    answers the worst one counts. Labels that cannot carry the promise are refused,
    with the tightest promise they can.

    Example: ragstone guard calibrate labelled.jsonl --max-false-pass 0.05 --out gate.json

    Exit status: 0 done, 2 invalid input, 3 the labels cannot carry the promise.
    """
    from ragstone.core.errors import PromiseRefused
    from ragstone.guard.confidence_gate.confidence_gate import calibrate_gate
    from ragstone.report.pages.confidence_gate_page import gate_calibration_page, gate_refusal_page

    scored_by = _guard(labelled, judge, deadline, offline=offline)
    try:
        found = calibrate_gate(
            labelled,
            max_false_pass=max_false_pass,
            confidence=confidence,
            max_false_block=max_false_block,
            guard=scored_by,
            judge=judge if scored_by is None else None,
            label=label,
            cluster=cluster,
        )
    except PromiseRefused as refusal:
        print_page(gate_refusal_page(refusal, str(labelled)), json=json)
        raise typer.Exit(3) from None
    if out is not None:
        found.gate.write(out)
    print_page(gate_calibration_page(found, str(labelled), out), json=json)


def check_file(
    gate: Annotated[
        Path, typer.Argument(metavar="GATE", help="A gate that `ragstone guard calibrate` wrote.")
    ],
    labelled: Labelled,
    judge: JudgeName = None,
    label: Label = "faithful",
    cluster: Cluster = None,
    deadline: Seconds = 10.0,
    offline: options.Offline = False,
    json: options.Json = False,
) -> None:
    """Check on new labels whether GATE keeps its promise.

    None of these labels may have calibrated the gate.

    Example: ragstone guard check gate.json labelled_in_may.jsonl

    Exit status: 0 it holds, 1 it is broken, 2 invalid input or another judge, 3 cannot
    tell.
    """
    from ragstone.guard import Gate
    from ragstone.report.pages.confidence_gate_page import gate_check_page

    scored_by = _guard(labelled, judge, deadline, offline=offline)
    found = Gate.read(gate).check(
        labelled,
        guard=scored_by,
        judge=judge if scored_by is None else None,
        label=label,
        cluster=cluster,
    )
    print_page(gate_check_page(found, str(labelled)), json=json)
    raise typer.Exit(found.exit_status)


def _guard(labelled: Path, judge: str | None, deadline: float, *, offline: bool) -> "Guard | None":
    """The guard that scores the answers; None where they have scores."""
    from ragstone.guard.confidence_gate.gate_labels import has_scores

    if has_scores(labelled):
        return None
    return named_guard(judge=judge, deadline=deadline, offline=offline)
