"""Copies: local copies of input at a URL, for a run reads its data more than once.

    CACHE/inputs/HASH/answers.jsonl

The hash is that of the URL, and of size and tag of each file. So a changed file is copied anew, and
a command that was killed goes on with the copy it made. A copy lies there for a day after its last
use.
"""

import os
import shutil
import time
from collections.abc import Sequence
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from tempfile import mkdtemp
from uuid import uuid4

from ragstone.cache_folder import cache_folder
from ragstone.errors import InputError
from ragstone.private import private_folder

from .remote import Remote, RemoteFile

KEPT = 24 * 3600
"""Seconds for which a copy is kept after its last use."""
MOST_FILES = 1_000
"""Files of a folder; a data set has fewer, so it is a bucket that somebody named."""

_used: dict[Path, int] = {}
"""Open folders of copies, locked so that no other process deletes them."""


def copy_of(url: str) -> Path:
    """A local copy of the file or folder at a URL.

    Raises:
        NothingThere: There is nothing.
        InputError: A folder of more files than a data set has; as ``Remote``.
        StorageAway: The store does not answer, or not this user.
    """
    remote = Remote(url)
    files = remote.files()
    if len(files) > MOST_FILES:
        raise InputError(
            f"{remote.name} has more than {MOST_FILES:,} files. Name a file in it, or the folder "
            "of a data set."
        )
    folder = cache_folder() / "inputs"
    private_folder(folder)
    _forget_old(folder)
    place = folder / _hash(url, files)
    while not _use(place):
        _make(remote, files, place)
    return place / remote.file_name


def _make(remote: Remote, files: Sequence[RemoteFile], place: Path) -> None:
    """Copy the files, all or none."""
    unfinished = Path(mkdtemp(dir=place.parent))
    try:
        top = unfinished / remote.file_name
        for file in files:
            into = top / remote.below(file) if remote.below(file) else top
            if not into.resolve().is_relative_to(unfinished.resolve()):
                raise InputError(f"{remote.name} has a file {file.path} that lies outside of it.")
            into.parent.mkdir(parents=True, exist_ok=True)
            remote.fetch(file, into)
        try:
            unfinished.rename(place)
        except OSError:
            if not place.is_dir():
                raise
            # Another process made the same.
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def _hash(url: str, files: Sequence[RemoteFile]) -> str:
    facts = [f"{one.path}\0{one.size}\0{one.tag or uuid4()}" for one in files]
    return blake2b("\n".join([url, *facts]).encode(), digest_size=16).hexdigest()


def _use(place: Path) -> bool:
    """Note that a copy is used, and lock it; False if there is none."""
    try:
        if place not in _used:
            _used[place] = os.open(place, os.O_RDONLY)
            _lock(_used[place], alone=False)
        os.utime(place)
    except OSError:
        if (descriptor := _used.pop(place, None)) is not None:
            os.close(descriptor)
        return False
    return True


def _forget_old(folder: Path) -> None:
    """Delete the copies that nobody used for a day."""
    for place in folder.iterdir():
        with suppress(OSError):
            if place in _used or time.time() - place.stat().st_mtime < KEPT:
                continue
            descriptor = os.open(place, os.O_RDONLY)
            try:
                if _lock(descriptor, alone=True):
                    shutil.rmtree(place, ignore_errors=True)
            finally:
                os.close(descriptor)


def _lock(descriptor: int, *, alone: bool) -> bool:
    """Lock a copy; False if others have it, or on a system without such locks."""
    try:
        import fcntl
    except ImportError:
        return False
    try:
        fcntl.flock(descriptor, (fcntl.LOCK_EX if alone else fcntl.LOCK_SH) | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
