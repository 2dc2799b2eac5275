"""Rating scales: parses ``--scale METRIC=FIRST:LAST``, by which labels become metric values."""

from collections.abc import Sequence
from typing import Annotated

import typer

RatingScales = Annotated[
    list[str] | None,
    typer.Option(
        "--scale",
        metavar="METRIC=FIRST:LAST",
        help="Scale on which people rated a metric, such as faithfulness=1:5; repeatable. "
        "Default: 1:4, 1:5 and 0:100 are recognised, with a note.",
    ),
]


def scale_ends(pairs: Sequence[str]) -> dict[str, tuple[float, float]]:
    """Metric to the ends of its scale. They stand behind the last ``=``.

    >>> scale_ends(["faithfulness=1:4", "ndcg(k=10)=0:100"])
    {'faithfulness': (1.0, 4.0), 'ndcg(k=10)': (0.0, 100.0)}

    Raises:
        BadParameter: One that has no name or no two numbers.
    """
    scales = {}
    for pair in pairs:
        name, _, ends = pair.rpartition("=")
        first, _, last = ends.partition(":")
        try:
            scales[name.strip()] = float(first), float(last)
        except ValueError:
            name = ""
        if not name.strip():
            expected = "METRIC=FIRST:LAST, such as faithfulness=1:5"
            raise typer.BadParameter(f"{pair!r} is not {expected}.", param_hint="--scale")
    return scales
