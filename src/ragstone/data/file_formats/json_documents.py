"""JSON files: JSON Lines, and JSON documents of any size, which are read piece by piece.

A document is a list of objects, or an object that holds the list. Only a single element and the
text around it are in memory. An element that is cut off is tried again with twice as much text,
so the work stays linear in the file.
"""

import codecs
import io
import json
import re
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from ragstone.data.fields import NAMES, squash
from ragstone.data.json_text import (
    DECODER,
    MAX_DEPTH,
    BadJsonError,
    BadRow,
    Problem,
    ascii_safe,
    decode,
    depth_exceeds,
    is_storable,
    problem_in,
    shown,
    surrogate_in,
    syntax_problem,
    too_deep,
)
from ragstone.data.layouts.haystack import columns_of_run
from ragstone.data.layouts.inspect_logs import rows_of_inspect
from ragstone.data.layouts.inspectorraget import has_its_head, rows_of_inspectorraget
from ragstone.data.layouts.llamaindex import rows_of_batch
from ragstone.data.sources import Row, Source
from ragstone.data.text_files import BrokenFileError, Meter, encoding_of, opened_text, text_lines


def json_lines(path: Path, name: str) -> Source:
    """Return a .jsonl or .ndjson file as a source."""
    rows = partial(json_line_rows, path)
    return Source(name, rows, (path,), unit="line", by_line=True)


def json_line_rows(path: Path, meter: Meter) -> Iterator[Row]:
    """Read a file of JSON Lines. Blank lines are skipped; a line may be of any length."""
    return parsed(text_lines(path, meter))


def parsed(lines: Iterable[tuple[int | None, str | BadRow]]) -> Iterator[Row]:
    """Parse numbered lines into records."""
    for line, text in lines:
        if isinstance(text, BadRow):
            yield line, text
            continue
        text = text.strip()
        if not text:
            continue
        try:
            value = decode(text)
        except BadJsonError as error:
            yield line, BadRow(text, error.problem)
            continue
        if isinstance(value, dict):
            yield line, value
        else:
            yield line, BadRow(text, Problem("", "an object", shown(value)))


WRAPPERS = frozenset((
    *("results", "data", "examples", "questions", "test_cases", "testCases", "records", "rows"),
    *("traces", "test_results"),
))  # fmt: skip
TYPE_KEY = re.compile(r"type\d+")
WINDOW = 1 << 18
LONGEST_CUT_TOKEN = 16

_SPACE = re.compile(r"[ \t\r\n]*")
_CONTENT = frozenset(
    squash(name)
    for field in ("question", "answer", "contexts", "reference")
    for name in NAMES[field]
)

_OF_COLUMNS = frozenset(("question", "questions", "answer", "predictedanswer", "predictedanswers"))


def json_document(path: Path, name: str) -> Source:
    """Return a .json file as a source.

    The list may be the whole document, stand under ``results``, ``data``,
    ``examples``, ``questions``, ``test_cases`` or under GraphRAG-Bench's
    ``type1`` … ``type4`` (which become the question type); or the document is
    an object of columns, a single record, or records one after the other.
    """
    return Source(name, partial(_document_rows, path), (path,), unit="element")


def _document_rows(path: Path, meter: Meter) -> Iterator[Row]:
    window = None
    try:
        with opened_text(path, meter) as handle:
            window = _Window(handle, lambda raw: encoding_of(path, raw, meter))
            yield from _document(window)
    except BrokenFileError as error:
        line = None if window is None else window.line()
        yield line, BadRow("", error.problem)


def _document(window: "_Window") -> Iterator[Row]:
    mark = window.next_mark()
    if mark == "":
        return
    if mark == "[":
        yield from _elements(window, None)
        if window.next_mark():
            raise window.broken("the end of the file after the list")
        return
    if mark != "{":
        raise window.broken("a list of objects or an object")
    line = window.line()
    rest: dict[str, Any] = {}
    window.begin_value()
    wrapped = yield from _members(window, rest)
    if wrapped:
        if window.next_mark():
            raise window.broken("the end of the file after the object")
        return
    columns = (
        rows_of_inspectorraget(rest)
        or rows_of_inspect(rest)
        or rows_of_batch(rest)
        or _rows_of_columns(columns_of_run(rest) or rest)
    )
    if columns is None:
        yield line, window.checked(rest)
        while (mark := window.next_mark()) != "":
            yield _object_row(window)
    else:
        for number, row in enumerate(columns, 1):
            problem = None if isinstance(row, BadRow) else _not_storable(row)
            yield number, row if problem is None else BadRow("", problem)


