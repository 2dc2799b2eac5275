"""``ragstone export RUN --as csv``: what a run holds, for other programs."""

import sys
from collections.abc import Collection
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from . import options
from .output import print_notes
from .results import load_own

if TYPE_CHECKING:
    from ragstone.report.run_contents import FileFormat
    from ragstone.run import Run


class As(StrEnum):
    """How it is written."""

    csv = "csv"
    jsonl = "jsonl"
    parquet = "parquet"
    graphrag = "graphrag"
    embedding = "embedding"
    taxonomy = "taxonomy"
    triad = "triad"
    ragas = "ragas"
    rubric = "rubric"
    inspectorraget = "inspectorraget"
    every_eval_ever = "every-eval-ever"


SCORES = "scores"
FILES: "dict[As, FileFormat]" = {As.csv: "csv", As.jsonl: "jsonl", As.parquet: "parquet"}


def export(
    run: options.RunFolder,
    to: Annotated[
        As,
        typer.Option("--as", help="File format; or the suite whose report is wanted: CSV files "
                     "with the columns of the tool that the suite is named after; or the tool that "
                     "opens it."),
    ] = As.csv,
    what: Annotated[
        str,
        typer.Option(help="scores, estimates, judgements:KIND or examples."),
    ] = SCORES,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Output file; for a report, a folder for "
                                  "all its files, or FILE.csv for the first. Default: standard "
                                  "output, of a report the first file.")
    ] = None,
    without_overrules: options.WithoutOverrules = False,
    metrics_from: options.MetricsFrom = None,
) -> None:  # fmt: skip
    """Export the scores, estimates, judgements or examples of RUN, or RUN as a tool's report.

    An undefined or missing value becomes an empty cell, never 0.
    """
    from ragstone.core.errors import InputError
    from ragstone.core.files import write_result
    from ragstone.report import as_bytes, export_table

    if to is As.parquet and out is None and sys.stdout.isatty():
        raise InputError("Parquet cannot be printed to a terminal. Name a file with --out.")
    if to not in FILES and what != SCORES:
        raise InputError(
            f"--what names a table of the run, for {', '.join(FILES)}; the report of {to} has its "
            "own tables."
        )
    load_own(metrics_from or ())
    opened = options.read_run(run, without_overrules=without_overrules)
    if to not in FILES:
        write_as(opened, to.value, out)
    elif out is None:
        _print(as_bytes(export_table(opened, what), FILES[to]))
    else:
        write_result(out, as_bytes(export_table(opened, what), FILES[to]))
        print_notes([f"written to {out}."])


def write_as(run: "Run", suite: str, out: Path | None, told: Collection[str] = ()) -> None:
    """Write the run as the report of a tool; print its first file if ``out`` is None.

    Notes in ``told`` are not repeated.
    """
    from ragstone.report.layouts import report_as, write_report

    report = report_as(run, suite)
    notes = [note for note in report.notes if note not in told]
    if out is None:
        _print(report.files[0].content)
        print_notes(notes)
    else:
        written = write_report(report, out)
        print_notes([*notes, f"written to {', '.join(map(str, written))}."])


def _print(content: bytes) -> None:
    from ragstone.core.escape import seen

    if sys.stdout.isatty():
        content = seen(content.decode()).encode()
    sys.stdout.buffer.write(content)
