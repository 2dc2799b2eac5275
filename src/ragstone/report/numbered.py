"""Numbered: claims and statements are counted from 1 wherever people see them.

The tables of a run have their ``index`` from 0. What is shown or exported has a ``number`` from 1
in its place, under another name, so that neither is taken for the other.
"""

from collections.abc import Mapping
from typing import Any

import polars as pl

from ragstone.judgements import Claims, Kind, Statements

INDEX, NUMBER = "index", "number"


def numbered(kind: type[Kind]) -> bool:
    """Whether the rows of a kind are claims or statements, or are about them or gold evidence."""
    about = any(
        ask.over and ask.over.unit in ("claim", "statement", "evidence") for ask in kind.asks
    )
    return INDEX in kind.schema() and (about or kind.name in (*Claims.made_by, *Statements.made_by))


def numbered_row(row: Mapping[str, Any]) -> dict[str, Any]:
    """The row with its number in the place of its index."""
    return {
        NUMBER if name == INDEX else name: value + 1 if name == INDEX else value
        for name, value in row.items()
    }


def numbered_table(table: pl.DataFrame) -> pl.DataFrame:
    """The same for a table."""
    return table.with_columns(pl.col(INDEX) + 1).rename({INDEX: NUMBER})
