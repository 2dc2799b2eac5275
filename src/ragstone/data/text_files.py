"""Text files: bytes and lines of plain or gzip files, in UTF-8 or in Windows-1252.

Anything but text becomes a fault with its line: other encodings, binary data, archives that are
cut off or unpack to an enormous size.

Excel and many programs on Windows write Windows-1252. Nearly any bytes can be read in this way,
including a Czech, Russian or Japanese text or a damaged file, but come out garbled. A text is
therefore taken for Windows-1252 only if it could be nothing else: no part of it is UTF-8,
symbols appear only where symbols belong, and its letters are few or belong to a single language.
"""

import gzip
import io
import os
import re
import string
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from ragstone.core.errors import InputError

from .json_text import BadRow, Problem

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer


WINDOWS = "cp1252"

# The letters beyond ASCII of French, German, Spanish, Portuguese, Italian, Catalan, Dutch,
# Swedish, Danish and Norwegian, Icelandic, Faroese, Estonian and Finnish.
LANGUAGES = tuple(
    frozenset(letters)
    for letters in (
        "àâæçèéêëîïôœùûü", "äöüß", "áéíñóúüªº", "àáâãçéêíóôõúüªº", "àèéìíîòóùúªº", "àçèéíïòóúü",
        "áèéëïóöü", "åäöéüà", "æøåäéöóòôü", "áðéíóúýþæö", "áðíóúýæø", "äöüõšž", "äöåšž",
    )
)  # fmt: skip

# Up to this share of its letters, foreign ones are taken for those of names, and the text's
# language is not checked.
FOREIGN = 0.01

# The share of a language's letters among those beyond ASCII.
OF_ONE_LANGUAGE = 0.9

# The share of places beyond ASCII that may look odd, as misprints do.
ODD = 0.02

SAMPLE, LONGEST_WORD = 3, 30

_ASCII_LETTERS = string.ascii_letters.encode()
_UNUSED = re.compile(rb"[\x00-\x08\x0e-\x1f\x81\x8d\x8f\x90\x9d]")
_UTF8 = re.compile(
    rb"[\xc2-\xdf][\x80-\xbf]|\xe0[\xa0-\xbf][\x80-\xbf]|[\xe1-\xef][\x80-\xbf]{2}"
    rb"|\xf0[\x90-\xbf][\x80-\xbf]{2}|[\xf1-\xf3][\x80-\xbf]{3}|\xf4[\x80-\x8f][\x80-\xbf]{2}"
)
# The É in “CAFÉ” makes UTF-8 of the quotation mark behind it, and so do é and » in French.
_BEFORE_A_MARK = re.compile(rb"(?<=[A-Za-z])[\xc6-\xf4][\x85\x91-\x94\x96\x97\xa0\xab\xbb]+")

_LETTER = "A-Za-zªºÀ-ÖØ-öø-ÿŠŽšžŒœŸ"
_MARK = "‘’“”–—…•·«»´°®™§×\xa0\xad"
_BEYOND = re.compile("[^\x00-\x7f]+")
_ODD = re.compile(
    f"[{_LETTER}][^\x00-\x7f{_LETTER}{_MARK}][{_LETTER}]"  # a symbol inside a word: Polish
    "|[A-Za-z][‚„ˆ˜¿¡]"  # what opens, behind a letter: DOS
    "|[a-z][À-ÖØ-ÞŠŽŒŸ]"  # a capital behind a small letter: Macintosh
    "|[À-ÖØ-öø-ÿŠŽšžŒœŸ]{4}"  # a word of them: Cyrillic, Greek
)
_WORD = re.compile(r"[\w\x80-\uffff]+")


