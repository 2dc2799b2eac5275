"""The first row of each key is kept, in order, whatever the keys and however the rows come."""

import random
from functools import partial

import polars as pl
import pytest

from ragstone.run.estimates import groups as distinct
from ragstone.run.estimates.sums import first_of_each


@pytest.mark.parametrize("kind", [pl.UInt64, pl.String, pl.Int64])
@pytest.mark.parametrize("nulls", [False, True])
def test_rows_that_come_in_parts_are_as_those_of_one_table(
    kind: type[pl.DataType], nulls: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(distinct, "AT_ONCE", 10)
    draw = random.Random(0)
    keys = [None if nulls and not draw.randrange(9) else draw.randrange(40) for _ in range(200)]
    table = pl.DataFrame({"key": pl.Series(keys).cast(kind), "place": range(200)})
    seen = dict[int | None, int]()
    for place, key in enumerate(keys):
        seen.setdefault(key, place)
    found = distinct.Gathered(partial(first_of_each, keys=["key"]))
    for start in range(0, 200, 7):
        found.add(table[start : start + 7])
    assert found.rows()["place"].to_list() == list(seen.values())
    assert first_of_each(table, ["key"]).equals(found.rows())


def test_of_several_columns_all_are_the_key() -> None:
    table = pl.DataFrame({"a": [1, 1, 2, 1], "b": [1, 2, 1, 1]}, schema_overrides={"a": pl.UInt64})
    assert first_of_each(table, ["a", "b"]).rows() == [(1, 1), (1, 2), (2, 1)]
