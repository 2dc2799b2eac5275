"""Files: bytes from disk, plain or gzip, and the lines of text in them.

What a disk can hand us instead of text becomes a fault with its line: other
encodings, binary data, archives that break off.
"""

import gzip
import io
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from ragstone.examples.problem import BadRow, Problem

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

GZIP_MAGIC = b"\x1f\x8b"
BUFFER = 1 << 20
HEAD = 8192


@dataclass
class Meter:
    """How many bytes of how many have been read, for a progress bar."""

    total: int
    done: int = 0
    _handle: BinaryIO | None = None

    @property
    def read(self) -> int:
        """Bytes on disk, so compressed ones where the file is compressed."""
        if self._handle is None or self._handle.closed:
            return min(self.done, self.total)
        return min(self.done + self._handle.tell(), self.total)

    @contextmanager
    def following(self, handle: BinaryIO) -> Iterator[None]:
        """Count what is read from the handle."""
        self._handle = handle
        try:
            yield
        finally:
            self.done += handle.tell()
            self._handle = None


class BrokenFileError(Exception):
    """The bytes end early or make no sense; ``problem`` says how."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        super().__init__(problem.got)


@contextmanager
def opened(path: Path, meter: Meter) -> Iterator[io.BufferedReader]:
    """The bytes of the file, unpacked if it is gzip, whatever its name.

    Raises:
        BrokenFileError: While reading, where the archive is cut off or corrupt.
    """
    try:
        with path.open("rb") as disk, meter.following(disk):
            packed = disk.peek(2)[:2] == GZIP_MAGIC
            if path.suffix == ".gz" and not packed and disk.peek(1):
                raise BrokenFileError(
                    Problem("", "a gzip archive", "what is none, in spite of its name")
                )
            if packed:
                with gzip.GzipFile(fileobj=disk) as unpacked:
                    yield io.BufferedReader(_Unpacked(unpacked), BUFFER)
            else:
                yield disk
    except EOFError:
        raise BrokenFileError(Problem("", "a whole gzip archive", "one that is cut off")) from None
    except (zlib.error, gzip.BadGzipFile) as error:
        raise BrokenFileError(
            Problem("", "a whole gzip archive", f"a corrupt one ({error})")
        ) from None
    except OSError as error:
        reason = error.strerror or str(error)
        raise BrokenFileError(Problem("", "a readable file", f"the error {reason!r}")) from None


class _Unpacked(io.RawIOBase):
    """The unpacked bytes as they come, so that all before a cut are handed out."""

    def __init__(self, packed: gzip.GzipFile) -> None:
        self._packed = packed

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "WriteableBuffer") -> int:
        view = memoryview(buffer)
        part = self._packed.read1(len(view))
        view[: len(part)] = part
        return len(part)


def text_lines(path: Path, meter: Meter) -> Iterator[tuple[int | None, str | BadRow]]:
    """Number and text of each line, with its line end; a bad row where it is no UTF-8.

    The number is None where the fault is the whole file's.
    """
    number = 0
    try:
        with opened(path, meter) as handle:
            if (problem := not_text(handle.peek(HEAD)[:HEAD])) is not None:
                raise BrokenFileError(problem)
            for raw in handle:
                number += 1
                if number == 1 and raw.startswith(b"\xef\xbb\xbf"):
                    raw = raw[3:]
                try:
                    yield number, raw.decode()
                except UnicodeDecodeError as error:
                    text = raw.decode("utf-8", "backslashreplace").rstrip("\r\n")
                    yield number, BadRow(text, (not_utf8(raw[error.start], error.start + 1),))
    except BrokenFileError as error:
        yield number + 1 if number else None, BadRow("", (error.problem,))


def first_text(path: Path, size: int = HEAD) -> str:
    """The beginning of a file as far as it is text, to tell what kind it is."""
    try:
        with opened(path, Meter(0)) as handle:
            return handle.read(size).decode("utf-8-sig", "ignore")
    except BrokenFileError:
        return ""


def not_utf8(byte: int, column: int) -> Problem:
    """A byte that starts no UTF-8 character, as Latin-1 files have them."""
    return Problem("", "text in UTF-8", f"byte 0x{byte:02X} at byte {column} of the line")


def not_text(head: bytes) -> Problem | None:
    """What the first bytes of a file show it to be, if not text in UTF-8."""
    if head.startswith((b"\xff\xfe\x00\x00", b"\x00\x00\xfe\xff")):
        return Problem("", "text in UTF-8", "text in UTF-32")
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return Problem("", "text in UTF-8", f"text in UTF-16 (it begins with 0x{head[0]:02X})")
    if b"\0" not in head:
        return None
    even, odd = head[::2].count(0), head[1::2].count(0)
    if (even == 0) != (odd == 0) and even + odd > len(head) // 4:
        return Problem("", "text in UTF-8", "text in UTF-16")
    if even + odd > len(head) // 10 or not _decodes(head):
        return Problem("", "text in UTF-8", "a binary file")
    return None


def _decodes(head: bytes) -> bool:
    try:
        head.decode()
    except UnicodeDecodeError as error:
        return error.start > len(head) - 4
    return True
