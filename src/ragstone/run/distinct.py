"""Distinct: the distinct rows of tables that come one after the other, in little memory."""

import numpy as np
import polars as pl

AT_ONCE = 500_000
"""Rows that are kept twice at the least, before it is looked which of them are."""


class Distinct:
    """The first row of each key.

    Args:
        keys: The columns of the key.
    """

    def __init__(self, *keys: str) -> None:
        self._keys = keys
        self._parts: list[pl.DataFrame] = []
        self._kept = 0
        self._rows = 0

    def add(self, rows: pl.DataFrame) -> None:
        """Take the rows of a further table."""
        first = first_of_each(rows, *self._keys)
        self._parts.append(first)
        self._rows += first.height
        if self._rows > 2 * self._kept + AT_ONCE:
            self.rows()

    def rows(self) -> pl.DataFrame:
        """The first row of each key so far, in the order in which they came; there is one."""
        if len(self._parts) > 1:
            self._parts = [first_of_each(pl.concat(self._parts), *self._keys)]
        self._kept = self._rows = self._parts[0].height
        return self._parts[0]


def first_of_each(rows: pl.DataFrame, *keys: str) -> pl.DataFrame:
    """The first row of each key, in order."""
    hashes = rows[keys[0]]
    if len(keys) == 1 and hashes.dtype == pl.UInt64 and not hashes.null_count():
        # By sorting, for the table that Polars makes of a million hashes takes 200 bytes each.
        first = np.unique(hashes.to_numpy(), return_index=True)[1]
        return rows[np.sort(first)]
    return rows.unique(keys, keep="first", maintain_order=True)
