"""Table files: CSV, TSV and Parquet, whose metadata is checked before memory is allocated.

Polars allocates memory for as many values and bytes as a Parquet page header claims. A false
claim makes it abort the process, which cannot be caught, or exhausts the machine's memory. The
footer and the page headers are therefore checked first; the content of the pages is not read.

    file = pages of each column, footer, length of the footer (4 bytes), PAR1
    page = header, content

The check rejects counts and lengths that are negative or larger than their container, fields
whose type differs from the format's (Polars would continue reading at a wrong position), and
pages that unpack to more than ``text_files.most_unpacked``. For that limit a value counts as at
least eight bytes, because a run of equal values takes almost no space in the file.

Source: Apache Parquet, parquet.thrift; Apache Thrift, compact protocol.
"""

import csv
import mmap
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import polars as pl

from ragstone.core.escape import cell_read
from ragstone.core.parquet import scan_parquet
from ragstone.data.json_text import BadRow, Problem
from ragstone.data.sources import Row, Source, plain_rows
from ragstone.data.text_files import MAX_UNPACKED, MB, Meter, most_unpacked, text_lines

# Cells without a value, as Python and pandas write them.
NO_VALUE = frozenset(("", "nan", "NaN", "<NA>"))
LONGEST_CELL = 2**31 - 1
SHOWN, LONGEST_SHOWN = 5, 40


def csv_table(path: Path, name: str, delimiter: str | None = None) -> Source:
    """Return a .csv or .tsv file as a source. An empty cell is a missing value.

    Cells are separated by commas, by tabs in a .tsv file, by semicolons where
    the header has these and no comma.
    """
    if delimiter is None and ".tsv" in path.suffixes[-2:]:
        delimiter = "\t"
    return Source(name, partial(_csv_rows, path, delimiter), (path,), unit="line")


def _csv_rows(path: Path, delimiter: str | None, meter: Meter) -> Iterator[Row]:
    csv.field_size_limit(LONGEST_CELL)
    lines = _Lines(path, meter)
    reader: Iterator[list[str]] | None = None
    header: list[str] | None = None
    while True:
        begin = lines.number + 1
        try:
            if reader is None:
                first = next(lines, None)
                if first is None:
                    break
                mark = ";" if ";" in first and "," not in first else ","
                reader = csv.reader(chain([first], lines), delimiter=delimiter or mark, strict=True)
            cells = next(reader)
        except StopIteration:
            break
        except csv.Error as error:
            yield from lines.bad_ones()
            yield begin, BadRow("", Problem("", "a row of CSV", f"broken quoting ({error})"))
            if header is None:
                return
            continue
        bad = lines.bad_ones()
        yield from bad
        if not cells or (bad and header is not None):
            continue
        if header is None:
            header = list(map(cell_read, cells))
            if (problem := _header_problem(header)) is not None:
                yield begin, BadRow("", problem)
                return
        elif len(cells) != len(header):
            expected = f"{len(header)} cells, as in the header"
            problem = Problem("", expected, f"{len(cells)}")
            yield begin, BadRow(",".join(cells), problem)
        else:
            values = [None if cell in NO_VALUE else cell_read(cell) for cell in cells]
            yield begin, dict(zip(header, values, strict=True))
    yield from lines.bad_ones()


class _Lines:
    """The lines of the file for the csv reader, which notes those that are no text."""

    def __init__(self, path: Path, meter: Meter) -> None:
        self._lines = text_lines(path, meter)
        self._bad: list[tuple[int | None, BadRow]] = []
        self.number = 0

    def __iter__(self) -> "_Lines":
        return self

    def __next__(self) -> str:
        for number, text in self._lines:
            self.number = number or self.number
            if isinstance(text, str):
                return text
            self._bad.append((number, text))
            if text.text:
                return text.text + "\n"
        raise StopIteration

    def bad_ones(self) -> list[tuple[int | None, BadRow]]:
        bad, self._bad = self._bad, []
        return bad


def _header_problem(header: list[str]) -> Problem | None:
    repeated = sorted(name for name, times in Counter(header).items() if times > 1)
    if not repeated:
        return None
    more = f" and {len(repeated) - SHOWN:,} more" if len(repeated) > SHOWN else ""
    names = f"{', '.join(name[:LONGEST_SHOWN] for name in repeated[:SHOWN])!r}{more}"
    return Problem("", "a header that names each column once", f"{names} twice")


