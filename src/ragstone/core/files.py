"""Files: private folders, the cache folder, file names of a run, and safe writing of results."""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from enum import StrEnum
from pathlib import Path
from stat import S_IMODE

from .errors import InputError, room_for
from .messages import argument


def private_folder(folder: Path) -> None:
    """Create a folder and its missing parents, accessible to this user alone."""
    for path in reversed((folder, *folder.parents)):
        if not path.exists():
            path.mkdir(mode=0o700, exist_ok=True)


def private_file(file: Path) -> None:
    """Create an empty file, readable by this user alone, unless it exists.

    A failure is not raised here: opening the file will fail with the same cause.
    """
    with suppress(OSError):
        os.close(os.open(file, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))


def cache_folder() -> Path:
    """Return the cache folder: RAGSTONE_CACHE, or ``ragstone`` in the system's cache folder."""
    if folder := os.environ.get("RAGSTONE_CACHE"):
        if "://" in folder:
            raise InputError(
                "RAGSTONE_CACHE is a URL. Name a folder on the disk; replies of models alone can "
                f"be kept at a URL, with {argument('cache', 'URL')}."
            )
        return Path(folder).expanduser()
    if xdg := os.environ.get("XDG_CACHE_HOME"):
        return Path(xdg) / "ragstone"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", "~/AppData/Local")).expanduser() / "ragstone"
    if sys.platform == "darwin":
        return Path("~/Library/Caches/ragstone").expanduser()
    return Path("~/.cache/ragstone").expanduser()


class RunEntry(StrEnum):
    """A file or folder of a run; as all are listed here, no result is written in their place."""

    MANIFEST = "run.json"
    ESTIMATES = "estimates.json"
    SHARDS = "shards.jsonl"
    EXAMPLES = "examples"
    JUDGEMENTS = "judgements"
    SCORES = "scores"
    FACETS = "facets"
    ORIGINS = "origins"
    PARTS = "parts"
    READY = "rescored.ready"
    """Where all new files of a run lie whole, before they take the place of the old ones."""
    LOCK = ".lock"
    HEARTBEAT = "progress.json"
    JOURNAL = "journal.sqlite"
    BATCHES = "batches.sqlite"
    BATCH_FILES = "batches"
    """The requests of batches, a file each."""
    CORRECTIONS = "overrules.sqlite"
    # Runs of today must open and scripts read them: file, tables, and the keys and codes of JSON,
    # remarks and signatures keep the word of the time when a correction was called an overrule.
    REJECTED = "rejected.jsonl"
    VIOLATIONS = "label_violations.jsonl"
    TIES = "label_ties.jsonl"


# How every SQLite file begins.
DATABASE = b"SQLite format 3\0"

BESIDE_A_DATABASE = ("-wal", "-shm", "-journal")
# Folders from a run's own to its deepest file, that of a table of one that goes on.
DEEPEST = 5


def write_result(file: Path, content: str | bytes, *, private: bool = False) -> None:
    """Write the file, and its folder if that is missing; a part of it is not left behind.

    A new ``private`` file can be read by this user alone: it has texts of examples.

    Raises:
        InputError: It is a file of a run, or a database, which nothing could bring back.
    """
    _refuse_what_is_kept(file)
    data = content.encode() if isinstance(content, str) else content
    with room_for(file):
        file.parent.mkdir(parents=True, exist_ok=True)
        if private:
            private_file(file)
        # Outside of the try: a file that cannot be opened stays whole, for it may hold labels.
        opened = file.open("wb")
        try:
            with opened:
                opened.write(data)
        except OSError:
            if file.is_file() and file.stat().st_size < len(data):
                file.unlink()
            raise


@contextmanager
def result_lines(file: Path) -> Iterator[Callable[[str], None]]:
    """Give a function that writes one line; the file is there once all are written.

    Only this user can read it, unless there was one before that others could.
    """
    _refuse_what_is_kept(file)
    file = file.resolve()  # Or the file would take the place of a link to it.
    if file.is_dir():
        raise InputError(f"{file} is a folder. Name a file in it.")
    with room_for(file):
        if file.exists() and not file.is_file():
            # A device or a pipe, whose place no file may take.
            with file.open("w", encoding="utf-8", errors="backslashreplace") as device:
                yield lambda line: print(line, file=device)
            return
        file.parent.mkdir(parents=True, exist_ok=True)
        part = file.with_name(f".{file.name}.part")
        try:
            private_file(part)
            with part.open("w", encoding="utf-8", errors="backslashreplace", newline="\n") as lines:
                if file.exists():
                    part.chmod(S_IMODE(file.stat().st_mode))

                def write(line: str) -> None:
                    lines.write(f"{line}\n")

                yield write
            part.replace(file)
        finally:
            part.unlink(missing_ok=True)


def _refuse_what_is_kept(file: Path) -> None:
    whole = file.resolve()
    if run := _run_of(whole):
        raise InputError(f"{file} is part of the run {run} and stays as it is. Name another file.")
    names = [whole.name, *(whole.name.removesuffix(end) for end in BESIDE_A_DATABASE)]
    if any(_is_database(whole.with_name(name)) for name in names if name):
        raise InputError(f"{file} is part of a database and stays as it is. Name another file.")


def _run_of(file: Path) -> Path | None:
    for folder in file.parents[:DEEPEST]:
        is_of_run = file.relative_to(folder).parts[0] in set(RunEntry)
        if is_of_run and (folder / RunEntry.MANIFEST).is_file():
            return folder
    return None


def _is_database(file: Path) -> bool:
    if not file.is_file():
        return False
    with file.open("rb") as opened:
        return opened.read(len(DATABASE)) == DATABASE
