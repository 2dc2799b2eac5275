"""Writes a file that the user named for a result: in full, or not at all."""

import json
from pathlib import Path

from ragstone.errors import InputError, room_for

MANIFEST = "run.json"
OF_EVERY_RUN = (MANIFEST, "journal.sqlite", "overrules.sqlite")


def write_result(file: Path, content: str | bytes) -> None:
    """Write the file, and its folder if that is missing; a part of it is not left behind.

    Raises:
        InputError: It is a file of a run, which nothing could bring back.
        DiskFull: There is no room for it.
    """
    if run := _run_of(file):
        raise InputError(f"{file} is part of the run {run} and stays as it is. Name another file.")
    data = content.encode() if isinstance(content, str) else content
    with room_for(file):
        file.parent.mkdir(parents=True, exist_ok=True)
        # Outside of the try: a file that cannot be opened stays whole, for it may hold labels.
        opened = file.open("wb")
        try:
            with opened:
                opened.write(data)
        except OSError:
            if file.is_file() and file.stat().st_size < len(data):
                file.unlink()
            raise


def _run_of(file: Path) -> Path | None:
    """The folder of the run that has the file among its own."""
    whole = file.resolve()
    for folder in whole.parents[:2]:
        manifest = folder / MANIFEST
        if whole.is_file() and manifest.is_file():
            try:
                tables = tuple(json.loads(manifest.read_bytes())["files"])
            except (ValueError, KeyError, TypeError):
                tables = ()
            if whole.relative_to(folder).as_posix() in (*OF_EVERY_RUN, *tables):
                return folder
    return None
