"""Remote files: what lies at a URL such as ``s3://…`` is read, written and copied through fsspec.

A run reads its data more than once, so input at a URL is copied to disk:

    CACHE/inputs/HASH/answers.jsonl

The hash covers the URL, and size and tag of each file. A changed file is therefore copied anew,
and a command that was killed continues with the copy it made. A copy is deleted a day after its
last use. Credentials come from the environment and fsspec's configuration, never from the URL.
"""

import os
import re
import shutil
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from pathlib import Path
from tempfile import mkdtemp
from typing import Any
from uuid import uuid4

from .errors import (
    InputError,
    MissingDependency,
    NothingThere,
    RagstoneError,
    StorageAway,
    room_for,
)
from .files import cache_folder, private_folder

SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]{0,30})://")
# Schemes in which a container stands before the ``@``, not a user.
CONTAINERS = ("abfs", "abfss", "az", "adl", "wasb", "wasbs")


def is_url(text: str) -> bool:
    """Return True for a URL: ``s3://bucket/key``, not ``s3:/folder``."""
    return SCHEME.match(text) is not None


def shown_url(url: str) -> str:
    """Return the URL for messages and ``run.json``: without a query, which may be a signature."""
    whole, query, _ = url.partition("?")
    scheme, _, rest = whole.partition("://")
    before, at, _ = rest.partition("/")[0].rpartition("@")
    if at and (":" in before or scheme.lower() not in CONTAINERS):
        raise InputError(
            f"There are credentials in the {scheme}:// URL. Leave them out: they are taken from "
            "the environment, such as AWS_ACCESS_KEY_ID, or the configuration of fsspec."
        )
    return f"{whole}?…" if query else whole


# The extra that reads a scheme; all of them are object stores.
EXTRAS = {
    "s3": "s3", "s3a": "s3", "gs": "gs", "gcs": "gs",
    "az": "az", "abfs": "az", "abfss": "az", "adl": "az",
}  # fmt: skip

# The end of the name of a file that is being written, where a store has no other way.
UNFINISHED = ".unfinished"

# What a store says of a file that changes with its content, the best first.
TAGS = ("ETag", "etag", "md5Hash", "generation", "LastModified", "last_modified", "mtime",
        "created")  # fmt: skip

NOT_ALLOWED = ("Forbidden", "AccessDenied", "Access Denied", "InvalidAccessKeyId")
# What a web server answers where there is no such file.
NOT_THERE = (404, 410)
# What Azure says where others have no file.
NO_CONTAINER = "ResourceNotFoundError"

NO_KEYS = ("NoCredentialsError", "CredentialRetrievalError", "DefaultCredentialsError")


@dataclass(frozen=True, slots=True)
class RemoteFile:
    """A file as its store lists it.

    ``size`` is in bytes, if known. ``tag`` changes with the content; it is empty if the store
    has none.
    """

    path: str
    size: int | None
    tag: str


