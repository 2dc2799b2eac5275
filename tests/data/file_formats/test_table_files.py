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

from ragstone.core.errors import DataError
from ragstone.data import read
from ragstone.data.file_formats.table_files import FOOTER, PAGE, Compact, check_pages
from ragstone.data.text_files import MAX_UNPACKED

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
        step = field - last
        out += (bytes([step << 4 | kind]) if step < 16 else bytes([kind]) + number(field)) + content
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


def page_v2(
    nulls: int = 0, rows: int = 3, levels: int = 0, more: int = 0, unpacked: int = 24
) -> bytes:
    counts = {1: 3, 2: nulls, 3: rows, 4: 0, 5: levels, 6: more}
    return struct({1: 3, 2: unpacked, 3: 24, 8: struct(counts)})


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
    "length of levels is 24, not 0 to 23": parquet(page_v2(levels=24, unpacked=23)),
    "length of levels is 26, not 0 to 24": parquet(page_v2(levels=26, unpacked=30)),
    "length of levels is 15, not 0 to 14": parquet(page_v2(levels=10, more=15)),
    "length of levels is 14, not 0 to 13": parquet(page_v2(levels=10, more=14, unpacked=23)),
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


def test_behind_the_last_value_no_page_is_looked_for(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    path.write_bytes(parquet(page(), length=len(page()) + 24 + 30))
    assert pq.read_table(io.BytesIO(path.read_bytes()))["n"].to_pylist() == [7, 8, 9]
    check_pages(path)


def test_a_page_of_another_kind_is_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    path.write_bytes(parquet(struct({1: 1, 2: 0, 3: 0}) + page()))
    check_pages(path)


def test_a_column_of_more_values_than_its_pages_hold_is_read_to_its_end(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    path.write_bytes(parquet(page(), values=6))
    check_pages(path)


RIGHT: dict[str, tuple[int, bytes]] = {
    "i": (INT, number(0)), "b": (BINARY, text("")), "o": (1, b""), "s": (STRUCT, b"\0"),
    "l": (LIST, listed(STRUCT)),
}  # fmt: skip
WRONG = {"i": "b", "b": "i", "o": "i", "s": "i", "l": "b"}
FIELDS = {
    "PageHeader": "1i 2i 3i 4i 5s 7s 8s",
    "PageHeader 5": "1i 2i 3i 4i 5s",
    "PageHeader 5 5": "1b 2b 3i 4i 5b 6b 7o 8o",
    "PageHeader 7": "1i 2i 3o",
    "PageHeader 8": "1i 2i 3i 4i 5i 6i 7o 8s",
    "PageHeader 8 8": "1b 2b 3i 4i 5b 6b 7o 8o",
    "FileMetaData": "1i 2l 3i 4l 5l 6b",
    "FileMetaData 2.": "1i 2i 3i 4b 5i 6i 7i 8i 9i",
    "FileMetaData 4.": "1l 2i 3i 5i 6i",
    "FileMetaData 4. 1.": "1b 2i 3s 4i 5i 6i 7i",
    "FileMetaData 4. 1. 3": "1i 2l 3l 4i 5i 6i 7i 8l 9i 10i 11i 12s 13l 14i 15i",
    "FileMetaData 4. 1. 3 8.": "1b 2b",
    "FileMetaData 4. 1. 3 12": "1b 2b 3i 4i 5b 6b 7o 8o",
    "FileMetaData 4. 1. 3 13.": "1i 2i 3i",
    "FileMetaData 5.": "1b 2b",
}
"""The structs of parquet.thrift by the fields that lead to them, a point for a list; what each of
their fields is: a number, bytes, yes or no, a struct or a list."""


def holding(path: str, field: int, what: tuple[int, bytes]) -> bytes:
    """A struct whose one field leads to a field of a struct within."""
    content = struct({field: what})
    for place in reversed(path.split()):
        inner = (LIST, listed(STRUCT, content)) if place.endswith(".") else (STRUCT, content)
        content = struct({int(place.rstrip(".")): inner})
    return content


@pytest.mark.parametrize(
    ("path", "field", "kind"),
    [(path, int(one[:-1]), one[-1]) for path, fields in FIELDS.items() for one in fields.split()],
)
def test_every_field_that_the_format_names_is_of_its_type(path: str, field: int, kind: str) -> None:
    name, _, inside = path.partition(" ")
    shape = {"PageHeader": PAGE, "FileMetaData": FOOTER}[name]
    Compact(holding(inside, field, RIGHT[kind]), 0).struct(shape)
    with pytest.raises(ValueError, match="another type"):
        Compact(holding(inside, field, RIGHT[WRONG[kind]]), 0).struct(shape)


@pytest.mark.parametrize(
    ("kind", "content"),
    [
        (1, b""),
        (2, b""),
        (3, b"\x07"),
        (4, number(-1)),
        (5, number(1 << 20)),
        (6, number(1 << 62)),
        (7, bytes(range(8))),
        (8, text("abc")),
        (9, listed(1, b"\1", b"\2")),
        (9, listed(7, bytes(8), bytes(8))),
        (10, bytes([0xF0 | 3, 16]) + bytes(16)),
        (11, b"\0"),
        (11, bytes([2, 8 << 4 | 5]) + text("a") + number(1) + text("b") + number(2)),
        (12, struct({1: 1, 40: (12, struct({2: (7, bytes(8))}))})),
    ],
)
def test_a_field_of_any_type_that_no_shape_names_is_passed_over(kind: int, content: bytes) -> None:
    head = struct({1: 0, 9: (kind, content), 14: 3})
    assert Compact(head, 0).struct({1: int, 14: int}) == {1: 0, 14: 3}
    long_form = bytes([kind]) + number(200) + content + b"\0"
    passing = Compact(b"??" + long_form, 2)
    assert passing.struct({}) == {}
    assert passing.at == 2 + len(long_form)


@pytest.mark.parametrize("kind", [13, 14, 15])
def test_there_are_twelve_types(kind: int) -> None:
    with pytest.raises(ValueError, match="is of no type"):
        Compact(struct({9: (kind, b"")}), 0).struct({})


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
