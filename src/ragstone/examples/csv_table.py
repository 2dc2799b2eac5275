"""CSV and TSV: a header, then one record per row; lists in a cell are JSON text."""

import csv
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ragstone.core.escape import cell_read
from ragstone.examples.files import Meter, text_lines
from ragstone.examples.problem import BadRow, Problem
from ragstone.examples.source import FileSource, Row

LONGEST_CELL = 2**31 - 1
SHOWN, LONGEST_SHOWN = 5, 40


@dataclass(frozen=True)
class CsvTable(FileSource):
    """A .csv or .tsv file. An empty cell is a missing value.

    Cells are separated by commas, by tabs in a .tsv file, by semicolons where
    the header has these and no comma.
    """

    delimiter: str | None = None

    def rows(self, meter: Meter) -> Iterator[Row]:
        csv.field_size_limit(LONGEST_CELL)
        lines = _Lines(self.path, meter)
        reader: Iterator[list[str]] | None = None
        header: list[str] | None = None
        while True:
            begin = lines.number + 1
            try:
                if reader is None:
                    first = next(lines, None)
                    if first is None:
                        break
                    lines.back(first)
                    reader = csv.reader(lines, delimiter=self._delimiter(first), strict=True)
                cells = next(reader)
            except StopIteration:
                break
            except csv.Error as error:
                yield from lines.bad_ones()
                yield begin, BadRow("", (Problem("", "a row of CSV", f"broken quoting ({error})"),))
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
                    yield begin, BadRow("", (problem,))
                    return
            elif len(cells) != len(header):
                yield begin, BadRow(",".join(cells), (_ragged(header, cells),))
            else:
                yield (
                    begin,
                    {n: cell_read(cell) or None for n, cell in zip(header, cells, strict=True)},
                )
        yield from lines.bad_ones()

    def _delimiter(self, header: str) -> str:
        if self.delimiter is not None:
            return self.delimiter
        if ".tsv" in self.path.suffixes[-2:]:
            return "\t"
        return ";" if ";" in header and "," not in header else ","


class _Lines:
    """The lines of the file for the csv reader, which notes those that are no text."""

    def __init__(self, path: Path, meter: Meter) -> None:
        self._lines = text_lines(path, meter)
        self._bad: list[tuple[int | None, BadRow]] = []
        self._waiting: list[str] = []
        self.number = 0

    def __iter__(self) -> "_Lines":
        return self

    def __next__(self) -> str:
        if self._waiting:
            self.number += 1
            return self._waiting.pop()
        for number, text in self._lines:
            self.number = number or self.number
            if isinstance(text, str):
                return text
            self._bad.append((number, text))
            if text.text:
                return text.text + "\n"
        raise StopIteration

    def back(self, line: str) -> None:
        """Hand the first line out once more."""
        self._waiting.append(line)
        self.number -= 1

    def bad_ones(self) -> list[tuple[int | None, BadRow]]:
        """The lines that were no text since the last call."""
        found, self._bad = self._bad, []
        return found


def _header_problem(header: list[str]) -> Problem | None:
    repeated = sorted(name for name, times in Counter(header).items() if times > 1)
    if not repeated:
        return None
    more = f" and {len(repeated) - SHOWN:,} more" if len(repeated) > SHOWN else ""
    names = f"{', '.join(name[:LONGEST_SHOWN] for name in repeated[:SHOWN])!r}{more}"
    return Problem("", "a header that names each column once", f"{names} twice")


def _ragged(header: list[str], cells: list[str]) -> Problem:
    return Problem("", f"{len(header)} cells, as in the header", f"{len(cells)}")
