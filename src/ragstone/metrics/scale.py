"""Scale: the three forms in which reports show a cosine."""

from typing import Literal

import polars as pl

Scale = Literal["cosine", "clamped", "shifted"]


def scaled(cosine: pl.Expr, scale: Scale) -> pl.Expr:
    """A cosine unchanged, ``clamped`` to ``max(0, c)``, or ``shifted`` to ``(c + 1) / 2``.

    Unrelated texts have about 0 unchanged or clamped, and about .5 shifted.
    """
    match scale:
        case "clamped":
            return cosine.clip(lower_bound=0)
        case "shifted":
            return (cosine + 1) / 2
        case "cosine":
            return cosine
