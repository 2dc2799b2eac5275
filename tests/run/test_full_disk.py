"""A full disk is said to be full."""

from pathlib import Path

import polars as pl
import pytest

from ragstone.errors import DiskFull
from ragstone.parquet import sink_parquet, write_parquet

FULL = Path("/dev/full")

pytestmark = pytest.mark.skipif(not FULL.exists(), reason="needs /dev/full, which Linux has")


def test_a_table_for_which_there_is_no_room_is_no_damaged_one() -> None:
    table = pl.DataFrame({"number": range(10_000)})
    with pytest.raises(DiskFull, match="the disk is full"):
        write_parquet(table, FULL)
    with pytest.raises(DiskFull, match="the disk is full"):
        sink_parquet(table.lazy(), FULL, rows_at_once=1_000)
