"""Private: files and folders that only the user who made them can read."""

import os
from contextlib import suppress
from pathlib import Path


def private_folder(folder: Path) -> None:
    """Create a folder and its missing parents, accessible to this user alone."""
    for one in reversed([one for one in (folder, *folder.parents) if not one.exists()]):
        one.mkdir(mode=0o700, exist_ok=True)


def private_file(file: Path) -> None:
    """Create an empty file, readable by this user alone, unless it exists.

    A failure is not raised here: opening the file will fail with the same cause.
    """
    with suppress(OSError):
        os.close(os.open(file, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
