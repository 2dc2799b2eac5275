"""Parquet files whose counts and lengths lie are refused before Polars makes room for them.

The files here are put together by hand, field by field, as parquet.thrift has them.
"""

import io
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ragstone.errors import DataError
from ragstone.examples import read
from ragstone.examples.files import MAX_UNPACKED
from ragstone.examples.parquet_pages import check_pages

INT, LONG, BINARY, LIST, STRUCT = 5, 6, 8, 9, 12


def number(value: int) -> bytes:
    """A signed number: zigzag, then seven bits a byte."""
    left = value << 1 if value >= 0 else (-value << 1) - 1
    parts = []
    while left > 0x7F:
        parts.append(left & 0x7F | 0x80)
        left >>= 7
    return bytes([*parts, left])


def text(value: str) -> bytes:
    return bytes([len(value)]) + value.encode()


def listed(kind: int, *parts: bytes) -> bytes:
    return bytes([len(parts) << 4 | kind]) + b"".join(parts)


def long(value: int) -> tuple[int, bytes]:
    return LONG, number(value)


def struct(fields: dict[int, Any]) -> bytes:
    """Fields by number: a number, the bytes of a struct, or (kind, bytes)."""
    out, last = b"", 0
    for field, value in fields.items():
        kind, content = (
            value if isinstance(value, tuple)
            else (STRUCT, value) if isinstance(value, bytes) else (INT, number(value))
        )  # fmt: skip
        out += bytes([field - last << 4 | kind]) + content
        last = field
    return out + b"\0"


def parquet(head: bytes, **lies: int) -> bytes:
    """A file of one column of three numbers, whose one page has this head."""
    content = b"".join(one.to_bytes(8, "little") for one in (7, 8, 9))
    said = {"values": 3, "rows": 3, "place": 4, "length": len(head + content)} | lies
    column = struct({
        1: 2, 2: (LIST, listed(INT, number(0))), 3: (LIST, listed(BINARY, text("n"))), 4: 0,
        5: long(said["values"]), 6: long(len(head + content)), 7: long(said["length"]),
        9: long(said["place"]),
    })  # fmt: skip
    chunks = listed(STRUCT, struct({2: long(4), 3: column}))
    group = struct({1: (LIST, chunks), 2: long(24), 3: long(said["rows"])})
    root = struct({4: (BINARY, text("root")), 5: 1})
    schema = listed(STRUCT, root, struct({1: 2, 3: 0, 4: (BINARY, text("n"))}))
    footer = struct({1: 1, 2: (LIST, schema), 3: long(3), 4: (LIST, listed(STRUCT, group))})
    size = lies.get("footer", len(footer))
    return b"PAR1" + head + content + footer + size.to_bytes(4, "little") + b"PAR1"


def page(values: Any = 3, *, unpacked: int = 24, packed: int = 24) -> bytes:
    return struct({1: 0, 2: unpacked, 3: packed, 5: struct({1: values, 2: 0, 3: 3, 4: 3})})


def page_v2(nulls: int = 0, rows: int = 3, levels: int = 0, more: int = 0) -> bytes:
    counts = {1: 3, 2: nulls, 3: rows, 4: 0, 5: levels, 6: more}
    return struct({1: 3, 2: 24, 3: 24, 8: struct(counts)})


def dictionary(values: int) -> bytes:
    """A dictionary of no bytes, before the page."""
    return struct({1: 2, 2: 0, 3: 0, 7: struct({1: values, 2: 0})}) + page()