def _members(window: "_Window", rest: dict[str, Any]) -> Generator[Row, None, bool]:
    """Rows of the lists in an object; returns whether there were any. ``rest`` gets all else."""
    window.take("{")
    wrapped = False
    for mark in window.parts("}", "object"):
        if mark != '"':
            raise window.broken("a field name")
        key = window.value()
        if window.next_mark() != ":":
            raise window.broken("a colon after the field name")
        window.take(":")
        mark = window.next_mark()
        known = key in WRAPPERS or TYPE_KEY.fullmatch(str(key)) is not None
        known = known and not has_its_head(rest)
        if known and not _has_content(rest) and window.begins_list_of_objects():
            wrapped = True
            yield from _elements(window, str(key) if TYPE_KEY.fullmatch(str(key)) else None)
        elif key == "results" and mark == "{" and not _has_content(rest):
            inner: dict[str, Any] = {}
            wrapped |= yield from _members(window, inner)
            rest[key] = inner
        else:
            rest[str(key)] = window.value()
    return wrapped


def _elements(window: "_Window", question_type: str | None) -> Iterator[Row]:
    window.take("[")
    for _ in window.parts("]", "list"):
        line, row = _object_row(window)
        if question_type is not None and isinstance(row, dict):
            row.setdefault("question_type", question_type)
        yield line, row


def _object_row(window: "_Window") -> Row:
    line = window.line()
    window.begin_value()
    value = window.value()
    row = window.checked(value)
    if isinstance(row, (dict, BadRow)):
        return line, row
    return line, BadRow(window.value_text(), Problem("", "an object", shown(value)))


def _has_content(record: Mapping[str, Any]) -> bool:
    return any(squash(name) in _CONTENT for name in record)


def _rows_of_columns(columns: dict[str, Any]) -> list[dict[str, Any] | BadRow] | None:
    """Return the rows of a table as pandas writes it: by columns, split, or by index."""
    values = list(columns.values())
    if (rows := _split(columns)) is not None:
        return rows
    if columns and all(map(str.isdecimal, columns)):
        return values if all(isinstance(value, dict) for value in values) else None
    if not _OF_COLUMNS & set(map(squash, columns)) and not _are_indexed(values):
        return None
    if all(isinstance(value, dict) for value in values):
        if any(value.keys() != values[0].keys() for value in values):
            return [BadRow("", Problem("", "columns with the same keys", "columns with others"))]
        values = [[value[key] for key in values[0]] for value in values]
    elif not all(isinstance(value, list) for value in values):
        return None
    lengths = {len(value) for value in values}
    if len(lengths) > 1:
        sizes = ", ".join(f"{ascii_safe(name)} {len(value)}" for name, value in columns.items())
        return [BadRow("", Problem("", "columns of one length", sizes))]
    return [dict(zip(columns, row, strict=True)) for row in zip(*values, strict=True)]


def _split(table: dict[str, Any]) -> list[dict[str, Any] | BadRow] | None:
    names, rows = table.get("columns"), table.get("data")
    if not isinstance(names, list) or not isinstance(rows, list):
        return None
    if not all(isinstance(row, list) and len(row) == len(names) for row in rows):
        return [BadRow("", Problem("data", f"rows of {len(names)} cells", "rows of other lengths"))]
    return [dict(zip(map(str, names), row, strict=True)) for row in rows]


def _are_indexed(columns: list[Any]) -> bool:
    """Return True for columns that are objects with the same whole numbers as keys."""
    are_objects = bool(columns) and all(isinstance(column, dict) for column in columns)
    keys = {frozenset(column) for column in columns} if are_objects else set()
    return len(keys) == 1 and bool(min(keys)) and all(map(str.isdecimal, min(keys)))


def _not_storable(row: dict[str, Any]) -> Problem | None:
    """Why a row of an object of columns cannot be stored; its text is no longer in memory."""
    if depth_exceeds(row, MAX_DEPTH):
        return too_deep()
    problem = surrogate_in(row)
    if problem is None:
        return None
    return Problem(problem.field, "text in UTF-8", f"other bytes, or {problem.got}")