MAGIC = b"PAR1"
ENDING = 8
BYTES_A_VALUE = 8
INT32 = (1 << 31) - 1
DATA, DICTIONARY, DATA_V2 = 0, 2, 3

# What a field holds: a type, the fields of a struct by number, or a list of one shape.
Shape = Any

FOUR: dict[int, Shape] = {1: int, 2: int, 3: int, 4: int}
PAIRS: Shape = [{1: bytes, 2: bytes}]
STATISTICS: Shape = {1: bytes, 2: bytes, 3: int, 4: int, 5: bytes, 6: bytes, 7: bool, 8: bool}
PAGE: Shape = {
    **FOUR,
    5: {**FOUR, 5: STATISTICS},
    7: {1: int, 2: int, 3: bool},
    8: {**FOUR, 5: int, 6: int, 7: bool, 8: STATISTICS},
}
COLUMN: Shape = {
    1: int, 2: [int], 3: [bytes], 4: int, 5: int, 6: int, 7: int, 8: PAIRS, 9: int, 10: int,
    11: int, 12: STATISTICS, 13: [{1: int, 2: int, 3: int}], 14: int, 15: int,
}  # fmt: skip
CHUNK: Shape = {1: bytes, 2: int, 3: COLUMN, 4: int, 5: int, 6: int, 7: int}
ROW_GROUP: Shape = {1: [CHUNK], 2: int, 3: int, 5: int, 6: int}
SCHEMA: Shape = [{**FOUR, 4: bytes, 5: int, 6: int, 7: int, 8: int, 9: int}]
FOOTER: Shape = {1: int, 2: SCHEMA, 3: int, 4: [ROW_GROUP], 5: PAIRS, 6: bytes}


def check_pages(path: Path) -> None:
    """Check the counts and lengths in the footer and in each page header.

    A file without the magic bytes at its end is not checked; the reader will reject it.

    Raises:
        ValueError: One of them is impossible, or the pages unpack to more than is allowed.
    """
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        end = len(content) - ENDING
        if end < len(MAGIC) or content[-len(MAGIC) :] != MAGIC:
            return
        length = int.from_bytes(content[end : end + 4], "little")
        try:
            footer = Compact(content, end - within(length, end, "the length of the footer"))
            _check_row_groups(content, end, footer.struct(FOOTER))
        except (IndexError, RecursionError):
            raise ValueError("its footer or the head of a page makes no sense") from None


def _check_row_groups(content: mmap.mmap, end: int, footer: dict[int, Any]) -> None:
    left = most = most_unpacked(len(content))
    for group in footer.get(4, ()):
        for chunk in group.get(1, ()):
            column = chunk.get(3, {})
            values = within(column.get(5), 1 << 62, "the number of values of a column")
            within(group.get(3), values, "the number of rows")
            left -= _unpacked(content, end, column, values)
            if left < 0:
                raise ValueError(
                    f"it unpacks to more than {most / MB:,.0f} MB; {MAX_UNPACKED}=10G allows 10 GB"
                )


def _unpacked(content: mmap.mmap, end: int, column: dict[int, Any], values: int) -> int:
    at = within(column.get(11, column.get(9)), end, "the place of a column")
    end = at + within(column.get(7), end - at, "the length of a column")
    unpacked = 0
    while values and at < end:
        head = Compact(content, at)
        page = head.struct(PAGE)
        where = f"in the page at byte {at:,}, the"
        packed = within(page.get(3), end - head.at, f"{where} length")
        size = within(page.get(2), INT32, f"{where} unpacked length")
        of_kind = {DATA: 5, DICTIONARY: 7, DATA_V2: 8}.get(page.get(1, -1))
        counts = page.get(of_kind, {}) if of_kind else {1: 0}
        most = size if of_kind == 7 else values
        count = within(counts.get(1), min(most, INT32), f"{where} number of values")
        if of_kind == 8:
            within(counts.get(2), count, f"{where} number of nulls")
            within(counts.get(3), count, f"{where} number of rows")
            levels = within(counts.get(5), min(size, packed), f"{where} length of levels")
            within(counts.get(6), min(size, packed) - levels, f"{where} length of levels")
        if of_kind != 7:
            values -= count
        unpacked += max(size, BYTES_A_VALUE * count)
        at = head.at + packed
    return unpacked


