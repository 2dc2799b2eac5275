"""Guard commands: assess answers of a file, calibrate a confidence gate, check its promise.

Args:
    judge (-j NAME): Who judges the sentences: local:strings (the default), local, nli:NAME,
        openai:MODEL or http://HOST/v1#MODEL.
    labelled (LABELLED): Answers of which people said whether they are faithful: rows with a score
        (score, faithful and perhaps cluster), or examples, which are scored as the guard does.
    label (NAME): The field that says whether an answer is faithful: yes or no, or the votes of
        several people.
    cluster (FIELD): Field that groups dependent rows. Default: answers to one question, or from one
        set of contexts, belong together.
    deadline (S): Seconds for one answer, where answers are scored; what takes longer has no score.
"""

import json as plain_json
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ragstone.core.errors import InputError, PromiseRefused
from ragstone.core.messages import argument

from . import options
from .options import column_names
from .output import SourceFirst, bar, group, print_page

if TYPE_CHECKING:
    from ragstone.guard import Guard


guard = group(SourceFirst, "Check answers as the guard does: ragstone guard FILE.")


@options.in_group(guard, "assess")
def assess_file(
    data: str,
    *,
    citations: bool | None = None,
    abstain_ok: bool = False,
    least_support: Annotated[float | None, {"min": 0, "max": 1}] = None,
    least_retrieval_score: Annotated[float | None, {"min": 0, "max": 1}] = None,
    judge: str | None = None,
    deadline: float = 1.0,
    gate: Path | None = None,
    offline: bool = False,
    map: list[str] | None = None,
    skip_bad: bool = False,
    keep_thoughts: bool = False,
    limit: Annotated[int | None, {"min": 1}] = None,
    out: Path | None = None,
    json: bool = False,
) -> None:
    """Assess every answer of FILE as the guard does inside a request.

    A row an assessment: which checks passed and failed, with places and reasons, and
    what comes of it. Judged by strings, without a key or a network, unless --judge
    names somebody else.

    Example: ragstone guard answers.jsonl --out assessed.jsonl

    Exit status: 0 all answers are ok, 1 a check failed, 2 invalid input, 3 not all
    could be judged.

    Args:
        data (FILE): Examples: JSON lines, CSV, Parquet and the other formats of `ragstone formats`;
            - for standard input.
        citations (--citations/--no-citations): Fail answers that cite nothing, for a system told to
            cite; or do not report whether an answer cites anything.
        abstain_ok: An answer that says it does not know is fine.
        least_support (P): The least probability that the contexts support an answer of one
            sentence. For n sentences, their mean must reach this value times (.7 + .3/n).
            Default: 0.5.
        least_retrieval_score (X): The least mean of the retrieval scores. Default: 0.25.
        deadline (S): Seconds for one answer.
        gate (GATE.json): Pass, ask or block by this confidence gate, which `ragstone guard
            calibrate` made.
        skip_bad: Skip rows that cannot be read.
        limit (N): Assess only the first N rows.
        out (FILE.jsonl): Write a row for every assessment.
    """
    from ragstone.core.files import result_lines
    from ragstone.data import read
    from ragstone.guard import Checks, Gate, Guard
    from ragstone.guard.guard import AssessedData, assess_data
    from ragstone.report.pages.guard_pages import guard_page, row_of
    from ragstone.run.folder.run_list import Progress

    if out is not None and out.exists() and Path(data).exists() and out.samefile(data):
        raise InputError(f"{argument('out', out)} is the file that is read. Name another one.")
    least = {"least_support": least_support, "least_retrieval_score": least_retrieval_score}
    thresholds: Any = {name: value for name, value in least.items() if value is not None}
    checker = Guard(
        Checks(citations=citations, keep_thoughts=keep_thoughts, **thresholds),
        abstain_ok=abstain_ok,
        judge=judge,
        deadline=deadline,
        offline=offline,
        gate=None if gate is None else Gate.read(gate),
    )
    columns = column_names(map or ())
    examples = read(data, columns=columns, skip_bad=skip_bad, limit=limit, keep_thoughts=True)
    rows: list[dict[str, Any]] = []
    sums = AssessedData()
    writing = nullcontext(_not_written) if out is None else result_lines(out)
    with bar("answers") as progress, writing as write:
        for assessment in assess_data(examples, checker):
            sums.add(assessment)
            row = row_of(assessment)
            write(plain_json.dumps(row, ensure_ascii=False))
            if json:
                rows.append(row)
            if progress is not None:
                read_so_far, total = examples.progress() or (0, 0)
                progress(Progress("assessing", sums.n, read_so_far / total if total else None))
    void = checker.gate.void if isinstance(checker.gate, Gate) else ()
    print_page(guard_page(data, sums, rows, void), json=json)
    if not sums.ok[True] or sums.ok[False] or sums.ok[None]:
        raise typer.Exit(1 if sums.ok[False] else 3)


