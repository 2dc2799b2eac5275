"""Layouts: a run, or the scores of one answer, as the tool reports it that a suite is named after.

report_as       the files of a report
reports_of      the reports of which a run has all metrics
as_asked        a report with the parameters that the run's suite was given
limits_reached  how many answers are beyond the limits of a suite
row_as          the scores of one answer under the names of a report
write_report    writes them: all into a folder, or the first as a file
LAYOUTS         the reports, by their suites
EXCHANGE        what other tools open, each with what writes it
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import polars as pl

from ragstone.core.errors import InputError, UnknownName
from ragstone.core.files import write_result
from ragstone.core.messages import argument, call
from ragstone.metrics import SUITES, Composite, Limit, read_metric, suite_named
from ragstone.run import Run
from ragstone.run.estimates.cautions import of_coverage
from ragstone.run.evaluate_one import ScoresOfOne

from .every_eval_ever import as_every_eval_ever
from .inspectorraget import as_inspectorraget
from .layout import Layout, Report, ReportData, row_files
from .named_reports import EMBEDDING, GRAPHRAG, RAGAS, RUBRIC, TAXONOMY, TRIAD

LAYOUTS: dict[str, Layout] = {
    layout.suite: layout for layout in (GRAPHRAG, EMBEDDING, TAXONOMY, TRIAD, RAGAS, RUBRIC)
}

EXCHANGE: dict[str, Callable[[Run], Report]] = {
    "inspectorraget": as_inspectorraget,
    "every-eval-ever": as_every_eval_ever,
}


def reports_of(run: Run) -> list[str]:
    """The reports that a run was made for, and those of whose metrics it has every one."""
    suites = {name.split("(")[0] for name in run.form.suites}
    metrics = {*run.form.metrics}
    reports = {name: {*as_asked(layout, run).metrics} for name, layout in LAYOUTS.items()}
    return [
        name for name, needed in reports.items()
        if needed <= metrics or (name in suites and needed & metrics)
    ]  # fmt: skip


class LimitReached(NamedTuple):
    """The number of answers of a system on the wrong side of a limit, of the ``n`` with a value."""

    limit: Limit
    system: str
    beyond: int
    n: int


def limits_reached(run: Run, suite: str) -> list[LimitReached]:
    """Count the answers beyond each limit of a report's suite, for each system."""
    layout, data = as_asked(LAYOUTS[suite], run), ReportData(run)
    reached = []
    for limit in layout.limits:
        if data.has(limit.metric):
            scores = data.table.select("method").with_columns(data.scores(limit.metric)["value"])
            for system in data.scored.systems:
                values = scores.filter(pl.col("method") == system)["value"].drop_nulls()
                beyond = sum(map(limit.exceeded, values))
                reached.append(LimitReached(limit, system, beyond, len(values)))
    return reached


def report_as(run: Run, suite: str) -> Report:
    """The run as the report of the tool that the suite is named after, or as another tool opens it.

    A value that is undefined or missing is an empty cell, or not there; it is never 0.

    Raises:
        UnknownName: There is no such report.
        InputError: The run has no score of any metric of the suite.
    """
    if suite in EXCHANGE:
        return EXCHANGE[suite](run)
    if suite not in LAYOUTS:
        names = [*LAYOUTS, *EXCHANGE]
        raise UnknownName("report", suite, names, hint=f"There are {', '.join(names)}.")
    layout, data = as_asked(LAYOUTS[suite], run), ReportData(run)
    if not any(_shown(layout, data, metric) for metric in layout.metrics):
        raise InputError(
            f"The run has no score that a report of {suite} shows. First: "
            f"{call('rescore', argument('run', run.in_hints), argument('suites', suite))}"
        )
    shown_behind = tuple(column for column in layout.behind if data.has(column.metric))
    files = tuple(layout.files(replace(layout, behind=shown_behind), data))
    return Report(files, tuple(_notes(layout, data)))


def row_as(scores: ScoresOfOne, suite: str) -> dict[str, float | None]:
    """The scores of one answer under the names of the tool that the suite is named after.

        row_as(evaluate_one(…, suite="embedding"), "embedding")["answer_hallucination"]

    Args:
        scores: From ``evaluate_one``.
        suite: A report with a row an answer: ``embedding``, ``triad``, ``ragas`` or ``rubric``.

    Returns:
        Its columns in its order; None where there is no value.

    Raises:
        UnknownName: There is no such report.
    """
    of_rows = {name: layout for name, layout in LAYOUTS.items() if layout.files is row_files}
    if suite not in of_rows:
        raise UnknownName("report", suite, of_rows, hint=f"There are {', '.join(of_rows)}.")
    layout = of_rows[suite]
    # A suite may have been asked for with parameters, which the layout does not name.
    forms = {read_metric(form).name: form for form in scores} | {form: form for form in scores}
    return {
        column.name: scores.get(forms.get(column.metric, ""))
        for column in (*layout.columns, *layout.behind)
        if column.metric in forms or column in layout.columns
    }


def write_report(report: Report, out: Path) -> list[Path]:
    """Write all files into a folder, or only the first as a file with its ending; return the files.

    Raises:
        InputError: The name has another ending.
    """
    first = report.files[0]
    ending = Path(first.name).suffix
    check_target(out, ending)
    alone = out.suffix == ending and not out.is_dir()
    files = {out: first} if alone else {out / file.name: file for file in report.files}
    for path, file in files.items():
        write_result(path, file.content, private=True)
    return list(files)


def check_target(out: Path, ending: str = ".csv") -> None:
    """Check that a report is to be written into a folder, or as a file with this ending."""
    if out.is_dir() or out.suffix == ending:
        return
    if out.suffix or out.exists():
        kind = ending[1:].upper()
        why = f"a report is written as {kind}" if out.suffix else "that is not a folder"
        raise InputError(
            f"{out}: {why}. Name a folder for all its files, or a file that ends in {ending} for "
            "the first."
        )


def as_asked(layout: Layout, run: Run) -> Layout:
    """The layout with the parameters that the run's suite was given, as in ``taxonomy(k=5)``."""
    forms = [name for name in run.form.suites if name.split("(")[0] == layout.suite]
    suite = suite_named(forms[0] if forms else layout.suite)
    renamed = dict(zip(SUITES[layout.suite].names, suite.names, strict=True))
    columns, reasons, behind = (
        tuple(
            replace(item, metric=str(read_metric(renamed.get(item.metric, item.metric))))
            for item in columns
        )
        for columns in (layout.columns, layout.reasons, layout.behind)
    )
    return replace(layout, columns=columns, reasons=reasons, behind=behind, limits=suite.limits)


def _shown(layout: Layout, data: ReportData, metric: str) -> list[str]:
    return data.forms(metric) if layout.at_any_k else [metric] if data.has(metric) else []


def _notes(layout: Layout, data: ReportData) -> Iterator[str]:
    listed = {column.name: _shown(layout, data, column.metric) for column in layout.columns}
    if lacking := [name for name, metrics in listed.items() if not metrics]:
        yield f"nothing in the run for {', '.join(lacking)}: the cells are empty."
    empty = [name for name, ones in listed.items() if ones and not any(map(data.valued, ones))]
    if empty:
        yield f"no value of {', '.join(empty)}: undefined or missing for every answer."
    for name in filter(data.has, layout.metrics):
        if isinstance(read_metric(name), Composite):
            columns = {"system": data.table["method"], "coverage": data.coverage(name)}
            coverage = pl.DataFrame(columns).drop_nulls()
            shares = coverage.group_by("system", maintain_order=True).mean()
            yield from of_coverage(name, dict(shares.iter_rows()))