@pytest.mark.parametrize("head", [page(), page_v2()])
def test_a_file_put_together_by_hand_is_what_others_read(head: bytes, tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    path.write_bytes(parquet(head))
    assert pq.read_table(io.BytesIO(path.read_bytes()))["n"].to_pylist() == [7, 8, 9]
    check_pages(path)


LIES = {
    "-30, not 0 to 3": parquet(page(-30)),
    "-1, not 0 to 3": parquet(page(-1)),
    "4, not 0 to 3": parquet(page(4)),
    "2,147,483,648, not 0 to 2,147,483,647": parquet(page(1 << 31), values=1 << 32),
    "in the page at byte 4, the length is 25, not 0 to 24": parquet(page(packed=25)),
    "the length is -1": parquet(page(packed=-1)),
    "the unpacked length is -1": parquet(page(unpacked=-1)),
    "the unpacked length is 2,147,483,648": parquet(page(unpacked=1 << 31)),
    "another type": parquet(page((BINARY, text("abc")))),
    "number of values is missing": parquet(struct({1: 0, 2: 24, 3: 24})),
    "number of values is 1, not 0 to 0": parquet(dictionary(1)),
    "number of values is -5": parquet(dictionary(-5)),
    "number of nulls is 4, not 0 to 3": parquet(page_v2(nulls=4)),
    "number of rows is 4, not 0 to 3": parquet(page_v2(rows=4)),
    "number of rows is -2, not 0 to 3": parquet(page_v2(rows=-2)),
    "length of levels is 25, not 0 to 24": parquet(page_v2(levels=25)),
    "length of levels is 15, not 0 to 14": parquet(page_v2(levels=10, more=15)),
    "number of values of a column is -1": parquet(page(), values=-1),
    "the number of rows is 5, not 0 to 3": parquet(page(), rows=5),
    "the place of a column is -4": parquet(page(), place=-4),
    "the length of a column is 100,000": parquet(page(), length=100_000),
    "the length of the footer is 4,294,967,295": parquet(page(), footer=0xFFFFFFFF),
    "does not end": parquet(b"\x15" + b"\xff" * 12),
    "makes no sense": parquet(b"\xfc" * 5_000),
}  # fmt: skip


@pytest.mark.parametrize("told", LIES)
def test_a_count_or_length_that_lies_is_a_fault_of_the_file(told: str, tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    path.write_bytes(LIES[told])
    with pytest.raises(ValueError, match=told):
        check_pages(path)
    with pytest.raises(DataError, match="a Parquet file"):
        list(read(path))


@pytest.mark.parametrize(
    ("head", "bytes"),
    [(page(), 24), (page(unpacked=100), 100), (page(unpacked=3), 24), (page_v2(), 24)],
)
def test_pages_unpack_to_as_much_as_is_allowed(
    head: bytes, bytes: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.parquet"
    path.write_bytes(parquet(head))
    monkeypatch.setenv(MAX_UNPACKED, f"{bytes}B")
    check_pages(path)
    monkeypatch.setenv(MAX_UNPACKED, f"{bytes - 1}B")
    with pytest.raises(ValueError, match=MAX_UNPACKED):
        check_pages(path)


FRAME = pl.DataFrame({
    "question": ["how long?", None, "è"] * 50, "n": range(150), "x": [0.5, None, 2.0] * 50,
    "yes": [True, None, False] * 50, "contexts": [["a", None], [], None] * 50,
    "meta": [{"a": 1, "b": ["x"]}] * 150, "none": [None] * 150,
})  # fmt: skip


@pytest.mark.parametrize("compression", ["uncompressed", "snappy", "gzip", "brotli", "lz4", "zstd"])
@pytest.mark.parametrize("frame", [FRAME, FRAME.clear()], ids=["rows", "no rows"])
def test_what_polars_and_pyarrow_write_is_let_through(
    frame: pl.DataFrame, compression: Any, tmp_path: Path
) -> None:
    path = tmp_path / "a.parquet"
    frame.write_parquet(path, compression=compression, row_group_size=40, data_page_size=100)
    check_pages(path)
    table = frame.to_arrow().replace_schema_metadata({"pandas": "é" * 300})
    codec = {"uncompressed": "none"}.get(compression, compression)
    for version in ("1.0", "2.0"):
        pq.write_table(
            table, path, compression=codec, data_page_version=version, row_group_size=40,
            data_page_size=100, write_page_index=True, sorting_columns=[pq.SortingColumn(1)],
            store_decimal_as_integer=True,
        )  # fmt: skip
        check_pages(path)


@pytest.mark.parametrize("encoding", ["PLAIN", "DELTA_BYTE_ARRAY", "DELTA_LENGTH_BYTE_ARRAY"])
def test_every_encoding_is_let_through(encoding: str, tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    table = pa.table({"question": ["how long?", "how deep?"] * 500})
    pq.write_table(table, path, use_dictionary=False, column_encoding={"question": encoding})
    check_pages(path)


def test_what_is_no_parquet_file_is_left_to_its_reader(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    for content in (b"PAR1nothing", b"\x1f\x8b" * 20, b"PAR1PARE"):
        path.write_bytes(content)
        check_pages(path)
