"""Stored models: what was fetched, pinned to a commit and to the hash of every file.

    CACHE/models/minilm/                    builtin:minilm, its files and its manifest
    CACHE/models/ORG--NAME@COMMIT/          the manifest of a model of the hub at one commit
    CACHE/models/ORG--NAME@COMMIT+onnx/     the same, of its ONNX file in place of its weights

CACHE is RAGSTONE_CACHE, or else where this system keeps caches. The files of a hub model lie in
huggingface_hub's own cache, where other programs find them too; the manifest says where. It is
written last, so what a broken download leaves is never taken for a model.
"""

import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from hashlib import file_digest
from pathlib import Path

from ragstone.errors import ModelError
from ragstone.private import private_folder

from .small_file import small_file

MANIFEST = "manifest.json"
VERSION = 1

Note = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a model comes from.

    Args:
        name: As a user writes it: ``builtin:minilm``, ``org/name``.
        source: The server or package it came from.
        licence: As its makers say; empty where they do not.
        revision: What was asked for: a branch, a tag or a commit; empty for the builtin model.
        commit: The commit it is; empty for the builtin model.
        weights: ``safetensors`` or ``onnx``.
    """

    name: str
    source: str
    licence: str
    revision: str
    commit: str
    weights: str

    @property
    def pulled_as(self) -> str:
        """By what name these weights are fetched: ``onnx:org/name`` where they are a graph."""
        return f"onnx:{self.name}" if self.weights == "onnx" else self.name


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A file as it was stored."""

    size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Stored:
    """A model in the store.

    Attributes:
        fetched: When, in UTC, ISO 8601.
        files: By path inside the folder.
    """

    folder: Path
    origin: Origin
    fetched: str
    files: Mapping[str, StoredFile]

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(file.size for file in self.files.values())


def cache_folder() -> Path:
    """Where Ragstone keeps what it can fetch or compute again: RAGSTONE_CACHE, or the system's."""
    if own := os.environ.get("RAGSTONE_CACHE"):
        return Path(own).expanduser()
    if xdg := os.environ.get("XDG_CACHE_HOME"):
        return Path(xdg) / "ragstone"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", "~/AppData/Local")).expanduser() / "ragstone"
    if sys.platform == "darwin":
        return Path("~/Library/Caches/ragstone").expanduser()
    return Path("~/.cache/ragstone").expanduser()


def models_folder() -> Path:
    """Where the models are."""
    return cache_folder() / "models"


def stored() -> list[Stored]:
    """Every model in the store, by name; of one name, the last fetched first.

    Folders without a manifest that can be read are no models of ours and are passed over.
    """
    there = models_folder()
    folders = [one for one in there.iterdir() if one.is_dir()] if there.is_dir() else []
    found = [read for one in sorted(folders) if (read := _read(one)) is not None]
    found.sort(key=lambda one: one.fetched, reverse=True)
    found.sort(key=lambda one: (one.origin.name, one.origin.weights))
    return found


def find(name: str, *, weights: str = "safetensors", revision: str = "") -> Stored | None:
    """The model of this name; without a revision, the one fetched last.

    Args:
        revision: A commit, at least 7 digits of one, or what was asked for when it was fetched.
    """
    for one in stored():
        origin = one.origin
        wanted = not revision or revision == origin.revision or _is_commit(revision, origin.commit)
        if origin.name == name and origin.weights == weights and wanted:
            return one
    return None


def checked(model: Stored) -> Stored:
    """The model, its files there and of the right size; hashes are for ``damage``.

    Raises:
        ModelError: A file is missing or has another size.
    """
    for path, expected in model.files.items():
        file = model.folder / path
        size = file.stat().st_size if file.is_file() else None
        if size != expected.size:
            got = "no such file" if size is None else f"{size:,}"
            raise ModelError(
                f"The stored model {model.origin.name} is damaged: {file}: "
                f"expected {expected.size:,} bytes, got {got}.\n"
                f"Fetch it again: ragstone models pull {model.origin.pulled_as}"
            )
    return model


def damage(model: Stored) -> list[str]:
    """What is wrong with the model's files, each read and hashed; empty where nothing is."""
    faults = []
    for path, expected in model.files.items():
        file = model.folder / path
        if not file.is_file():
            faults.append(f"{path}: expected {expected.size:,} bytes, got no such file")
        elif (found := describe(file)) != expected:
            faults.append(
                f"{path}: expected {expected.size:,} bytes of SHA-256 {expected.sha256[:12]}…, "
                f"got {found.size:,} of {found.sha256[:12]}…"
            )
    return faults


def keep(place: str, origin: Origin, files: Iterable[str], folder: Path | None = None) -> Stored:
    """Write down that a model is here, with the size and the hash of each of its files.

    Args:
        place: What its manifest is stored under.
        origin: Where it came from.
        files: The paths of its files in ``folder``.
        folder: Where they are; None: beside the manifest.
    """
    home = models_folder() / place
    private_folder(home)
    kept = {path: asdict(describe((folder or home) / path)) for path in sorted(files)}
    content = {
        "version": VERSION,
        "origin": asdict(origin),
        "fetched": datetime.now(UTC).isoformat(timespec="microseconds"),
        "folder": None if folder is None else str(folder),
        "files": kept,
    }
    unfinished = home / f".{MANIFEST}.{os.getpid()}"
    unfinished.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
    unfinished.replace(home / MANIFEST)
    model = _read(home)
    assert model is not None
    return model


def describe(file: Path) -> StoredFile:
    """The file's size and SHA-256."""
    with file.open("rb") as content:
        digest = file_digest(content, "sha256").hexdigest()
        return StoredFile(content.tell(), digest)


@contextmanager
def writing() -> Iterator[None]:
    """Say in words why the store cannot be written to.

    Raises:
        ModelError: For any ``OSError``.
    """
    try:
        yield
    except OSError as error:
        raise ModelError(
            f"The model cannot be stored in {models_folder()}: {error.strerror or error}.\n"
            "Make room there, or name another folder: RAGSTONE_CACHE=FOLDER"
        ) from error


def _is_commit(revision: str, commit: str) -> bool:
    return len(revision) >= 7 and commit.startswith(revision.lower())


def _read(home: Path) -> Stored | None:
    """The model of this manifest; None where that is not ours, or its files are gone."""
    try:
        kept = json.loads(small_file(home / MANIFEST))
        if kept["version"] != VERSION:
            return None
        folder = Path(kept.get("folder") or home)
        files = {path: StoredFile(**facts) for path, facts in kept["files"].items()}
        model = Stored(folder, Origin(**kept["origin"]), kept["fetched"], files)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
    return model if folder.is_dir() else None
