"""``ragstone agreement LABELS``: how far annotators agree, and what divides them."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from . import options
from .column_names import column_names
from .output import print_notes, print_page

if TYPE_CHECKING:
    from ragstone.annotation.label_names import Scale


def agreement(
    labels: Annotated[
        list[options.LabelSource],
        typer.Argument(metavar="LABELS", help="Label files, a dataset that contains labels, or "
                       "a store of them: labels.sqlite or postgresql://USER@HOST/DATABASE, with "
                       "#QUEUE behind it for one queue."),
    ],
    column: Annotated[
        list[str] | None,
        typer.Option("--column", "-c", metavar="NAME", help="Show only this label; repeatable."),
    ] = None,
    columns: Annotated[
        list[str] | None,
        typer.Option(
            "--map", metavar="FIELD=COLUMN", help="Read a column as this label; repeatable."
        ),
    ] = None,
    scale: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=SCALE", help="Scale of a label: nominal, ordinal or interval; "
            "repeatable."
        ),
    ] = None,
    cluster: Annotated[
        str | None,
        typer.Option(metavar="FIELD", help="Field that groups dependent rows. Default: the "
                     "question."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Write the annotators' combined labels to .jsonl, .csv or .parquet."),
    ] = None,
    limit: Annotated[
        int,
        typer.Option(min=0, metavar="N", help="Number of disputed items to show per label; "
                     "--json shows all."),
    ] = 3,
    seed: Annotated[int, typer.Option(min=0, help="Random seed of the intervals.")] = 0,
    json: options.Json = False,
) -> None:  # fmt: skip
    """Measure how well the annotators in LABELS agree, label by label.

    Shows percent agreement, Cohen's and Fleiss' kappa, Krippendorff's alpha and
    Gwet's AC1, with intervals over items; each annotator against the others; and
    the most disputed items. Discarded rows are ignored. --out writes one row per
    item with the majority label (the mean for amounts); ties are left undecided.

    Exit status: 0 done, 2 invalid input.
    """
    from ragstone.annotation.annotator_agreement import agreement as measured
    from ragstone.annotation.write_labels import write_adjudicated
    from ragstone.report.pages.agreement_page import agreement_page

    scales = _scales(scale or ())
    found = measured(
        labels,
        column=column or (),
        columns=column_names(columns or ()),
        scales=scales,
        cluster=cluster,
        seed=seed,
        limit=None if json else limit,
    )
    if out is not None:
        write_adjudicated(found.labels, out, scales=scales)
    print_page(agreement_page(found), json=json)
    if out is not None:
        n = len(found.labels.ties(scales))
        ties = "1 tie stays" if n == 1 else f"{n:,} ties stay"
        print_notes([f"{out} holds what the annotators say together; {ties} open."])


def _scales(pairs: Sequence[str]) -> "dict[str, Scale]":
    """Name to scale, split at the last ``=``, because names such as ``ndcg(k=10)`` have one."""
    from ragstone.annotation.label_names import SCALES

    scales: dict[str, Scale] = {}
    for pair in pairs:
        name, _, word = pair.rpartition("=")
        scale = next((scale for scale in SCALES if scale == word.strip()), None)
        if not name.strip() or scale is None:
            expected = f"NAME={'|'.join(SCALES)}"
            raise typer.BadParameter(f"{pair!r} is not {expected}.", param_hint="--scale")
        scales[name.strip()] = scale
    return scales
