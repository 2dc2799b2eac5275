"""Parquet files, in batches."""

from collections.abc import Iterator

import polars as pl

from ragstone.core.parquet import scan_parquet
from ragstone.examples.files import Meter
from ragstone.examples.in_memory import plain_rows
from ragstone.examples.parquet_pages import check_pages
from ragstone.examples.problem import BadRow, Problem
from ragstone.examples.source import FileSource, Row

ROWS_AT_ONCE = 10_000
UNREADABLE = (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, ValueError)


class Parquet(FileSource):
    """A .parquet file, as pandas, Polars, Spark and Hugging Face write them."""

    @property
    def unit(self) -> str:
        return "row"

    def rows(self, meter: Meter) -> Iterator[Row]:
        number = 0
        try:
            check_pages(self.path)
            batches = scan_parquet(self.path).collect_batches(chunk_size=ROWS_AT_ONCE)
            total = scan_parquet(self.path).select(pl.len()).collect().item()
            for frame in batches:
                for row in plain_rows(frame):
                    number += 1
                    yield number, row
                meter.done = int(meter.total * number / max(total, 1))
        except UNREADABLE as error:
            yield None, BadRow("", (unreadable("a Parquet file", error),))


def unreadable(what: str, error: BaseException) -> Problem:
    """The error message of a table library, on one line."""
    reason = str(error).strip().split("\n")[0][:120]
    return Problem("", what, f"what cannot be read as one ({reason})")
