"""Locks and paths of a run folder: a single process writes to it."""

import os
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ragstone.core.errors import RunConflict
from ragstone.core.files import RunEntry, private_folder
from ragstone.core.messages import argument
from ragstone.judgements import KINDS

from .checksums import UNFINISHED


def place(name: str) -> str:
    """The path of a table's folder in a run's folder."""
    return f"{RunEntry.JUDGEMENTS}/{name}" if name == "ledger" or name in KINDS else name


OUT = argument("out", "FOLDER")
TRIES, PAUSE = 5, 0.02
"""Tries to lock, and seconds between them, for ``is_held`` has the lock for a moment."""


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Lock the folder against other processes that would write to it.

    Raises:
        RunConflict: Another process holds the lock, or this is not the folder of a run, in which
            case nothing is created in it.
    """
    if folder.exists() and not folder.is_dir():
        raise RunConflict(f"{folder} is a file. Name a folder with {OUT}.")
    try:
        private_folder(folder)
    except (FileExistsError, NotADirectoryError) as error:
        raise RunConflict(f"{folder} is inside a file. Name a folder with {OUT}.") from error
    is_run = any((folder / name).exists() for name in (RunEntry.MANIFEST, RunEntry.READY))
    if not is_run and any(not _before_a_run(entry) for entry in folder.iterdir()):
        raise RunConflict(
            f"{folder} is not empty and holds no run. Name another folder with {OUT}."
        )
    descriptor = _opened(folder / RunEntry.LOCK)
    try:
        if not _lock(descriptor):
            raise RunConflict(
                f"Another run is writing into {folder}. Wait for it, or name another "
                f"folder with {OUT}."
            )
        yield
    finally:
        os.close(descriptor)


def is_held(folder: Path) -> bool | None:
    """Return whether a process writes to the folder; None where that cannot be told.

    Such as on a system without such locks, or of the run of another user.
    """
    try:
        import fcntl
    except ImportError:
        return None
    try:
        descriptor = os.open(folder / RunEntry.LOCK, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except FileNotFoundError:
        return False
    except OSError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return None
    finally:
        os.close(descriptor)
    return False


def _before_a_run(entry: Path) -> bool:
    """Return whether an interrupted or damaged run may have left this entry.

    Or of a damaged one, of which what cannot be made anew was left.
    """
    if entry.name == RunEntry.PARTS:
        return entry.is_dir() and not entry.is_symlink() and not any(entry.iterdir())
    irreplaceable = entry.name.startswith(
        (RunEntry.JOURNAL, RunEntry.CORRECTIONS, RunEntry.BATCHES)
    )
    return irreplaceable or entry.name in (RunEntry.LOCK, RunEntry.MANIFEST + UNFINISHED)


def _opened(lock: Path) -> int:
    """Open the lock file without truncating it or following a symbolic link."""
    flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    try:
        descriptor = os.open(lock, flags, 0o600)
    except OSError as error:
        if not lock.is_symlink() and not lock.is_dir():
            raise
        raise RunConflict(f"{lock} is a link or a folder, not a plain file: {_NOT_OURS}") from error
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        return descriptor
    os.close(descriptor)
    raise RunConflict(f"{lock} is not a plain file: {_NOT_OURS}")


_NOT_OURS = f"no run made it. Delete it, or name another folder with {OUT}."


def _lock(descriptor: int) -> bool:
    try:
        import fcntl
    except ImportError:
        return True
    for tries_left in reversed(range(TRIES)):
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            if tries_left:
                time.sleep(PAUSE)
        else:
            return True
    return False