def words_of_windows(lines: Iterable[bytes]) -> tuple[str, ...] | None:
    """Return some words beyond ASCII of a text in Windows-1252; None if it may be in another.

    >>> words_of_windows(["Der Rat in Zürich tagte.".encode("cp1252")])
    ('Zürich',)
    >>> words_of_windows(["Příliš žluťoučký kůň".encode("cp1250")]) is None
    True
    """
    ascii_letters = places = odd = 0
    letters: Counter[str] = Counter()
    words: dict[str, None] = {}
    for line in lines:
        if _UNUSED.search(line) or _UTF8.search(_BEFORE_A_MARK.sub(b" ", line)):
            return None
        ascii_letters += len(line) - len(line.translate(None, _ASCII_LETTERS))
        if line.isascii():
            continue
        text = line.decode(WINDOWS)
        places += len(_BEYOND.findall(text))
        odd += len(_ODD.findall(text))
        letters.update(
            letter for letter in text.lower() if letter.isalpha() and not letter.isascii()
        )
        if len(words) < SAMPLE:
            words_here = (word for word in _WORD.findall(text) if not word.isascii())
            words.update(dict.fromkeys(word[:LONGEST_WORD] for word in words_here))
    total = letters.total()
    known = max(sum(letters[letter] for letter in language) for language in LANGUAGES)
    foreign = total > FOREIGN * (total + ascii_letters) and known < OF_ONE_LANGUAGE * total
    if foreign or odd > ODD * places:
        return None
    return tuple(sorted(words, key=lambda word: len(word) == 1)[:SAMPLE])


GZIP_MAGIC = b"\x1f\x8b"
BUFFER = 1 << 20
HEAD = 8192
MB = 1 << 20
UNPACKED_IN_ANY_CASE = 256 * MB
TIMES_PACKED = 100
MAX_UNPACKED = "RAGSTONE_MAX_UNPACKED"
SIZE = re.compile(r"([0-9]{1,15})([BKMGT]?)B?", re.IGNORECASE)


@dataclass
class Meter:
    """Counts the bytes read and the bytes in total, for a progress bar.

    ``windows`` has the files that were read as Windows-1252, each with some words of it; if
    None, other bytes than UTF-8 are a fault.
    """

    total: int = 0
    done: int = 0
    windows: dict[Path, tuple[str, ...]] | None = field(default_factory=dict)
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
def opened(path: Path, meter: Meter) -> Iterator["io.BufferedReader[Any]"]:
    """Open the file and unpack it if it is gzip, whatever its name.

    Raises:
        BrokenFileError: While reading, where the archive is cut off or corrupt.
    """
    try:
        with io.BufferedReader(path.open("rb", buffering=0), BUFFER) as disk, meter.following(disk):
            packed = disk.peek(2)[:2] == GZIP_MAGIC
            if path.suffix == ".gz" and not packed and disk.peek(1):
                problem = Problem("", "a gzip archive", "what is none, in spite of its name")
                raise BrokenFileError(problem)
            if packed:
                most = most_unpacked(os.fstat(disk.fileno()).st_size)
                with gzip.GzipFile(fileobj=disk) as unpacked:
                    yield io.BufferedReader(_Unpacked(unpacked, most), BUFFER)
            else:
                yield disk
    except EOFError:
        raise BrokenFileError(Problem("", "a whole gzip archive", "one that is cut off")) from None
    except (zlib.error, gzip.BadGzipFile) as error:
        problem = Problem("", "a whole gzip archive", f"a corrupt one ({error})")
        raise BrokenFileError(problem) from None
    except OSError as error:
        reason = error.strerror or str(error)
        raise BrokenFileError(Problem("", "a readable file", f"the error {reason!r}")) from None


def most_unpacked(packed: int) -> int:
    """Return the largest size to which a compressed file of a given size may unpack.

    It is a hundred times as large, and at least 256 MB: text packs to a tenth or a twentieth,
    and what unpacks to a thousand times its size is made to fill a machine.
    ``RAGSTONE_MAX_UNPACKED``, such as ``10G``, raises it.
    """
    size_text = os.environ.get(MAX_UNPACKED, "").strip()
    if not size_text:
        return max(UNPACKED_IN_ANY_CASE, TIMES_PACKED * packed)
    size = SIZE.fullmatch(size_text)
    if size is None:
        raise InputError(f"{MAX_UNPACKED} is a size such as 500M or 10G, not {size_text!r}.")
    return int(size[1]) << 10 * "BKMGT".index((size[2] or "B").upper())