class Remote:
    """A place at a URL: a file, or a folder of files, whose names are relative to it.

    Raises:
        MissingDependency: The package for its scheme is not installed.
        InputError: No package knows its scheme, or there are credentials in it.
        NothingThere: By any method that reads: there is nothing.
        StorageAway: By any method: the store does not answer, or not this user.
    """

    def __init__(self, url: str) -> None:
        self.url = url
        self.name = shown_url(url)
        self._fs, self._root = self._opened()

    @cached_property
    def file_name(self) -> str:
        """The last part of its path, without a query."""
        return self._root.partition("?")[0].rstrip("/").rpartition("/")[2]

    def files(self) -> list[RemoteFile]:
        """Return all files at or below it, in the order of their paths."""
        with self._said("read"):
            self._fs.invalidate_cache()
            facts = self._fs.info(self._root)
            if facts["type"] == "file":
                return [_file(facts)]
            entries = self._fs.find(self._root, detail=True)
        return [_file(entries[path]) for path in sorted(entries) if entries[path]["type"] == "file"]

    def is_file(self) -> bool:
        """Return True for a file, False for a folder."""
        with self._said("read"):
            return bool(self._fs.info(self._root)["type"] == "file")

    def below(self, file: RemoteFile) -> str:
        """Return the path of a file of this folder, relative to it."""
        return file.path[len(self._root) :].lstrip("/")

    def fetch(self, file: RemoteFile, into: Path) -> None:
        """Copy a file to the disk, and check that it is whole."""
        with self._said("read"), room_for(into):
            self._fs.get_file(file.path, str(into))
        size = into.stat().st_size
        if file.size is not None and size != file.size:
            raise StorageAway(
                f"{self.name}: {size:,} of {file.size:,} bytes came. Run the same command again."
            )

    def at(self, name: str) -> RemoteFile | None:
        """Return a file of this folder; None if it is not there."""
        path = self._path(name)
        with self._said("read"):
            self._fs.invalidate_cache()
            return _file(self._fs.info(path)) if self._fs.exists(path) else None

    def read(self, name: str) -> bytes:
        """Return the content of a small file of this folder."""
        with self._said("read"):
            return bytes(self._fs.cat_file(self._path(name)))

    def put(self, name: str, content: bytes | Path) -> None:
        """Write a file of this folder, completely or not at all."""
        path = self._path(name)
        with self._said("write"):
            # An object store has a file when it is whole; others have it while it is written.
            beside = path if self._whole else f"{path}{UNFINISHED}"
            self._make_folder(path)
            if isinstance(content, bytes):
                self._fs.pipe_file(beside, content)
            else:
                self._fs.put_file(str(content), beside)
            if beside != path:
                self._fs.mv(beside, path)

    def create(self, name: str, content: bytes) -> bool:
        """Write a file of this folder unless it is there; False if it is."""
        if self.at(name) is not None:
            return False
        with self._said("write"):
            self._make_folder(self._path(name))
            try:
                self._fs.pipe_file(self._path(name), content, mode="create")
            except FileExistsError:
                return False
        return True

    def remove(self, places: Iterable[str]) -> None:
        """Delete files of this folder."""
        paths = [self._path(name) for name in places]
        with self._said("write"):
            for path in paths:
                with suppress(FileNotFoundError):
                    self._fs.rm_file(path)

    def remove_folder(self, name: str) -> None:
        """Delete an empty folder of this one, where a store has folders."""
        if not self._whole:
            with self._said("write"), suppress(FileNotFoundError):
                self._fs.rmdir(self._path(name))

    @property
    def _whole(self) -> bool:
        names = self._fs.protocol
        return not EXTRAS.keys().isdisjoint([names] if isinstance(names, str) else names)

    def _make_folder(self, path: str) -> None:
        if not self._whole:
            self._fs.makedirs(path.rpartition("/")[0], exist_ok=True)

    def _path(self, name: str) -> str:
        return f"{self._root.rstrip('/')}/{name}"

    def _opened(self) -> tuple[Any, str]:
        scheme = SCHEME.match(self.url)
        kind = scheme[1].lower() if scheme else ""
        try:
            from fsspec.core import url_to_fs

            with self._said("open"):
                return url_to_fs(self.url)  # type: ignore[no-any-return]
        except ImportError as error:
            if kind in EXTRAS:
                raise MissingDependency(f"{kind}://", EXTRAS[kind]) from error
            raise InputError(
                f"{self.name} needs fsspec and a package that opens {kind}:// for it: {error}. For "
                f"{', '.join(dict.fromkeys(f'{extra}://' for extra in EXTRAS.values()))} there are "
                "extras, such as pip install 'ragstone[s3]'."
            ) from error

    @contextmanager
    def _said(self, doing: str) -> Iterator[None]:
        try:
            yield
        except (RagstoneError, ImportError):
            raise
        except FileNotFoundError as error:
            cause = error.__cause__
            if isinstance(cause, Exception) and _is_fault(cause):
                raise self._fault(doing, cause) from error
            if doing == "write" and self._whole:
                raise self._no_bucket() from error
            raise NothingThere(f"There is nothing at {self.name}.") from error
        except Exception as error:
            # Each store has errors of its own, which have no class in common.
            raise self._fault(doing, error) from error

    def _fault(self, doing: str, error: Exception) -> InputError:
        kind, words = type(error).__name__, str(error)
        if kind == NO_CONTAINER and doing == "write":
            return self._no_bucket()
        if kind == "ValueError" and doing == "open":
            return InputError(
                f"{self.name}: nothing reads this kind of URL. Give a path, or a URL that fsspec "
                "reads, such as s3://, gs://, az:// or https://."
            )
        if isinstance(error, OSError) and any(word in words for word in ("No space", "Disk quota")):
            room = "disk for a copy" if doing == "read" else "store"
            return StorageAway(
                f"{self.name}: there is no room on the {room}. Make room; then run the same "
                "command again."
            )
        if kind in NO_KEYS:
            return StorageAway(
                f"{self.name} cannot be {_past(doing)}: there are no credentials. Set those of "
                "the store, such as AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY."
            )
        if isinstance(error, PermissionError) or any(word in words for word in NOT_ALLOWED):
            return StorageAway(
                f"{self.name} cannot be {_past(doing)}: the store refuses it to these credentials."
            )
        return StorageAway(
            f"{self.name} cannot be {_past(doing)}: the store does not answer as it should "
            f"({kind}). Look at the network and the address of the store; then run the same "
            "command again."
        )

    def _no_bucket(self) -> StorageAway:
        return StorageAway(
            f"{self.name} cannot be written: there is no such bucket or container. Make it, or "
            "name another."
        )


