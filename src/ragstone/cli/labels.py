"""``ragstone labels FILE``: what label files hold, how complete it is, and other layouts of it."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from ragstone.core.errors import InputError

from . import options
from .column_names import column_names
from .output import print_page


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
