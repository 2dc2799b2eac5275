"""Streams: standard input, pipes, process substitution and URLs, copied to a file for rereading.

A run reads its data more than once, and Parquet from its end. A stream can be read once.
"""

import atexit
import os
import shutil
import stat
from io import FileIO
from os import PathLike, fspath
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock

from ragstone.core.errors import DataError, Fault
from ragstone.core.remote_files import copy_of, is_url

STDIN = "-"
"""What names standard input; a file of this name is ``./-``, given by its whole path."""

PIECE = 1 << 20

_kept: dict[tuple[int, int], Path] = {}
_lock = Lock()


def on_disk(path: str | PathLike[str]) -> Path:
    """The file at a path; for a stream or a URL, a file with its content.

    That of a stream is kept until the process ends. A stream that has been read to its
    end gives the same file again. A path that does not exist is returned unchanged.

    Raises:
        DataError: A device, or standard input that is closed.
        InputError: What is at a URL cannot be had.
    """
    name = fspath(path)
    if is_url(name):
        return copy_of(name)
    try:
        status = os.fstat(0) if name == STDIN else Path(name).stat()
    except (OSError, ValueError):
        if name == STDIN:
            raise _fault("standard input", "a closed one") from None
        return Path(name)
    if name != STDIN:
        if stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode):
            return Path(name)
        if not _may_end(status):
            raise _fault(name, "a device")
    with _lock:
        key = (status.st_dev, status.st_ino)
        if key not in _kept or not stat.S_ISCHR(status.st_mode):
            _kept[key] = _keep(name, _kept.get(key))
        return _kept[key]


def _keep(name: str, known: Path | None) -> Path:
    """Read a stream to its end; one that is known only if somebody writes into it again."""
    waiting = 0 if known is None else os.O_NONBLOCK
    with FileIO(0 if name == STDIN else os.open(name, os.O_RDONLY | waiting), "rb",
                closefd=name != STDIN) as stream:  # fmt: skip
        first = stream.read(PIECE)
        if known is not None and first == b"":
            return known
        os.set_blocking(stream.fileno(), True)
        folder = TemporaryDirectory(prefix="ragstone-")
        atexit.register(folder.cleanup)
        file = Path(folder.name) / ("stdin" if name == STDIN else Path(name).name)
        with file.open("wb") as kept:
            kept.write(first or b"")
            shutil.copyfileobj(stream, kept, PIECE)
    return file


def _may_end(status: os.stat_result) -> bool:
    """Whether a stream is one that somebody fills; a device such as /dev/zero never ends."""
    if stat.S_ISFIFO(status.st_mode) or stat.S_ISSOCK(status.st_mode):
        return True
    return stat.S_ISCHR(status.st_mode) and os.path.samestat(status, os.fstat(0))


def _fault(name: str, got: str) -> DataError:
    return DataError([Fault(name, None, "", "a file, a folder or a pipe", got)])
