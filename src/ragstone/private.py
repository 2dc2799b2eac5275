"""Private: files and folders that only the user who made them can read."""

import os
from contextlib import suppress
from pathlib import Path


def private_folder(folder: Path) -> None:
    """Make a folder where there is none, and those that it lies in, for this user alone."""
    for one in reversed([one for one in (folder, *folder.parents) if not one.exists()]):
        one.mkdir(mode=0o700, exist_ok=True)


def private_file(file: Path) -> None:
    """Make an empty file where there is none, for this user alone.

    Where that fails nothing is raised: whoever opens the file finds out.
    """
    with suppress(OSError):
        os.close(os.open(file, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