def within(number: int | None, most: int, what: str) -> int:
    """Return a count or length; a ``ValueError`` unless it is from 0 to ``most``."""
    if number is None or not 0 <= number <= most:
        words = "missing" if number is None else f"{number:,}, not 0 to {most:,}"
        raise ValueError(f"{what} is {words}")
    return number


class Compact:
    """Reads structs in Thrift's compact protocol; ``at`` is the position of the next byte.

    Raises:
        IndexError: The bytes end before the struct does.
        ValueError: A field is of another type than its shape, or a number has more than 64 bits.
    """

    BOOLS, BYTE, INTS, DOUBLE, BINARY, LISTS, MAP, STRUCT = (
        (1, 2), 3, (4, 5, 6), 7, 8, (9, 10), 11, 12
    )  # fmt: skip

    def __init__(self, content: mmap.mmap | bytes, at: int) -> None:
        self.at = at
        self._content = content

    def struct(self, shape: Mapping[int, Shape]) -> dict[int, Any]:
        """Read the fields that the shape names; skip the others."""
        fields: dict[int, Any] = {}
        field = 0
        while head := self._byte():
            field = field + (head >> 4) if head >> 4 else self._signed()
            value = self._value(head & 15, shape.get(field), alone=True)
            if field in shape:
                fields[field] = value
        return fields

    def _value(self, kind: int, shape: Shape, *, alone: bool) -> Any:
        if kind in self.BOOLS:
            self._expect(bool, shape)
            return self._pass(0 if alone else 1)
        if kind in self.INTS:
            self._expect(int, shape)
            return self._signed()
        if kind == self.BINARY:
            self._expect(bytes, shape)
            return self._pass(self._number())
        if kind == self.STRUCT:
            self._expect({}, shape)
            return self.struct(shape or {})
        if kind in self.LISTS:
            self._expect([], shape)
            head = self._byte()
            size = head >> 4 if head >> 4 < 15 else self._number()
            part = shape[0] if shape else None
            return [self._value(head & 15, part, alone=False) for _ in range(size)]
        self._expect(float, shape)
        if kind == self.MAP:
            if size := self._number():
                kinds = self._byte()
                for _ in range(size):
                    self._value(kinds >> 4, None, alone=False)
                    self._value(kinds & 15, None, alone=False)
            return None
        if kind not in (self.BYTE, self.DOUBLE):
            raise ValueError(f"a field before byte {self.at:,} is of no type")
        return self._pass(1 if kind == self.BYTE else 8)

    def _expect(self, sort: Shape, shape: Shape) -> None:
        kind = sort if isinstance(sort, type) else type(sort)
        expected = shape if shape is None or isinstance(shape, type) else type(shape)
        if expected not in (None, kind):
            raise ValueError(
                f"a field before byte {self.at:,} is of another type than it should be"
            )

    def _pass(self, size: int) -> None:
        self.at += size
        if self.at > len(self._content):
            raise IndexError

    def _byte(self) -> int:
        byte = self._content[self.at]
        self.at += 1
        return byte

    def _number(self) -> int:
        number = shift = 0
        while (byte := self._byte()) & 0x80:
            number |= (byte & 0x7F) << shift
            shift += 7
            if shift > 63:
                raise ValueError(f"a number before byte {self.at:,} does not end")
        return number | byte << shift

    def _signed(self) -> int:
        number = self._number()
        return number >> 1 ^ -(number & 1)


ROWS_AT_ONCE = 10_000
UNREADABLE = (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, ValueError)


def parquet(path: Path, name: str) -> Source:
    """Return a .parquet file, as pandas, Polars, Spark and Hugging Face write them."""
    return Source(name, partial(_parquet_rows, path), (path,))


def _parquet_rows(path: Path, meter: Meter) -> Iterator[Row]:
    number = 0
    try:
        check_pages(path)
        batches = scan_parquet(path).collect_batches(chunk_size=ROWS_AT_ONCE)
        total = scan_parquet(path).select(pl.len()).collect().item()
        for frame in batches:
            for row in plain_rows(frame):
                number += 1
                yield number, row
            meter.done = int(meter.total * number / max(total, 1))
    except UNREADABLE as error:
        yield None, BadRow("", unreadable("a Parquet file", error))


def unreadable(what: str, error: BaseException) -> Problem:
    """Return the error message of a table library, on one line."""
    reason = str(error).strip().split("\n")[0][:120]
    return Problem("", what, f"what cannot be read as one ({reason})")