def _is_fault(cause: Exception) -> bool:
    """Return True for a fault of a web server, which fsspec takes for a missing file."""
    status = getattr(cause, "status", None)
    away = isinstance(cause, OSError) or "Disconnected" in type(cause).__name__
    return away or (status is not None and status not in NOT_THERE)


def _past(doing: str) -> str:
    return {"read": "read", "open": "opened", "write": "written"}[doing]


def _file(facts: dict[str, Any]) -> RemoteFile:
    tag = next((f"{name}={facts[name]}" for name in TAGS if facts.get(name)), "")
    size = facts.get("size")
    return RemoteFile(facts["name"], None if size is None else int(size), tag)


# Seconds for which a copy is kept after its last use.
KEPT = 24 * 3600
# Files of a folder; a data set has fewer, so it is a bucket that somebody named.
MOST_FILES = 1_000

# Open folders of copies, locked so that no other process deletes them.
_used: dict[Path, int] = {}


def copy_of(url: str) -> Path:
    """Return a local copy of the file or folder at a URL.

    Raises:
        InputError: A folder of more files than a data set has; as ``Remote``.
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
    folder_of_copy = folder / _hash(url, files)
    while not _use(folder_of_copy):
        _make(remote, files, folder_of_copy)
    return folder_of_copy / remote.file_name


def _make(remote: Remote, files: Sequence[RemoteFile], target: Path) -> None:
    unfinished = Path(mkdtemp(dir=target.parent))
    try:
        top = unfinished / remote.file_name
        for file in files:
            into = top / remote.below(file) if remote.below(file) else top
            if not into.resolve().is_relative_to(unfinished.resolve()):
                raise InputError(f"{remote.name} has a file {file.path} that lies outside of it.")
            into.parent.mkdir(parents=True, exist_ok=True)
            remote.fetch(file, into)
        try:
            unfinished.rename(target)
        except OSError:
            if not target.is_dir():
                raise
            # Another process made the same.
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def _hash(url: str, files: Sequence[RemoteFile]) -> str:
    facts = [f"{file.path}\0{file.size}\0{file.tag or uuid4()}" for file in files]
    return blake2b("\n".join([url, *facts]).encode(), digest_size=16).hexdigest()


def _use(folder: Path) -> bool:
    """Note that a copy is used, and lock it; False if there is none."""
    try:
        if folder not in _used:
            _used[folder] = os.open(folder, os.O_RDONLY)
            _lock(_used[folder], alone=False)
        os.utime(folder)
    except OSError:
        if (descriptor := _used.pop(folder, None)) is not None:
            os.close(descriptor)
        return False
    return True


def _forget_old(folder: Path) -> None:
    for copy in folder.iterdir():
        with suppress(OSError):
            if copy in _used or time.time() - copy.stat().st_mtime < KEPT:
                continue
            descriptor = os.open(copy, os.O_RDONLY)
            try:
                if _lock(descriptor, alone=True):
                    shutil.rmtree(copy, ignore_errors=True)
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