class _Window:
    """The part of the text that is in memory, and the current position in it."""

    def __init__(self, handle: io.BufferedReader, encoding_of: Callable[[bytes], str]) -> None:
        self._handle = handle
        self._encoding_of: Callable[[bytes], str] | None = encoding_of
        decoder = codecs.getincrementaldecoder("utf-8-sig")
        self._decoder: codecs.IncrementalDecoder = decoder("surrogateescape")
        self._text = ""
        self._at = 0
        self._line = 1
        self._counted = 0
        self._begin = 0
        self._ended = False
        self._odd_bytes = False

    def line(self) -> int:
        self._line += self._text.count("\n", self._counted, self._at)
        self._counted = self._at
        return self._line

    def next_mark(self) -> str:
        """Return the next character that is not white space, without taking it, or nothing."""
        while True:
            match = _SPACE.match(self._text, self._at)
            assert match is not None
            self._at = match.end()
            if self._at < len(self._text):
                return self._text[self._at]
            if self._ended:
                return ""
            self._fill(keep=min(self._begin, self._at))

    def take(self, mark: str) -> None:
        self._at += len(mark)

    def parts(self, close: str, noun: str) -> Iterator[str]:
        """Yield the first character of each part between commas, and take the closing bracket."""
        is_first = True
        while (mark := self.next_mark()) != close:
            if not is_first:
                if mark != ",":
                    raise self.broken(f"a comma or the end of the {noun}")
                self.take(",")
                mark = self.next_mark()
            is_first = False
            yield mark
        self.take(close)

    def begin_value(self) -> None:
        self._begin = self._at

    def value(self) -> Any:
        while True:
            try:
                value, end = DECODER.raw_decode(self._text, self._at)
            except json.JSONDecodeError as error:
                is_near_end = error.pos >= len(self._text) - LONGEST_CUT_TOKEN
                may_be_cut = error.msg.startswith("Unterminated string") or is_near_end
                if not self._ended and may_be_cut:
                    self._fill(keep=min(self._begin, self._at))
                    continue
                raise self._broken_syntax(error) from None
            except (ValueError, RecursionError) as error:
                raise self._broken_syntax(error) from None
            if end == len(self._text) and not self._ended:
                self._fill(keep=min(self._begin, self._at))
                continue
            self._at = end
            return value

    def value_text(self) -> str:
        """The text of the value that was begun and taken."""
        return ascii_safe(self._text[self._begin : self._at])

    def checked(self, value: Any) -> Any:
        if self._odd_bytes:
            text = self._text[self._begin : self._at]
            odd = re.search("[\udc80-\udcff]", text)
            if odd is not None:
                byte = ord(odd.group()) - 0xDC00
                lines = text.count("\n", 0, odd.start())
                where = f"byte 0x{byte:02X}" + (f", {lines} lines further on" if lines else "")
                return BadRow(self.value_text(), Problem("", "text in UTF-8", where))
        problem = problem_in(value, self._text, self._begin, self._at)
        return value if problem is None else BadRow(self.value_text(), problem)

    def begins_list_of_objects(self) -> bool:
        if not self._text.startswith("[", self._at):
            return False
        here = self._at
        while True:
            match = _SPACE.match(self._text, here + 1)
            assert match is not None
            if match.end() < len(self._text) or self._ended:
                return self._text[match.end() : match.end() + 1] in ("{", "]")
            here -= self._fill(keep=min(self._begin, here))

    def broken(self, expected: str) -> BrokenFileError:
        got = repr(ascii_safe(self._text[self._at : self._at + 20]))
        if self._at >= len(self._text):
            got = "the end of the file"
        return BrokenFileError(Problem("", expected, got))

    def _broken_syntax(self, error: Exception) -> BrokenFileError:
        if isinstance(error, json.JSONDecodeError):
            self._at = max(error.pos, self._counted)
            if error.pos >= len(self._text.rstrip()):
                got = "the end of the file in the middle of it"
            elif error.msg.startswith("Unterminated string"):
                got = "the end of the file inside the text that begins here"
            else:
                reason = error.msg[:1].lower() + error.msg[1:]
                got = f"{ascii_safe(self._text[error.pos : error.pos + 20])!r} ({reason})"
            return BrokenFileError(Problem("", "JSON", got))
        return BrokenFileError(syntax_problem(error, ""))

    def _fill(self, keep: int) -> int:
        """Read on, at least doubling the part from ``keep``; returns how far places moved."""
        self._line += self._text.count("\n", self._counted, max(self._counted, keep))
        size = max(WINDOW, len(self._text) - keep)
        raw = self._handle.read(size)
        self._ended = len(raw) < size
        if self._encoding_of is not None and not raw.isascii():
            encoding = self._encoding_of(raw)
            self._encoding_of = None
            if encoding != "utf-8":
                self._decoder = codecs.getincrementaldecoder(encoding)()
        more = self._decoder.decode(raw, self._ended)
        if not more.isascii() and not self._odd_bytes:
            self._odd_bytes = not is_storable(more)
        self._text = self._text[keep:] + more
        self._at -= keep
        self._begin = max(0, self._begin - keep)
        self._counted = max(0, self._counted - keep)
        return keep
