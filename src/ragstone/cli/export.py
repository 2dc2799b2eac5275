"""``ragstone export RUN --as csv``: what a run holds, for other programs."""

import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from . import options
from .output import print_notes

if TYPE_CHECKING:
    from ragstone.report.export import FileFormat


class As(StrEnum):
    """How it is written."""

    csv = "csv"
    jsonl = "jsonl"
    parquet = "parquet"
    graphrag = "graphrag"


FILES: "dict[As, FileFormat]" = {As.csv: "csv", As.jsonl: "jsonl", As.parquet: "parquet"}


def export(
    run: options.RunFolder,
    to: Annotated[
        As,
        typer.Option("--as", help="File format. graphrag: CSV with the columns of a GraphRAG "
                     "report, in percent, by method and question_type."),
    ] = As.csv,
    what: Annotated[
        str,
        typer.Option(help="scores, estimates, judgements:KIND or examples."),
    ] = "scores",
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Output file. Default: standard output.")
    ] = None,
) -> None:  # fmt: skip
    """Export the scores, estimates, judgements or examples of RUN as CSV, JSONL or Parquet.

    An undefined or missing value becomes an empty cell, never 0.
    """
    from ragstone import report
    from ragstone.errors import InputError
    from ragstone.inert import seen
    from ragstone.result_file import write_result
    from ragstone.run import Run

    if to is As.parquet and out is None and sys.stdout.isatty():
        raise InputError("Parquet cannot be printed to a terminal. Name a file with --out.")
    opened = Run.open(run)
    if to is As.graphrag:
        table = report.graphrag_table(opened)
        empty = [column.name for column in table if column.null_count() == table.height]
        if empty:
            print_notes([f"nothing in the run for {', '.join(empty)}: the cells are empty."])
        content = report.as_bytes(table, "csv")
    else:
        content = report.as_bytes(report.export_table(opened, what), FILES[to])
    if out is None:
        if sys.stdout.isatty():
            content = seen(content.decode()).encode()
        sys.stdout.buffer.write(content)
    else:
        write_result(out, content)
        print_notes([f"written to {out}."])