class _Unpacked(io.RawIOBase):
    """The unpacked bytes as they come, so that all before a cut are handed out."""

    def __init__(self, packed: gzip.GzipFile, most: int) -> None:
        self._packed = packed
        self._most = most
        self._left = most

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "WriteableBuffer") -> int:
        view = memoryview(buffer)
        part = self._packed.read1(len(view))
        view[: len(part)] = part
        self._left -= len(part)
        if self._left < 0:
            most = f"at most {self._most / MB:,.0f} MB unpacked"
            problem = Problem("", f"{most} ({MAX_UNPACKED}=10G allows 10 GB)", "more")
            raise BrokenFileError(problem)
        return len(part)


@contextmanager
def opened_text(path: Path, meter: Meter) -> Iterator["io.BufferedReader[Any]"]:
    """Open a file as ``opened`` does; one that is no text is broken, too."""
    with opened(path, meter) as handle:
        if (problem := not_text(handle.peek(HEAD)[:HEAD])) is not None:
            raise BrokenFileError(problem)
        yield handle


def text_lines(path: Path, meter: Meter) -> Iterator[tuple[int | None, str | BadRow]]:
    """Yield number and text of each line, with its line end; a ``BadRow`` if it is no text.

    The text is UTF-8, or all of it Windows-1252, which the meter tells. The number is None if the
    fault concerns the whole file.
    """
    number = 0
    encoding: str | None = None
    try:
        with opened_text(path, meter) as handle:
            for raw in handle:
                number += 1
                if number == 1 and raw.startswith(b"\xef\xbb\xbf"):
                    raw = raw[3:]
                if encoding is None and not raw.isascii():
                    encoding = encoding_of(path, raw, meter)
                yield number, line_text(raw, encoding or "utf-8")
    except BrokenFileError as error:
        yield number + 1 if number else None, BadRow("", error.problem)


def line_text(raw: bytes, encoding: str) -> str | BadRow:
    """Decode a line, or return what keeps it from being text."""
    try:
        return raw.decode(encoding)
    except UnicodeDecodeError as error:
        text = raw.decode("utf-8", "backslashreplace").rstrip("\r\n")
        where = f"byte 0x{raw[error.start]:02X} at byte {error.start + 1} of the line"
        return BadRow(text, Problem("", "text in UTF-8", where))


def encoding_of(path: Path, beyond_ascii: bytes, meter: Meter) -> str:
    """Return UTF-8 or Windows-1252, by the first piece that is not ASCII, else by the whole file.

    A file in Windows-1252 is told to the meter.
    """
    if meter.windows is None or _decodes(beyond_ascii):
        return "utf-8"
    try:
        with opened(path, Meter()) as handle:
            words = words_of_windows(iter(lambda: handle.readline(BUFFER), b""))
    except BrokenFileError:
        return "utf-8"
    if words is None:
        return "utf-8"
    meter.windows[path] = words
    return WINDOWS


def first_text(path: Path, size: int = HEAD) -> str:
    """Return the beginning of a file as far as it is text, to recognise its kind."""
    try:
        with opened(path, Meter()) as handle:
            return handle.read(size).decode("utf-8-sig", "ignore")
    except BrokenFileError:
        return ""


def binary_format(path: Path) -> str | None:
    """Recognise a Parquet or Arrow file by its first bytes."""
    try:
        with opened(path, Meter()) as handle:
            head = handle.read(4)
    except BrokenFileError:
        return None
    return {b"PAR1": "parquet", b"\xff\xff\xff\xff": "huggingface"}.get(head)


def not_text(head: bytes) -> Problem | None:
    """Recognise by its first bytes a file that is no UTF-8 text."""
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
