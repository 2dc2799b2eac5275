"""``ragstone agreement LABELS``: how far annotators agree, and what divides them."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .column_names import column_names
from .output import print_notes, print_page

if TYPE_CHECKING:
    from ragstone.labels.scale import Scale


def agreement(
    labels: Annotated[
        list[Path],
        typer.Argument(help="Label files, or a data set that carries labels."),
    ],
    column: Annotated[
        list[str] | None,
        typer.Option("--column", "-c", metavar="NAME", help="Only this label; repeat for more."),
    ] = None,
    columns: Annotated[
        list[str] | None,
        typer.Option(
            "--map", metavar="FIELD=COLUMN", help="Read a column as this label; repeat for more."
        ),
    ] = None,
    scale: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=SCALE", help="nominal, ordinal or interval, for a label; repeat for more."
        ),
    ] = None,
    cluster: Annotated[
        str | None,
        typer.Option(metavar="FIELD", help="Field whose rows are not independent. "
                     "Default: the question."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Write what the annotators say together: .jsonl, .csv or .parquet."),
    ] = None,
    limit: Annotated[
        int,
        typer.Option(min=0, metavar="N", help="So many dividing items a label; --json has all."),
    ] = 3,
    seed: Annotated[int, typer.Option(min=0, help="Of the intervals' draws.")] = 0,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:  # fmt: skip
    """Show how far the people behind LABELS agree, label by label.

    Percent, Cohen's and Fleiss' kappa, Krippendorff's alpha and Gwet's AC1, with intervals over
    items; each annotator against the others; the items that divide them. Discarded rows do not
    count. With --out, one row for each item with the majority's label (of amounts the mean);
    ties stay open.
    Exit status: 0 done, 2 bad input.
    """
    from ragstone.labels.agreement import agreement_of
    from ragstone.labels.clusters import clusters_of
    from ragstone.labels.read import read_label_table
    from ragstone.labels.write import write_adjudicated
    from ragstone.report.pages.agreement import agreement_page

    table = read_label_table(labels, columns=column_names(columns or ()))
    scales = _scales(scale or ())
    found = agreement_of(
        table,
        columns=column or (),
        scales=scales,
        clusters=clusters_of(labels, cluster),
        seed=seed,
        limit=None if json else limit,
    )
    broken = table.broken_rules()
    if out is not None:
        write_adjudicated(table, out, scales=scales)
    print_page(agreement_page(table, found, broken), json=json)
    if out is not None:
        n = len(table.ties(scales))
        ties = "1 tie stays" if n == 1 else f"{n:,} ties stay"
        print_notes([f"{out} holds what the annotators say together; {ties} open."])


def _scales(pairs: Sequence[str]) -> "dict[str, Scale]":
    """Name to scale. The scale stands behind the last ``=``, for ``ndcg(k=10)`` is a name too."""
    from ragstone.labels.scale import SCALES

    scales: dict[str, Scale] = {}
    for pair in pairs:
        name, _, word = pair.rpartition("=")
        scale = next((scale for scale in SCALES if scale == word.strip()), None)
        if not name.strip() or scale is None:
            expected = f"NAME={'|'.join(SCALES)}"
            raise typer.BadParameter(f"{pair!r} is not {expected}.", param_hint="--scale")
        scales[name.strip()] = scale
    return scales
