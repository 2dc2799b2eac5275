"""Distinct: the distinct rows of tables that come one after the other, in little memory."""

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
        first = self._first(rows)
        self._parts.append(first)
        self._rows += first.height
        if self._rows > 2 * self._kept + AT_ONCE:
            self.rows()

    def rows(self) -> pl.DataFrame:
        """The first row of each key so far, in the order in which they came; there is one."""
        if len(self._parts) > 1:
            self._parts = [self._first(pl.concat(self._parts))]
        self._kept = self._rows = self._parts[0].height
        return self._parts[0]

    def _first(self, rows: pl.DataFrame) -> pl.DataFrame:
        return rows.unique(self._keys, keep="first", maintain_order=True)