def _not_written(_: str) -> None: ...


@options.in_group(guard, "calibrate")
def calibrate_file(
    labelled: Path,
    *,
    max_false_pass: float = 0.05,
    confidence: float = 0.9,
    max_false_block: float | None = None,
    judge: str | None = None,
    label: str = "faithful",
    cluster: str | None = None,
    deadline: float = 10.0,
    offline: bool = False,
    out: Path | None = None,
    json: bool = False,
) -> None:
    """Calibrate a confidence gate: thresholds to pass or block answers, with a promise.

    Tested exactly, from the strictest threshold down; of each question's unfaithful
    answers the worst one counts. Labels that cannot carry the promise are refused,
    with the tightest promise they can.

    Example: ragstone guard calibrate labelled.jsonl --max-false-pass 0.05 --out gate.json

    Exit status: 0 done, 2 invalid input, 3 the labels cannot carry the promise.

    Args:
        max_false_pass (SHARE): The promise: the largest share of questions with an unfaithful
            answer for which such an answer may pass.
        confidence (C): Confidence of the promises, from .5 to 1.
        max_false_block (SHARE): Also block: the largest share of questions with a faithful
            answer for which such an answer may be blocked.
        out (FILE.json): Write the gate to this file.
    """
    from ragstone.guard.confidence_gate.confidence_gate import calibrate_gate
    from ragstone.report.pages.confidence_gate_page import gate_calibration_page, gate_refusal_page

    scored_by = _guard(labelled, judge, deadline, offline=offline)
    try:
        calibrated = calibrate_gate(
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
        calibrated.gate.write(out)
    print_page(gate_calibration_page(calibrated, str(labelled), out), json=json)


@options.in_group(guard, "check")
def check_file(
    gate: Path,
    labelled: Path,
    *,
    judge: str | None = None,
    label: str = "faithful",
    cluster: str | None = None,
    deadline: float = 10.0,
    offline: bool = False,
    json: bool = False,
) -> None:
    """Check on new labels whether a confidence gate keeps its promise.

    None of these labels may have calibrated the gate.

    Example: ragstone guard check gate.json labelled_in_may.jsonl

    Exit status: 0 it holds, 1 it is broken, 2 invalid input or another judge, 3 cannot
    tell.

    Args:
        gate (GATE): A confidence gate, as `ragstone guard calibrate` wrote it.
    """
    from ragstone.guard import Gate
    from ragstone.report.pages.confidence_gate_page import gate_check_page

    scored_by = _guard(labelled, judge, deadline, offline=offline)
    checked = Gate.read(gate).check(
        labelled,
        guard=scored_by,
        judge=judge if scored_by is None else None,
        label=label,
        cluster=cluster,
    )
    print_page(gate_check_page(checked, str(labelled)), json=json)
    raise typer.Exit(checked.exit_status)


def _guard(labelled: Path, judge: str | None, deadline: float, *, offline: bool) -> "Guard | None":
    from ragstone.guard import Guard
    from ragstone.guard.confidence_gate.gate_labels import has_scores

    if has_scores(labelled):
        return None
    return Guard(judge=judge, deadline=deadline, offline=offline)
