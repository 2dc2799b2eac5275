"""Lines: a JSON Lines file in pieces of consecutive lines, each of which is read without the rest.

A piece ends after so many records or bytes, which follows from the file alone. Where it ends is a
place at which the file can be gone on with.
"""

import io
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

import numpy as np

from .file_formats.json_documents import parsed
from .json_text import BadRow, Problem
from .sources import Row
from .text_files import (
    BUFFER,
    HEAD,
    WINDOWS,
    BrokenFileError,
    Meter,
    encoding_of,
    line_text,
    opened_text,
)

# Long enough not to be a character that was cut off.
NOT_UTF8 = b"\xff" * 4
# What some programs begin a file in UTF-8 with.
MARK = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class LinePlace:
    """A place between two lines of a file, with the records, lines and bytes before it.

    ``encoding`` is empty while all before it is ASCII.
    """

    records: int
    lines: int
    bytes: int
    encoding: str = ""


START = LinePlace(0, 0, 0)


@dataclass(frozen=True)
class Lines:
    """A piece of a file.

    Args:
        text: The bytes of its lines, unpacked.
        broken: What is wrong with the file after these lines; then nothing follows.
        plain: True if the bytes stand in the file as they are here.
    """

    name: str
    text: bytes
    start: LinePlace
    end: LinePlace
    broken: Problem | None = None
    plain: bool = False

    def __getstate__(self) -> dict[str, Any]:
        """Return the bytes as an array, which travels between processes without copies."""
        return {**self.__dict__, "text": np.frombuffer(self.text, np.uint8)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, text=state["text"].tobytes())

    def without_bytes(self) -> Self:
        """Return the piece for those who read its bytes from the file."""
        return replace(self, text=b"")

    def with_bytes(self, text: bytes) -> Self:
        """Return the piece with the bytes between ``start`` and ``end`` of the file."""
        return replace(self, text=_bare(text) if self.start == START else text)

    def rows(self, meter: Meter) -> Iterator[Row]:  # noqa: ARG002
        return parsed(self._texts())

    def _texts(self) -> Iterator[tuple[int | None, str | BadRow]]:
        before, last = self.start.lines, self.end.lines
        for number, raw in enumerate(io.BytesIO(self.text), before + 1):
            yield number, line_text(raw, self.end.encoding or "utf-8")
        if self.broken is not None:
            yield last + 1 if last else None, BadRow("", self.broken)


@dataclass(frozen=True, slots=True)
class PieceSize:
    """The most records and bytes of a piece, unless one record alone has more bytes."""

    records: int
    bytes: int


def pieces(
    path: Path, name: str, meter: Meter, size: PieceSize, start: LinePlace = START
) -> Iterator[Lines]:
    """Yield the pieces of a file from a place on.

    The meter counts what is read, and is told if the file is in Windows-1252.
    """
    here, encoding, plain = start, start.encoding, False
    if encoding == WINDOWS:
        encoding_of(path, NOT_UTF8, meter)
    held: list[bytes] = []
    records = held_bytes = 0

    def taken(broken: Problem | None = None) -> Lines:
        nonlocal here, held, records, held_bytes
        lines = here.lines + len(held)
        end = LinePlace(here.records + records, lines, here.bytes + held_bytes, encoding)
        piece = Lines(name, b"", here, end, broken, plain).with_bytes(b"".join(held))
        here, held, records, held_bytes = end, [], 0, 0
        return piece

    try:
        with opened_text(path, meter) as handle:
            plain = isinstance(handle.raw, io.FileIO)
            _pass_over(handle, start.bytes)
            for raw in handle:
                after = encoding
                if not encoding and not raw.isascii():
                    after = encoding_of(path, _bare(raw), meter)
                is_first = here == START and not held
                is_blank = _blank(_bare(raw) if is_first else raw, after)
                is_full = records == size.records or held_bytes + len(raw) > size.bytes
                if records and is_full:
                    yield taken()
                encoding = after
                held.append(raw)
                records += not is_blank
                held_bytes += len(raw)
    except BrokenFileError as error:
        yield taken(error.problem)
        return
    if held:
        yield taken()


def _pass_over(handle: io.BufferedReader, size: int) -> None:
    if handle.seekable():
        handle.seek(size)
    while size > 0 and not handle.seekable():
        size -= len(handle.read(min(size, BUFFER))) or size


def _blank(raw: bytes, encoding: str) -> bool:
    if raw.startswith(b"{"):  # As nearly all lines do.
        return False
    if raw.isspace():
        return True
    return len(raw) < HEAD and not raw.decode(encoding or "utf-8", errors="replace").strip()


def _bare(text: bytes) -> bytes:
    return text.removeprefix(MARK)
